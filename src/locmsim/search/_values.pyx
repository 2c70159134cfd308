"""Expected results of many states by an evaluation.

This is a separate module because exported bots do not need it.
"""

from libc.math cimport tanh

from locmsim._batch cimport StateArray
from locmsim._core cimport state_player, state_t, state_winner, table_t
from locmsim.networks._network cimport Network, network_t, network_value
from locmsim.search._evaluation cimport Evaluator, eval_t, eval_use_table, evaluate

__all__ = ["expected_results"]


def expected_results(
    Evaluator evaluator not None, Network network, StateArray batch not None, double[::1] out
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
                out[i] = tanh(<double>network_value(n, s, t, who) / 2)
            else:
                out[i] = tanh(<double>evaluate(s, t, &e, who) / <double>e.scale)
