# The text that a player is sent as a plain struct, without the GIL (docs/rules.md, section 9).

from libc.stdint cimport int32_t

from locmsim._core cimport MAX_SHOWN_ACTIONS, shown_t

ctypedef struct spans_t:        # where the texts of the opponent's actions are
    int32_t start[MAX_SHOWN_ACTIONS]
    int32_t end[MAX_SHOWN_ACTIONS]

# Read a whole text. `rules` is -1 where the columns have to tell. Returns -1 for a text that is not
# what a referee writes; what is wrong with it is for `Observation.parse` to say.
cdef int shown_read(
    shown_t* o, spans_t* spans, const char* text, int size, int rules) noexcept nogil
