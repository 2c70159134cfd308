# Functions that differ between compilers and systems: a clock, and counting and finding bits.

from libc.stdint cimport int64_t, uint32_t

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(_WIN32)
    #define WIN32_LEAN_AND_MEAN
    #include <windows.h>
    #else
    #include <time.h>
    #endif
    #if defined(__GNUC__)
    __attribute__((unused))     /* in modules that only count bits */
    #endif
    static inline int64_t now_ns_(void) {
    #if defined(_WIN32)
        LARGE_INTEGER ticks, rate;      /* C's own clock may be set back there */
        QueryPerformanceFrequency(&rate);
        QueryPerformanceCounter(&ticks);
        return ticks.QuadPart / rate.QuadPart * 1000000000
            + ticks.QuadPart % rate.QuadPart * 1000000000 / rate.QuadPart;
    #else
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    #endif
    }
    #if defined(__GNUC__)
    #define lowest_bit_(x) __builtin_ctz(x)
    #define count_bits_(x) __builtin_popcount(x)
    #else
    static inline int count_bits_(uint32_t x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
    static inline int lowest_bit_(uint32_t x) { return count_bits_((x & (0 - x)) - 1); }
    #endif
    """
    int64_t now_ns_() noexcept nogil            # nanoseconds of a monotonic clock
    int lowest_bit_(uint32_t x) noexcept nogil  # place of the lowest one; x is not 0
    int count_bits_(uint32_t x) noexcept nogil  # number of ones
