"""Conditions → bodies with one range ``low ≤ code < high`` a feature, in order of appearance."""

import numpy as np
from numba import njit

from .compiling import BORROWING
from .random import mix


@njit(**BORROWING)
def add_condition(body, length, feature, low, high):
    """Add a condition to a body, within the range that its feature has already; returns the length."""
    for c in range(length):
        if body[c, 0] == feature:
            body[c, 1] = max(body[c, 1], low)
            body[c, 2] = min(body[c, 2], high)
            return length
    body[length, 0] = feature
    body[length, 1] = low
    body[length, 2] = high
    return length + 1


@njit(**BORROWING)
def merge_path(path, depth, body, slot_of_feature):
    """Conditions of a path as a body; paths are long, so slots say where a feature is already."""
    length = 0
    for d in range(depth):
        f = path[d, 0]
        slot = slot_of_feature[f]
        if slot < 0:
            slot_of_feature[f] = length
            for c in range(3):
                body[length, c] = path[d, c]
            length += 1
        else:
            body[slot, 1] = max(body[slot, 1], path[d, 1])
            body[slot, 2] = min(body[slot, 2], path[d, 2])
    for c in range(length):
        slot_of_feature[body[c, 0]] = -1
    return length


@njit(**BORROWING)
def hash_body(body, length):
    """A key of the conditions that does not depend on their order; never 0."""
    key = np.uint64(0)
    for c in range(length):
        word = mix(np.uint64(body[c, 0]) + np.uint64(0x9E3779B97F4A7C15))
        word = mix(word ^ np.uint64(body[c, 1]))
        key += mix(word + (np.uint64(body[c, 2]) << np.uint64(20)))
    return key if key != np.uint64(0) else np.uint64(1)
