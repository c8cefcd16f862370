"""One Ripper rule at a time: split the examples, grow by FOIL's gain, prune from the end.

A body holds its conditions in the order in which they were added: see `_conditions`.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ._coded cimport Coded, borrow
from ._conditions cimport Condition, cover_mask, filter_rows
from ._counting cimport Counter, count_codes, examples, make_counter, outside, pack, positives
from ._limits cimport PRESENCE, Limits, borrow_limits, is_apart, permitted_classes
from ._memory cimport allocate
from ._random cimport next_below


cdef class Workspace:
    """What all rules of a label share: the data, the classes, and memory that is used again.

    Parameters
    ----------
    coded : CodedFeatures
    is_target : (n_rows,) uint8
    limits : Limits, optional
        What the rules may test, and how many rows they have to cover.
    target : {1, 2}
        The class of the rules: presence (1) or absence (2) of the label.
    """

    cdef Coded coded
    cdef Counter counter
    cdef const uint8_t[::1] is_target
    cdef int32_t* row_codes  # (n_rows,)
    cdef uint8_t* used  # (n_features,)
    cdef double* log2_next  # log₂(k + 1) for every k up to n_rows
    cdef Limits limits
    cdef uint8_t target
    cdef uint8_t* is_tested  # (n_features,) whether the body tests a feature ...
    cdef int32_t* low  # (n_features,) ... and the range of codes it allows
    cdef int32_t* high
    cdef uint64_t min_examples  # among the rows to grow on
    cdef uint64_t min_positives
    cdef list owner

    def __init__(self, coded, const uint8_t[::1] is_target, limits=None, uint8_t target=PRESENCE):
        cdef Py_ssize_t n_rows = is_target.shape[0]
        cdef Py_ssize_t k, row
        self.owner = [coded, limits]
        self.coded = borrow(coded)
        self.limits = borrow_limits(limits)
        self.target = target
        self.counter = make_counter(&self.coded, self.owner)
        self.is_target = is_target
        self.row_codes = <int32_t*> allocate(self.owner, n_rows * sizeof(int32_t))
        self.used = <uint8_t*> allocate(self.owner, self.coded.n_features)
        self.is_tested = <uint8_t*> allocate(self.owner, self.coded.n_features)
        self.low = <int32_t*> allocate(self.owner, self.coded.n_features * sizeof(int32_t))
        self.high = <int32_t*> allocate(self.owner, self.coded.n_features * sizeof(int32_t))
        self.log2_next = <double*> allocate(self.owner, (n_rows + 1) * sizeof(double))
        for k in range(n_rows + 1):
            self.log2_next[k] = log2(<double> (k + 1))
        for row in range(n_rows):
            self.counter.pair[row] = pack(1, is_target[row])


def split_rows(
    const uint32_t[::1] rows,
    const uint8_t[::1] is_target,
    Py_ssize_t n_folds,
    uint64_t[::1] state,
):
    """Rows to grow on and rows to prune on, both ascending: 1/n_folds of each class is for pruning.

    The classes are shuffled apart and dealt one after the other, target class first.
    """
    cdef Py_ssize_t n_rows = rows.shape[0]
    cdef uint32_t[::1] shuffled = np.empty(n_rows, dtype=np.uint32)
    is_growing = np.zeros(is_target.shape[0], dtype=np.bool_)
    is_pruning = np.zeros(is_target.shape[0], dtype=np.bool_)
    cdef uint8_t[::1] growing = is_growing.view("u1")
    cdef uint8_t[::1] pruning = is_pruning.view("u1")
    cdef Py_ssize_t n_dealt = 0
    cdef Py_ssize_t begin, i, j
    cdef int turn
    with nogil:
        for turn in range(2):
            begin = n_dealt
            for i in range(n_rows):
                if (is_target[rows[i]] != 0) == (turn == 0):
                    shuffled[n_dealt] = rows[i]
                    n_dealt += 1
            for i in range(n_dealt - 1, begin, -1):
                j = begin + next_below(&state[0], i - begin + 1)
                shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        for i in range(n_rows):
            growing[rows[i]] = True
        for i in range(n_rows // n_folds):
            j = (i + 1) * n_folds - 1
            growing[shuffled[j]] = False
            pruning[shuffled[j]] = True
    # Growing is a fifth faster on ascending rows, because it reads memory in order. Masks give them
    # in a fraction of the time of sorting.
    return (
        np.flatnonzero(is_growing).astype(np.uint32),
        np.flatnonzero(is_pruning).astype(np.uint32),
    )


cpdef inline double foil_gain(double p, double log2_precision, double base) noexcept nogil:
    """p·(log₂((p + 1)/(t + 1)) - base): FOIL's gain of covering p positives among t examples.

    `log2_precision` is this logarithm, `base` the same for the rule without the new condition.
    """
    return p * (log2_precision - base)


cdef inline double _gain(uint64_t counts, double base, const double* log2_next) noexcept nogil:
    """FOIL's gain of covering the packed counts."""
    cdef int64_t p = positives(counts)  # a signed number becomes a double in one instruction
    return foil_gain(p, log2_next[p] - log2_next[examples(counts)], base)


# A condition with its gain and the packed counts of the rows that satisfy it. The gain of a feature
# that is not preferred counts less.
cdef struct Found:
    double gain
    Condition condition
    uint64_t counts


cdef bint _is_permitted(Condition condition, uint64_t counts, Workspace space) noexcept nogil:
    """Whether the body may have a further condition, with which it covers the packed counts."""
    cdef Py_ssize_t f = condition.feature
    condition.low = max(condition.low, space.low[f])
    condition.high = min(condition.high, space.high[f])
    return (
        examples(counts) >= space.min_examples
        and positives(counts) >= space.min_positives
        and permitted_classes(&space.limits, &space.coded, condition) & space.target
    )


cdef inline void _consider(
    Condition condition,
    uint64_t counts,
    double base,
    double share,
    Found* best,
    Workspace space,
) noexcept nogil:
    """Replace `best` by a condition if that gains more and is permitted."""
    cdef double gain = share * _gain(counts, base, space.log2_next)
    if gain > best.gain and (
        not space.limits.is_active or _is_permitted(condition, counts, space)
    ):
        best[0] = Found(gain, condition, counts)


cdef inline void _find_range(
    Py_ssize_t f, Py_ssize_t n, double base, Found* best, Workspace space
) noexcept nogil:
    """Replace `best` by a range of a feature with n codes in the counter if that gains more.

    A range is = a code of a nominal feature, ≥ or ≤ a code of a numeric one. Of equal gains the lowest
    code wins, and ≥ before ≤.
    """
    cdef bint is_nominal = space.coded.is_nominal[f]
    cdef int32_t n_codes = space.coded.n_codes[f]
    cdef const int32_t* codes = space.counter.codes
    cdef const uint64_t* counts = space.counter.counts
    cdef double share = space.limits.share[f] if space.limits.is_active else 1.0
    cdef uint64_t above = 0
    cdef uint64_t below = 0
    cdef Py_ssize_t i
    for i in range(n):
        above += counts[i]
    for i in range(n):
        below += counts[i]
        if is_nominal:
            _consider(
                Condition(f, codes[i], codes[i] + 1), counts[i], base, share, best, space
            )
        # A bound at a code without positives adds negatives only: the next code is better.
        elif positives(counts[i]) != 0:
            _consider(Condition(f, codes[i], n_codes), above, base, share, best, space)
            _consider(Condition(f, 0, codes[i] + 1), below, base, share, best, space)
        above -= counts[i]


cdef Found _find_condition(Workspace space, uint64_t total) noexcept nogil:
    """The condition with the largest gain on the first members, whose packed counts are given.

    Of equal gains the first attribute wins. Attributes in `used` are left out. Without a condition
    that gains, the gain is 0.
    """
    cdef const Coded* coded = &space.coded
    cdef Counter* counter = &space.counter
    cdef Py_ssize_t n_members = examples(total)
    cdef double base = space.log2_next[positives(total)] - space.log2_next[n_members]
    cdef Py_ssize_t f, i, n
    cdef Found best = Found(0.0, Condition(0, 0, 0), 0)
    for i in range(n_members):
        counter.position[counter.members[i]] = i
    for f in range(coded.n_features):
        if space.used[f] or (
            space.limits.is_active and is_apart(&space.limits, f, space.is_tested)
        ):
            continue
        n = count_codes(coded, f, 0, n_members, total, counter)
        _find_range(f, n, base, &best, space)
    for i in range(n_members):
        counter.position[counter.members[i]] = outside()
    return best


cdef void _start_body(
    Workspace space, const Condition* body, Py_ssize_t length
) noexcept nogil:
    """Note which features the conditions of a body leave open.

    A numeric attribute may be bounded again, a nominal one has its value.
    """
    cdef Py_ssize_t f, c
    for f in range(space.coded.n_features):
        space.used[f] = (
            space.limits.is_active and not (space.limits.lower[f] | space.limits.upper[f])
        )
        space.is_tested[f] = False
        space.low[f] = 0
        space.high[f] = space.coded.n_codes[f]
    for c in range(length):
        _note_condition(space, body[c])


cdef void _note_condition(Workspace space, Condition condition) noexcept nogil:
    cdef Py_ssize_t f = condition.feature
    space.used[f] = space.coded.is_nominal[f]
    space.is_tested[f] = True
    space.low[f] = max(space.low[f], condition.low)
    space.high[f] = min(space.high[f], condition.high)


def grow_body(
    Workspace space,
    const uint32_t[::1] rows,
    const int32_t[:, ::1] start,
    double min_weight,
    Py_ssize_t max_conditions=0,
):
    """Add conditions to the body `start`, which covers all `rows`, until no negative is covered.

    Also stops when no condition has a gain, when the best one covers fewer positives than `min_weight`,
    or at `max_conditions`, if that is not 0.
    """
    cdef const Coded* coded = &space.coded
    cdef uint32_t* members = space.counter.members
    cdef Py_ssize_t i
    cdef uint64_t total = 0
    cdef Found found
    body = np.asarray(start).tolist()
    _start_body(space, <const Condition*> &start[0, 0], start.shape[0])
    # A rule that covers n rows is expected to cover this many of the rows to grow on.
    space.min_examples = space.limits.min_covered * rows.shape[0] // coded.n_rows
    space.min_positives = space.limits.min_tp * rows.shape[0] // coded.n_rows
    for i in range(rows.shape[0]):
        members[i] = rows[i]
        total += space.counter.pair[rows[i]]
    while positives(total) < examples(total) and (not max_conditions or len(body) < max_conditions):
        PyErr_CheckSignals()
        with nogil:
            found = _find_condition(space, total)
        if found.gain == 0 or positives(found.counts) < min_weight:
            break
        filter_rows(coded, found.condition, members, examples(total), space.row_codes)
        body.append((found.condition.feature, found.condition.low, found.condition.high))
        _note_condition(space, found.condition)
        total = found.counts
    return np.array(body, dtype=np.int32).reshape(-1, 3)


def prune_body(Workspace space, const uint32_t[::1] rows, body, bint whole_theory):
    """Delete the final sequence of conditions whose absence is worth most on the pruning rows.

    A rule that covers p positives and n negatives is worth (p + 1)/(p + n + 2). This orders rules as
    (p - n)/(p + n) does but distrusts small numbers. With `whole_theory` a rule is worth the share of
    rows that are classified correctly, (p + true negatives)/all. Of equals the shortest stays.
    """
    cdef Py_ssize_t n_rows = rows.shape[0]
    if n_rows == 0:
        return body
    cdef const int32_t[:, ::1] conditions = body
    cdef const Condition* condition = <const Condition*> &conditions[0, 0]
    cdef uint32_t* covered = space.counter.members
    cdef Py_ssize_t n_covered = n_rows
    cdef Py_ssize_t n_positives, p, c
    cdef Py_ssize_t n_kept = 0
    cdef double worth, best
    with nogil:
        memcpy(covered, &rows[0], n_rows * sizeof(uint32_t))
        n_positives = _count_targets(space, n_rows)
        # The first formula judges the empty rule in either case, as in JRip.
        best = (n_positives + 1.0) / (n_rows + 2.0)
        for c in range(conditions.shape[0]):
            n_covered = filter_rows(
                &space.coded, condition[c], covered, n_covered, space.row_codes
            )
            p = _count_targets(space, n_covered)
            if whole_theory:
                worth = <double> (p + (n_rows - n_positives) - (n_covered - p)) / n_rows
            else:
                worth = (p + 1.0) / (n_covered + 2.0)
            if worth > best:
                best = worth
                n_kept = c + 1
    return body[:n_kept]


cdef Py_ssize_t _count_targets(Workspace space, Py_ssize_t n) noexcept nogil:
    """Rows of the target class among the first n members."""
    cdef Py_ssize_t i, n_targets = 0
    for i in range(n):
        n_targets += space.is_target[space.counter.members[i]]
    return n_targets


def cover_body(Workspace space, const int32_t[:, ::1] body):
    """Mask (n_rows,) of the rows that a body covers."""
    mask = np.empty(space.coded.n_rows, dtype=np.bool_)
    cdef uint8_t[::1] out = mask.view("u1")
    with nogil:
        cover_mask(&space.coded, <const Condition*> &body[0, 0], body.shape[0], &out[0])
    return mask


def count_in_turn(masks, rest, const uint8_t[::1] is_target):
    """Positives and negatives in `rest` that each mask covers and no earlier one: two int64 arrays.

    `masks` is a sequence of (n_rows,) bool arrays, like `rest`.
    """
    cdef Py_ssize_t n_rows = is_target.shape[0]
    cdef int64_t[:, ::1] counts = np.zeros((2, len(masks)), dtype=np.int64)
    cdef uint8_t[::1] left = rest.view("u1").copy()
    cdef const uint8_t[::1] mask
    cdef Py_ssize_t i, row
    cdef uint32_t n_covered, n_positives
    cdef uint8_t is_covered
    for i in range(counts.shape[1]):
        mask = masks[i].view("u1")
        n_covered = n_positives = 0
        for row in range(n_rows):
            is_covered = mask[row] & left[row]
            n_covered += is_covered
            n_positives += is_covered & is_target[row]
            left[row] ^= is_covered
        counts[0, i] = n_positives
        counts[1, i] = n_covered - n_positives
    return counts.base
