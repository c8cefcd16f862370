"""SplitMix64, the generator inside the kernels, and keys of rows built with its scrambler.

One word of state is enough for a stream, so that each tree owns its own.
"""

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

    Multiply-shift on 32 bits: no value is likelier than another by more than bound/2³².
    """
    state[0] += _INCREMENT
    word = mix(state[0]) >> np.uint64(32)
    return np.int64((word * np.uint64(bound)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def hash_rows(coded, is_target):
    """A 64-bit key of the content of every row: its codes and the labels it is positive for."""
    n_codes, is_nominal, column, dense, default_code, indptr, rows, codes = coded
    n_labels, n_rows = is_target.shape
    keys = np.zeros(n_rows, dtype=np.uint64)
    for f in range(len(column)):
        salt = mix(np.uint64(f + 1) * _INCREMENT)
        if column[f] >= 0:
            for row in range(n_rows):
                keys[row] += mix(salt + np.uint64(dense[column[f], row] + 1))
        else:
            # Only differences from the default count, so a row costs no more than its entries.
            usual = mix(salt + np.uint64(default_code[f] + 1))
            for e in range(indptr[f], indptr[f + 1]):
                keys[rows[e]] += mix(salt + np.uint64(codes[e] + 1)) - usual
    for label in range(n_labels):
        salt = mix(~(np.uint64(label + 1) * _INCREMENT))
        for row in range(n_rows):
            if is_target[label, row]:
                keys[row] += salt
    return keys
