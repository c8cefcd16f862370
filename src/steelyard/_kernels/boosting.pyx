"""Boosting: grow the rules of a label one by one, each for what the rules before it left over.

Gradients and curvatures of the loss are integers in units of 2⁻³⁰. Their sums are exact, so the gain of
a rule depends neither on the order of the rows nor on how it was added up.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, exp, log, rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ._coded cimport Coded, borrow, dense_codes
from ._conditions cimport Condition, cover_mask, filter_mask, merge_conditions
from ._memory cimport allocate
from ._random cimport next_below

cdef enum:
    UNIT = 1 << 30


# Sums of gradients and curvatures, in units of 2⁻³⁰.
cdef struct Sums:
    int64_t gradient
    int64_t curvature


cdef struct Value:
    double gain
    double weight


# What all rounds of a call share: the data, the settings, and memory that is used again.
cdef struct Space:
    Coded coded
    const int64_t* draw_order
    Py_ssize_t bag_size
    Py_ssize_t n_features_drawn
    double l2
    double max_weight
    Sums* loss  # (n_rows,)
    uint32_t* members  # rows of the bag that satisfy the body so far ...
    Sums* bag  # (n_rows,) ... their part of the loss, times the number of draws ...
    uint8_t* inside  # (n_rows,) ... and whether a row is one of them
    Sums* histogram  # (most_codes,) sums by code; 0 between calls
    Py_ssize_t n_varying
    int64_t* window  # features with more than one code; the drawn ones move to the front


# The rows that satisfy the body so far: how many they are, and their sums.
cdef struct Node:
    Py_ssize_t n_members
    Sums total


# A condition, and the gain of the body with it; without a condition `high` is 0.
cdef struct Found:
    double gain
    Condition condition


cdef inline void _add(Sums* sums, Sums more) noexcept nogil:
    sums.gradient += more.gradient
    sums.curvature += more.curvature


cdef inline void _subtract(Sums* sums, Sums less) noexcept nogil:
    sums.gradient -= less.gradient
    sums.curvature -= less.curvature


cdef inline Value _weigh(Sums sums, const Space* space) noexcept nogil:
    """Gain and weight of a rule with these sums."""
    cdef double slope = <double> sums.gradient / UNIT
    cdef double bend = <double> sums.curvature / UNIT + space.l2
    cdef double weight = min(max(slope / bend, -space.max_weight), space.max_weight)
    return Value(weight * (2.0 * slope - bend * weight), weight)


cdef Node _draw_bag(uint64_t* state, const Space* space) noexcept nogil:
    """Draw rows with replacement into the empty body."""
    cdef Py_ssize_t n_rows = space.coded.n_rows
    cdef Sums* bag = space.bag
    cdef Node node = Node(0, Sums(0, 0))
    cdef int64_t n_drawn
    cdef Py_ssize_t row, _
    memset(bag, 0, n_rows * sizeof(Sums))
    for _ in range(space.bag_size):
        bag[space.draw_order[next_below(state, n_rows)]].gradient += 1
    for row in range(n_rows):
        n_drawn = bag[row].gradient
        space.inside[row] = n_drawn > 0
        if n_drawn > 0:
            space.members[node.n_members] = row
            node.n_members += 1
            bag[row].gradient = n_drawn * space.loss[row].gradient
            bag[row].curvature = n_drawn * space.loss[row].curvature
            _add(&node.total, bag[row])
    return node


cdef Sums _add_up_dense(Py_ssize_t f, Py_ssize_t n_members, const Space* space) noexcept nogil:
    """Add up the members by code; return the sums of all members whose code is known."""
    cdef const int32_t* codes = dense_codes(&space.coded, f)
    cdef Sums known = Sums(0, 0)
    cdef Py_ssize_t i
    cdef uint32_t row
    for i in range(n_members):
        row = space.members[i]
        if codes[row] >= 0:
            _add(&space.histogram[codes[row]], space.bag[row])
            _add(&known, space.bag[row])
    return known


cdef Sums _add_up_listed(Py_ssize_t f, Sums total, const Space* space) noexcept nogil:
    """The same for a listed feature: the default code has what the listed rows leave over."""
    cdef const Coded* coded = &space.coded
    cdef Sums rest = total
    cdef Sums known = total
    cdef Py_ssize_t e
    cdef int32_t row
    for e in range(coded.indptr[f], coded.indptr[f + 1]):
        row = coded.rows[e]
        if space.inside[row]:
            _subtract(&rest, space.bag[row])
            if coded.codes[e] >= 0:
                _add(&space.histogram[coded.codes[e]], space.bag[row])
            else:
                _subtract(&known, space.bag[row])
    space.histogram[coded.default_code[f]] = rest
    return known


cdef void _find_range(Py_ssize_t f, Sums known, Found* best, const Space* space) noexcept nogil:
    """Replace `best` by the range of codes of a feature with the largest gain if that is larger.

    A range is one value of a nominal feature, or one side of a boundary of a numeric feature. The
    histogram is empty afterwards.
    """
    cdef int32_t n_codes = space.coded.n_codes[f]
    cdef bint is_nominal = space.coded.is_nominal[f]
    cdef Sums below = Sums(0, 0)
    cdef Sums above = known
    cdef Sums sums
    cdef double gain
    cdef int32_t code
    for code in range(n_codes):
        sums = space.histogram[code]
        space.histogram[code] = Sums(0, 0)
        if sums.gradient == 0 and sums.curvature == 0:
            continue  # no member has this code, or nothing of them is left to explain
        if is_nominal:
            gain = _weigh(sums, space).gain
            if gain > best.gain:
                best[0] = Found(gain, Condition(f, code, code + 1))
        elif code < n_codes - 1:
            _add(&below, sums)
            _subtract(&above, sums)
            gain = _weigh(below, space).gain
            if gain > best.gain:
                best[0] = Found(gain, Condition(f, 0, code + 1))
            gain = _weigh(above, space).gain
            if gain > best.gain:
                best[0] = Found(gain, Condition(f, code + 1, n_codes))


cdef Found _find_condition(
    uint64_t* state, const Node* node, double least, const Space* space
) noexcept nogil:
    """The condition with the largest gain above `least`."""
    cdef Found best = Found(least, Condition(0, 0, 0))
    cdef Sums known
    cdef Py_ssize_t d, other
    cdef int64_t feature
    for d in range(min(space.n_features_drawn, space.n_varying)):
        other = d + next_below(state, space.n_varying - d)
        feature = space.window[other]
        space.window[other] = space.window[d]
        space.window[d] = feature
        if space.coded.column[feature] >= 0:
            known = _add_up_dense(feature, node.n_members, space)
        else:
            known = _add_up_listed(feature, node.total, space)
        _find_range(feature, known, &best, space)
    return best


cdef Py_ssize_t _grow(
    uint64_t* state, Condition* body, Py_ssize_t most_conditions, const Space* space
) noexcept nogil:
    """Grow one rule on a bag, condition by condition while the gain rises; return its length."""
    cdef Node node = _draw_bag(state, space)
    cdef Py_ssize_t length = 0
    cdef double gain = 0.0
    cdef Found found
    cdef Py_ssize_t i, n_before
    cdef uint32_t row
    while length < most_conditions:
        found = _find_condition(state, &node, gain, space)
        if found.condition.high == 0:
            break
        gain = found.gain
        body[length] = found.condition
        length += 1
        filter_mask(&space.coded, found.condition, space.inside)
        n_before = node.n_members
        node = Node(0, Sums(0, 0))
        for i in range(n_before):
            row = space.members[i]
            if space.inside[row]:
                space.members[node.n_members] = row
                node.n_members += 1
                _add(&node.total, space.bag[row])
    return length


cdef Value _judge(const uint8_t* covered, const Space* space) noexcept nogil:
    """Gain and weight of a rule on all rows."""
    cdef Sums sums = Sums(0, 0)
    cdef int64_t mask
    cdef Py_ssize_t row
    for row in range(space.coded.n_rows):
        mask = -<int64_t> covered[row]  # all bits or none: half of the rows would be mispredicted
        sums.gradient += space.loss[row].gradient & mask
        sums.curvature += space.loss[row].curvature & mask
    return _weigh(sums, space)


cdef void _update_loss(
    const double* log_odds, const uint8_t* is_positive, const Space* space
) noexcept nogil:
    cdef double p
    cdef Py_ssize_t row
    for row in range(space.coded.n_rows):
        p = 1.0 / (1.0 + exp(-log_odds[row]))
        space.loss[row].gradient = <int64_t> rint((is_positive[row] - p) * UNIT)
        space.loss[row].curvature = <int64_t> rint(p * (1.0 - p) * UNIT)


def boost_rules(
    coded,
    is_positive,
    const int64_t[::1] draw_order,
    Py_ssize_t bag_size,
    Py_ssize_t n_features_drawn,
    Py_ssize_t n_tries,
    double l2,
    double step,
    double max_weight,
    double points_per_log_odd,
    double reuse,
    uint64_t seed,
    int64_t[::1] out_rule,
    int64_t[::1] out_points,
    double[::1] out_gain,
    int64_t[::1] out_length,
    int32_t[:, :, ::1] out_body,
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
    cdef const uint8_t[::1] positive = is_positive.view("u1")
    cdef Py_ssize_t n_rows = positive.shape[0]
    cdef Py_ssize_t most_rules = out_body.shape[0]
    cdef Py_ssize_t most_conditions = out_body.shape[1]
    cdef list owner = []
    cdef int64_t[::1] window = np.flatnonzero(coded.n_codes > 1).astype(np.int64, copy=False)
    cdef Space space
    space.coded = borrow(coded)
    space.draw_order = &draw_order[0]
    space.bag_size = bag_size
    space.n_features_drawn = n_features_drawn
    space.l2 = l2
    space.max_weight = max_weight
    space.loss = <Sums*> allocate(owner, n_rows * sizeof(Sums))
    space.members = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    space.bag = <Sums*> allocate(owner, n_rows * sizeof(Sums))
    space.inside = <uint8_t*> allocate(owner, n_rows)
    space.histogram = <Sums*> allocate(owner, max(1, coded.n_codes.max()) * sizeof(Sums))
    space.n_varying = window.shape[0]
    space.window = &window[0]
    body = <Condition*> allocate(owner, most_conditions * sizeof(Condition))
    slot_of_feature = <int32_t*> allocate(owner, space.coded.n_features * sizeof(int32_t))
    memset(slot_of_feature, 0xFF, space.coded.n_features * sizeof(int32_t))
    covered = <uint8_t*> allocate(owner, n_rows)
    cdef uint8_t[:, ::1] coverage = np.empty((most_rules, n_rows), dtype=np.uint8)

    cdef int64_t n_positives = np.count_nonzero(is_positive)
    cdef double[::1] log_odds = np.full(n_rows, log(<double> n_positives / (n_rows - n_positives)))
    cdef Py_ssize_t n_rules = 0
    cdef Py_ssize_t t, _, i, row, length, rule, known
    cdef int64_t points
    cdef Value value, best, best_known
    with nogil:
        for t in range(out_rule.shape[0]):
            with gil:
                PyErr_CheckSignals()
            _update_loss(&log_odds[0], &positive[0], &space)
            rule = -1
            best = Value(0.0, 0.0)
            # The next free place holds the best rule of the round until another one is better.
            for _ in range(n_tries if n_rules < most_rules else 0):
                length = _grow(&seed, body, most_conditions, &space)
                if length == 0:
                    continue
                cover_mask(&space.coded, body, length, covered)
                value = _judge(covered, &space)
                if value.gain > best.gain:
                    rule, best = n_rules, value
                    memcpy(&coverage[rule, 0], covered, n_rows)
                    out_length[rule] = merge_conditions(
                        body, length, slot_of_feature, <Condition*> &out_body[rule, 0, 0]
                    )
            known = -1
            best_known = Value(0.0, 0.0)
            for i in range(n_rules if reuse < INFINITY else 0):
                value = _judge(&coverage[i, 0], &space)
                if value.gain > best_known.gain:
                    known, best_known = i, value
            if known >= 0 and best_known.gain >= reuse * best.gain:
                rule, best = known, best_known
            points = <int64_t> rint(points_per_log_odd * step * best.weight)
            if rule < 0 or points == 0:
                break
            n_rules = max(n_rules, rule + 1)
            out_rule[t] = rule
            out_points[t] = points
            out_gain[t] = best.gain
            for row in range(n_rows):
                if coverage[rule, row]:
                    log_odds[row] += points / points_per_log_odd
        else:
            t = out_rule.shape[0]
    return t, n_rules
