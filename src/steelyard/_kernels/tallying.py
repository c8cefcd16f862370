"""How often each listed feature departs from its default in a node, counted row by row.

In a small node this is cheaper than to look the rows up in the list of every feature that is drawn:
most of those lists hold none of them.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from .compiling import BORROWING
from .counting import NONE

# Row by row the listed features (a CSR), and of every feature the packed counts of the rows added.
Tally = namedtuple("Tally", ["indptr", "features", "counts"])


@njit(cache=True, nogil=True)
def make_tally(coded, n_rows):
    """An empty tally: the lists of the features, transposed."""
    n_features = len(coded.n_codes)
    # One place further than it belongs, each start serves as the next free slot and ends up right.
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
def remove_rows(tally, rows):
    """Make the tally of these rows an empty one again."""
    indptr, features, counts = tally
    for row in rows:
        for f in features[indptr[row] : indptr[row + 1]]:
            counts[f] = NONE
