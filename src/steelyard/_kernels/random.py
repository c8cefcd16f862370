"""SplitMix64, the generator inside the kernels: one word of state, so each tree owns its stream."""

import numpy as np
from numba import njit

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)


@njit(cache=True, inline="always")
def mix(word):
    """Bijective scrambling of a 64-bit word."""
    word = (word ^ (word >> np.uint64(30))) * _MULTIPLIER_1
    word = (word ^ (word >> np.uint64(27))) * _MULTIPLIER_2
    return word ^ (word >> np.uint64(31))


@njit(cache=True, inline="always")
def next_below(state, bound):
    """Advance `state` (array of one uint64) and return an integer in [0, bound).

    Multiply-shift on 32 bits; for the bounds met here (rows, attributes) its bias is below 1e-5.
    """
    state[0] += _INCREMENT
    word = mix(state[0]) >> np.uint64(32)
    return np.int64((word * np.uint64(bound)) >> np.uint64(32))
