# How episodes of rows begin: see _resets.pyx.

from locmsim.envs._block cimport RowBlock
from locmsim.envs._card_sets cimport CardSets
from locmsim.envs._row cimport rows_t

cdef class Resets:
    cdef RowBlock block
    cdef rows_t* a
    cdef CardSets card_sets
