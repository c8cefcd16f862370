"""Operations on bits in 64-bit words."""

from libc.stdint cimport int64_t, uint64_t


cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define steelyard_popcount(word) ((int) __popcnt64(word))
    static inline int steelyard_trailing_zeros(unsigned long long word) {
        unsigned long position;
        return _BitScanForward64(&position, word) ? (int) position : 64;
    }
    #else
    #define steelyard_popcount(word) __builtin_popcountll(word)
    #define steelyard_trailing_zeros(word) ((word) ? __builtin_ctzll(word) : 64)
    #endif

    #define STEELYARD_COUNT_COMMON \
        long long count = 0; \
        for (Py_ssize_t w = 0; w < n; w++) count += steelyard_popcount(words[w] & others[w]); \
        return count;
    /* Planes of 1, 2 and 4. */
    #define STEELYARD_COUNT_PLANES \
        const uint64_t* twos = planes + stride; \
        const uint64_t* fours = twos + stride; \
        long long count = 0; \
        for (Py_ssize_t w = 0; w < n; w++) { \
            count += steelyard_popcount(words[w] & planes[w]) \
                + 2 * steelyard_popcount(words[w] & twos[w]) \
                + 4 * steelyard_popcount(words[w] & fours[w]); \
        } \
        return count;

    static inline long long steelyard_count_words(
        const uint64_t* words, const uint64_t* others, Py_ssize_t n
    ) { STEELYARD_COUNT_COMMON }
    static inline long long steelyard_count_plane_words(
        const uint64_t* words, const uint64_t* planes, Py_ssize_t stride, Py_ssize_t n
    ) { STEELYARD_COUNT_PLANES }

    /* Newer processors count eight words at a time; which one runs is known only when it does. */
    #if defined(__x86_64__) && (__GNUC__ >= 8 || __clang_major__ >= 8)
    #define STEELYARD_WIDE __attribute__((target("avx512f,avx512vl,avx512vpopcntdq")))
    #include <immintrin.h>
    /* Written out: the compiler would shorten the counts and lengthen them again. */
    STEELYARD_WIDE static inline long long steelyard_count_wide(
        const uint64_t* words, const uint64_t* others, Py_ssize_t n
    ) {
        __m512i count = _mm512_setzero_si512();
        for (Py_ssize_t w = 0; w < n; w += 8) {
            __mmask8 used = n - w < 8 ? (__mmask8) ((1 << (n - w)) - 1) : 0xFF;
            __m512i word = _mm512_maskz_loadu_epi64(used, words + w);
            __m512i other = _mm512_maskz_loadu_epi64(used, others + w);
            count = _mm512_add_epi64(count, _mm512_popcnt_epi64(_mm512_and_si512(word, other)));
        }
        return _mm512_reduce_add_epi64(count);
    }
    STEELYARD_WIDE static inline long long steelyard_count_planes_wide(
        const uint64_t* words, const uint64_t* planes, Py_ssize_t stride, Py_ssize_t n
    ) {
        __m512i ones = _mm512_setzero_si512(), twos = ones, fours = ones;
        for (Py_ssize_t w = 0; w < n; w += 8) {
            __mmask8 used = n - w < 8 ? (__mmask8) ((1 << (n - w)) - 1) : 0xFF;
            __m512i word = _mm512_maskz_loadu_epi64(used, words + w);
            __m512i plane = _mm512_maskz_loadu_epi64(used, planes + w);
            ones = _mm512_add_epi64(ones, _mm512_popcnt_epi64(_mm512_and_si512(word, plane)));
            plane = _mm512_maskz_loadu_epi64(used, planes + w + stride);
            twos = _mm512_add_epi64(twos, _mm512_popcnt_epi64(_mm512_and_si512(word, plane)));
            plane = _mm512_maskz_loadu_epi64(used, planes + w + 2 * stride);
            fours = _mm512_add_epi64(fours, _mm512_popcnt_epi64(_mm512_and_si512(word, plane)));
        }
        twos = _mm512_add_epi64(twos, _mm512_add_epi64(fours, fours));
        return _mm512_reduce_add_epi64(_mm512_add_epi64(ones, _mm512_add_epi64(twos, twos)));
    }
    static int steelyard_is_wide = 0;
    __attribute__((constructor)) static void steelyard_look_at_processor(void) {
        __builtin_cpu_init();
        steelyard_is_wide =
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
    }
    #define steelyard_count(words, others, n) \
        (steelyard_is_wide && (n) >= 8 ? steelyard_count_wide(words, others, n) \
                           : steelyard_count_words(words, others, n))
    #define steelyard_count_planes(words, planes, stride, n) \
        (steelyard_is_wide && (n) >= 8 ? steelyard_count_planes_wide(words, planes, stride, n) \
                           : steelyard_count_plane_words(words, planes, stride, n))
    #else
    #define steelyard_count(words, others, n) steelyard_count_words(words, others, n)
    #define steelyard_count_planes(words, planes, stride, n) \
        steelyard_count_plane_words(words, planes, stride, n)
    #endif
    """
    int64_t count_words "steelyard_count"(
        const uint64_t* words, const uint64_t* others, Py_ssize_t n
    ) noexcept nogil
    # Three planes, `stride` words apart, whose bits count 1, 2 and 4.
    int64_t count_planes "steelyard_count_planes"(
        const uint64_t* words, const uint64_t* planes, Py_ssize_t stride, Py_ssize_t n
    ) noexcept nogil
    int popcount "steelyard_popcount"(uint64_t word) noexcept nogil
    # Index of the lowest set bit, 64 if no bit is set.
    int trailing_zeros "steelyard_trailing_zeros"(uint64_t word) noexcept nogil


cdef inline void set_bit(uint64_t* words, Py_ssize_t bit) noexcept nogil:
    words[bit >> 6] |= (<uint64_t> 1) << (bit & 63)


cdef inline void clear_bit(uint64_t* words, Py_ssize_t bit) noexcept nogil:
    words[bit >> 6] &= ~((<uint64_t> 1) << (bit & 63))


cdef inline bint test_bit(const uint64_t* words, Py_ssize_t bit) noexcept nogil:
    return (words[bit >> 6] >> (bit & 63)) & 1


cdef inline int64_t count_common(
    const uint64_t* words, const uint64_t* others, Py_ssize_t first, Py_ssize_t last
) noexcept nogil:
    """Number of bits that are set in both arrays, in the words [first, last)."""
    return count_words(words + first, others + first, last - first)


cdef inline double weigh_common(
    const uint64_t* words,
    const uint64_t* others,
    Py_ssize_t first,
    Py_ssize_t last,
    const double* weights,
) noexcept nogil:
    """Sum of the weights of the bits that are set in both arrays, in the words [first, last)."""
    cdef double total = 0.0
    cdef uint64_t word
    cdef Py_ssize_t w
    for w in range(first, last):
        word = words[w] & others[w]
        while word:
            total += weights[(w << 6) + trailing_zeros(word)]
            word &= word - 1
    return total
