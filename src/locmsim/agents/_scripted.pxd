# The scripted agents, without the GIL.

from libc.stdint cimport uint64_t

from locmsim._core cimport state_t, table_t

cdef enum:                      # see SCRIPTED in _scripted.pyx
    PASSES = 0
    PLAYS_RANDOM = 1
    MAX_ATTACK = 2
    OSL = 3
    GREEDY = 4

# Returns the next action of a scripted agent that is to move; the game must not be over.
cdef int scripted_action(
    int kind, const state_t* s, const table_t* t, uint64_t* stream) noexcept nogil
