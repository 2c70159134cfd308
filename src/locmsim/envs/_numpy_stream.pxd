# NumPy's random generator (PCG64) in compiled code: the same numbers as `numpy.random.Generator`.
#
# The choice phase of an episode depends on the `np_random` of its environment, as Gymnasium asks;
# thousands of rows draw from such streams without Python.

from libc.stdint cimport uint32_t, uint64_t

ctypedef struct numpy_t:        # a PCG64, 128 bits of state and of increment
    uint64_t high
    uint64_t low
    uint64_t inc_high
    uint64_t inc_low
    uint32_t kept               # the unused half of the last number drawn
    uint32_t has_kept

cdef uint64_t numpy_next(numpy_t* random) noexcept nogil
# `Generator.integers(n)`, n from 1 to 2^63.
cdef uint64_t numpy_below(numpy_t* random, uint64_t n) noexcept nogil
# An index from 0 to `most`, as `Generator.permutation` draws it.
cdef int numpy_place(numpy_t* random, int most) noexcept nogil
# `numpy.random.default_rng(seed)` for a seed below 2^32.
cdef void numpy_start(numpy_t* random, uint32_t seed) noexcept nogil
cdef int numpy_take(numpy_t* random, generator) except -1
