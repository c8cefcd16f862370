"""Which rules cover a row → scores of the labels, one function for each way to combine rules.

All functions take `coverage` (n_rules, n_words), where bit i is row i; `order`, the rules to combine;
`label_of_rule` (n_rules,); and `out` (n_labels, n_rows), which they change.
"""

import numpy as np
from numba import njit

from ._bits import trailing_zeros


@njit(cache=True, nogil=True)
def first_firing(coverage, order, label_of_rule, out):
    """Position in `order` of the first rule of a label that covers a row.

    `out` holds a position beyond the last one before the call.
    """
    n_words = coverage.shape[1]
    fired = np.zeros((len(out), n_words), dtype=np.uint64)
    for position in range(len(order)):
        rule = order[position]
        label = label_of_rule[rule]
        for w in range(n_words):
            new = coverage[rule, w] & ~fired[label, w]
            fired[label, w] |= new
            while new != np.uint64(0):
                out[label, (w << 6) + trailing_zeros(new)] = position
                new &= new - np.uint64(1)


@njit(cache=True, nogil=True)
def add_points(coverage, order, label_of_rule, points, out):
    """Add the points of the rules that cover a row; `points` are aligned with `order`."""
    for position in range(len(order)):
        rule = order[position]
        row_points = out[label_of_rule[rule]]
        for w in range(coverage.shape[1]):
            word = coverage[rule, w]
            while word != np.uint64(0):
                row_points[(w << 6) + trailing_zeros(word)] += points[position]
                word &= word - np.uint64(1)


@njit(cache=True, nogil=True)
def raise_points(coverage, order, label_of_rule, points, out):
    """Raise `out` to the most points of the rules that cover a row."""
    for position in range(len(order)):
        rule = order[position]
        row_points = out[label_of_rule[rule]]
        value = points[position]
        for w in range(coverage.shape[1]):
            word = coverage[rule, w]
            while word != np.uint64(0):
                row = (w << 6) + trailing_zeros(word)
                row_points[row] = max(row_points[row], value)
                word &= word - np.uint64(1)
