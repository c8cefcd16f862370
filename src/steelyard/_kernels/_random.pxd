"""SplitMix64: random numbers from one word of state, so every tree has a stream of its own."""

from libc.stdint cimport int64_t, uint64_t

cdef inline uint64_t increment() noexcept nogil:
    return <uint64_t> 0x9E3779B97F4A7C15ULL


cdef inline uint64_t mix(uint64_t word) noexcept nogil:
    """Scramble a 64-bit word; the mapping is bijective."""
    word = (word ^ (word >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9ULL
    word = (word ^ (word >> 27)) * <uint64_t> 0x94D049BB133111EBULL
    return word ^ (word >> 31)


cdef inline int64_t next_below(uint64_t* state, uint64_t bound) noexcept nogil:
    """Advance `state` and return an integer in [0, bound).

    Multiply-shift on 32 bits: the probabilities of two integers differ by at most bound/2³².
    """
    state[0] += increment()
    return <int64_t> (((mix(state[0]) >> 32) * bound) >> 32)
