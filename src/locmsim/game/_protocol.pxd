# The text that a player is sent as a plain struct, without the GIL (docs/rules.md, section 9).

from libc.stdint cimport int32_t

from locmsim._core cimport MAX_SHOWN_ACTIONS, shown_t

ctypedef struct reader_t:
    int32_t stage               # what the next line is
    int32_t done                # lines of its kind that were read
    int32_t places[3][3]        # cards so far by location + 1 and lane + 1
    int32_t start[MAX_SHOWN_ACTIONS]    # where the texts of the opponent's actions are
    int32_t end[MAX_SHOWN_ACTIONS]

# Read a text line by line. `rules` is -1 where the columns have to tell. Taking a line returns 1 if
# another one has to follow, 0 at the end, -1 for one that no referee writes; what is wrong with it
# is for `Observation.parse` to say. `at` is where the line begins, then where the next one does.
cdef void reader_start(reader_t* r, shown_t* o, int rules) noexcept nogil
cdef int reader_take(reader_t* r, shown_t* o, const char* text, int size, int* at) noexcept nogil
# Read a whole text: 0, or -1.
cdef int shown_read(
    shown_t* o, reader_t* r, const char* text, int size, int rules) noexcept nogil
