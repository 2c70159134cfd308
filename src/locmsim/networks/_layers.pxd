# Building blocks of small networks, without the GIL.
#
# A matrix has a row for each input, so that a layer is a sum of rows. Rows of zero inputs are
# skipped, and most inputs are zero: terms of cards, and units after a ReLU. Everything is inline;
# where a caller passes constant sizes, the compiler unrolls the loops.

from libc.string cimport memset

cdef enum:
    SIDE_BY_SIDE = 4            # sums in a vector: gcc keeps more in memory


cdef inline void add_row(float* to, float x, const float* row, int n) noexcept nogil:
    """Add a multiple of a row of weights."""
    cdef int k
    if x:
        for k in range(n):
            to[k] += x * row[k]


cdef inline void dense(const float* x, int n, const float* w, float* to, int m) noexcept nogil:
    """Add x @ w, a matrix (n, m), to `to`, which has the biases or 0."""
    cdef int i
    for i in range(n):
        add_row(to, x[i], w + i * m, m)


cdef inline void relu(float* x, int n) noexcept nogil:
    cdef int k
    for k in range(n):
        x[k] = x[k] if x[k] > 0 else 0


cdef inline void add_relu(float* to, const float* units, int n) noexcept nogil:
    """Add units after a ReLU."""
    cdef int k
    for k in range(n):
        to[k] += units[k] if units[k] > 0 else 0


cdef inline float relu_dot(
    float start, const float* a, const float* b, const float* output, int n
) noexcept nogil:
    """Return `start` + ReLU(a + b) @ y; n is a multiple of 8."""
    cdef float low[SIDE_BY_SIDE]
    cdef float high[SIDE_BY_SIDE]
    cdef float x
    cdef int k
    memset(low, 0, sizeof(low))
    memset(high, 0, sizeof(high))
    for _ in range(n // (2 * SIDE_BY_SIDE)):
        for k in range(SIDE_BY_SIDE):
            x = a[k] + b[k]
            low[k] += (x if x > 0 else 0) * output[k]
        for k in range(SIDE_BY_SIDE):
            x = a[SIDE_BY_SIDE + k] + b[SIDE_BY_SIDE + k]
            high[k] += (x if x > 0 else 0) * output[SIDE_BY_SIDE + k]
        a += 2 * SIDE_BY_SIDE
        b += 2 * SIDE_BY_SIDE
        output += 2 * SIDE_BY_SIDE
    for k in range(SIDE_BY_SIDE):
        start += low[k]
    for k in range(SIDE_BY_SIDE):
        start += high[k]
    return start
