"""Rule bodies, each kept once, in arrays that grow."""

from collections import namedtuple

import numpy as np
from numba import njit

from .compiling import BORROWING

Rules = namedtuple("Rules", ["indptr", "feature", "low", "high", "hashes", "tree"])


@njit(**BORROWING)
def add_key(table, key):
    """Put a key into a hash set (0 is a free slot); False if it was there."""
    mask = np.uint64(len(table) - 1)
    slot = key & mask
    while table[slot] != np.uint64(0):
        if table[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    table[slot] = key
    return True


@njit(cache=True, nogil=True)
def make_table(keys, n_slots):
    while n_slots < 4 * len(keys):
        n_slots *= 2
    table = np.zeros(n_slots, dtype=np.uint64)
    for key in keys:
        if key != np.uint64(0):
            add_key(table, key)
    return table


@njit(cache=True, nogil=True)
def with_room(rules, n_rules, n_conditions, length):
    """The rule arrays, doubled where one more rule of `length` conditions would not fit."""
    indptr, feature, low, high, hashes, tree = rules
    if n_rules + 1 >= len(indptr):
        larger = np.empty(2 * len(indptr), dtype=np.int64)
        larger[: n_rules + 1] = indptr[: n_rules + 1]
        indptr = larger
        keys = np.empty(2 * len(hashes), dtype=np.uint64)
        keys[:n_rules] = hashes[:n_rules]
        hashes = keys
        trees = np.empty(len(keys), dtype=np.int64)
        trees[:n_rules] = tree[:n_rules]
        tree = trees
    if n_conditions + length > len(feature):
        size = 2 * (n_conditions + length)
        larger_feature = np.empty(size, dtype=np.int32)
        larger_low = np.empty(size, dtype=np.int32)
        larger_high = np.empty(size, dtype=np.int32)
        larger_feature[:n_conditions] = feature[:n_conditions]
        larger_low[:n_conditions] = low[:n_conditions]
        larger_high[:n_conditions] = high[:n_conditions]
        feature, low, high = larger_feature, larger_low, larger_high
    return Rules(indptr, feature, low, high, hashes, tree)
