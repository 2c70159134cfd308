# Rows of games, for compiled code that steps them: see _rows.pyx.

from libc.stdint cimport int64_t

from locmsim._core cimport State
from locmsim.envs._block cimport RowBlock
from locmsim.envs._card_sets cimport CardSets
from locmsim.envs._player_table cimport PlayerTable
from locmsim.envs._requests cimport Requests
from locmsim.envs._row cimport rows_t
from locmsim.envs._views cimport Views

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
