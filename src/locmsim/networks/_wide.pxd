# Dense layers with the widest vector instructions that the CPU has, without the GIL.
#
# The results equal those of `_layers.pxd` bit for bit on every CPU: each output is a sum in the
# order of the inputs, each product is rounded before it is added, and zero inputs are left out.
# These functions are faster for wide layers: the indices of the other inputs are found first, so
# that no branch can be mispredicted, and the sums of many outputs stay in registers while the
# weights are read, which several rows share. tests/unit/policy/test_vector_code.py reads that from
# the assembly. `_layers.pxd` remains for layers of a constant, small size, which the compiler
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

    #if defined(__clang__)
    #define WIDE_UNROLL_ _Pragma("clang loop unroll(full)")
    #else
    #define WIDE_UNROLL_ _Pragma("GCC unroll 12")
    #endif

    enum { WIDE_CHUNK_ = 256 };     /* inputs at a time */

    static inline int nonzero_any_(const float* x, int n, int* at) {
        int i, k = 0;
        for (i = 0; i < n; i++) {
            uint32_t bits;
            memcpy(&bits, x + i, 4);
            at[k] = i;
            k += bits << 1 != 0;    /* all but the sign */
        }
        return k;
    }

    /* Adds columns to `to`, with `vectors` sums in registers. Each target has vectors of its
       registers' size: gcc keeps wider ones in memory. */
    #if defined(__GNUC__)
    #define WIDE_COLUMNS_(name, target, bytes) \\
    typedef float vector_##name##_ \\
        __attribute__((vector_size(bytes), aligned(4), may_alias)); \\
    target static inline __attribute__((always_inline)) void columns_##name##_( \\
        const float* x, const int* at, int n, const float* w, float* to, int m, const int vectors \\
    ) { \\
        vector_##name##_ sums[12]; \\
        int j, k; \\
        __asm__("" : "+r"(w)); /* a sum of pointers takes a register for each vector */ \\
        WIDE_UNROLL_ \\
        for (k = 0; k < vectors; k++) sums[k] = ((const vector_##name##_*)to)[k]; \\
        for (j = 0; j < n; j++) { \\
            const vector_##name##_* row = (const vector_##name##_*)(w + (ptrdiff_t)at[j] * m); \\
            const float value = x[at[j]]; \\
            WIDE_UNROLL_ \\
            for (k = 0; k < vectors; k++) sums[k] += value * row[k]; \\
        } \\
        WIDE_UNROLL_ \\
        for (k = 0; k < vectors; k++) ((vector_##name##_*)to)[k] = sums[k]; \\
    }
    #define WIDE_SOME_(name, numbers, vectors) \\
        for (; m - done >= numbers * vectors; done += numbers * vectors) \\
            columns_##name##_(from, at, k, w + done, sums + done, m, vectors);
    #else
    #define WIDE_COLUMNS_(name, target, bytes)
    #define WIDE_SOME_(name, numbers, vectors)
    #endif

    /* Inputs are taken in chunks whose weights stay in the first cache for the other rows. */
    #define WIDE_DENSE_(name, target, nonzero, numbers, a, b, c, d) \\
    WIDE_COLUMNS_(name, target, 4 * numbers) \\
    target static void dense_##name##_( \\
        int rows, const float* x, int x_step, int n, const float* w, float* to, int to_step, \\
        int m \\
    ) { \\
        int at[WIDE_CHUNK_ + 16]; /* compressed indices are written sixteen at a time */ \\
        int chunk = rows == 1 ? WIDE_CHUNK_ : 8192 / m / 8 * 8; \\
        int row, k, done, j; \\
        if (chunk < 16) chunk = 16; \\
        if (chunk > WIDE_CHUNK_) chunk = WIDE_CHUNK_; \\
        for (; n > 0; n -= chunk, x += chunk, w += (ptrdiff_t)chunk * m) { \\
            for (row = 0; row < rows; row++) { \\
                const float* from = x + (ptrdiff_t)row * x_step; \\
                float* sums = to + (ptrdiff_t)row * to_step; \\
                k = nonzero(from, n < chunk ? n : chunk, at); \\
                done = 0; \\
                WIDE_SOME_(name, numbers, a) \\
                WIDE_SOME_(name, numbers, b) \\
                WIDE_SOME_(name, numbers, c) \\
                WIDE_SOME_(name, numbers, d) \\
                WIDE_SOME_(name, numbers, 1) \\
                for (; done < m; done++) \\
                    for (j = 0; j < k; j++) \\
                        sums[done] += from[at[j]] * w[(ptrdiff_t)at[j] * m + done]; \\
            } \\
        } \\
    }

    /* to[k] = scale * (query @ keys[k]) for each bit k of `wanted`; eight sums in each product. */
    #if defined(__GNUC__)
    #define WIDE_EIGHTS_(vector, numbers) \\
        vector sums[8 / numbers] = {{0}}; \\
        for (; i + 8 <= n; i += 8) { \\
            WIDE_UNROLL_ \\
            for (j = 0; j < 8 / numbers; j++) \\
                sums[j] += ((const vector*)(query + i))[j] * ((const vector*)(key + i))[j]; \\
        } \\
        WIDE_UNROLL_ \\
        for (j = 0; j < 8 / numbers; j++) ((vector*)eights)[j] = sums[j];
    #else
    #define WIDE_EIGHTS_(vector, numbers) \\
        for (j = 0; j < 8; j++) eights[j] = 0; \\
        for (; i + 8 <= n; i += 8) \\
            for (j = 0; j < 8; j++) eights[j] += query[i + j] * key[i + j];
    #endif
    #define WIDE_DOTS_(name, target, vector, numbers) \\
    target static void dots_##name##_( \\
        const float* query, const float* keys, int n, uint32_t wanted, float scale, float* to \\
    ) { \\
        int k, j; \\
        for (k = 0; wanted; k++, wanted >>= 1) { \\
            const float* key = keys + (ptrdiff_t)k * n; \\
            float eights[8], sum = 0; \\
            int i = 0; \\
            if (!(wanted & 1)) continue; \\
            WIDE_EIGHTS_(vector, numbers) \\
            for (j = 0; j < n - i; j++) eights[j] += query[i + j] * key[i + j]; \\
            for (j = 0; j < 8; j++) sum += eights[j]; \\
            to[k] = scale * sum; \\
        } \\
    }

    WIDE_DENSE_(any, , nonzero_any_, 4, 12, 8, 4, 2)
    WIDE_DOTS_(any, , vector_any_, 4)
    #if WIDE_X86_
    #define WIDE_AVX2_ __attribute__((target("avx2,popcnt")))
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
    static uint8_t set_bits_[256][8];           /* of each byte; `wide_of_` fills it in */
    WIDE_AVX2_ static inline int nonzero_avx2_(const float* x, int n, int* at) {
        int i = 0, k = 0;
        for (; i + 8 <= n; i += 8) {
            const int found = _mm256_movemask_ps(
                _mm256_cmp_ps(_mm256_loadu_ps(x + i), _mm256_setzero_ps(), _CMP_NEQ_UQ));
            const __m256i bits = _mm256_cvtepu8_epi32(
                _mm_loadl_epi64((const __m128i*)set_bits_[found]));
            _mm256_storeu_si256((__m256i*)(at + k), _mm256_add_epi32(bits, _mm256_set1_epi32(i)));
            k += __builtin_popcount(found);
        }
        for (; i < n; i++) {
            at[k] = i;
            k += x[i] != 0;
        }
        return k;
    }
    WIDE_DENSE_(avx2, WIDE_AVX2_, nonzero_avx2_, 8, 10, 8, 6, 4)
    WIDE_DOTS_(avx2, WIDE_AVX2_, vector_avx2_, 8)
    WIDE_DENSE_(avx512, WIDE_AVX512_, nonzero_avx512_, 16, 10, 5, 4, 3)
    WIDE_DOTS_(avx512, WIDE_AVX512_, vector_avx2_, 8)
    #endif

    typedef struct {
        void (*dense)(int, const float*, int, int, const float*, float*, int, int);
        void (*dots)(const float*, const float*, int, uint32_t, float, float*);
    } wide_t;

    static wide_t wide_of_(int most) {
        wide_t wide = {dense_any_, dots_any_};
    #if WIDE_X86_
        if (most >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
            for (int found = 0; found < 256; found++)
                for (int bit = 0, k = 0; bit < 8; bit++)
                    if (found >> bit & 1) set_bits_[found][k++] = (uint8_t)bit;
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
        # Adds x @ w, with a matrix (n, m), to `to`, which has the biases or 0, for each row of x
        # and of `to`; the next row is a step further.
        void dense(int rows, const float* x, int x_step, int n, const float* w, float* to,
                   int to_step, int m) noexcept nogil
        # to[k] = scale * (query @ keys[k]) for the bits k of `wanted`; keys have n numbers.
        void dots(const float* query, const float* keys, int n, unsigned int wanted, float scale,
                  float* to) noexcept nogil
    # Returns the functions for the widest vectors of the CPU, of at most `most` bits.
    wide_t wide_of_(int most) noexcept nogil
