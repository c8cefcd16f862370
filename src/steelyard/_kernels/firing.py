"""When a label's rules fire first as rules are added from best to worst."""

import numpy as np
from numba import njit

from .bits import trailing_zeros


@njit(cache=True, nogil=True)
def first_firing(coverage, order, label_of_rule, out):
    """Position in `order` of the first rule of a label that covers a row.

    Parameters
    ----------
    coverage : (n_rules, n_words) uint64, bit i is row i
    order : (n,) rules, best first
    label_of_rule : (n_rules,)
    out : (n_labels, n_rows) int32, filled beforehand with a position beyond the last
    """
    n_words = coverage.shape[1]
    fired = np.zeros((out.shape[0], n_words), dtype=np.uint64)
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
    """Add to `out` (n_labels, n_rows) the points of the rules that fire.

    `points` are aligned with `order`; for the rest see `first_firing`.
    """
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
    """Raise `out` (n_labels, n_rows) to the most points of the rules that fire."""
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
