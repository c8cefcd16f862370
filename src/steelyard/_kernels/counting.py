"""Which codes of a feature occur in a node, and how often: the inner loop of all growing.

Counts travel in pairs, packed into one uint64: examples in the upper half, positives in the lower.
Rows and counts are unsigned because numba tests a signed index for being negative at every access.
The functions work on any named tuple `space` with these arrays:

- pair: (n_rows,) uint64, packed counts of each row
- members: uint32, rows; a node is a range of it
- position: (n_rows,) uint32, where in `members` a row is, beyond the end if nowhere
- histogram, bitmap: packed counts by code, and which codes are in use; all 0 between calls
- codes, counts: the result, codes ascending

Nothing here allocates, and the arrays of `space` outlive every call: `_nrt=False` spares counting the
references to each of them, two atomic additions a call: a fifth of the time Ripper learns on flags.
"""

import numpy as np
from numba import njit

from .bits import trailing_zeros

# Nodes up to this many examples are sorted by insertion; above it a histogram is cheaper.
SMALL_NODE = 10
_NONE = np.uint64(0)


@njit(cache=True, nogil=True, _nrt=False)
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


@njit(cache=True, nogil=True, _nrt=False)
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


@njit(cache=True, nogil=True, _nrt=False)
def _drain_histogram(n_codes, space):
    """Move the used codes of the histogram, ascending, into the result and leave it empty."""
    histogram, bitmap, codes, counts = space.histogram, space.bitmap, space.codes, space.counts
    n = 0
    for w in range((n_codes + 63) >> 6):
        word = bitmap[w]
        bitmap[w] = np.uint64(0)
        while word != np.uint64(0):
            code = (w << 6) + trailing_zeros(word)
            word &= word - np.uint64(1)
            codes[n] = code
            counts[n] = histogram[code]
            histogram[code] = _NONE
            n += 1
    return n


@njit(cache=True, nogil=True, _nrt=False)
def _add(code, pair, space):
    space.histogram[code] += pair
    space.bitmap[code >> 6] |= np.uint64(1) << np.uint64(code & 63)


@njit(cache=True, nogil=True, _nrt=False)
def count_dense(column, node, n_codes, space):
    """Codes of a dense feature that occur in the node, with their counts; returns how many."""
    if len(node) <= SMALL_NODE:
        return _count_by_insertion(column, node, space)
    for row in node:
        code = column[row]
        if code >= 0:
            _add(code, space.pair[row], space)
    return _drain_histogram(n_codes, space)


@njit(cache=True, nogil=True, _nrt=False)
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
        return 1 if rest != _NONE else 0
    if rest != _NONE:
        _add(default_code, rest, space)
    return _drain_histogram(n_codes, space)


@njit(cache=True, nogil=True, _nrt=False)
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
