"""SplitMix64: random numbers from one word of state, so every tree has a stream of its own."""

import numpy as np
from numba import njit

INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)


@njit(cache=True, inline="always")
def mix(word):
    """Scramble a 64-bit word; the mapping is bijective."""
    word = (word ^ (word >> np.uint64(30))) * _MULTIPLIER_1
    word = (word ^ (word >> np.uint64(27))) * _MULTIPLIER_2
    return word ^ (word >> np.uint64(31))


@njit(cache=True, inline="always")
def next_below(state, bound):
    """Advance `state` (array of one uint64) and return an integer in [0, bound).

    Multiply-shift on 32 bits: the probabilities of two integers differ by at most bound/2³².
    """
    state[0] += INCREMENT
    word = mix(state[0]) >> np.uint64(32)
    return np.int64((word * np.uint64(bound)) >> np.uint64(32))
