# cython: cdivision=True
# What tests look at and change in compiled code, of environments above all: built by
# rows_access.py, not installed.

from libc.stdint cimport int8_t, uint64_t
from libc.string cimport memcpy, memset

from locmsim._core cimport (
    PLAYOUT_TURNS,
    State,
    num_actions,
    playout_winner,
    state_apply,
    state_count,
    state_kth,
    state_t,
    state_winner,
    stream_below,
    stream_start,
    table_t,
)
from locmsim._math cimport atanh64, exp32, exp64, log64, tanh32, tanh64
from locmsim.envs._potentials cimport N_POTENTIALS, potentials
from locmsim.envs._row cimport cold_t, row_t, table_of
from locmsim.envs._rows cimport Rows
from locmsim.game._layout cimport known_hand, known_start, write_mask
from locmsim.game._turn_view cimport shorten
from locmsim.networks._wide cimport wide_of_

from locmsim.envs._potentials import POTENTIALS


def put_state(Rows rows not None, Py_ssize_t i, State state not None):
    """Replace a row's position by one that looks the same to a player.

    Only cards that are hidden may differ; what has happened is kept, by instance ids.
    """
    cdef row_t* r = rows.block.row(i)
    cdef row_t old = r[0]
    cdef cold_t before = r.cold[0]
    cdef int who, copy, a, b
    shorten(&r.s, &r.cold.table, &state.s, &state.table.t)
    known_start(&r.k, &r.s, table_of(r))
    memcpy(r.k.seen, old.k.seen, sizeof(old.k.seen))
    memcpy(r.k.n_seen, old.k.n_seen, sizeof(old.k.n_seen))
    memcpy(r.k.draws[1], old.k.draws[1], sizeof(old.k.draws[1]))
    r.k.actions = old.k.actions
    memset(r.k.began, 0, sizeof(r.k.began))
    for a in range(before.table.n_cards):
        for b in range(r.cold.table.n_cards):
            if before.table.cards[a].id != r.cold.table.cards[b].id:
                continue
            for who in range(2):
                r.k.drawn[who] |= (old.k.drawn[who] >> a & 1) << b
                for copy in range(2):
                    r.k.began[who][copy] |= (old.k.began[who][copy] >> a & 1) << b
    for who in range(2):
        known_hand(&r.k, &r.s, table_of(r), who)


def potentials_of(State state not None, int player):
    """Name -> value of each potential of a player."""
    cdef float values[N_POTENTIALS]
    potentials(&state.s, &state.table.t, player & 1, values)
    return {name: values[i] for i, name in enumerate(POTENTIALS)}


def wide_dense(int most, const float[:, ::1] x, const float[:, ::1] w, float[:, ::1] to):
    """Add x @ w to `to` by vectors of at most `most` bits."""
    wide_of_(most).dense(
        <int>x.shape[0], &x[0, 0], <int>x.shape[1], <int>x.shape[1], &w[0, 0], &to[0, 0],
        <int>to.shape[1], <int>w.shape[1])


def wide_dots(
    int most, const float[::1] query, const float[:, ::1] keys, unsigned int wanted, float scale,
    float[::1] to
):
    """to[k] = scale * (query @ keys[k]) for the bits k of `wanted`."""
    wide_of_(most).dots(&query[0], &keys[0, 0], <int>keys.shape[1], wanted, scale, &to[0])


def math_of_floats(str name, const float[::1] x, float[::1] to):
    """Write the function of 32 bits of each number."""
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        to[i] = exp32(x[i]) if name == "exp" else tanh32(x[i])


def math_of_doubles(str name, const double[::1] x, double[::1] to):
    """Write the function of 64 bits of each number."""
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        if name == "exp":
            to[i] = exp64(x[i])
        elif name == "log":
            to[i] = log64(x[i])
        elif name == "tanh":
            to[i] = tanh64(x[i])
        else:
            to[i] = atanh64(x[i])


def rollout_by_steps(State state not None, uint64_t seed, uint64_t i):
    """Play playout i of a seed by drawing and applying one action after the other.

    Returns the winner and the number of actions. Both equal those of `State.rollouts`, whose loop
    draws and applies an action at once.
    """
    cdef const table_t* t = &state.table.t
    cdef state_t s = state.s
    cdef uint64_t stream = stream_start(seed, i)
    cdef int applied = 0
    while state_winner(&s) < 0 and s.turn < state.s.turn + PLAYOUT_TURNS:
        state_apply(&s, t, state_kth(&s, t, stream_below(&stream, state_count(&s, t))))
        applied += 1
    return playout_winner(&s), applied


def mask_of(State state not None, int player, int8_t[::1] out):
    """Write the mask of a player, as environments show it: only PASS where they cannot move."""
    assert out.shape[0] == num_actions(state.table.t.rules)
    write_mask(&out[0], &state.s, &state.table.t, player)
