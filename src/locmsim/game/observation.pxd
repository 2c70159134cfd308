# Reads and writes the text that a player is sent (docs/rules.md, section 9), without the GIL.

from libc.stdint cimport int32_t

from locmsim._core cimport Shown, shown_t

cdef enum:
    MAX_COLUMNS = 13
    MAX_SHOWN_TEXT = 32768      # characters, more than enough: 64 actions, 120 rows of 13 numbers

ctypedef struct split_line_t:         # a line, split at blanks
    int32_t n                   # number of columns, at most MAX_COLUMNS + 1
    int32_t bad                 # the first column with a wrong value
    int32_t start[MAX_COLUMNS + 1]
    int32_t end[MAX_COLUMNS + 1]

ctypedef struct reader_t:
    int32_t stage               # kind of the next line
    int32_t done                # lines of that kind read so far
    int32_t places[3][3]        # cards so far by location + 1 and lane + 1
    # The last line that was read; after a fault, the faulty one.
    int32_t number              # from 1
    int32_t begin               # offset of its first character
    int32_t fault               # what is wrong with it; 0: nothing
    split_line_t line

# Reads a text line by line. With `rules` -1 the columns determine the rule set. Reading a line
# returns 1 if another line must follow, 0 at the end, and -1 for a malformed line: `fault` and
# `line.bad` say why. `at` is the offset of the line, and afterwards that of the next one.
cdef void reader_start(reader_t* r, shown_t* o, int rules) noexcept nogil
cdef int reader_take(reader_t* r, shown_t* o, const char* text, int size, int* at) noexcept nogil
# Reads a whole text; returns 0, or -1 if it is malformed.
cdef int shown_read(
    shown_t* o, reader_t* r, const char* text, int size, int rules) noexcept nogil
# Writes the text that a referee would send, at most MAX_SHOWN_TEXT characters; returns its length.
cdef int shown_write(const shown_t* o, char* to) noexcept nogil

cdef class Observation(Shown):
    cdef tuple _offer           # once it has been asked for
    cdef int take(self, dict fields) except -1
