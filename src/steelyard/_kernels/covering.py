"""Separate-and-conquer over packed coverage: pick the best rule, take away what it covers, repeat.

Words [0, n_positive_words) of a coverage row stand for positive examples, the rest for negative ones.
"""

import numpy as np
from numba import njit

from .bits import popcount


@njit(cache=True, nogil=True)
def count_covered(coverage, n_positive_words):
    """TP and FP of every rule on all examples."""
    n_rules, n_words = coverage.shape
    tp = np.empty(n_rules, dtype=np.int32)
    fp = np.empty(n_rules, dtype=np.int32)
    for r in range(n_rules):
        n = 0
        for w in range(n_positive_words):
            n += popcount(coverage[r, w])
        tp[r] = n
        n = 0
        for w in range(n_positive_words, n_words):
            n += popcount(coverage[r, w])
        fp[r] = n
    return tp, fp


@njit(cache=True, nogil=True, inline="always")
def _is_better(value, tp, n_conditions, rule, best_value, best_tp, best_conditions, best_rule):
    """The paper's order: value, then more true positives, then fewer conditions, then the first."""
    if value != best_value:
        return value > best_value
    if tp != best_tp:
        return tp > best_tp
    if n_conditions != best_conditions:
        return n_conditions < best_conditions
    return rule < best_rule


@njit(cache=True, nogil=True)
def pick_by_coefficients(coefficients, active, tp, fp, n_conditions, n_positives, n_negatives):
    """Position in `active` of the best rule by a fraction of the given (6, 5) coefficients, or -1."""
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
    best = -1
    best_value = -np.inf
    best_tp = 0
    for i in range(len(active)):
        r = active[i]
        denominator = d * tp[i] + e * fp[i] + f
        value = (a * tp[i] + b * fp[i] + c) / denominator if denominator != 0 else 0.0
        if value >= best_value and (
            best < 0
            or _is_better(
                value,
                tp[i],
                n_conditions[r],
                r,
                best_value,
                best_tp,
                n_conditions[active[best]],
                active[best],
            )
        ):
            best = i
            best_value = value
            best_tp = tp[i]
    return best


@njit(cache=True, nogil=True)
def pick_by_values(values, active, tp, n_conditions):
    """Position in `active` of the best rule by given values, or -1."""
    best = -1
    for i in range(len(active)):
        if best < 0 or _is_better(
            values[i],
            tp[i],
            n_conditions[active[i]],
            active[i],
            values[best],
            tp[best],
            n_conditions[active[best]],
            active[best],
        ):
            best = i
    return best


@njit(cache=True, nogil=True)
def take_away(coverage, n_positive_words, rule, uncovered, active, tp, fp):
    """Remove what `rule` covers: updates `uncovered` and the counts of the active rules in place.

    `active`, `tp` and `fp` are aligned; they are compacted to the rules that still cover a positive.

    Returns (number of rules left active, positives removed, negatives removed).
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
    active_tp = tp[active]
    active_fp = fp[active]
    uncovered = uncovered.copy()
    selected = np.empty(n_positives, dtype=np.int64)
    n_selected = 0
    n_active = len(active)
    while n_active > 0:
        best = pick_by_coefficients(
            coefficients,
            active[:n_active],
            active_tp[:n_active],
            active_fp[:n_active],
            n_conditions,
            float(n_positives),
            float(n_negatives),
        )
        rule = active[best]
        selected[n_selected] = rule
        n_selected += 1
        n_active, removed_positives, removed_negatives = take_away(
            coverage,
            n_positive_words,
            rule,
            uncovered,
            active[:n_active],
            active_tp[:n_active],
            active_fp[:n_active],
        )
        n_positives -= removed_positives
        n_negatives -= removed_negatives
    return selected[:n_selected].copy()
