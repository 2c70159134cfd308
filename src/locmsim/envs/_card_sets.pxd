# The card sets of rows: see _card_sets.pyx.

from libc.stdint cimport int8_t

from locmsim._core cimport Table
from locmsim.envs._block cimport RowBlock
from locmsim.envs._row cimport rows_t, set_t

cdef class CardSets:
    cdef RowBlock block
    cdef rows_t* a
    cdef dict retired               # address of a set's cards -> their table, and the rows shown
    cdef list tables                # of the shared card sets; they keep the cards alive
    cdef list row_sets              # the same for rows with a card set of their own
    cdef int show_set(self, set_t* target, Table table) except -1
    cdef const int8_t* shown_rows(self, Table table) except NULL
    cdef dict shown_in(self, Py_ssize_t i)
    cdef int forget(self) except -1
    cdef Table table_of_set(self, Py_ssize_t i)
