# Rows of games, for compiled code that steps them: see _rows.pyx.

from libc.stdint cimport int64_t, int8_t, uint8_t

from locmsim._core cimport State, Table
from locmsim.envs._row cimport cold_t, row_t, rows_t, set_t
from locmsim.envs._searcher cimport searcher_t
from locmsim.game._match cimport match_t

cdef class RowBlock:
    cdef rows_t a
    cdef cold_t* cold
    cdef void* block
    cdef readonly Py_ssize_t n
    cdef readonly int n_actions
    cdef readonly int battle_actions
    cdef readonly str rules
    cdef dict options               # as passed to the constructor
    cdef object held                # the arrays that `a.out` points into
    cdef row_t* row(self, Py_ssize_t i) except NULL

# Returns the address of an array's data and keeps the array in `held`; ``ValueError`` if the array
# has another size.
cdef uint8_t* address(list held, str name, array, Py_ssize_t size) except? NULL
# Sets two decks of indices, complete ones; [] leaves a player's as it is.
cdef int take_decks(match_t* m, decks) except -1

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

cdef class PlayerTable:
    cdef RowBlock block
    cdef rows_t* a
    cdef int n_threads
    cdef tuple drawn                # slots of the players that may be drawn, and their weights
    cdef list searchers             # by slot; None where no search plays
    cdef readonly list battlers     # kinds or searchers
    cdef searcher_t* joined(self, kind, Py_ssize_t n_believers) except? NULL
    cdef list searching(self)
    cdef int watch(self) except -1

cdef class Views:
    cdef RowBlock block
    cdef rows_t* a
    cdef CardSets card_sets

cdef class Requests:
    cdef RowBlock block
    cdef rows_t* a
    cdef PlayerTable players
    cdef CardSets card_sets
    cdef Views views

cpdef int64_t action_of(action) except? -1

cdef class Rows:
    cdef RowBlock block
    cdef rows_t* a
    cdef readonly Py_ssize_t n
    cdef readonly int n_actions
    cdef readonly int battle_actions
    cdef readonly str rules
    cdef readonly PlayerTable players
    cdef readonly CardSets card_sets
    cdef readonly Requests requests
    cdef readonly Views views
    cdef int place(self, Py_ssize_t i, State state) except -1
