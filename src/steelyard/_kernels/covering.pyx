"""Separate-and-conquer over packed coverage: select the best rule, remove what it covers, repeat.

Words [0, n_positive_words) of a coverage row stand for positive examples, the rest for negative ones.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

from ._bits cimport popcount


def count_covered(const uint64_t[:, ::1] coverage, Py_ssize_t n_positive_words):
    """TP and FP of every rule on all examples."""
    cdef Py_ssize_t n_rules = coverage.shape[0]
    cdef int32_t[:, ::1] counts = np.zeros((2, n_rules), dtype=np.int32)
    cdef Py_ssize_t r, w
    with nogil:
        for r in range(n_rules):
            for w in range(n_positive_words):
                counts[0, r] += popcount(coverage[r, w])
            for w in range(n_positive_words, coverage.shape[1]):
                counts[1, r] += popcount(coverage[r, w])
    return counts.base[0], counts.base[1]


def pick_by_values(
    const double[::1] values,
    const int64_t[::1] active,
    const int32_t[::1] tp,
    const int64_t[::1] n_conditions,
):
    """Position in `active` of the rule that is best in the order of the paper, or -1.

    The larger value wins, then more true positives, fewer conditions, the rule that was found first.
    """
    cdef Py_ssize_t best = -1
    cdef double best_value = -INFINITY
    cdef Py_ssize_t i
    cdef bint is_better
    with nogil:
        for i in range(active.shape[0]):
            if best >= 0 and not values[i] >= best_value:
                continue
            if best < 0 or values[i] > best_value:
                is_better = True
            elif tp[i] != tp[best]:
                is_better = tp[i] > tp[best]
            elif n_conditions[active[i]] != n_conditions[active[best]]:
                is_better = n_conditions[active[i]] < n_conditions[active[best]]
            else:
                is_better = active[i] < active[best]
            if is_better:
                best = i
                best_value = values[i]
    return best


def evaluate_fraction(
    const double[:, ::1] coefficients,
    const int32_t[::1] tp,
    const int32_t[::1] fp,
    double n_positives,
    double n_negatives,
):
    """Values of the fraction with the given (6, 6) coefficients; 0/0 counts as 0.

    `steelyard.heuristics.FractionHeuristic` does the same operations in the same order.
    """
    cdef double total = n_positives + n_negatives
    cdef double product = n_positives * n_negatives
    cdef double[6] terms = [1.0, n_positives, n_negatives, total, total * total, product]
    cdef double[6] weights
    cdef double[::1] values = np.empty(tp.shape[0])
    cdef double a, b, c, d, e, f, denominator
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(6):
            weights[i] = 0.0
            for k in range(6):
                weights[i] += coefficients[i, k] * terms[k]
        a, b, c, d, e, f = weights[0], weights[1], weights[2], weights[3], weights[4], weights[5]
        for i in range(tp.shape[0]):
            denominator = d * tp[i] + e * fp[i] + f
            if denominator != 0:
                values[i] = (a * tp[i] + b * fp[i] + c) / denominator
            else:
                values[i] = 0.0
    return values.base


def take_away(
    const uint64_t[:, ::1] coverage,
    Py_ssize_t n_positive_words,
    Py_ssize_t rule,
    uint64_t[::1] uncovered,
    int64_t[::1] active,
    int32_t[::1] tp,
    int32_t[::1] fp,
):
    """Remove what `rule` covers: update `uncovered` and the counts of the active rules in place.

    `active`, `tp` and `fp` are aligned; only rules that still cover a positive stay in them.

    Returns (number of rules that stay active, positives removed, negatives removed).
    """
    cdef Py_ssize_t n_words = coverage.shape[1]
    cdef int64_t[::1] touched = np.empty(n_words, dtype=np.int64)
    cdef uint64_t[::1] newly = np.empty(n_words, dtype=np.uint64)
    cdef Py_ssize_t n_touched = 0
    cdef Py_ssize_t n_touched_positive = 0
    cdef Py_ssize_t n_left = 0
    cdef int32_t removed_positives = 0
    cdef int32_t removed_negatives = 0
    cdef int32_t n
    cdef Py_ssize_t w, i, t
    cdef uint64_t word
    cdef const uint64_t* covered
    with nogil:
        for w in range(n_words):
            word = coverage[rule, w] & uncovered[w]
            if word == 0:
                continue
            touched[n_touched] = w
            newly[n_touched] = word
            n_touched += 1
            uncovered[w] &= ~word
            if w < n_positive_words:
                n_touched_positive += 1
                removed_positives += popcount(word)
            else:
                removed_negatives += popcount(word)
        for i in range(active.shape[0]):
            covered = &coverage[active[i], 0]
            n = tp[i]
            for t in range(n_touched_positive):
                n -= popcount(covered[touched[t]] & newly[t])
            if n > 0:
                active[n_left] = active[i]
                tp[n_left] = n
                n = fp[i]
                for t in range(n_touched_positive, n_touched):
                    n -= popcount(covered[touched[t]] & newly[t])
                fp[n_left] = n
                n_left += 1
    return n_left, removed_positives, removed_negatives
