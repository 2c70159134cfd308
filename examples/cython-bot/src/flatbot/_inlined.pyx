"""The bot's playouts with the kernel as a header: `locm.h` is compiled into this module.

So the C compiler can inline functions that are called in loops. The structs are those of the
package, whose states and tables are used directly.
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
)

from flatbot.locm cimport (
    creature_t,
    fill_tables,
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

fill_tables()

include "_turns.pxi"
