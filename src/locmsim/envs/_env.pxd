# Rows of games, for compiled code that steps them: see _env.pyx.

from libc.stdint cimport int8_t

from locmsim._core cimport Table, card_t
from locmsim.envs._row cimport cold_t, row_t, rows_t, set_t

cdef class Rows:
    cdef rows_t a
    cdef cold_t* cold
    cdef void* block
    cdef readonly Py_ssize_t n
    cdef readonly int n_actions
    cdef readonly int battle_actions
    cdef readonly str rules
    cdef int n_threads
    cdef dict options               # what it was made with
    cdef tuple drawn                # slots of players that are drawn from, their weights
    cdef list searchers             # by slot, or None
    cdef readonly list battlers     # kinds or searchers
    cdef dict retired               # where the cards of a set are -> their table, and as shown
    cdef object held                # the arrays that `a.out` points into
    cdef list tables                # of the card sets, which keep their cards alive
    cdef list row_sets              # ... of rows with a set of their own
    cdef row_t* row(self, Py_ssize_t i) except NULL
    cdef int watch(self) except -1
    cdef int show_set(self, set_t* target, Table table) except -1
    cdef const int8_t* shown_rows(self, Table table) except NULL
    cdef int retire(self, Table table) except -1
    cdef const card_t* cards_of(self, Py_ssize_t i) except NULL
    cdef Table table_of_set(self, Py_ssize_t i)
