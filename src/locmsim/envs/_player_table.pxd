# The players of rows: see _player_table.pyx.

from locmsim.envs._block cimport RowBlock
from locmsim.envs._row cimport rows_t

cdef class PlayerTable:
    cdef RowBlock block
    cdef rows_t* a
    cdef int n_threads
    cdef tuple drawn                # slots of the players that may be drawn, and their weights
    cdef list searchers             # by slot; None where no search plays
    cdef readonly list battlers     # kinds or searchers
    cdef int watch(self) except -1
