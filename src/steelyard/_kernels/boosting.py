"""Weighting: rules of a label are grown one by one, each for what the ones before it left over.

Gradients and curvatures of the loss are whole numbers of 2⁻³⁰ here: their sums are exact, so a rule's
gain does not depend on the order of the rows, nor on which of two ways it was added up.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from .bodies import add_condition
from .compiling import BORROWING
from .random import next_below

_UNIT = 1 << 30

# What all rounds of a call share.
_Space = namedtuple(
    "_Space",
    [
        "gradients",  # (n_rows,) of the loss, 2⁻³⁰
        "curvatures",
        "n_drawn",  # (n_rows,) how often a row is in the bag
        "members",  # rows of the bag that satisfy the body so far ...
        "bag",  # (n_rows, 2) ... gradient and curvature of each of them, as often as it is drawn ...
        "inside",  # (n_rows,) ... and whether a row is one of them
        "histogram",  # (most_codes, 2) sums of both by code; all 0 between calls
        "window",  # features with more than one code; the drawn ones move to the front
    ],
)

_Body = namedtuple("_Body", ["feature", "low", "high"])


@njit(cache=True, nogil=True)
def _make_space(n_rows, n_codes):
    most_codes = max(1, n_codes.max())
    return _Space(
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows, dtype=np.uint32),
        np.empty((n_rows, 2), dtype=np.int64),
        np.empty(n_rows, dtype=np.bool_),
        np.zeros((most_codes, 2), dtype=np.int64),
        np.flatnonzero(n_codes > 1),
    )


@njit(cache=True, nogil=True)
def _make_body(length):
    return _Body(
        np.empty(length, dtype=np.int32),
        np.empty(length, dtype=np.int32),
        np.empty(length, dtype=np.int32),
    )


@njit(**BORROWING)
def _weigh(gradient, curvature, l2, max_weight):
    """(gain, weight) of a rule with these sums."""
    slope = gradient / _UNIT
    bend = curvature / _UNIT + l2
    weight = min(max(slope / bend, -max_weight), max_weight)
    return weight * (2.0 * slope - bend * weight), weight


@njit(**BORROWING)
def _draw_bag(state, draw_order, bag_size, space):
    """Draw rows with replacement into the empty body; returns (n_members, gradient, curvature)."""
    n_rows = len(draw_order)
    space.n_drawn[:] = 0
    for _ in range(bag_size):
        space.n_drawn[draw_order[next_below(state, n_rows)]] += 1
    n = 0
    gradient = 0
    curvature = 0
    for row in range(n_rows):
        times = space.n_drawn[row]
        space.inside[row] = times > 0
        if times > 0:
            space.members[n] = row
            space.bag[row, 0] = times * space.gradients[row]
            space.bag[row, 1] = times * space.curvatures[row]
            gradient += space.bag[row, 0]
            curvature += space.bag[row, 1]
            n += 1
    return n, gradient, curvature


@njit(**BORROWING)
def _add_up_dense(codes, members, bag, histogram):
    """Sums of the members by their code; returns those of all whose code is known."""
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
def _find_range(histogram, is_nominal, known, l2, max_weight, least):
    """The range of codes with the largest gain above `least`: (gain, low, high or 0 if there is none).

    A value of a nominal feature, or one side of a boundary of a numeric one. Leaves the histogram empty.
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
        if g == 0 and h == 0:  # nobody is there, or all is explained
            continue
        if is_nominal:
            gain, _ = _weigh(g, h, l2, max_weight)
            if gain > best:
                best, low, high = gain, code, code + 1
        elif code < n_codes - 1:
            below_g += g
            below_h += h
            gain, _ = _weigh(below_g, below_h, l2, max_weight)
            if gain > best:
                best, low, high = gain, 0, code + 1
            gain, _ = _weigh(known[0] - below_g, known[1] - below_h, l2, max_weight)
            if gain > best:
                best, low, high = gain, code + 1, n_codes
    return best, low, high


@njit(**BORROWING)
def _find_condition(state, coded, n_features_drawn, n, total, l2, max_weight, least, space):
    """The condition with the largest gain above `least`: (gain, feature or -1, low, high)."""
    n_codes, is_nominal, column, dense, default_code, indptr, rows, codes = coded
    members, bag, inside = space.members[:n], space.bag, space.inside
    window = space.window
    best = least, -1, 0, 0
    for d in range(min(n_features_drawn, len(window))):
        other = d + next_below(state, len(window) - d)
        feature = window[other]
        window[other] = window[d]
        window[d] = feature
        histogram = space.histogram[: n_codes[feature]]
        if column[feature] >= 0:
            known = _add_up_dense(dense[column[feature]], members, bag, histogram)
        else:
            first, last = indptr[feature], indptr[feature + 1]
            known = _add_up_listed(
                rows[first:last],
                codes[first:last],
                default_code[feature],
                inside,
                bag,
                total,
                histogram,
            )
        gain, low, high = _find_range(
            histogram, is_nominal[feature], known, l2, max_weight, best[0]
        )
        if high > 0:
            best = gain, feature, low, high
    return best


@njit(**BORROWING)
def _keep_inside(coded, feature, low, high, inside):
    """Clear the rows that do not satisfy the condition."""
    if coded.column[feature] >= 0:
        codes = coded.dense[coded.column[feature]]
        for row in range(len(inside)):
            inside[row] &= low <= codes[row] < high
        return
    first, last = coded.indptr[feature], coded.indptr[feature + 1]
    if low <= coded.default_code[feature] < high:
        for e in range(first, last):
            if not low <= coded.codes[e] < high:
                inside[coded.rows[e]] = False
        return
    # Only listed rows can stay: between one of them and the next everything goes.
    row = 0
    for e in range(first, last):
        listed = coded.rows[e]
        inside[row:listed] = False
        inside[listed] &= low <= coded.codes[e] < high
        row = listed + 1
    inside[row:] = False


@njit(**BORROWING)
def _grow(state, coded, draw_order, bag_size, n_features_drawn, l2, max_weight, body, space):
    """Grow one rule on a bag, condition by condition while the gain rises; returns its length."""
    n, gradient, curvature = _draw_bag(state, draw_order, bag_size, space)
    length = 0
    gain = 0.0
    while length < len(body.feature):
        gain, feature, low, high = _find_condition(
            state,
            coded,
            n_features_drawn,
            n,
            (gradient, curvature),
            l2,
            max_weight,
            gain,
            space,
        )
        if feature < 0:
            break
        body.feature[length] = feature
        body.low[length] = low
        body.high[length] = high
        length += 1
        _keep_inside(coded, feature, low, high, space.inside)
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
def _cover(coded, body, length, out):
    """Which rows the body covers."""
    out[:] = True
    for c in range(length):
        _keep_inside(coded, body.feature[c], body.low[c], body.high[c], out)


@njit(**BORROWING)
def _judge(covered, l2, max_weight, space):
    """(gain, weight) of a rule on all rows."""
    gradient = 0
    curvature = 0
    for row in range(len(covered)):
        gradient += covered[row] * space.gradients[row]
        curvature += covered[row] * space.curvatures[row]
    return _weigh(gradient, curvature, l2, max_weight)


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

    With the sums G and H of the gradients and curvatures of the rows that a rule covers, its weight w is
    G/(H + l2), but at most `max_weight` to either side, and its gain 2Gw - (H + l2)w². Each round grows
    rules on bags of the rows, takes the one with the largest gain on all rows, and adds the share `step`
    of its weight, rounded to whole points, to the log-odds of the rows it covers. It ends when the best
    rule has no point to give.

    Parameters
    ----------
    coded : CodedFeatures
    is_positive : (n_rows,) bool
        Neither all nor none of them.
    draw_order : (n_rows,) int64
        The rows in the order in which bags draw them.
    bag_size, n_features_drawn, n_tries : int
        Draws of a bag, features looked at for each condition, rules grown in each round.
    reuse : float
        A rule that was taken before is taken again if it gains at least this many times what the best
        new one gains; new ones come to an end when `out_body` is full.
    seed : uint64
    out_rule, out_points, out_gain : (n_rounds,)
        Of each choice.
    out_length : (most_rules,)
    out_body : (most_rules, most_conditions, 3)
        Feature, low and high of the conditions, one range a feature.

    Returns (number of choices, number of rules).
    """
    n_rows = len(is_positive)
    most_rules, most_conditions, _ = out_body.shape
    space = _make_space(n_rows, coded.n_codes)
    body = _make_body(most_conditions)
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
            length = _grow(
                state,
                coded,
                draw_order,
                bag_size,
                n_features_drawn,
                l2,
                max_weight,
                body,
                space,
            )
            if length == 0:
                continue
            _cover(coded, body, length, covered)
            new_gain, new_weight = _judge(covered, l2, max_weight, space)
            if new_gain > gain:
                rule, gain, weight = n_rules, new_gain, new_weight
                coverage[rule] = covered
                out_length[rule] = 0
                for c in range(length):
                    out_length[rule] = add_condition(
                        out_body[rule], out_length[rule], body.feature[c], body.low[c], body.high[c]
                    )
        known = -1
        known_gain = 0.0
        known_weight = 0.0
        for other in range(n_rules if reuse < np.inf else 0):
            other_gain, other_weight = _judge(coverage[other], l2, max_weight, space)
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
