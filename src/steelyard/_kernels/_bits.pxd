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
    """
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
    cdef int64_t count = 0
    cdef Py_ssize_t w
    for w in range(first, last):
        count += popcount(words[w] & others[w])
    return count


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
