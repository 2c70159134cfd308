"""The bot's playouts with the installed package's kernel, called through function pointers.

This needs only Cython and a C compiler. The kernel keeps the code with which the package was built,
including optimisations for the machine.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from locmsim._core cimport (
    ABI_VERSION,
    GUARD,
    LETHAL,
    MAX_ACTIONS,
    MAX_BOARD,
    PASS,
    WARD,
    Determinizer,
    State,
    creature_t,
    player_t,
    state_apply,
    state_count,
    state_deal,
    state_kth,
    state_list,
    state_next_draw,
    state_t,
    state_winner,
    stream_below,
    stream_start,
    table_t,
    unknown_t,
)

include "_turns.pxi"
