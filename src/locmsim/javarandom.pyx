"""``java.util.Random`` and ``Collections.shuffle``, bit for bit (docs/rules.md, section 1).

The algorithms are those specified by the documentation of `java.util.Random` in Java SE: a linear
congruential generator of 48 bits whose upper bits are returned.
"""

from operator import index

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

__all__ = ["JavaRandom"]


cdef inline uint32_t java_bits(uint64_t* random, int n) noexcept nogil:
    """Return the next n (1 to 32) bits."""
    random[0] = (random[0] * 0x5DEECE66DULL + 11) & 0xFFFFFFFFFFFFULL
    return <uint32_t>(random[0] >> (48 - n))


cdef uint64_t java_start(int64_t seed) noexcept nogil:
    return (<uint64_t>seed ^ 0x5DEECE66DULL) & 0xFFFFFFFFFFFFULL


cdef int java_below(uint64_t* random, int n) noexcept nogil:
    cdef uint32_t bits = java_bits(random, 31), value
    if n & (n - 1) == 0:
        return <int>(<uint64_t>n * bits >> 31)
    value = bits % <uint32_t>n
    # Bits from the last, incomplete run of n numbers are drawn again.
    while bits - value + <uint32_t>(n - 1) >= 0x80000000U:
        bits = java_bits(random, 31)
        value = bits % <uint32_t>n
    return <int>value


cdef int64_t java_long(uint64_t* random) noexcept nogil:
    cdef uint64_t high = <uint64_t>java_bits(random, 32) << 32
    cdef int32_t low = <int32_t>java_bits(random, 32)
    return <int64_t>(high + <uint64_t><int64_t>low)


cdef inline double java_double(uint64_t* random) noexcept nogil:
    cdef uint64_t high = <uint64_t>java_bits(random, 26) << 27
    return <double>(high + java_bits(random, 27)) * (1.0 / 9007199254740992.0)


cdef void java_shuffle(uint8_t* items, int n, int64_t seed) noexcept nogil:
    cdef uint64_t random = java_start(seed)
    cdef uint8_t item
    cdef int i, j
    for i in range(n, 1, -1):
        j = java_below(&random, i)
        item = items[i - 1]
        items[i - 1] = items[j]
        items[j] = item


@cython.final
cdef class JavaRandom:
    """The generator ``new Random(seed)`` of Java: same seed, same numbers.

    Parameters
    ----------
    seed : int
        Any integer; only its lowest 48 bits count, as in Java.
    """

    def __init__(self, seed):
        self.state = java_start(<int64_t><uint64_t>(index(seed) & 0xFFFFFFFFFFFF))

    def next_int(self, bound=None):
        """Return ``nextInt()``, -2**31 to 2**31-1, or ``nextInt(bound)``, 0 to bound-1.

        Parameters
        ----------
        bound : int, optional
            1 to 2**31-1.

        Raises
        ------
        ValueError
            The bound is another number.
        """
        if bound is None:
            return <int32_t>java_bits(&self.state, 32)
        if not 0 < bound < 1 << 31:
            raise ValueError(f"bound: expected 1..{(1 << 31) - 1}, got {bound}")
        return java_below(&self.state, bound)

    def next_long(self):
        """Return ``nextLong()``, -2**63 to 2**63-1; only 2**48 values can occur."""
        return java_long(&self.state)

    def next_double(self):
        """Return ``nextDouble()``, a multiple of 2**-53 in [0, 1)."""
        return java_double(&self.state)

    def next_doubles(self, Py_ssize_t count):
        """Return the results of several calls of `next_double`.

        Parameters
        ----------
        count : int
            The number of calls.
        """
        return [java_double(&self.state) for _ in range(count)]

    def shuffle(self, items):
        """Shuffle a list in place as ``Collections.shuffle(items, this)`` does.

        Parameters
        ----------
        items : list
            What is shuffled.
        """
        cdef int i, j
        for i in range(<int>len(items), 1, -1):
            j = java_below(&self.state, i)
            items[i - 1], items[j] = items[j], items[i - 1]

    def __reduce__(self):
        return JavaRandom, (self.state ^ 0x5DEECE66DULL,)
