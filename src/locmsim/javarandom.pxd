# `java.util.Random` and `Collections.shuffle` without the GIL (docs/rules.md, section 1).
#
# The state of a generator is one number of 48 bits.

from libc.stdint cimport int64_t, uint8_t, uint64_t

# `new Random(seed)`; only the lowest 48 bits of the seed count.
cdef uint64_t java_start(int64_t seed) noexcept nogil
# `nextInt(n)`, n from 1 to 2^31 - 1.
cdef int java_below(uint64_t* random, int n) noexcept nogil
cdef int64_t java_long(uint64_t* random) noexcept nogil     # `nextLong()`
# `Collections.shuffle` of n bytes by a new generator.
cdef void java_shuffle(uint8_t* items, int n, int64_t seed) noexcept nogil

cdef class JavaRandom:
    cdef uint64_t state
