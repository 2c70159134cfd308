# Reading rows: see _views.pyx.

from locmsim.envs._block cimport RowBlock
from locmsim.envs._card_sets cimport CardSets
from locmsim.envs._row cimport rows_t

cdef class Views:
    cdef RowBlock block
    cdef rows_t* a
    cdef CardSets card_sets
