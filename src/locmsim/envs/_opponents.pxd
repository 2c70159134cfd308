# Opponents that need no more than the kernel, and potentials for rewards.

from libc.stdint cimport uint64_t

from locmsim._core cimport state_t, table_t

cdef enum:                      # opponents
    PASSES = 0
    PLAYS_RANDOM = 1
    MAX_ATTACK = 2
    OSL = 3
    GREEDY = 4

cdef enum:
    N_POTENTIALS = 5            # see POTENTIALS in _opponents.pyx

# The next action of an opponent who is to move; the game is not over.
cdef int opponent_action(
    int kind, const state_t* s, const table_t* t, uint64_t* stream) noexcept nogil
# What a player has, in the units of gym-locm's rewards.
cdef void potentials(
    const state_t* s, const table_t* t, int who, float* out) noexcept nogil
