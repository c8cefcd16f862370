"""Boosting: grow the rules of a label one by one, each for what the rules before it left over.

Gradients and curvatures of the loss are integers in units of 2⁻³⁰, or of another power of two if rows
have weights. Their sums are exact, so the gain of a rule depends neither on the order of the rows nor on
how it was added up.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, exp, rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from .coding import list_features

from ._bags cimport draw_row
from ._coded cimport Coded, borrow, dense_codes
from ._conditions cimport Condition, cover_mask, filter_mask, merge_conditions
from ._counting cimport Tally, make_tally
from ._limits cimport (
    ABSENCE,
    BOTH,
    PRESENCE,
    Limits,
    borrow_limits,
    is_apart,
    permitted_classes,
)
from ._memory cimport allocate
from ._random cimport next_below

cdef enum:
    UNIT = 1 << 30
    # A tally walks over all listed features of the members, twice; counting without one, over the lists
    # of the drawn features, whose rows it reads in order.
    TALLY_COST = 3


# Covered rows, and those of them that have the label.
cdef struct Counts:
    int64_t covered
    int64_t positive


# Sums of gradients and curvatures, in the units of the space.
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
    const uint64_t* draw_ends  # NULL: all rows are drawn with the same probability
    Py_ssize_t bag_size
    Py_ssize_t n_features_drawn
    double l2
    double max_weight
    double unit  # a power of two; gradients and curvatures are multiples of 1/unit ...
    double per_unit  # ... which is exact, and multiplying is faster than dividing
    Sums* loss  # (n_rows,) of each row, times its weight ...
    Sums* drawn_loss  # (n_rows,) ... and what one draw of it adds to a bag
    uint32_t* members  # rows of the bag that satisfy the body so far ...
    Sums* bag  # (n_rows,) ... their part of the loss, times the number of draws, 0 for other rows ...
    uint8_t* inside  # (n_rows,) ... and whether a row is one of them
    Sums* histogram  # (most_codes,) sums by code; 0 between calls
    const uint8_t* is_binary  # (n_features,) features with the codes 0 and 1 and no missing value
    Tally lists  # the listed features of each row
    Sums* tally  # (n_features,) sums of the members without the default code; 0 between calls
    Py_ssize_t most_tallied  # members of the largest body that is counted by a tally
    Py_ssize_t n_varying
    int64_t* window  # usable features with more than one code; the drawn ones move to the front
    Limits limits
    const uint8_t* is_positive
    bint is_counting  # whether rules have to cover a minimum; then it needs ...
    Counts* counts  # (most_codes,) ... counts by code of the covered rows; 0 between calls
    uint8_t* covered  # (n_rows,) whether a row, in the bag or not, satisfies the body so far
    uint8_t* is_tested  # (n_features,) whether the body tests a feature; 0 between calls ...
    int32_t* low  # (n_features,) ... and the range of codes it allows; all codes between calls
    int32_t* high


# The rows that satisfy the body so far: how many they are, their sums, and the classes that its
# conditions permit.
cdef struct Node:
    Py_ssize_t n_members
    Sums total
    uint8_t classes


# A condition, and the gain of the body with it; without a condition `high` is 0. Conditions compete
# by their scores: gains of features that are not preferred count less.
cdef struct Found:
    double score
    double gain
    Condition condition
    uint8_t classes


cdef inline void _add(Sums* sums, Sums more) noexcept nogil:
    sums.gradient += more.gradient
    sums.curvature += more.curvature


cdef inline void _subtract(Sums* sums, Sums less) noexcept nogil:
    sums.gradient -= less.gradient
    sums.curvature -= less.curvature


cdef inline Value _weigh(Sums sums, const Space* space) noexcept nogil:
    """Gain and weight of a rule with these sums."""
    cdef double slope = <double> sums.gradient * space.per_unit
    cdef double bend = <double> sums.curvature * space.per_unit + space.l2
    cdef double weight = min(max(slope / bend, -space.max_weight), space.max_weight)
    return Value(weight * (2.0 * slope - bend * weight), weight)


cdef Node _draw_bag(uint64_t* state, const Space* space) noexcept nogil:
    """Draw rows with replacement into the empty body."""
    cdef Py_ssize_t n_rows = space.coded.n_rows
    cdef Sums* bag = space.bag
    cdef Node node = Node(0, Sums(0, 0), BOTH)
    cdef int64_t n_drawn
    cdef Py_ssize_t row, _
    memset(bag, 0, n_rows * sizeof(Sums))
    for _ in range(space.bag_size):
        bag[draw_row(state, space.draw_order, space.draw_ends, n_rows)].gradient += 1
    # A condition on what is drawn would often be mispredicted; rows that are not drawn add 0.
    for row in range(n_rows):
        n_drawn = bag[row].gradient
        space.inside[row] = n_drawn > 0
        space.members[node.n_members] = row
        node.n_members += n_drawn > 0
        bag[row].gradient = n_drawn * space.drawn_loss[row].gradient
        bag[row].curvature = n_drawn * space.drawn_loss[row].curvature
        _add(&node.total, bag[row])
    return node


cdef Sums _add_up_dense(Py_ssize_t f, const Node* node, const Space* space) noexcept nogil:
    """Add up the members by code; return the sums of all members whose code is known."""
    cdef const int32_t* codes = dense_codes(&space.coded, f)
    cdef Sums known = Sums(0, 0)
    cdef Sums found = Sums(0, 0)
    cdef Py_ssize_t i, first, last
    cdef uint32_t row
    cdef int64_t mask
    if space.is_binary[f]:
        first, last = space.lists.dense_indptr[f], space.lists.dense_indptr[f + 1]
        if space.lists.is_listed[f] and last - first < node.n_members:
            for i in range(first, last):
                _add(&found, space.bag[space.lists.dense_rows[i]])  # 0 if it is not a member
        else:
            for i in range(node.n_members):
                row = space.members[i]
                mask = -<int64_t> codes[row]  # all bits or none
                found.gradient += space.bag[row].gradient & mask
                found.curvature += space.bag[row].curvature & mask
        space.histogram[1] = found
        space.histogram[0] = node.total
        _subtract(&space.histogram[0], found)
        return node.total
    for i in range(node.n_members):
        row = space.members[i]
        if codes[row] >= 0:
            _add(&space.histogram[codes[row]], space.bag[row])
            _add(&known, space.bag[row])
    return known


cdef Sums _add_up_listed(
    Py_ssize_t f, Sums total, bint is_tallied, const Space* space
) noexcept nogil:
    """The same for a listed feature: the default code has what the listed rows leave over."""
    cdef const Coded* coded = &space.coded
    cdef const int32_t* rows = coded.rows
    cdef int32_t default = max(0, coded.default_code[f])  # a dense feature, in a tally, has 0
    cdef Sums rest = total
    cdef Sums known = total
    cdef Sums found = Sums(0, 0)
    cdef Py_ssize_t e
    # Rows that are not members add 0: testing them would cost more than adding them.
    if space.is_binary[f]:
        if is_tallied:
            found = space.tally[f]
        else:
            for e in range(coded.indptr[f], coded.indptr[f + 1]):
                _add(&found, space.bag[rows[e]])
        _subtract(&rest, found)
        space.histogram[1 - default] = found
    else:
        for e in range(coded.indptr[f], coded.indptr[f + 1]):
            _subtract(&rest, space.bag[rows[e]])
            if coded.codes[e] >= 0:
                _add(&space.histogram[coded.codes[e]], space.bag[rows[e]])
            else:
                _subtract(&known, space.bag[rows[e]])
    space.histogram[default] = rest
    return known


cdef void _tally_members(Py_ssize_t n_members, const Space* space) noexcept nogil:
    """Add the members up by the features that list them."""
    cdef Py_ssize_t i, e
    cdef uint32_t row
    for i in range(n_members):
        row = space.members[i]
        for e in range(space.lists.indptr[row], space.lists.indptr[row + 1]):
            _add(&space.tally[space.lists.features[e]], space.bag[row])


cdef void _clear_tally(Py_ssize_t n_members, const Space* space) noexcept nogil:
    cdef Py_ssize_t i, e
    cdef uint32_t row
    for i in range(n_members):
        row = space.members[i]
        for e in range(space.lists.indptr[row], space.lists.indptr[row + 1]):
            space.tally[space.lists.features[e]] = Sums(0, 0)


cdef void _count_covered(Py_ssize_t f, const Space* space) noexcept nogil:
    """Count the rows that satisfy the body so far by code, in the bag or not."""
    cdef const Coded* coded = &space.coded
    cdef const int32_t* codes
    cdef Counts* default
    cdef Counts* counts
    cdef Py_ssize_t row, e
    if coded.column[f] >= 0:
        codes = dense_codes(coded, f)
        for row in range(coded.n_rows):
            if space.covered[row] and codes[row] >= 0:
                space.counts[codes[row]].covered += 1
                space.counts[codes[row]].positive += space.is_positive[row]
        return
    default = &space.counts[coded.default_code[f]]
    for row in range(coded.n_rows):
        default.covered += space.covered[row]
        default.positive += space.covered[row] & space.is_positive[row]
    for e in range(coded.indptr[f], coded.indptr[f + 1]):
        row = coded.rows[e]
        if space.covered[row]:
            default.covered -= 1
            default.positive -= space.is_positive[row]
            if coded.codes[e] >= 0:
                counts = &space.counts[coded.codes[e]]
                counts.covered += 1
                counts.positive += space.is_positive[row]


cdef inline bint _is_enough(Counts counts, double weight, const Space* space) noexcept nogil:
    """Whether a rule with this weight covers enough rows, and enough with its class."""
    cdef int64_t tp = counts.positive if weight > 0 else counts.covered - counts.positive
    return counts.covered >= space.limits.min_covered and tp >= space.limits.min_tp


cdef inline void _consider(
    Condition condition,
    Value value,
    double share,
    Counts counts,
    const Node* node,
    Found* best,
    const Space* space,
) noexcept nogil:
    """Replace `best` by a condition if that has a larger score and is permitted."""
    cdef double score = share * value.gain
    cdef uint8_t classes = BOTH
    cdef Py_ssize_t f = condition.feature
    cdef Condition merged
    if not score > best.score:
        return
    if space.limits.is_active:
        merged.feature = f
        merged.low = max(condition.low, space.low[f])
        merged.high = min(condition.high, space.high[f])
        classes = node.classes & permitted_classes(&space.limits, &space.coded, merged)
        if not classes & (PRESENCE if value.weight > 0 else ABSENCE):
            return
        if space.is_counting and not _is_enough(counts, value.weight, space):
            return
    best[0] = Found(score, value.gain, condition, classes)


cdef void _find_range(
    Py_ssize_t f, Sums known, const Node* node, Found* best, const Space* space
) noexcept nogil:
    """Replace `best` by the range of codes of a feature with the largest gain if that is larger.

    A range is one value of a nominal feature, or one side of a boundary of a numeric feature. The
    histogram is empty afterwards.
    """
    cdef int32_t n_codes = space.coded.n_codes[f]
    cdef bint is_nominal = space.coded.is_nominal[f]
    cdef double share = space.limits.share[f] if space.limits.is_active else 1.0
    cdef Sums below = Sums(0, 0)
    cdef Sums above = known
    cdef Counts counts = Counts(0, 0)
    cdef Counts counts_below = Counts(0, 0)
    cdef Counts counts_above = Counts(0, 0)
    cdef Sums sums
    cdef int32_t code
    if space.is_counting:
        _count_covered(f, space)
        for code in range(n_codes):
            counts_above.covered += space.counts[code].covered
            counts_above.positive += space.counts[code].positive
    for code in range(n_codes):
        sums = space.histogram[code]
        space.histogram[code] = Sums(0, 0)
        if space.is_counting:
            counts = space.counts[code]
            space.counts[code] = Counts(0, 0)
            counts_below.covered += counts.covered
            counts_below.positive += counts.positive
            counts_above.covered -= counts.covered
            counts_above.positive -= counts.positive
        if sums.gradient == 0 and sums.curvature == 0:
            continue  # no member has this code, or nothing of them is left to explain
        if is_nominal:
            _consider(
                Condition(f, code, code + 1), _weigh(sums, space), share, counts, node, best, space
            )
        elif code < n_codes - 1:
            _add(&below, sums)
            _subtract(&above, sums)
            _consider(
                Condition(f, 0, code + 1),
                _weigh(below, space),
                share,
                counts_below,
                node,
                best,
                space,
            )
            _consider(
                Condition(f, code + 1, n_codes),
                _weigh(above, space),
                share,
                counts_above,
                node,
                best,
                space,
            )


cdef Found _find_condition(
    uint64_t* state, const Node* node, double least, const Space* space
) noexcept nogil:
    """The condition with the largest score above `least`."""
    cdef Found best = Found(least, least, Condition(0, 0, 0), BOTH)
    cdef Sums known
    cdef Py_ssize_t d, other
    cdef int64_t feature
    cdef bint is_tallied = node.n_members <= space.most_tallied
    if is_tallied:
        _tally_members(node.n_members, space)
    for d in range(min(space.n_features_drawn, space.n_varying)):
        other = d + next_below(state, space.n_varying - d)
        feature = space.window[other]
        space.window[other] = space.window[d]
        space.window[d] = feature
        if space.limits.is_active and is_apart(&space.limits, feature, space.is_tested):
            continue
        if space.coded.column[feature] < 0 or (is_tallied and space.lists.is_listed[feature]):
            known = _add_up_listed(feature, node.total, is_tallied, space)
        else:
            known = _add_up_dense(feature, node, space)
        _find_range(feature, known, node, &best, space)
    if is_tallied:
        _clear_tally(node.n_members, space)
    return best


cdef void _note_condition(Condition condition, const Space* space) noexcept nogil:
    """Note that the body tests a condition."""
    cdef Py_ssize_t f = condition.feature
    space.is_tested[f] = True
    space.low[f] = max(space.low[f], condition.low)
    space.high[f] = min(space.high[f], condition.high)
    if space.is_counting:
        filter_mask(&space.coded, condition, space.covered)


cdef void _forget_body(
    const Condition* body, Py_ssize_t length, const Space* space
) noexcept nogil:
    """Undo the notes on all conditions of a body."""
    cdef Py_ssize_t c, f
    for c in range(length):
        f = body[c].feature
        space.is_tested[f] = False
        space.low[f] = 0
        space.high[f] = space.coded.n_codes[f]


cdef Py_ssize_t _grow(
    uint64_t* state,
    Condition* body,
    Py_ssize_t most_conditions,
    uint8_t* classes,
    const Space* space,
) noexcept nogil:
    """Grow one rule on a bag, condition by condition while the gain rises; return its length.

    `classes` are those that its conditions permit.
    """
    cdef Node node = _draw_bag(state, space)
    cdef Py_ssize_t length = 0
    cdef double gain = 0.0
    cdef Found found
    cdef Py_ssize_t i, n_before
    cdef uint32_t row
    if space.is_counting:
        memset(space.covered, 1, space.coded.n_rows)
    while length < most_conditions:
        found = _find_condition(state, &node, gain, space)
        if found.condition.high == 0:
            break
        gain = found.gain
        body[length] = found.condition
        length += 1
        if space.limits.is_active:
            _note_condition(found.condition, space)
        filter_mask(&space.coded, found.condition, space.inside)
        n_before = node.n_members
        node = Node(0, Sums(0, 0), found.classes)
        for i in range(n_before):
            row = space.members[i]
            if space.inside[row]:
                space.members[node.n_members] = row
                node.n_members += 1
                _add(&node.total, space.bag[row])
            else:
                space.bag[row] = Sums(0, 0)
    if space.limits.is_active:
        _forget_body(body, length, space)
    classes[0] = node.classes
    return length


cdef bint _is_permitted(
    const uint8_t* covered, Value value, uint8_t classes, const Space* space
) noexcept nogil:
    """Whether a rule may have its weight, given the classes that its conditions permit."""
    cdef Counts counts = Counts(0, 0)
    cdef Py_ssize_t row
    if not classes & (PRESENCE if value.weight > 0 else ABSENCE):
        return False
    if not space.is_counting:
        return True
    for row in range(space.coded.n_rows):
        counts.covered += covered[row]
        counts.positive += covered[row] & space.is_positive[row]
    return _is_enough(counts, value.weight, space)


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


cdef double _share_of_body(
    const Condition* body, Py_ssize_t length, const Space* space
) noexcept nogil:
    """Share of its gain that a rule counts with: the mean over its conditions."""
    cdef double total = 0.0
    cdef Py_ssize_t c
    for c in range(length):
        total += space.limits.share[body[c].feature]
    return total / length


cdef void _update_loss(
    const double* log_odds, const uint8_t* is_positive, const Space* space
) noexcept nogil:
    cdef double p
    cdef Py_ssize_t row
    for row in range(space.coded.n_rows):
        p = 1.0 / (1.0 + exp(-log_odds[row]))
        space.loss[row].gradient = <int64_t> rint((is_positive[row] - p) * UNIT)
        space.loss[row].curvature = <int64_t> rint(p * (1.0 - p) * UNIT)


cdef void _weigh_loss(
    const double* log_odds,
    const uint8_t* is_positive,
    const double* weights,
    const double* drawn_weights,
    const Space* space,
) noexcept nogil:
    """The same if rows have weights."""
    cdef double p, gradient, curvature
    cdef Py_ssize_t row
    for row in range(space.coded.n_rows):
        p = 1.0 / (1.0 + exp(-log_odds[row]))
        gradient = (is_positive[row] - p) * space.unit
        curvature = p * (1.0 - p) * space.unit
        space.loss[row].gradient = <int64_t> rint(weights[row] * gradient)
        space.loss[row].curvature = <int64_t> rint(weights[row] * curvature)
        space.drawn_loss[row].gradient = <int64_t> rint(drawn_weights[row] * gradient)
        space.drawn_loss[row].curvature = <int64_t> rint(drawn_weights[row] * curvature)


cdef void _add_points(
    const uint8_t* covered, double weight, double[::1] log_odds
) noexcept nogil:
    """Add the weight of a rule to the log-odds of the rows that it covers."""
    cdef Py_ssize_t row
    for row in range(log_odds.shape[0]):
        if covered[row]:
            log_odds[row] += weight


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
    uint64_t[::1] out_seed,
    uint8_t[::1] out_classes,
    int64_t[::1] window,
    const double[::1] start,
    limits=None,
    double least_gain=-INFINITY,
    Py_ssize_t least_rules=1,
    Py_ssize_t n_choices=0,
    Py_ssize_t n_rules=0,
    const uint64_t[::1] draw_ends=None,
    const double[::1] weights=None,
    const double[::1] drawn_weights=None,
    double unit=UNIT,
    lists=None,
):
    """Stagewise logistic regression over rules that are grown for it.

    Let G and H be the sums of the gradients and curvatures of the rows that a rule covers. Its weight w
    is G/(H + l2), clipped to ±`max_weight`, and its gain is 2Gw - (H + l2)w². Each round grows rules on
    bags of the rows, takes the one with the largest gain on all rows, and adds the share `step` of its
    weight, rounded to integer points, to the log-odds of the rows it covers. It stops when the points
    of the best rule round to 0, and after `least_rules` rules when a gain is below `least_gain`.

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
    out_seed : (most_rules,) uint64
        The state of the random numbers from which the bag of each rule was drawn.
    out_classes : (most_rules,) uint8
        The classes that the conditions of each rule permit.
    window : (n_usable,) int64
        The features that rules may test; its order changes.
    start : (n_rows,) double
        Log-odds without any rule.
    limits : Limits, optional
        What the rules may test, and how many rows they have to cover. A rule that lowers the log-odds is
        one for the absence of the label.
    least_gain : float
    least_rules : int
    n_choices, n_rules : int
        How many choices and rules an earlier call has made: the first entries of all outputs. With its
        window and the seed that it returned, boosting goes on as if it had not stopped.
    draw_ends : (n_rows,) uint64, optional
        Position i of the order is drawn with probability (ends[i] - ends[i - 1])/2³².
    weights, drawn_weights : (n_rows,) double, optional
        What each row counts, and what one draw of it counts in a bag.
    unit : float
        Gradients and curvatures are rounded to multiples of 1/unit. No sum of them may reach 2⁶³/unit.
    lists : RowLists, optional
        What `list_features` makes of the table, if there are several calls.

    Returns (number of choices, number of rules, seed).
    """
    cdef const uint8_t[::1] positive = is_positive.view("u1")
    cdef Py_ssize_t n_rows = positive.shape[0]
    cdef Py_ssize_t most_rules = out_body.shape[0]
    cdef Py_ssize_t most_conditions = out_body.shape[1]
    cdef list owner = []
    cdef Space space
    space.coded = borrow(coded)
    space.draw_order = &draw_order[0]
    space.draw_ends = NULL
    if draw_ends is not None:
        space.draw_ends = &draw_ends[0]
    space.unit = unit
    space.per_unit = 1.0 / unit
    space.bag_size = bag_size
    space.n_features_drawn = n_features_drawn
    space.l2 = l2
    space.max_weight = max_weight
    space.loss = <Sums*> allocate(owner, n_rows * sizeof(Sums))
    space.drawn_loss = space.loss
    if weights is not None:
        space.drawn_loss = <Sums*> allocate(owner, n_rows * sizeof(Sums))
    space.members = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    space.bag = <Sums*> allocate(owner, n_rows * sizeof(Sums))
    space.inside = <uint8_t*> allocate(owner, n_rows)
    space.histogram = <Sums*> allocate(owner, max(1, coded.n_codes.max()) * sizeof(Sums))
    lists = list_features(coded, with_dense=True) if lists is None else lists
    cdef const uint8_t[::1] is_binary = lists.is_binary.view("u1")
    space.is_binary = &is_binary[0]
    space.lists = make_tally(lists, 0, owner)
    space.tally = <Sums*> allocate(owner, space.coded.n_features * sizeof(Sums))
    space.most_tallied = n_features_drawn * n_rows // (TALLY_COST * space.coded.n_features)
    space.n_varying = window.shape[0]
    space.window = &window[0]
    space.is_positive = &positive[0]
    space.limits = borrow_limits(limits)
    space.is_counting = space.limits.min_covered > 0 or space.limits.min_tp > 0
    space.counts = <Counts*> allocate(owner, max(1, coded.n_codes.max()) * sizeof(Counts))
    space.covered = <uint8_t*> allocate(owner, n_rows)
    space.is_tested = <uint8_t*> allocate(owner, space.coded.n_features)
    space.low = <int32_t*> allocate(owner, space.coded.n_features * sizeof(int32_t))
    space.high = <int32_t*> allocate(owner, space.coded.n_features * sizeof(int32_t))
    memcpy(space.high, space.coded.n_codes, space.coded.n_features * sizeof(int32_t))
    body = <Condition*> allocate(owner, most_conditions * sizeof(Condition))
    slot_of_feature = <int32_t*> allocate(owner, space.coded.n_features * sizeof(int32_t))
    memset(slot_of_feature, 0xFF, space.coded.n_features * sizeof(int32_t))
    covered = <uint8_t*> allocate(owner, n_rows)
    # Only rules that can be taken again have to be remembered.
    cdef bint is_reusing = reuse < INFINITY
    cdef uint8_t[:, ::1] coverage = np.empty(
        (most_rules if is_reusing else 1, n_rows), dtype=np.uint8
    )

    cdef double[::1] log_odds = np.array(start)
    cdef uint8_t classes = BOTH
    cdef double score, best_score
    cdef Py_ssize_t t, _, i, length, rule, place, known
    cdef int64_t points
    cdef uint64_t bag_seed
    cdef Value value, best, best_known
    with nogil:
        for i in range(n_rules if is_reusing else 0):
            cover_mask(
                &space.coded, <Condition*> &out_body[i, 0, 0], out_length[i], &coverage[i, 0]
            )
        for t in range(n_choices):
            rule = out_rule[t]
            place = rule if is_reusing else 0
            if not is_reusing:
                cover_mask(
                    &space.coded,
                    <Condition*> &out_body[rule, 0, 0],
                    out_length[rule],
                    &coverage[0, 0],
                )
            _add_points(&coverage[place, 0], out_points[t] / points_per_log_odd, log_odds)
        for t in range(n_choices, out_rule.shape[0]):
            with gil:
                PyErr_CheckSignals()
            if weights is None:
                _update_loss(&log_odds[0], &positive[0], &space)
            else:
                _weigh_loss(
                    &log_odds[0], &positive[0], &weights[0], &drawn_weights[0], &space
                )
            rule = -1
            best = Value(0.0, 0.0)
            best_score = 0.0
            # The next free place holds the best rule of the round until another one is better.
            for _ in range(n_tries if n_rules < most_rules else 0):
                bag_seed = seed
                length = _grow(&seed, body, most_conditions, &classes, &space)
                if length == 0:
                    continue
                cover_mask(&space.coded, body, length, covered)
                value = _judge(covered, &space)
                if space.limits.is_active:
                    if not _is_permitted(covered, value, classes, &space):
                        continue
                    score = value.gain * _share_of_body(body, length, &space)
                else:
                    score = value.gain
                if score > best_score:
                    rule, best, best_score = n_rules, value, score
                    out_classes[rule] = classes
                    out_seed[rule] = bag_seed
                    memcpy(&coverage[rule if is_reusing else 0, 0], covered, n_rows)
                    out_length[rule] = merge_conditions(
                        body, length, slot_of_feature, <Condition*> &out_body[rule, 0, 0]
                    )
            known = -1
            best_known = Value(0.0, 0.0)
            for i in range(n_rules if is_reusing else 0):
                value = _judge(&coverage[i, 0], &space)
                if space.limits.is_active and not _is_permitted(
                    &coverage[i, 0], value, out_classes[i], &space
                ):
                    continue
                if value.gain > best_known.gain:
                    known, best_known = i, value
            if known >= 0 and best_known.gain >= reuse * best.gain:
                rule, best = known, best_known
            points = <int64_t> rint(points_per_log_odd * step * best.weight)
            if rule < 0 or points == 0 or (n_rules >= least_rules and best.gain < least_gain):
                break
            n_rules = max(n_rules, rule + 1)
            out_rule[t] = rule
            out_points[t] = points
            out_gain[t] = best.gain
            place = rule if is_reusing else 0
            _add_points(&coverage[place, 0], points / points_per_log_odd, log_odds)
        else:
            t = out_rule.shape[0]
    return t, n_rules, seed
