"""Which codes of a feature occur in a node, and how often: the inner loop of all growing.

Counts travel in pairs, packed into one uint64: examples in the upper half, positives in the lower.
Rows and counts are unsigned because numba tests a signed index for being negative at every access.
The functions work on any named tuple `space` with these arrays:

- pair: (n_rows,) uint64, packed counts of each row
- members: uint32, rows; a node is a range of it
- position: (n_rows,) uint32, where in `members` a row is, beyond the end if nowhere
- histogram, bitmap: packed counts by code, and which codes are in use; all 0 between calls
- codes, counts: the result, codes ascending; both of a length that `result_length` gives
"""

import numpy as np
from numba import njit

from .bits import popcount, trailing_zeros
from .compiling import BORROWING

# Nodes up to this many examples are sorted by insertion; above it a histogram is cheaper.
_SMALL_NODE = 10
# Codes are taken from a word of the bitmap in batches of so many.
_BATCH = 4

# Packed counts: none, one example, the half that holds the positives; and a position in no node.
NONE = np.uint64(0)
ONE = np.uint64(1 << 32)
HALF = np.uint64(32)
POSITIVES = np.uint64(0xFFFFFFFF)
OUTSIDE = np.uint32(0xFFFFFFFF)


@njit(**BORROWING)
def result_length(n_codes):
    """Length of the arrays that hold the codes of a node, given the number of codes of each feature."""
    most_codes = _SMALL_NODE
    for n in n_codes:
        most_codes = max(most_codes, n)
    return most_codes + _BATCH


@njit(**BORROWING)
def find_listed(rows, row):
    """Position of `row` in the ascending rows, or -1."""
    start = 0
    end = len(rows)
    while start < end:
        middle = (start + end) >> 1
        if rows[middle] < row:
            start = middle + 1
        else:
            end = middle
    if start < len(rows) and rows[start] == row:
        return start
    return -1


@njit(**BORROWING)
def _count_by_insertion(column, node, space):
    pair, codes, counts = space.pair, space.codes, space.counts
    n = 0
    for row in node:
        code = column[row]
        if code < 0:
            continue
        i = n
        while i > 0 and codes[i - 1] > code:
            i -= 1
        if i > 0 and codes[i - 1] == code:
            counts[i - 1] += pair[row]
            continue
        for j in range(n, i, -1):
            codes[j] = codes[j - 1]
            counts[j] = counts[j - 1]
        codes[i] = code
        counts[i] = pair[row]
        n += 1
    return n


@njit(**BORROWING)
def _drain_histogram(n_codes, space):
    """Move the used codes of the histogram, ascending, into the result and leave it empty."""
    histogram, bitmap, codes, counts = space.histogram, space.bitmap, space.codes, space.counts
    n = np.uint32(0)
    for w in range((n_codes + 63) >> 6):
        word = bitmap[w]
        bitmap[w] = NONE
        i = n
        n += np.uint32(popcount(word))
        # Always a whole batch, whose surplus the next one overwrites: a loop over just the bits would
        # end at a different turn in every word, and the wrong guesses took a tenth of all growing.
        while True:
            for k in range(_BATCH):
                codes[i + np.uint32(k)] = np.int32(w << 6) + trailing_zeros(word)
                word &= word - np.uint64(1)
            i += np.uint32(_BATCH)
            if i >= n:
                break
    for i in range(n):
        code = np.uint32(codes[i])
        counts[i] = histogram[code]
        histogram[code] = NONE
    return np.int64(n)


@njit(**BORROWING)
def _add(code, pair, space):
    space.histogram[code] += pair
    space.bitmap[code >> 6] |= np.uint64(1) << np.uint64(code & 63)


@njit(**BORROWING)
def count_dense(column, node, n_codes, space):
    """Codes of a dense feature that occur in the node, with their counts; returns how many."""
    if len(node) <= _SMALL_NODE:
        return _count_by_insertion(column, node, space)
    for row in node:
        code = column[row]
        if code >= 0:
            _add(code, space.pair[row], space)
    return _drain_histogram(n_codes, space)


@njit(**BORROWING)
def count_listed(rows, row_codes, default_code, start, end, total, n_codes, space):
    """The same for a listed feature and the node ``members[start:end]`` with the counts `total`.

    The default code has what the listed rows of the node leave over.
    """
    pair, position = space.pair, space.position
    rest = total
    found = False
    # Walk over whichever is shorter: the listed rows, or the node's rows with a search in the list.
    if len(rows) <= 8 * (end - start):
        for e in range(len(rows)):
            row = rows[e]
            if start <= position[row] < end:
                rest -= pair[row]
                if row_codes[e] >= 0:
                    found = True
                    _add(row_codes[e], pair[row], space)
    else:
        for row in space.members[start:end]:
            e = find_listed(rows, row)
            if e >= 0:
                rest -= pair[row]
                if row_codes[e] >= 0:
                    found = True
                    _add(row_codes[e], pair[row], space)
    if not found:
        space.codes[0] = default_code
        space.counts[0] = rest
        return 1 if rest != NONE else 0
    if rest != NONE:
        _add(default_code, rest, space)
    return _drain_histogram(n_codes, space)


@njit(cache=True, nogil=True)
def find_binary(coded):
    """Which features have two codes and no missing value, so that one sum counts both."""
    n_features = len(coded.n_codes)
    is_binary = np.empty(n_features, dtype=np.bool_)
    for f in range(n_features):
        if coded.column[f] >= 0:
            codes = coded.dense[coded.column[f]]
        else:
            codes = coded.codes[coded.indptr[f] : coded.indptr[f + 1]]
        is_binary[f] = coded.n_codes[f] == 2 and np.all(codes >= 0)
    return is_binary


@njit(**BORROWING)
def sum_dense(column, node, space):
    """Packed counts of the node's rows that have the code 1 of a binary dense feature."""
    pair = space.pair
    ones = NONE
    for row in node:
        ones += pair[row] if column[row] != 0 else NONE
    return ones


@njit(**BORROWING)
def sum_listed(rows, start, end, space):
    """Packed counts of the listed rows that are in the node ``members[start:end]``."""
    pair, position = space.pair, space.position
    listed = NONE
    if len(rows) <= 8 * (end - start):
        first, size = np.uint32(start), np.uint32(end - start)
        for e in range(len(rows)):
            row = np.uint32(rows[e])
            # What lies before the node is, unsigned, far behind it: one comparison, and no branch.
            listed += pair[row] if np.uint32(position[row] - first) < size else NONE
    else:
        for row in space.members[start:end]:
            if find_listed(rows, row) >= 0:
                listed += pair[row]
    return listed


@njit(**BORROWING)
def codes_of_rows(coded, feature, node, out):
    """Code of every row of the node on a feature."""
    n_codes, is_nominal, column, dense, default_code, indptr, rows, codes = coded
    if column[feature] >= 0:
        source = dense[column[feature]]
        for i in range(len(node)):
            out[i] = source[node[i]]
    else:
        listed = slice(indptr[feature], indptr[feature + 1])
        for i in range(len(node)):
            e = find_listed(rows[listed], node[i])
            out[i] = codes[listed][e] if e >= 0 else default_code[feature]
