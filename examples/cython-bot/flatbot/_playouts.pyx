"""What takes the time: the kernel's functions, called from compiled code without the GIL."""

from libc.stdint cimport uint8_t, uint64_t
from locmsim._core cimport (
    ABI_VERSION,
    MAX_ACTIONS,
    State,
    state_apply,
    state_list,
    state_player,
    state_rollout,
    state_t,
    state_winner,
    stream_start,
    table_t,
)

import locmsim

# The structs have been compiled in as they were in the locmsim of the build.
if locmsim.ABI_VERSION != ABI_VERSION:
    raise ImportError(
        f"built for version {ABI_VERSION} of locmsim's structs, but {locmsim.ABI_VERSION} is "
        "installed: build flatbot again")


def count_wins(State state not None, int playouts, uint64_t seed):
    """Legal action -> how many of the playouts after it the player to move wins."""
    cdef const table_t* t = &state.table.t
    cdef state_t child, s
    cdef uint8_t[MAX_ACTIONS] actions
    cdef int[MAX_ACTIONS] wins
    cdef int me = state_player(&state.s)
    cdef int n, i, k
    cdef uint64_t applied = 0
    if state_winner(&state.s) >= 0:
        return {}
    with nogil:
        n = state_list(&state.s, t, actions)
        for i in range(n):
            wins[i] = 0
            child = state.s
            state_apply(&child, t, actions[i])
            for k in range(playouts):
                s = child
                wins[i] += state_rollout(&s, t, stream_start(seed, k), &applied) == me
    return {actions[i]: wins[i] for i in range(n)}
