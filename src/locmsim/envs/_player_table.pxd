# The players of rows: see _player_table.pyx.

from locmsim.envs._block cimport RowBlock
from locmsim.envs._row cimport rows_t

cdef class PlayerTable:
    cdef RowBlock block
    cdef rows_t* a
    cdef int n_threads
    cdef tuple drawn                # slots of players that are drawn from, their weights
    cdef list searchers             # by slot, or None
    cdef readonly list battlers     # kinds or searchers
    cdef int watch(self) except -1
