"""Boosting: grow the rules of a label one by one, each for what the rules before it left over.

Gradients and curvatures of the loss are integers in units of 2⁻³⁰. Their sums are exact, so the gain of
a rule depends neither on the order of the rows nor on how it was added up.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from ._compiling import BORROWING
from ._conditions import cover_mask, filter_mask, merge_conditions
from ._random import next_below

_UNIT = 1 << 30

# What all rounds of a call share: the data, the settings, and memory that is used again.
_Space = namedtuple(
    "_Space",
    [
        "coded",
        "draw_order",
        "bag_size",
        "n_features_drawn",
        "l2",
        "max_weight",
        "gradients",  # (n_rows,) of the loss, in units of 2⁻³⁰
        "curvatures",
        "members",  # rows of the bag that satisfy the body so far ...
        "bag",  # (n_rows, 2) ... their gradients and curvatures, times the number of draws ...
        "inside",  # (n_rows,) ... and whether a row is one of them
        "histogram",  # (most_codes, 2) sums of both by code; 0 between calls
        "window",  # features with more than one code; the drawn ones move to the front
    ],
)


@njit(**BORROWING)
def _weigh(gradient, curvature, space):
    """(gain, weight) of a rule with these sums."""
    slope = gradient / _UNIT
    bend = curvature / _UNIT + space.l2
    weight = min(max(slope / bend, -space.max_weight), space.max_weight)
    return weight * (2.0 * slope - bend * weight), weight


@njit(**BORROWING)
def _draw_bag(state, space):
    """Draw rows with replacement into the empty body; return (n_members, gradient, curvature)."""
    bag, n_rows = space.bag, len(space.draw_order)
    bag[:, 0] = 0
    for _ in range(space.bag_size):
        bag[space.draw_order[next_below(state, n_rows)], 0] += 1
    n = 0
    gradient = 0
    curvature = 0
    for row in range(n_rows):
        n_drawn = bag[row, 0]
        space.inside[row] = n_drawn > 0
        if n_drawn > 0:
            space.members[n] = row
            bag[row, 0] = n_drawn * space.gradients[row]
            bag[row, 1] = n_drawn * space.curvatures[row]
            gradient += bag[row, 0]
            curvature += bag[row, 1]
            n += 1
    return n, gradient, curvature


@njit(**BORROWING)
def _add_up_dense(codes, members, bag, histogram):
    """Add up the members by code; return the sums of all members whose code is known."""
    known_g = 0
    known_h = 0
    for row in members:
        code = codes[row]
        if code >= 0:
            histogram[np.uint32(code), 0] += bag[row, 0]
            histogram[np.uint32(code), 1] += bag[row, 1]
            known_g += bag[row, 0]
            known_h += bag[row, 1]
    return known_g, known_h


@njit(**BORROWING)
def _add_up_listed(rows, codes, default_code, inside, bag, total, histogram):
    """The same for a listed feature: the default code has what the listed rows leave over."""
    rest_g, rest_h = total
    known_g, known_h = total
    for e in range(np.uint64(len(rows))):
        row = np.uint32(rows[e])
        if inside[row]:
            code = codes[e]
            rest_g -= bag[row, 0]
            rest_h -= bag[row, 1]
            if code >= 0:
                histogram[np.uint32(code), 0] += bag[row, 0]
                histogram[np.uint32(code), 1] += bag[row, 1]
            else:
                known_g -= bag[row, 0]
                known_h -= bag[row, 1]
    histogram[default_code, 0] = rest_g
    histogram[default_code, 1] = rest_h
    return known_g, known_h


@njit(**BORROWING)
def _find_range(histogram, is_nominal, known, least, space):
    """The range of codes with the largest gain above `least`: (gain, low, high or 0 if there is none).

    A range is one value of a nominal feature, or one side of a boundary of a numeric feature. The
    histogram is empty afterwards.
    """
    best = least
    low = 0
    high = 0
    below_g = 0
    below_h = 0
    n_codes = len(histogram)
    for code in range(n_codes):
        g = histogram[code, 0]
        h = histogram[code, 1]
        histogram[code, 0] = 0
        histogram[code, 1] = 0
        if g == 0 and h == 0:  # no member has this code, or nothing of them is left to explain
            continue
        if is_nominal:
            gain, _ = _weigh(g, h, space)
            if gain > best:
                best, low, high = gain, code, code + 1
        elif code < n_codes - 1:
            below_g += g
            below_h += h
            gain, _ = _weigh(below_g, below_h, space)
            if gain > best:
                best, low, high = gain, 0, code + 1
            gain, _ = _weigh(known[0] - below_g, known[1] - below_h, space)
            if gain > best:
                best, low, high = gain, code + 1, n_codes
    return best, low, high


@njit(**BORROWING)
def _find_condition(state, n, total, least, space):
    """The condition with the largest gain above `least`: (gain, feature or -1, low, high)."""
    n_codes, is_nominal, column, dense, default_code, indptr, rows, codes = space.coded
    members, bag, inside, window = space.members[:n], space.bag, space.inside, space.window
    best = least, -1, 0, 0
    for d in range(min(space.n_features_drawn, len(window))):
        other = d + next_below(state, len(window) - d)
        feature = window[other]
        window[other] = window[d]
        window[d] = feature
        histogram = space.histogram[: n_codes[feature]]
        if column[feature] >= 0:
            known = _add_up_dense(dense[column[feature]], members, bag, histogram)
        else:
            listed = slice(indptr[feature], indptr[feature + 1])
            default = default_code[feature]
            known = _add_up_listed(
                rows[listed], codes[listed], default, inside, bag, total, histogram
            )
        gain, low, high = _find_range(histogram, is_nominal[feature], known, best[0], space)
        if high > 0:
            best = gain, feature, low, high
    return best


@njit(**BORROWING)
def _grow(state, body, space):
    """Grow one rule on a bag, condition by condition while the gain rises; return its length."""
    n, gradient, curvature = _draw_bag(state, space)
    length = 0
    gain = 0.0
    while length < len(body):
        gain, feature, low, high = _find_condition(state, n, (gradient, curvature), gain, space)
        if feature < 0:
            break
        body[length, 0] = feature
        body[length, 1] = low
        body[length, 2] = high
        filter_mask(space.coded, body, length, space.inside)
        length += 1
        n_before = n
        n = 0
        gradient = 0
        curvature = 0
        for i in range(n_before):
            row = space.members[i]
            if space.inside[row]:
                space.members[n] = row
                gradient += space.bag[row, 0]
                curvature += space.bag[row, 1]
                n += 1
    return length


@njit(**BORROWING)
def _judge(covered, space):
    """(gain, weight) of a rule on all rows."""
    gradient = np.int64(0)
    curvature = np.int64(0)
    for row in range(len(covered)):
        gradient += covered[row] * space.gradients[row]
        curvature += covered[row] * space.curvatures[row]
    return _weigh(gradient, curvature, space)


@njit(cache=True, nogil=True)
def boost_rules(
    coded,
    is_positive,
    draw_order,
    bag_size,
    n_features_drawn,
    n_tries,
    l2,
    step,
    max_weight,
    points_per_log_odd,
    reuse,
    seed,
    out_rule,
    out_points,
    out_gain,
    out_length,
    out_body,
):
    """Stagewise logistic regression over rules that are grown for it.

    Let G and H be the sums of the gradients and curvatures of the rows that a rule covers. Its weight w
    is G/(H + l2), clipped to ±`max_weight`, and its gain is 2Gw - (H + l2)w². Each round grows rules on
    bags of the rows, takes the one with the largest gain on all rows, and adds the share `step` of its
    weight, rounded to integer points, to the log-odds of the rows it covers. It stops when the points
    of the best rule round to 0.

    Parameters
    ----------
    coded : CodedFeatures
    is_positive : (n_rows,) bool
        Both classes occur.
    draw_order : (n_rows,) int64
        The rows in the order in which bags draw them.
    bag_size, n_features_drawn, n_tries : int
        Draws per bag, features examined per condition, rules grown per round.
    reuse : float
        A known rule is taken again if its gain is at least `reuse` times the gain of the best new one.
        No new rules are grown once `out_body` is full.
    seed : uint64
    out_rule, out_points, out_gain : (n_rounds,)
        One entry per choice.
    out_length : (most_rules,)
    out_body : (most_rules, most_conditions, 3)
        Feature, low and high of the conditions, one range per feature.

    Returns (number of choices, number of rules).
    """
    n_rows = len(is_positive)
    most_rules, most_conditions, _ = out_body.shape
    space = _Space(
        coded,
        draw_order,
        bag_size,
        n_features_drawn,
        l2,
        max_weight,
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows, dtype=np.uint32),
        np.empty((n_rows, 2), dtype=np.int64),
        np.empty(n_rows, dtype=np.bool_),
        np.zeros((max(1, coded.n_codes.max()), 2), dtype=np.int64),
        np.flatnonzero(coded.n_codes > 1),
    )
    body = np.empty((most_conditions, 3), dtype=np.int32)
    slot_of_feature = np.full(len(coded.n_codes), -1, dtype=np.int32)
    coverage = np.empty((most_rules, n_rows), dtype=np.bool_)
    covered = np.empty(n_rows, dtype=np.bool_)
    n_positives = 0
    for row in range(n_rows):
        n_positives += is_positive[row]
    log_odds = np.full(n_rows, np.log(n_positives / (n_rows - n_positives)))
    state = np.array([seed], dtype=np.uint64)
    n_rules = 0
    for t in range(len(out_rule)):
        for row in range(n_rows):
            p = 1.0 / (1.0 + np.exp(-log_odds[row]))
            space.gradients[row] = np.int64(np.rint((is_positive[row] - p) * _UNIT))
            space.curvatures[row] = np.int64(np.rint(p * (1.0 - p) * _UNIT))
        rule = -1
        gain = 0.0
        weight = 0.0
        # The next free place holds the best rule of the round until another one is better.
        for _ in range(n_tries if n_rules < most_rules else 0):
            length = _grow(state, body, space)
            if length == 0:
                continue
            cover_mask(coded, body, length, covered)
            new_gain, new_weight = _judge(covered, space)
            if new_gain > gain:
                rule, gain, weight = n_rules, new_gain, new_weight
                coverage[rule] = covered
                out_length[rule] = merge_conditions(body, length, slot_of_feature, out_body[rule])
        known = -1
        known_gain = 0.0
        known_weight = 0.0
        for other in range(n_rules if reuse < np.inf else 0):
            other_gain, other_weight = _judge(coverage[other], space)
            if other_gain > known_gain:
                known, known_gain, known_weight = other, other_gain, other_weight
        if known >= 0 and known_gain >= reuse * gain:
            rule, gain, weight = known, known_gain, known_weight
        points = np.int64(np.rint(points_per_log_odd * step * weight))
        if rule < 0 or points == 0:
            return t, n_rules
        n_rules = max(n_rules, rule + 1)
        out_rule[t] = rule
        out_points[t] = points
        out_gain[t] = gain
        for row in range(n_rows):
            if coverage[rule, row]:
                log_odds[row] += points / points_per_log_odd
    return len(out_rule), n_rules
