"""Rule bodies: merge the conditions of a feature, hash a body, and find the rows that it covers.

A condition is low ≤ code < high on a feature. A body is an int32 array of shape (n_conditions, 3) with
the columns feature, low and high.
"""

import numpy as np
from numba import njit

from ._compiling import BORROWING
from ._counting import codes_of_rows
from ._random import INCREMENT, mix


@njit(cache=True, nogil=True)
def doubled(array):
    """A copy with room for twice as many entries."""
    larger = np.empty((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@njit(**BORROWING)
def merge_conditions(conditions, n, slot_of_feature, out):
    """Intersect the ranges of each feature among the first `n` conditions; return the new length.

    Features stay in the order of their first condition. `slot_of_feature` (n_features,) is working
    memory, -1 before and after a call: paths are long, and a search per condition would be slow.
    """
    length = np.int64(0)
    for c in range(n):
        feature = conditions[c, 0]
        slot = slot_of_feature[feature]
        if slot < 0:
            slot_of_feature[feature] = length
            for k in range(3):
                out[length, k] = conditions[c, k]
            length += 1
        else:
            out[slot, 1] = max(out[slot, 1], conditions[c, 1])
            out[slot, 2] = min(out[slot, 2], conditions[c, 2])
    for c in range(length):
        slot_of_feature[out[c, 0]] = -1
    return length


@njit(**BORROWING)
def hash_body(body, length):
    """Key of a body, never 0; the order of its conditions does not matter."""
    key = np.uint64(0)
    for c in range(length):
        word = mix(np.uint64(body[c, 0]) + INCREMENT)
        word = mix(word ^ np.uint64(body[c, 1]))
        key += mix(word + (np.uint64(body[c, 2]) << np.uint64(20)))
    return key if key != np.uint64(0) else np.uint64(1)


@njit(**BORROWING)
def filter_rows(coded, body, c, rows, row_codes):
    """Move the rows that satisfy condition `c` to the front, in order, and return their number."""
    codes_of_rows(coded, body[c, 0], rows, row_codes)
    low, high = body[c, 1], body[c, 2]
    n_kept = 0
    for i in range(len(rows)):
        if low <= row_codes[i] < high:
            rows[n_kept] = rows[i]
            n_kept += 1
    return n_kept


@njit(**BORROWING)
def filter_mask(coded, body, c, mask):
    """Clear the rows of a mask that do not satisfy condition `c`."""
    feature, low, high = body[c, 0], body[c, 1], body[c, 2]
    if coded.column[feature] >= 0:
        codes = coded.dense[coded.column[feature]]
        for row in range(len(mask)):
            mask[row] &= low <= codes[row] < high
        return
    first, last = coded.indptr[feature], coded.indptr[feature + 1]
    if low <= coded.default_code[feature] < high:
        for e in range(first, last):
            mask[coded.rows[e]] &= low <= coded.codes[e] < high
        return
    # Only listed rows can satisfy it: clear everything between one of them and the next.
    row = 0
    for e in range(first, last):
        listed = coded.rows[e]
        mask[row:listed] = False
        mask[listed] &= low <= coded.codes[e] < high
        row = listed + 1
    mask[row:] = False


@njit(**BORROWING)
def cover_mask(coded, body, length, out):
    """Set `out` (n_rows,) to the rows that the first `length` conditions cover."""
    out[:] = True
    for c in range(length):
        filter_mask(coded, body, c, out)
