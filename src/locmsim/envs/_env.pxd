# Rows of games, for compiled code that steps them: see _env.pyx.

from libc.stdint cimport int64_t

from locmsim._core cimport Table, card_t
from locmsim.envs._row cimport cold_t, game_t, out_t, row_t, set_t

cdef class Rows:
    cdef game_t g
    cdef out_t out
    cdef row_t* rows
    cdef cold_t* cold
    cdef void* block
    cdef set_t* sets
    cdef readonly Py_ssize_t n
    cdef readonly int n_actions
    cdef readonly str rules
    cdef dict options               # what it was made with
    cdef tuple opponents
    cdef object held                # the arrays that `out` points into
    cdef list tables                # of the card sets, which keep their cards alive
    cdef list row_sets              # ... of rows with a set of their own
    cdef set_t* own_sets
    cdef row_t* row(self, Py_ssize_t i) except NULL
    cdef void show(self, Py_ssize_t i) noexcept nogil
    cdef void begin(self, Py_ssize_t i) noexcept nogil
    cdef void choose(self, Py_ssize_t i) noexcept nogil
    cdef void go_on(self, Py_ssize_t i) noexcept nogil
    cdef void pay(self, Py_ssize_t i, bint ended, bint illegal) noexcept nogil
    cdef void finish(self, Py_ssize_t i, bint illegal) noexcept nogil
    cdef void advance(self, Py_ssize_t i, int64_t action) noexcept nogil
    cdef int64_t steps(
        self, const int64_t* actions, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef const card_t* cards_of(self, Py_ssize_t i) except NULL
    cdef Table table_of_set(self, Py_ssize_t i)
