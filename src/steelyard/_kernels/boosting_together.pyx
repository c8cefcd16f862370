"""Boosting of several labels: grow a body for the sum of its gains over all of them.

Gradients and curvatures are integers, as in `boosting`, so their sums do not depend on the order of the
rows. Floating point numbers hold them exactly, since no sum exceeds 2⁵³; with these, the compiler
vectorises over labels. Those of the labels lie side by side: a row is looked up once for all labels.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ._bags cimport draw_row
from ._coded cimport Coded, borrow, dense_codes
from ._conditions cimport Condition, cover_mask, filter_mask, merge_conditions
from ._memory cimport allocate
from ._random cimport next_below

cdef enum:
    # Labels are drawn with 32 random bits.
    MOST_TICKETS = 1 << 30


# What a call shares: the data, the settings, and memory that is used again. Sums have the gradients of
# all labels that a body is grown for, then their curvatures.
cdef struct Space:
    Coded coded
    Py_ssize_t n_labels  # that a body is grown for; they are ...
    int64_t* label  # (n_labels,) ... these labels
    double* l2  # (n_labels,)
    double* per_unit  # (n_labels,)
    double* gain  # (n_labels,) of a body for each of them
    double max_weight
    Py_ssize_t n_features_drawn
    Py_ssize_t n_varying
    int64_t* window  # usable features; the drawn ones move to the front
    double* bag  # (n_rows, 2 · n_labels) the part of the loss of the rows of the bag
    uint32_t* members  # rows of the bag that satisfy the body so far ...
    uint8_t* inside  # (n_rows,) ... and whether a row is one of them
    double* histogram  # (most_codes, 2 · n_labels) sums by code; 0 between calls
    double* total  # (2 · n_labels,) of the members ...
    double* known  # ... of those whose code is known ...
    double* below  # ... and of those with a smaller code


# A condition, and the gain of the body with it; without a condition `high` is 0.
cdef struct Found:
    double gain
    Condition condition


cdef inline void _add(double* sums, const double* more, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        sums[i] += more[i]


cdef inline void _subtract(double* sums, const double* less, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        sums[i] -= less[i]


cdef inline bint _is_zero(const double* sums, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if sums[i] != 0.0:
            return False
    return True


cdef inline double _weigh(double slope, double bend, double max_weight) noexcept nogil:
    """The gain of a body for one label."""
    cdef double weight = slope / bend
    weight = max_weight if weight > max_weight else weight
    weight = -max_weight if weight < -max_weight else weight
    return weight * (2.0 * slope - bend * weight)


cdef inline double _add_up_gains(const Space* space) noexcept nogil:
    cdef double gain = 0.0
    cdef Py_ssize_t i
    for i in range(space.n_labels):
        gain += space.gain[i]
    return gain


cdef double _weigh_all(const double* sums, const Space* space) noexcept nogil:
    """The sum of the gains over the labels that a body is grown for."""
    cdef Py_ssize_t n = space.n_labels
    cdef const double* l2 = space.l2
    cdef const double* per_unit = space.per_unit
    cdef double max_weight = space.max_weight
    cdef double* gain = space.gain
    cdef Py_ssize_t i
    for i in range(n):
        gain[i] = _weigh(sums[i] * per_unit[i], sums[n + i] * per_unit[i] + l2[i], max_weight)
    return _add_up_gains(space)


cdef double _weigh_rest(
    const double* whole, const double* part, const Space* space
) noexcept nogil:
    """The same for what a part leaves of a whole."""
    cdef Py_ssize_t n = space.n_labels
    cdef const double* l2 = space.l2
    cdef const double* per_unit = space.per_unit
    cdef double max_weight = space.max_weight
    cdef double* gain = space.gain
    cdef double slope, bend
    cdef Py_ssize_t i
    for i in range(n):
        slope = (whole[i] - part[i]) * per_unit[i]
        bend = (whole[n + i] - part[n + i]) * per_unit[i] + l2[i]
        gain[i] = _weigh(slope, bend, max_weight)
    return _add_up_gains(space)


cdef void _draw_labels(
    uint64_t* state,
    const int64_t[::1] labels,
    const int64_t* tickets,
    int64_t n_tickets,
    Space* space,
) noexcept nogil:
    """Choose the labels that a body is grown for: those that draws hit, in proportion to their tickets.

    There are as many draws as labels fit; a label that is drawn again counts once.
    """
    cdef Py_ssize_t most = space.n_labels
    cdef Py_ssize_t i, j, _
    cdef int64_t number
    space.n_labels = 0
    for _ in range(most):
        number = next_below(state, n_tickets)
        j = 0
        while number >= tickets[j]:
            number -= tickets[j]
            j += 1
        for i in range(space.n_labels):
            if space.label[i] == labels[j]:
                break
        else:
            space.label[space.n_labels] = labels[j]
            space.n_labels += 1


cdef Py_ssize_t _draw_bag(
    uint64_t* state,
    const int64_t* draw_order,
    const uint64_t* draw_ends,
    Py_ssize_t bag_size,
    const int64_t[:, :, ::1] drawn_loss,
    int64_t* n_drawn,
    const Space* space,
) noexcept nogil:
    """Draw rows with replacement into the empty body; return how many different ones there are."""
    cdef Py_ssize_t n_rows = space.coded.n_rows
    cdef Py_ssize_t n = space.n_labels
    cdef Py_ssize_t row, i, _, n_members = 0
    cdef double* own
    cdef int64_t n_times
    memset(n_drawn, 0, n_rows * sizeof(int64_t))
    memset(space.total, 0, 2 * n * sizeof(double))
    for _ in range(bag_size):
        n_drawn[draw_row(state, draw_order, draw_ends, n_rows)] += 1
    for row in range(n_rows):
        space.inside[row] = n_drawn[row] > 0
        if n_drawn[row] == 0:
            continue
        space.members[n_members] = row
        n_members += 1
        own = space.bag + 2 * n * row
        n_times = n_drawn[row]
        for i in range(n):
            own[i] = <double> (n_times * drawn_loss[0, space.label[i], row])
            own[n + i] = <double> (n_times * drawn_loss[1, space.label[i], row])
        _add(space.total, own, 2 * n)
    return n_members


cdef void _add_up(Py_ssize_t f, Py_ssize_t n_members, const Space* space) noexcept nogil:
    """Add the members up by code, and those whose code is known."""
    cdef const Coded* coded = &space.coded
    cdef Py_ssize_t n = 2 * space.n_labels
    cdef const int32_t* codes
    cdef double* rest
    cdef Py_ssize_t i, e
    cdef uint32_t row
    memcpy(space.known, space.total, n * sizeof(double))
    if coded.column[f] >= 0:
        codes = dense_codes(coded, f)
        for i in range(n_members):
            row = space.members[i]
            if codes[row] >= 0:
                _add(space.histogram + n * codes[row], space.bag + n * row, n)
            else:
                _subtract(space.known, space.bag + n * row, n)
        return
    rest = space.histogram + n * coded.default_code[f]
    _add(rest, space.total, n)
    for e in range(coded.indptr[f], coded.indptr[f + 1]):
        row = coded.rows[e]
        if not space.inside[row]:
            continue
        _subtract(rest, space.bag + n * row, n)
        if coded.codes[e] >= 0:
            _add(space.histogram + n * coded.codes[e], space.bag + n * row, n)
        else:
            _subtract(space.known, space.bag + n * row, n)


cdef inline void _consider(
    Py_ssize_t f, int32_t low, int32_t high, double gain, Found* best
) noexcept nogil:
    if gain > best.gain:
        best[0] = Found(gain, Condition(f, low, high))


cdef void _find_range(Py_ssize_t f, Found* best, const Space* space) noexcept nogil:
    """Replace `best` by the range of codes of a feature with the largest gain if that is larger.

    A range is one value of a nominal feature, or one side of a boundary of a numeric feature. The
    histogram is empty afterwards.
    """
    cdef Py_ssize_t n = 2 * space.n_labels
    cdef int32_t n_codes = space.coded.n_codes[f]
    cdef double* sums
    cdef int32_t code
    memset(space.below, 0, n * sizeof(double))
    for code in range(n_codes):
        sums = space.histogram + n * code
        if _is_zero(sums, n):
            continue  # no member has this code, or nothing of them is left to explain
        if space.coded.is_nominal[f]:
            _consider(f, code, code + 1, _weigh_all(sums, space), best)
        elif code < n_codes - 1:
            _add(space.below, sums, n)
            _consider(f, 0, code + 1, _weigh_all(space.below, space), best)
            _consider(
                f, code + 1, n_codes, _weigh_rest(space.known, space.below, space), best
            )
        memset(sums, 0, n * sizeof(double))


cdef Py_ssize_t _grow(
    uint64_t* state,
    Condition* body,
    Py_ssize_t most_conditions,
    Py_ssize_t n_members,
    const Space* space,
) noexcept nogil:
    """Grow a body on a bag, condition by condition while the gain rises; return its length."""
    cdef Py_ssize_t n = 2 * space.n_labels
    cdef Py_ssize_t length = 0
    cdef Found best = Found(0.0, Condition(0, 0, 0))
    cdef Py_ssize_t d, i, n_before
    cdef int64_t other, feature
    cdef uint32_t row
    while length < most_conditions:
        best.condition.high = 0
        for d in range(min(space.n_features_drawn, space.n_varying)):
            other = d + next_below(state, space.n_varying - d)
            feature = space.window[other]
            space.window[other] = space.window[d]
            space.window[d] = feature
            _add_up(feature, n_members, space)
            _find_range(feature, &best, space)
        if best.condition.high == 0:
            break
        body[length] = best.condition
        length += 1
        filter_mask(&space.coded, best.condition, space.inside)
        n_before, n_members = n_members, 0
        memset(space.total, 0, n * sizeof(double))
        for i in range(n_before):
            row = space.members[i]
            if space.inside[row]:
                space.members[n_members] = row
                n_members += 1
                _add(space.total, space.bag + n * row, n)
    return length


cdef double _judge(
    const uint8_t* covered,
    const int64_t[:, :, ::1] loss,
    const int64_t[::1] labels,
    const double[::1] l2,
    const double[::1] per_unit,
    double max_weight,
) noexcept nogil:
    """The sum of the gains of a body over the labels, on all rows."""
    cdef int64_t gradient, curvature, mask
    cdef double bend, gain = 0.0
    cdef Py_ssize_t i, j, row
    for i in range(labels.shape[0]):
        j = labels[i]
        gradient = curvature = 0
        for row in range(loss.shape[2]):
            mask = -<int64_t> covered[row]  # all bits or none: half of the rows would be mispredicted
            gradient += loss[0, j, row] & mask
            curvature += loss[1, j, row] & mask
        bend = <double> curvature * per_unit[j] + l2[j]
        gain += _weigh(<double> gradient * per_unit[j], bend, max_weight)
    return gain


def grow_body(
    coded,
    const int64_t[:, :, ::1] loss,
    const int64_t[:, :, ::1] drawn_loss,
    const double[::1] l2,
    const double[::1] unit,
    const int64_t[::1] labels,
    const int64_t[::1] draw_order,
    Py_ssize_t bag_size,
    Py_ssize_t n_features_drawn,
    Py_ssize_t n_tries,
    Py_ssize_t most_labels,
    double max_weight,
    uint64_t seed,
    int64_t[::1] window,
    int32_t[:, ::1] out_body,
    uint8_t[::1] out_covered,
    const uint64_t[::1] draw_ends=None,
):
    """Grow bodies on bags of the rows, and take the one with the largest gain on all rows.

    Let G and H be the sums of the gradients and curvatures of a label over the rows that a body covers.
    Its weight w is G/(H + l2), clipped to ±`max_weight`, and its gain is 2Gw - (H + l2)w². What counts
    is the sum of the gains over the labels. If there are more than `most_labels`, each body is grown
    for some of them, which are drawn in proportion to the gradients that are left.

    Parameters
    ----------
    coded : CodedFeatures
    loss, drawn_loss : (2, n_labels, n_rows) int64
        Gradients and curvatures, in multiples of 1/unit: of each row, and of one draw of it.
    l2, unit : (n_labels,) double
        No sum may reach 2⁵³.
    labels : (n_grown_for,) int64
        Those to grow for.
    draw_order : (n_rows,) int64
        The rows in the order in which bags draw them.
    bag_size, n_features_drawn, n_tries, most_labels : int
        Draws per bag, features examined per condition, bodies grown, labels that they are grown for.
    seed : uint64
    window : (n_usable,) int64
        The features that bodies may test; its order changes.
    out_body : (most_conditions, 3)
        Feature, low and high of the conditions, one range per feature.
    out_covered : (n_rows,) uint8
        Whether the body covers a row.
    draw_ends : (n_rows,) uint64, optional
        Position i of the order is drawn with probability (ends[i] - ends[i - 1])/2³².

    Returns (number of conditions, gain, seed of the bag, next seed); without a body the number is 0.
    """
    cdef Py_ssize_t n_all = labels.shape[0]
    cdef Py_ssize_t n_rows = loss.shape[2]
    cdef Py_ssize_t most_conditions = out_body.shape[0]
    cdef list owner = []
    cdef Space space
    cdef double[::1] per_unit = 1.0 / np.asarray(unit)
    space.coded = borrow(coded)
    most_labels = min(most_labels, n_all)
    space.max_weight = max_weight
    space.n_features_drawn = n_features_drawn
    space.n_varying = window.shape[0]
    space.window = &window[0]
    cdef Py_ssize_t n_bytes = 2 * most_labels * sizeof(double)  # of the sums of one row
    space.label = <int64_t*> allocate(owner, most_labels * sizeof(int64_t))
    space.l2 = <double*> allocate(owner, most_labels * sizeof(double))
    space.per_unit = <double*> allocate(owner, most_labels * sizeof(double))
    space.gain = <double*> allocate(owner, most_labels * sizeof(double))
    space.bag = <double*> allocate(owner, n_rows * n_bytes)
    space.members = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    space.inside = <uint8_t*> allocate(owner, n_rows)
    space.histogram = <double*> allocate(owner, max(1, coded.n_codes.max()) * n_bytes)
    space.total = <double*> allocate(owner, n_bytes)
    space.known = <double*> allocate(owner, n_bytes)
    space.below = <double*> allocate(owner, n_bytes)
    n_drawn = <int64_t*> allocate(owner, n_rows * sizeof(int64_t))
    covered = <uint8_t*> allocate(owner, n_rows)
    body = <Condition*> allocate(owner, most_conditions * sizeof(Condition))
    slot_of_feature = <int32_t*> allocate(owner, space.coded.n_features * sizeof(int32_t))
    memset(slot_of_feature, 0xFF, space.coded.n_features * sizeof(int32_t))
    left = <double*> allocate(owner, n_all * sizeof(double))  # the gradients of each label
    tickets = <int64_t*> allocate(owner, n_all * sizeof(int64_t))
    cdef const uint64_t* ends = NULL
    if draw_ends is not None:
        ends = &draw_ends[0]
    cdef double best = 0.0
    cdef double largest = 0.0
    cdef double gain
    cdef int64_t n_tickets = 0
    cdef uint64_t bag_seed, best_seed = seed
    cdef Py_ssize_t i, j, row, length, n_members, _, best_length = 0
    with nogil:
        if most_labels < n_all:
            for j in range(n_all):
                for row in range(n_rows):
                    left[j] += fabs(<double> loss[0, labels[j], row])
                left[j] *= per_unit[labels[j]]
                largest = max(largest, left[j])
            for j in range(n_all if largest > 0.0 else 0):
                tickets[j] = <int64_t> (left[j] / largest * (MOST_TICKETS // n_all))
                n_tickets += tickets[j]
        for _ in range(n_tries):
            with gil:
                PyErr_CheckSignals()
            space.n_labels = most_labels
            if most_labels < n_all and n_tickets > 0:
                _draw_labels(&seed, labels, tickets, n_tickets, &space)
            else:
                for i in range(most_labels):
                    space.label[i] = labels[i]
            for i in range(space.n_labels):
                space.l2[i] = l2[space.label[i]]
                space.per_unit[i] = per_unit[space.label[i]]
            bag_seed = seed
            n_members = _draw_bag(
                &seed, &draw_order[0], ends, bag_size, drawn_loss, n_drawn, &space
            )
            length = _grow(&seed, body, most_conditions, n_members, &space)
            if length == 0:
                continue
            cover_mask(&space.coded, body, length, covered)
            gain = _judge(covered, loss, labels, l2, per_unit, max_weight)
            if gain > best:
                best, best_seed = gain, bag_seed
                memcpy(&out_covered[0], covered, n_rows)
                best_length = merge_conditions(
                    body, length, slot_of_feature, <Condition*> &out_body[0, 0]
                )
    return best_length, best, best_seed, seed
