# Potentials for shaped rewards, in the units of gym-locm's rewards.

from locmsim._core cimport state_t, table_t

cdef enum:
    N_POTENTIALS = 5            # see POTENTIALS in _potentials.pyx

cdef void potentials(
    const state_t* s, const table_t* t, int who, float* out) noexcept nogil
