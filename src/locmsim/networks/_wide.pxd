# Dense layers with the widest vector instructions that the CPU has, without the GIL.
#
# The results equal those of `_layers.pxd` bit for bit on every CPU: each output is a sum in the
# order of the inputs, each product is rounded before it is added, and zero inputs are left out.
# These functions are faster for wide layers: the indices of the other inputs are found first, so
# that no branch can be mispredicted, and the sums of up to 160 outputs stay in registers while the
# weights are read. `_layers.pxd` remains for layers of a constant, small size, which the compiler
# unrolls, and for exported bots.

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>
    #if defined(__GNUC__) && defined(__x86_64__)
    #include <immintrin.h>
    #define WIDE_X86_ 1
    #else
    #define WIDE_X86_ 0
    #endif

    enum { WIDE_CHUNK_ = 256 };     /* inputs at a time */

    static inline int nonzero_any_(const float* x, int n, int* at) {
        int i, k = 0;
        for (i = 0; i < n; i++) {
            at[k] = i;
            k += x[i] != 0;
        }
        return k;
    }

    #if defined(__GNUC__)
    /* Sixteen numbers, in as many registers as they take. */
    typedef float wide_ __attribute__((vector_size(64), aligned(4), may_alias));
    typedef float eight_ __attribute__((vector_size(32), aligned(4), may_alias));

    static inline __attribute__((always_inline)) void wide_columns_(
        const float* x, const int* at, int n, const float* w, float* to, int m, const int vectors
    ) {
        wide_ sums[10];
        int j, k;
        #pragma GCC unroll 10
        for (k = 0; k < vectors; k++) sums[k] = *(const wide_*)(to + 16 * k);
        for (j = 0; j < n; j++) {
            const float* row = w + (ptrdiff_t)at[j] * m;
            const float value = x[at[j]];
            #pragma GCC unroll 10
            for (k = 0; k < vectors; k++) sums[k] += value * *(const wide_*)(row + 16 * k);
        }
        #pragma GCC unroll 10
        for (k = 0; k < vectors; k++) *(wide_*)(to + 16 * k) = sums[k];
    }
    #define WIDE_COLUMNS_(vectors) \\
        for (; most >= vectors && m - c >= 16 * vectors; c += 16 * vectors) \\
            wide_columns_(x, at, k, w + c, to + c, m, vectors)
    #else
    #define WIDE_COLUMNS_(vectors) (void)most
    #endif

    /* The registers hold the sums of `most` vectors. */
    #define WIDE_DENSE_(name, target, nonzero, most_) \\
    target static void dense_##name##_( \\
        const float* x, int n, const float* w, float* to, int m \\
    ) { \\
        const int most = most_; \\
        int at[WIDE_CHUNK_ + 16]; /* compressed indices are written sixteen at a time */ \\
        int k, c, j; \\
        for (; n > 0; n -= WIDE_CHUNK_, x += WIDE_CHUNK_, w += (ptrdiff_t)WIDE_CHUNK_ * m) { \\
            k = nonzero(x, n < WIDE_CHUNK_ ? n : WIDE_CHUNK_, at); \\
            c = 0; \\
            WIDE_COLUMNS_(10); \\
            WIDE_COLUMNS_(5); \\
            WIDE_COLUMNS_(3); \\
            WIDE_COLUMNS_(2); \\
            WIDE_COLUMNS_(1); \\
            for (; c < m; c++) \\
                for (j = 0; j < k; j++) to[c] += x[at[j]] * w[(ptrdiff_t)at[j] * m + c]; \\
        } \\
    }

    /* to[k] = scale * (query @ keys[k]) for each bit k of `wanted`. */
    #if defined(__GNUC__)
    #define WIDE_EIGHTS_ for (; i + 8 <= n; i += 8) \\
        eights += *(const eight_*)(query + i) * *(const eight_*)(key + i);
    #else
    #define WIDE_EIGHTS_ for (; i + 8 <= n; i += 8) \\
        for (j = 0; j < 8; j++) eights[j] += query[i + j] * key[i + j];
    typedef float eight_[8];
    #endif
    #define WIDE_DOTS_(name, target) \\
    target static void dots_##name##_( \\
        const float* query, const float* keys, int n, uint32_t wanted, float scale, float* to \\
    ) { \\
        int i, j, k; \\
        for (k = 0; wanted; k++, wanted >>= 1) { \\
            const float* key = keys + (ptrdiff_t)k * n; \\
            eight_ eights = {0}; \\
            float sum = 0; \\
            if (!(wanted & 1)) continue; \\
            i = 0; \\
            WIDE_EIGHTS_ \\
            for (j = 0; j < n - i; j++) eights[j] += query[i + j] * key[i + j]; \\
            for (j = 0; j < 8; j++) sum += eights[j]; \\
            to[k] = scale * sum; \\
        } \\
    }

    WIDE_DENSE_(any, , nonzero_any_, 2)
    WIDE_DOTS_(any, )
    #if WIDE_X86_
    #define WIDE_AVX2_ __attribute__((target("avx2")))
    #define WIDE_AVX512_ __attribute__((target("avx512f,popcnt")))
    WIDE_AVX512_ static inline int nonzero_avx512_(const float* x, int n, int* at) {
        __m512i indices = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        int i = 0, k = 0;
        for (; i < n; i += 16) {
            const __mmask16 some = (__mmask16)(n - i < 16 ? (1 << (n - i)) - 1 : 0xFFFF);
            const __mmask16 found = _mm512_mask_cmp_ps_mask(
                some, _mm512_maskz_loadu_ps(some, x + i), _mm512_setzero_ps(), _CMP_NEQ_UQ);
            _mm512_storeu_si512(at + k, _mm512_maskz_compress_epi32(found, indices));
            indices = _mm512_add_epi32(indices, _mm512_set1_epi32(16));
            k += __builtin_popcount(found);
        }
        return k;
    }
    WIDE_DENSE_(avx2, WIDE_AVX2_, nonzero_any_, 5)
    WIDE_DOTS_(avx2, WIDE_AVX2_)
    WIDE_DENSE_(avx512, WIDE_AVX512_, nonzero_avx512_, 10)
    WIDE_DOTS_(avx512, WIDE_AVX512_)
    #endif

    typedef struct {
        void (*dense)(const float*, int, const float*, float*, int);
        void (*dots)(const float*, const float*, int, uint32_t, float, float*);
    } wide_t;

    static wide_t wide_of_(int most) {
        wide_t wide = {dense_any_, dots_any_};
    #if WIDE_X86_
        if (most >= 256 && __builtin_cpu_supports("avx2")) {
            wide.dense = dense_avx2_;
            wide.dots = dots_avx2_;
        }
        if (most >= 512 && __builtin_cpu_supports("avx512f")
                && __builtin_cpu_supports("popcnt")) {
            wide.dense = dense_avx512_;
            wide.dots = dots_avx512_;
        }
    #endif
        (void)most;
        return wide;
    }
    """
    ctypedef struct wide_t:
        # Adds x @ w, with a matrix (n, m), to `to`, which has the biases or 0.
        void dense(const float* x, int n, const float* w, float* to, int m) noexcept nogil
        # to[k] = scale * (query @ keys[k]) for the bits k of `wanted`; keys have n numbers.
        void dots(const float* query, const float* keys, int n, unsigned int wanted, float scale,
                  float* to) noexcept nogil
    # Returns the functions for the widest vectors of the CPU, of at most `most` bits.
    wide_t wide_of_(int most) noexcept nogil
