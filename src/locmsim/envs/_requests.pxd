# What rows wait for: see _requests.pyx.

from locmsim.envs._block cimport RowBlock
from locmsim.envs._card_sets cimport CardSets
from locmsim.envs._player_table cimport PlayerTable
from locmsim.envs._row cimport rows_t
from locmsim.envs._views cimport Views

cdef class Requests:
    cdef RowBlock block
    cdef rows_t* a
    cdef PlayerTable players
    cdef CardSets card_sets
    cdef Views views
