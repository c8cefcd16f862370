"""Which codes of a feature occur in a node, and how often: the inner loop of growing.

Counts are pairs packed into one uint64: examples in the upper half, positives in the lower. Rows and
counts are unsigned because numba tests at every access whether a signed index is negative.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from ._bits import popcount, trailing_zeros
from ._compiling import BORROWING

# Nodes up to this many examples are sorted by insertion; a histogram is cheaper for larger ones.
_SMALL_NODE = 10
# Number of codes that are taken from a word of the bitmap at a time.
_BATCH = 4

# Packed counts: none, one example, the shift and the mask of the halves; and a position in no node.
NONE = np.uint64(0)
ONE = np.uint64(1 << 32)
HALF = np.uint64(32)
POSITIVES = np.uint64(0xFFFFFFFF)
OUTSIDE = np.uint32(0xFFFFFFFF)

Counter = namedtuple(
    "Counter",
    [
        "pair",  # (n_rows,) uint64: packed counts of each row
        "members",  # uint32: rows; a node is a range of it
        "position",  # (n_rows,) uint32: position of a row in `members`, or OUTSIDE
        "histogram",  # packed counts by code; 0 between calls
        "bitmap",  # which codes of the histogram are in use; 0 between calls
        "codes",  # the result: the codes that occur in a node, ascending ...
        "counts",  # ... and their packed counts
    ],
)

# The transposed lists: the listed features of each row (a CSR), and packed counts by feature.
Tally = namedtuple("Tally", ["indptr", "features", "counts"])


@njit(cache=True, nogil=True)
def make_counter(n_codes, n_rows):
    """A counter without members, given the number of codes of each feature."""
    size = _SMALL_NODE
    for n in n_codes:
        size = max(size, n)
    size += _BATCH
    return Counter(
        np.zeros(n_rows, dtype=np.uint64),
        np.empty(n_rows, dtype=np.uint32),
        np.full(n_rows, OUTSIDE, dtype=np.uint32),
        np.zeros(size, dtype=np.uint64),
        np.zeros((size + 63) >> 6, dtype=np.uint64),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.uint64),
    )


@njit(**BORROWING)
def search(ascending, first, last, key):
    """Position in [first, last) of the first entry that is not below the key, or `last`."""
    while first < last:
        middle = (first + last) >> 1
        if ascending[middle] < key:
            first = middle + 1
        else:
            last = middle
    return first


@njit(**BORROWING)
def find_listed(rows, row):
    """Position of `row` in the ascending rows, or -1."""
    i = search(rows, np.int64(0), len(rows), row)
    return i if i < len(rows) and rows[i] == row else -1


@njit(**BORROWING)
def codes_of_rows(coded, feature, node, out):
    """Write the code of every row of the node on a feature."""
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


@njit(**BORROWING)
def _count_by_insertion(column, node, counter):
    pair, codes, counts = counter.pair, counter.codes, counter.counts
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
def _drain_histogram(n_codes, counter):
    """Move the used codes of the histogram, ascending, into the result and leave it empty."""
    pair, members, position, histogram, bitmap, codes, counts = counter
    n = np.uint32(0)
    for w in range((n_codes + 63) >> 6):
        word = bitmap[w]
        bitmap[w] = NONE
        i = n
        n += np.uint32(popcount(word))
        # Always a full batch; the next one overwrites its surplus. A loop over exactly the set bits
        # has an unpredictable number of turns, and mispredictions took a tenth of the time of growing.
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
def _add(code, pair, counter):
    counter.histogram[code] += pair
    counter.bitmap[code >> 6] |= np.uint64(1) << np.uint64(code & 63)


@njit(**BORROWING)
def _count_dense(column, node, n_codes, counter):
    if len(node) <= _SMALL_NODE:
        return _count_by_insertion(column, node, counter)
    for row in node:
        code = column[row]
        if code >= 0:
            _add(code, counter.pair[row], counter)
    return _drain_histogram(n_codes, counter)


@njit(**BORROWING)
def _count_listed(rows, row_codes, default_code, start, end, total, n_codes, counter):
    """The default code has what the listed rows of the node leave over."""
    pair, position = counter.pair, counter.position
    rest = total
    found = False
    # Walk over what is shorter: the listed rows, or the rows of the node with a search for each.
    if len(rows) <= 8 * (end - start):
        for e in range(len(rows)):
            row = rows[e]
            if start <= position[row] < end:
                rest -= pair[row]
                if row_codes[e] >= 0:
                    found = True
                    _add(row_codes[e], pair[row], counter)
    else:
        for row in counter.members[start:end]:
            e = find_listed(rows, row)
            if e >= 0:
                rest -= pair[row]
                if row_codes[e] >= 0:
                    found = True
                    _add(row_codes[e], pair[row], counter)
    if not found:
        counter.codes[0] = default_code
        counter.counts[0] = rest
        return 1 if rest != NONE else 0
    if rest != NONE:
        _add(default_code, rest, counter)
    return _drain_histogram(n_codes, counter)


@njit(forceinline=True, **BORROWING)
def count_codes(coded, f, start, end, total, counter):
    """Codes of a feature in the node ``members[start:end]`` with the counts `total`; return how many.

    The codes and their counts are in `codes` and `counts`.
    """
    n_codes, is_nominal, column, dense, default_code, indptr, rows, codes = coded
    if column[f] >= 0:
        node = counter.members[start:end]
        return _count_dense(dense[column[f]], node, n_codes[f], counter)
    listed = slice(indptr[f], indptr[f + 1])
    return _count_listed(
        rows[listed], codes[listed], default_code[f], start, end, total, n_codes[f], counter
    )


@njit(cache=True, nogil=True)
def find_binary(coded):
    """Which features have two codes and no missing value, so that one sum counts both."""
    is_binary = coded.n_codes == 2
    for f in range(len(is_binary)):
        if coded.column[f] >= 0:
            codes = coded.dense[coded.column[f]]
        else:
            codes = coded.codes[coded.indptr[f] : coded.indptr[f + 1]]
        for code in codes:
            is_binary[f] &= code >= 0
    return is_binary


@njit(forceinline=True, **BORROWING)
def sum_nondefault(coded, f, start, end, counter):
    """Packed counts of the node's rows without the default code of a binary feature (dense: 0)."""
    pair, members, position = counter.pair, counter.members, counter.position
    found = NONE
    if coded.column[f] >= 0:
        column = coded.dense[coded.column[f]]
        for row in members[start:end]:
            found += pair[row] if column[row] != 0 else NONE
        return found
    rows = coded.rows[coded.indptr[f] : coded.indptr[f + 1]]
    if len(rows) <= 8 * (end - start):
        first, size = np.uint32(start), np.uint32(end - start)
        for e in range(len(rows)):
            row = np.uint32(rows[e])
            # An unsigned position before the node wraps to a large one: one comparison, no branch.
            found += pair[row] if np.uint32(position[row] - first) < size else NONE
    else:
        for row in members[start:end]:
            if find_listed(rows, row) >= 0:
                found += pair[row]
    return found


@njit(cache=True, nogil=True)
def make_tally(coded, n_rows):
    """An empty tally: the lists of the features, transposed.

    A tally counts how often each listed feature departs from its default in a node, row by row. In a
    small node this is cheaper than a search in the list of every drawn feature: most of these lists
    hold no row of the node.
    """
    n_features = len(coded.n_codes)
    # Each start is stored one place too far: it serves as the next free slot and ends up right.
    indptr = np.zeros(n_rows + 2, dtype=np.int64)
    for row in coded.rows:
        indptr[row + 2] += 1
    for row in range(n_rows):
        indptr[row + 2] += indptr[row + 1]
    features = np.empty(len(coded.rows), dtype=np.uint32)
    for f in range(n_features):
        for row in coded.rows[coded.indptr[f] : coded.indptr[f + 1]]:
            features[indptr[row + 1]] = f
            indptr[row + 1] += 1
    return Tally(indptr, features, np.zeros(n_features, dtype=np.uint64))


@njit(**BORROWING)
def add_rows(tally, rows, pair):
    """Add the packed counts of the rows to the features that list them."""
    indptr, features, counts = tally
    for row in rows:
        for f in features[indptr[row] : indptr[row + 1]]:
            counts[f] += pair[row]


@njit(**BORROWING)
def clear_rows(tally, rows):
    """Set the counts of the features that list the rows to 0."""
    indptr, features, counts = tally
    for row in rows:
        for f in features[indptr[row] : indptr[row + 1]]:
            counts[f] = NONE
