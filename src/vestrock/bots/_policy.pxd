# The rule of thumb for a whole turn, and the parts of it that searches use.

from libc.stdint cimport int32_t, uint64_t

from vestrock._core cimport creature_t, state_t, table_t

cdef enum:
    MAX_LINE = 256              # most actions of a turn; a longer turn is ended
    MAX_SIDE = 1000             # creatures of one player

# A turn's actions as numbers.
ctypedef struct line_t:
    int32_t n
    int32_t actions[MAX_LINE]

# All functions change the state and, unless `line` is NULL, append their actions to it.
cdef void rule_block(state_t* s, const table_t* t, line_t* line) noexcept nogil
cdef void rule_attacks(state_t* s, const table_t* t, line_t* line) noexcept nogil
cdef void rule_turn(state_t* s, const table_t* t, line_t* line, uint64_t* stream) noexcept nogil
# Taps creatures until there is mana for `cost`; there must be enough (`mana_within_reach`).
cdef void pay(state_t* s, const table_t* t, int cost, line_t* line) noexcept nogil
cdef int mana_within_reach(const state_t* s, const table_t* t) noexcept nogil
cdef bint has_room(const line_t* line, int actions) noexcept nogil
# Draws as many cards as it may.
cdef void draw_all(state_t* s, const table_t* t, line_t* line) noexcept nogil
# Each executes one action and appends it to `line`.
cdef void do_play(state_t* s, const table_t* t, int h, int target, line_t* line) noexcept nogil
cdef void do_simple(state_t* s, const table_t* t, int kind, line_t* line) noexcept nogil
cdef void do_discard(state_t* s, const table_t* t, int h, line_t* line) noexcept nogil
cdef void do_attack(state_t* s, const table_t* t, int place, line_t* line) noexcept nogil
cdef void do_block(
    state_t* s, const table_t* t, int attacker, int blocker, line_t* line) noexcept nogil
