# The text that a player is sent as a plain struct, without the GIL (docs/rules.md, section 9).

from libc.stdint cimport int32_t

from locmsim._core cimport Shown, shown_card_t, shown_t

cdef enum:
    MAX_COLUMNS = 13
    MAX_SHOWN_TEXT = 32768      # characters, more than enough: 64 actions, 120 rows of 13 numbers

ctypedef struct line_t:         # a line, split at blanks
    int32_t n                   # columns; more than MAX_COLUMNS are not told apart
    int32_t bad                 # the first column that cannot be what it should
    int32_t start[MAX_COLUMNS + 1]
    int32_t end[MAX_COLUMNS + 1]

ctypedef struct reader_t:
    int32_t stage               # what the next line is
    int32_t done                # lines of its kind that were read
    int32_t places[3][3]        # cards so far by location + 1 and lane + 1
    # The line that was read last; in a fault it is the one.
    int32_t number              # from 1
    int32_t begin               # where it begins
    int32_t fault               # what is wrong with it, 0: nothing
    line_t line

# Read a text line by line. `rules` is -1 where the columns have to tell. Taking a line returns 1 if
# another one has to follow, 0 at the end, -1 for one that no referee writes: `fault` and `line.bad`
# say why. `at` is where the line begins, then where the next one does.
cdef void reader_start(reader_t* r, shown_t* o, int rules) noexcept nogil
cdef int reader_take(reader_t* r, shown_t* o, const char* text, int size, int* at) noexcept nogil
# Read a whole text: 0, or -1.
cdef int shown_read(
    shown_t* o, reader_t* r, const char* text, int size, int rules) noexcept nogil
# The text that a referee would send; `to` has room for MAX_SHOWN_TEXT. Returns its length.
cdef int shown_write(const shown_t* o, char* to) noexcept nogil

cdef class Observation(Shown):
    cdef int take(self, dict fields) except -1
