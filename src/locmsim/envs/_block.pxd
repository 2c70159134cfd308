# The memory of rows: see _block.pyx.

from libc.stdint cimport uint8_t

from locmsim.envs._row cimport cold_t, row_t, rows_t
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
