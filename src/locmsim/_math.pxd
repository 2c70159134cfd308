# exp, log, tanh and atanh from additions, multiplications and divisions alone, without the GIL.
#
# C libraries round the last bit of these functions differently, so that searches would answer
# differently by system. These give the same bits wherever numbers are IEEE's and the compiler
# neither reorders nor fuses (setup.py). tests/unit/ground/test_math.py has their errors: at most
# 1.1 units in the last place for exp and log, 3 for tanh, 5 for atanh.
#
# exp and tanh take x = n ln 2 + r with |r| <= ln 2 / 2, and add up Taylor's series of e^r - 1. ln 2
# stands in two parts, of which the first has so few bits that n times it is exact. Adding a number
# whose last bit is worth 1 rounds to an integer, which its last bits then hold. The functions of 32
# bits have no branches, so that compilers can do several at a time.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__GNUC__)
    #define NUMBER_ static inline __attribute__((unused))
    #else
    #define NUMBER_ static inline
    #endif
    NUMBER_ uint32_t bits_of_float_(float x) { uint32_t b; memcpy(&b, &x, 4); return b; }
    NUMBER_ float float_of_bits_(uint32_t b) { float x; memcpy(&x, &b, 4); return x; }
    NUMBER_ uint64_t bits_of_double_(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
    NUMBER_ double double_of_bits_(uint64_t b) { double x; memcpy(&x, &b, 8); return x; }
    """
    uint32_t bits_of_float_(float x) noexcept nogil
    float float_of_bits_(uint32_t bits) noexcept nogil
    uint64_t bits_of_double_(double x) noexcept nogil
    double double_of_bits_(uint64_t bits) noexcept nogil


cdef inline float power32(int32_t n) noexcept nogil:
    """Return 2^n."""
    return float_of_bits_(<uint32_t>(n + 127) << 23)


cdef inline double power64(int64_t n) noexcept nogil:
    return double_of_bits_(<uint64_t>(n + 1023) << 52)


cdef inline float reduced32(float x, int32_t* n) noexcept nogil:
    """Return e^r - 1 for x = n ln 2 + r."""
    cdef float shifted = x * <float>1.4426950408889634 + <float>12582912.0
    cdef float whole = shifted - <float>12582912.0
    cdef float r = x - whole * <float>0.693145751953125 - whole * <float>1.4286068203094172e-06
    cdef float square = r * r
    n[0] = <int32_t>(bits_of_float_(shifted) - <uint32_t>0x4B400000)
    return r + square * (
        <float>0.5 + square * (<float>(1 / 24.0) + square * <float>(1 / 720.0))
        + r * (<float>(1 / 6.0) + square * (<float>(1 / 120.0) + square * <float>(1 / 5040.0)))
    )


cdef inline double reduced64(double x, int64_t* n) noexcept nogil:
    """Return e^r - 1 for x = n ln 2 + r."""
    cdef double shifted = x * 1.4426950408889634 + 6755399441055744.0
    cdef double whole = shifted - 6755399441055744.0
    cdef double r = x - whole * 0.693147180559663 - whole * 2.8235290563031577e-13
    cdef double z = r * r
    cdef double even = 1 / 40320.0 + z * (1 / 3628800.0 + z * (1 / 479001600.0))
    cdef double odd = 1 / 362880.0 + z * (1 / 39916800.0 + z * (1 / 6227020800.0))
    even = 0.5 + z * (1 / 24.0 + z * (1 / 720.0 + z * even))
    odd = 1 / 6.0 + z * (1 / 120.0 + z * (1 / 5040.0 + z * odd))
    n[0] = <int64_t>(bits_of_double_(shifted) - <uint64_t>0x4338000000000000)
    return r + z * (even + r * odd)


cdef inline float exp32(float x) noexcept nogil:
    cdef int32_t n, half
    cdef float e
    x = <float>89.0 if x > <float>89.0 else x
    x = <float>-105.0 if x < <float>-105.0 else x
    e = reduced32(x, &n) + 1
    half = n >> 1                       # 2^n alone may be out of range
    return e * power32(half) * power32(n - half)


cdef inline double exp64(double x) noexcept nogil:
    cdef int64_t n, half
    cdef double e
    x = 710.0 if x > 710.0 else x
    x = -746.0 if x < -746.0 else x
    e = reduced64(x, &n) + 1
    half = n >> 1
    return e * power64(half) * power64(n - half)


cdef inline float tanh32(float x) noexcept nogil:
    cdef uint32_t sign = bits_of_float_(x) & <uint32_t>0x80000000
    cdef float double_size = 2 * float_of_bits_(bits_of_float_(x) ^ sign)
    cdef int32_t n
    cdef float e, power
    double_size = <float>20.0 if double_size > <float>20.0 else double_size
    e = reduced32(double_size, &n)
    power = power32(n)
    e = power * e + (power - 1)         # e^2|x| - 1
    return float_of_bits_(bits_of_float_(e / (e + 2)) | sign)


cdef inline double tanh64(double x) noexcept nogil:
    cdef double double_size = 2 * x if x > 0 else -2 * x
    cdef int64_t n
    cdef double e, power
    double_size = 40.0 if double_size > 40.0 else double_size
    e = reduced64(double_size, &n)
    power = power64(n)
    e = power * e + (power - 1)
    e = e / (e + 2)
    return -e if x < 0 else e


cdef inline double atanh_series(double z) noexcept nogil:
    """Return 2 z / 3 + 2 z^2 / 5 + ...: for z = s^2, 2 atanh(s) / s - 2, with |s| up to 0.1716."""
    cdef double w = z * z
    cdef double even = 2 / 3.0 + w * (2 / 7.0 + w * (2 / 11.0 + w * (2 / 15.0 + w * (2 / 19.0))))
    cdef double odd = 2 / 5.0 + w * (2 / 9.0 + w * (2 / 13.0 + w * (2 / 17.0 + w * (2 / 21.0))))
    return z * (even + z * odd)


cdef inline double log64(double x) noexcept nogil:
    cdef uint64_t bits
    cdef int64_t n = 0
    cdef double f, s, root = 0.7071067811865476
    if not x > 0:
        # Of 0, minus infinity; of others, no number.
        return double_of_bits_(<uint64_t>0xFFF0 << 48 if x == 0 else <uint64_t>0x7FF8 << 48)
    if x > 1.7976931348623157e308:
        return x
    if x < 2.2250738585072014e-308:
        x *= 18014398509481984.0        # 2^54: to a normal number
        n = -54
    # x = 2^n (1 + f), with 1 + f from the root of 1/2 to that of 2.
    bits = bits_of_double_(x) + (<uint64_t>0x3FF0000000000000 - bits_of_double_(root))
    n += <int64_t>(bits >> 52) - 1023
    f = double_of_bits_((bits & <uint64_t>0xFFFFFFFFFFFFF) + bits_of_double_(root)) - 1
    # log(1 + f) = 2 atanh(s), and 2 s = f - s f, in which f is exact.
    s = f / (2 + f)
    s = s * (f - atanh_series(s * s)) - n * 2.8235290563031577e-13
    return n * 0.693147180559663 + (f - s)


cdef inline double atanh64(double x) noexcept nogil:
    if -0.17 < x < 0.17:
        return x + x * atanh_series(x * x) / 2
    return log64((1 + x) / (1 - x)) / 2
