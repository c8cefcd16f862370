"""Which rows satisfy the bounds of rules, and which rules fire where, as packed bits."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from ._bits cimport clear_bit, set_bit

cdef extern from *:
    """
    #if defined(__SSE2__)
    #include <emmintrin.h>
    /* Every x86-64 processor has these instructions. 16 comparisons are packed into 16 bits; a loop that
       sets one bit per comparison, which compilers turn into vectors, took twice as long. */
    #define STEELYARD_TEST(name, compare)                                                            \
    static inline uint64_t name(const double* numbers, double cut) {                                 \
        const __m128d cuts = _mm_set1_pd(cut);                                                       \
        uint64_t word = 0;                                                                           \
        for (int i = 0; i < 64; i += 16) {                                                           \
            __m128i half[4];                                                                         \
            for (int k = 0; k < 4; k++) {                                                            \
                const double* four = numbers + i + 4 * k;                                            \
                __m128 first = _mm_castpd_ps(compare(_mm_loadu_pd(four), cuts));                     \
                __m128 last = _mm_castpd_ps(compare(_mm_loadu_pd(four + 2), cuts));                  \
                half[k] = _mm_castps_si128(_mm_shuffle_ps(first, last, 0x88));                       \
            }                                                                                        \
            __m128i sixteen = _mm_packs_epi16(                                                       \
                _mm_packs_epi32(half[0], half[1]), _mm_packs_epi32(half[2], half[3]));               \
            word |= (uint64_t) (uint32_t) _mm_movemask_epi8(sixteen) << i;                           \
        }                                                                                            \
        return word;                                                                                 \
    }
    STEELYARD_TEST(steelyard_at_least, _mm_cmpge_pd)
    STEELYARD_TEST(steelyard_below, _mm_cmplt_pd)
    #else
    #define STEELYARD_TEST(name, compare)                                                            \
    static inline uint64_t name(const double* numbers, double cut) {                                 \
        uint64_t word = 0;                                                                           \
        for (int i = 0; i < 64; i++)                                                                 \
            word |= (uint64_t) (numbers[i] compare cut) << i;                                        \
        return word;                                                                                 \
    }
    STEELYARD_TEST(steelyard_at_least, >=)
    STEELYARD_TEST(steelyard_below, <)
    #endif
    """
    # Bits of 64 numbers; NaN satisfies nothing.
    uint64_t at_least "steelyard_at_least"(const double* numbers, double cut) noexcept nogil
    uint64_t below "steelyard_below"(const double* numbers, double cut) noexcept nogil


cdef inline uint64_t _test_rows(
    const double* numbers, Py_ssize_t n, double cut, bint is_upper
) noexcept nogil:
    """Bits of n < 64 numbers that satisfy a bound; NaN satisfies none."""
    cdef uint64_t word = 0
    cdef Py_ssize_t i
    for i in range(n):
        word |= <uint64_t> (numbers[i] < cut if is_upper else numbers[i] >= cut) << i
    return word


cdef void _test_dense(
    const double* numbers,
    Py_ssize_t n_rows,
    const double* cuts,
    const uint8_t* is_upper,
    Py_ssize_t n_bounds,
    Py_ssize_t n_words,
    uint64_t* out,
) noexcept nogil:
    """64 rows are tested for all bounds before the next ones are read."""
    cdef const double* first
    cdef Py_ssize_t w, b
    for w in range(n_words):
        first = numbers + 64 * w
        for b in range(n_bounds):
            if n_rows - 64 * w < 64:
                out[b * n_words + w] = _test_rows(first, n_rows - 64 * w, cuts[b], is_upper[b])
            elif is_upper[b]:
                out[b * n_words + w] = below(first, cuts[b])
            else:
                out[b * n_words + w] = at_least(first, cuts[b])


cdef void _test_listed(
    const double* numbers,
    const int64_t* rows,
    Py_ssize_t n_listed,
    const double* cuts,
    const uint8_t* is_upper,
    Py_ssize_t n_bounds,
    const uint64_t* every,
    Py_ssize_t n_words,
    uint64_t* out,
) noexcept nogil:
    """All rows but the listed ones are 0: they satisfy a bound together or not at all."""
    cdef Py_ssize_t b, i, w
    cdef uint64_t* words
    for b in range(n_bounds):
        words = out + b * n_words
        if (0.0 < cuts[b]) == is_upper[b]:
            memcpy(words, every, n_words * sizeof(uint64_t))
        else:
            for w in range(n_words):
                words[w] = 0
        for i in range(n_listed):
            if numbers[i] < cuts[b] if is_upper[b] else numbers[i] >= cuts[b]:
                set_bit(words, rows[i])
            else:
                clear_bit(words, rows[i])


def test_bounds(
    list columns,
    const int64_t[::1] bounds_indptr,
    const double[::1] cuts,
    const uint8_t[::1] is_upper,
    const uint64_t[::1] every,
    Py_ssize_t n_rows,
    uint64_t[:, ::1] out,
):
    """Write to `out` (n_bounds, n_words) which rows satisfy each bound.

    Parameters
    ----------
    columns : list of (numbers, rows)
        The numbers (float64) of each attribute: one per row, or those of `rows` (int64) while all other
        rows are 0; then `rows` is not None.
    bounds_indptr : (n_columns + 1,) int64
        The bounds of each attribute, a range of all bounds.
    cuts, is_upper : (n_bounds,)
        A bound is number ≥ cut or, if it is an upper one, number < cut.
    every : (n_words,) uint64
        All rows.
    """
    cdef Py_ssize_t n_words = out.shape[1]
    cdef Py_ssize_t f, first, n_bounds
    cdef const double[::1] numbers
    cdef const int64_t[::1] rows
    for f in range(len(columns)):
        first = bounds_indptr[f]
        n_bounds = bounds_indptr[f + 1] - first
        if n_bounds == 0 or n_words == 0:
            continue
        PyErr_CheckSignals()
        numbers, rows = columns[f]
        with nogil:
            if rows is None:
                _test_dense(
                    &numbers[0], n_rows, &cuts[first], &is_upper[first], n_bounds, n_words,
                    &out[first, 0],
                )
            else:
                _test_listed(
                    &numbers[0], &rows[0], rows.shape[0], &cuts[first], &is_upper[first], n_bounds,
                    &every[0], n_words, &out[first, 0],
                )


def join_bounds(
    const int64_t[::1] indptr,
    const int32_t[::1] bound,
    const uint64_t[:, ::1] satisfied,
    const uint64_t[::1] every,
    uint64_t[:, ::1] out,
):
    """Write to `out` (n_rules, n_words) the rows that satisfy all bounds of a rule.

    `indptr` and `bound` are the bounds of the rules (CSR), `satisfied` is the result of `test_bounds`.
    """
    cdef Py_ssize_t n_words = out.shape[1]
    cdef Py_ssize_t r, c, w
    cdef const uint64_t* words
    cdef uint64_t* bits
    if n_words == 0:
        return
    with nogil:
        for r in range(indptr.shape[0] - 1):
            bits = &out[r, 0]
            memcpy(bits, &every[0], n_words * sizeof(uint64_t))
            for c in range(indptr[r], indptr[r + 1]):
                words = &satisfied[bound[c], 0]
                for w in range(n_words):
                    bits[w] &= words[w]
