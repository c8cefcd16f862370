"""Separate-and-conquer over packed coverage: select the best rule, remove what it covers, repeat.

Words [0, n_positive_words) of a coverage row stand for positive examples, the rest for negative ones.
"""

import numpy as np
from numba import njit

from ._bits import count_common, popcount


@njit(cache=True, nogil=True)
def count_covered(coverage, n_positive_words):
    """TP and FP of every rule on all examples."""
    n_rules = len(coverage)
    tp = np.empty(n_rules, dtype=np.int32)
    fp = np.empty(n_rules, dtype=np.int32)
    for r in range(n_rules):
        tp[r], fp[r] = count_common(coverage[r], coverage[r], n_positive_words)
    return tp, fp


@njit(cache=True, nogil=True)
def pick_by_values(values, active, tp, n_conditions):
    """Position in `active` of the rule that is best in the order of the paper, or -1.

    The larger value wins, then more true positives, fewer conditions, the rule that was found first.
    """
    best = -1
    best_value = -np.inf
    for i in range(len(active)):
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


@njit(cache=True, nogil=True)
def _evaluate_fraction(coefficients, tp, fp, n_positives, n_negatives, out):
    """Values of the fraction with the given (6, 5) coefficients; 0/0 counts as 0.

    `steelyard.heuristics.FractionHeuristic` does the same operations in the same order.
    """
    total = n_positives + n_negatives
    weights = np.empty(6)
    for i in range(6):
        weights[i] = (
            coefficients[i, 0]
            + coefficients[i, 1] * n_positives
            + coefficients[i, 2] * n_negatives
            + coefficients[i, 3] * total
            + coefficients[i, 4] * (total * total)
        )
    a, b, c, d, e, f = weights[0], weights[1], weights[2], weights[3], weights[4], weights[5]
    for i in range(len(tp)):
        denominator = d * tp[i] + e * fp[i] + f
        out[i] = (a * tp[i] + b * fp[i] + c) / denominator if denominator != 0 else 0.0


@njit(cache=True, nogil=True)
def take_away(coverage, n_positive_words, rule, uncovered, active, tp, fp):
    """Remove what `rule` covers: update `uncovered` and the counts of the active rules in place.

    `active`, `tp` and `fp` are aligned; only rules that still cover a positive stay in them.

    Returns (number of rules that stay active, positives removed, negatives removed).
    """
    n_words = coverage.shape[1]
    touched = np.empty(n_words, dtype=np.int64)
    newly = np.empty(n_words, dtype=np.uint64)
    n_touched_positive = 0
    n_touched = 0
    removed_positives = 0
    removed_negatives = 0
    for w in range(n_words):
        word = coverage[rule, w] & uncovered[w]
        if word != np.uint64(0):
            touched[n_touched] = w
            newly[n_touched] = word
            n_touched += 1
            uncovered[w] &= ~word
            if w < n_positive_words:
                n_touched_positive += 1
                removed_positives += popcount(word)
            else:
                removed_negatives += popcount(word)
    n_left = 0
    for i in range(len(active)):
        r = active[i]
        n = tp[i]
        for t in range(n_touched_positive):
            n -= popcount(coverage[r, touched[t]] & newly[t])
        if n > 0:
            m = fp[i]
            for t in range(n_touched_positive, n_touched):
                m -= popcount(coverage[r, touched[t]] & newly[t])
            active[n_left] = r
            tp[n_left] = n
            fp[n_left] = m
            n_left += 1
    return n_left, removed_positives, removed_negatives


@njit(cache=True, nogil=True)
def cover_by_coefficients(
    coverage,
    n_positive_words,
    uncovered,
    n_positives,
    n_negatives,
    n_conditions,
    tp,
    fp,
    coefficients,
):
    """Covering for one heuristic; returns the selected rules in order.

    `tp` and `fp` are the counts on all examples, `uncovered` the bits of all examples.
    """
    active = np.flatnonzero(tp > 0)
    tp, fp = tp[active], fp[active]
    uncovered = uncovered.copy()
    values = np.empty(len(active))
    selected = np.empty(n_positives, dtype=np.int64)
    n_selected = 0
    while len(active) > 0:
        totals = float(n_positives), float(n_negatives)
        _evaluate_fraction(coefficients, tp, fp, *totals, values)
        rule = active[pick_by_values(values, active, tp, n_conditions)]
        selected[n_selected] = rule
        n_selected += 1
        n_left, removed_positives, removed_negatives = take_away(
            coverage, n_positive_words, rule, uncovered, active, tp, fp
        )
        active, tp, fp = active[:n_left], tp[:n_left], fp[:n_left]
        n_positives -= removed_positives
        n_negatives -= removed_negatives
    return selected[:n_selected].copy()
