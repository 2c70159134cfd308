# Expected results of many states, and functions of numbers for Python. They give the same bits on
# every machine, which those of `math` and numpy do not: `locmsim._math` has them. Part of
# _engine.pyx.

cdef double LEAST = 1.1102230246251565e-16      # 2^-53


def exp(double x):
    """Return e to the power of x."""
    return exp64(x)


def log(double x):
    """Return the natural logarithm of x."""
    return log64(x)


def tanh(double x):
    """Return the hyperbolic tangent of x."""
    return tanh64(x)


def gumbel(double[:, ::1] uniform):
    """Replace random numbers from 0 to 1 by Gumbel noise."""
    cdef double* x
    cdef Py_ssize_t i, k
    for i in range(uniform.shape[0]):
        for k in range(uniform.shape[1]):
            x = &uniform[i, k]
            # Rounding may have made it 0 or 1, of which the noise would be infinite.
            x[0] = -log64(-log64(min(max(x[0], LEAST), 1 - LEAST)))


def expected_results(
    CompiledEvaluation evaluator not None, Network network, StateArray batch not None,
    double[::1] out
):
    """Return the expected result of each state, -1 to 1, for the player whose turn ends there.

    The network predicts it if there is one. Finished games give 1 or -1.
    """
    cdef eval_t e = evaluator.e         # a copy: other threads may use it for other cards
    cdef const network_t* n = NULL if network is None else &network.n
    cdef const table_t* t = NULL
    cdef const state_t* s
    cdef Py_ssize_t i
    cdef int who
    batch.check_rows(out.shape[0])
    with nogil:
        for i in range(batch.size):
            s = &batch.states[i]
            who = state_player(s)
            if batch.tables[i] is not t:
                t = batch.tables[i]
                eval_use_table(&e, &evaluator.weights, t)
            if state_winner(s) >= 0:
                out[i] = 1 if s.p[who].won else -1
            elif n is not NULL:
                out[i] = tanh64(<double>network_value(n, s, t, who) / 2)
            else:
                out[i] = tanh64(<double>evaluate(s, t, &e, who) / <double>e.scale)
