# A position with its history as one player knows it: the input of a policy.

from locmsim._core cimport short_table_t, state_t, table_t
from locmsim.game._layout cimport known_t

# Copies a position with the cards that occur in it, visible ones first. Raises ``ValueError`` if
# there are more than a short table holds.
cdef int shorten(
    state_t* s, short_table_t* t, const state_t* from_state, const table_t* from_table) except -1
# Does the same, but leaves out cards beyond a short table and returns their total number. Visible
# cards get the same entries whatever the hidden cards are.
cdef int shorten_cards(
    state_t* s, short_table_t* t, const state_t* from_state, const table_t* from_table
) noexcept nogil

cdef class TurnView:
    cdef state_t s
    cdef known_t k
    cdef short_table_t t
    cdef readonly int n_actions
    cdef readonly int player
    cdef int count_seen(self, int whose, list shown) except -1
