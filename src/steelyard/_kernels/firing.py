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
