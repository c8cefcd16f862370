"""Weighting: rules of a label are added one by one, each with the weight that lowers the loss most."""

import numpy as np
from numba import njit

from .bits import trailing_zeros


@njit(cache=True, nogil=True)
def _tabulate(values, out):
    """Sums of `values` over every subset of every eight rows: ``out[b, s]`` for the subset s.

    A rule's sum is then one look-up for eight rows, by a byte of its coverage.
    """
    n_rows = len(values)
    for b in range(len(out)):
        for s in range(1, 256):
            low = trailing_zeros(np.uint64(s))
            row = 8 * b + low
            value = values[row] if row < n_rows else 0.0
            out[b, s] = out[b, s & (s - 1)] + value


@njit(cache=True, nogil=True)
def _find_best(coverage, gradients, curvatures, l2):
    """The rule whose weight lowers the loss most: (rule, its gain, its Newton step)."""
    n_rules, n_bytes = coverage.shape
    best = -1
    best_gain = 0.0
    best_weight = 0.0
    for r in range(n_rules):
        gradient = 0.0
        curvature = 0.0
        for b in range(n_bytes):
            s = coverage[r, b]
            if s:
                gradient += gradients[b, s]
                curvature += curvatures[b, s]
        gain = gradient * gradient / (curvature + l2)
        if gain > best_gain:
            best = r
            best_gain = gain
            best_weight = gradient / (curvature + l2)
    return best, best_gain, best_weight


@njit(cache=True, nogil=True)
def boost_rules(coverage, is_positive, l2, step, n_rounds, out_rule, out_weight, out_gain):
    """Stagewise logistic regression over the coverage of rules.

    Each round takes the rule with the largest gain G²/(H + l2), where G and H are the sums of the
    gradients and curvatures of the rows it covers, and adds the share `step` of G/(H + l2) to the
    log-odds of those rows.

    Parameters
    ----------
    coverage : (n_rules, n_bytes) uint8
        Bit i of byte b is row 8b + i.
    is_positive : (n_rows,) bool
    out_rule, out_weight, out_gain : (n_rounds,)

    Returns the number of rounds; fewer than `n_rounds` if no rule lowers the loss any more.
    """
    n_rows = len(is_positive)
    n_bytes = coverage.shape[1]
    n_positives = 0
    for row in range(n_rows):
        n_positives += is_positive[row]
    log_odds = np.full(n_rows, np.log(n_positives / (n_rows - n_positives)))
    gradients = np.empty(n_rows)
    curvatures = np.empty(n_rows)
    gradient_sums = np.zeros((n_bytes, 256))
    curvature_sums = np.zeros((n_bytes, 256))
    for t in range(n_rounds):
        for row in range(n_rows):
            p = 1.0 / (1.0 + np.exp(-log_odds[row]))
            gradients[row] = is_positive[row] - p
            curvatures[row] = p * (1.0 - p)
        _tabulate(gradients, gradient_sums)
        _tabulate(curvatures, curvature_sums)
        rule, gain, weight = _find_best(coverage, gradient_sums, curvature_sums, l2)
        if rule < 0:
            return t
        out_rule[t] = rule
        out_weight[t] = step * weight
        out_gain[t] = gain
        for b in range(n_bytes):
            s = coverage[rule, b]
            for i in range(8):
                if s >> i & 1:
                    log_odds[8 * b + i] += step * weight
    return n_rounds
