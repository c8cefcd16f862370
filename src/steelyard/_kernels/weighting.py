"""Weighting: rules of a label are added one by one, each with the weight that lowers the loss most."""

import numpy as np
from numba import njit

from .bits import trailing_zeros
from .random import next_below


@njit(cache=True, nogil=True)
def _tabulate(gradients, curvatures, out):
    """Sums over every subset of every eight rows: ``out[b, s]`` for the subset s, both in a pair.

    A rule's sums are then one look-up for eight rows, by a byte of its coverage.
    """
    n_rows = len(gradients)
    for b in range(len(out)):
        for s in range(1, 256):
            row = 8 * b + trailing_zeros(np.uint64(s))
            rest = s & (s - 1)
            if row < n_rows:
                out[b, s, 0] = out[b, rest, 0] + gradients[row]
                out[b, s, 1] = out[b, rest, 1] + curvatures[row]


@njit(cache=True, nogil=True)
def _find_best(coverage, sums, l2, max_weight, n_drawn, state):
    """The rule whose weight lowers the loss most: (rule or -1, its gain, its weight).

    Of all rules or, if these are more than `n_drawn`, of as many drawn at random.
    """
    n_rules, n_bytes = coverage.shape
    best = -1
    best_gain = 0.0
    best_weight = 0.0
    for i in range(min(n_rules, n_drawn)):
        r = next_below(state, n_rules) if n_drawn < n_rules else i
        gradient = 0.0
        curvature = 0.0
        for b in range(n_bytes):
            s = coverage[r, b]
            gradient += sums[b, s, 0]
            curvature += sums[b, s, 1]
        curvature += l2
        weight = min(max(gradient / curvature, -max_weight), max_weight)
        gain = weight * (2.0 * gradient - curvature * weight)
        if gain > best_gain:
            best = r
            best_gain = gain
            best_weight = weight
    return best, best_gain, best_weight


@njit(cache=True, nogil=True)
def boost_rules(
    coverage,
    is_positive,
    l2,
    step,
    max_weight,
    points_per_log_odd,
    n_greedy,
    n_drawn,
    row_share,
    seed,
    out_rule,
    out_points,
    out_gain,
):
    """Stagewise logistic regression over the coverage of rules.

    With the sums G and H of the gradients and curvatures of the rows that a rule covers, its weight w is
    G/(H + l2), but at most `max_weight` to either side, and its gain 2Gw - (H + l2)w². Each round takes
    the rule with the largest gain and adds the share `step` of its weight, rounded to whole points, to
    the log-odds of the rows it covers. It ends when the best rule has no point to give.

    Parameters
    ----------
    coverage : (n_rules, n_bytes) uint8
        Bit i of byte b is row 8b + i.
    is_positive : (n_rows,) bool
        Neither all nor none of them.
    n_greedy : int
        Rounds that look at everything; later ones look at samples.
    n_drawn : int
        Rules that a later round looks at, drawn at random if there are more.
    row_share : float
        Share of the rows, drawn at random, that a later round looks at.
    seed : uint64
    out_rule, out_points, out_gain : (n_rounds,)

    Returns the number of rounds.
    """
    n_rows = len(is_positive)
    n_bytes = coverage.shape[1]
    n_positives = 0
    for row in range(n_rows):
        n_positives += is_positive[row]
    log_odds = np.full(n_rows, np.log(n_positives / (n_rows - n_positives)))
    gradients = np.empty(n_rows)
    curvatures = np.empty(n_rows)
    sums = np.zeros((n_bytes, 256, 2))
    state = np.array([seed], dtype=np.uint64)
    resolution = 1 << 20
    row_limit = np.int64(row_share * resolution)
    for t in range(len(out_rule)):
        for row in range(n_rows):
            if t >= n_greedy and next_below(state, resolution) >= row_limit:
                gradients[row] = 0.0
                curvatures[row] = 0.0
                continue
            p = 1.0 / (1.0 + np.exp(-log_odds[row]))
            gradients[row] = is_positive[row] - p
            curvatures[row] = p * (1.0 - p)
        _tabulate(gradients, curvatures, sums)
        n_looked_at = len(coverage) if t < n_greedy else n_drawn
        rule, gain, weight = _find_best(coverage, sums, l2, max_weight, n_looked_at, state)
        points = np.int64(np.rint(points_per_log_odd * step * weight))
        if rule < 0 or points == 0:
            return t
        out_rule[t] = rule
        out_points[t] = points
        out_gain[t] = gain
        for b in range(n_bytes):
            s = coverage[rule, b]
            for i in range(8):
                if s >> i & 1:
                    log_odds[8 * b + i] += points / points_per_log_odd
    return len(out_rule)
