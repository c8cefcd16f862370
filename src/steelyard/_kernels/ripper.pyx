# distutils: language = c++
# cython: show_performance_hints=False
"""Ripper for one target class: build a list of rules, optimise it, delete the rules that do not pay.

A rule is grown by FOIL's gain on some of the examples and pruned from the end on others. A body holds
its conditions in the order in which they were added: see `_conditions`.
"""

from typing import Any, NamedTuple

import numpy as np

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from ._coded cimport Coded, borrow, dense_codes
from ._conditions cimport Condition, cover_mask, filter_rows
from ._counting cimport (
    Counter,
    count_codes,
    examples,
    is_in_node,
    make_counter,
    outside,
    pack,
    positives,
)
from ._limits cimport PRESENCE, Limits, borrow_limits, is_apart, permitted_classes
from ._memory cimport allocate
from ._random cimport next_below
from .description_length cimport delete_costly_rules, exception_bits, rule_bits

from .coverage import sort_rows_by_code

cdef extern from *:
    """
    /* Rules are added until the description length is this far above its minimum; Cohen's constant. */
    #define SURPLUS_BITS 64.0
    /* More than the rounding error of a difference of logarithms. */
    #define ROUNDING 1e-12
    """
    const double SURPLUS_BITS
    const double ROUNDING

cdef enum:
    # The codes of a numeric feature form at most so many blocks, plus one for missing values, so that a
    # block is a byte and the counts of a feature stay in the fastest cache ...
    MOST_BLOCKS = 255
    # ... and they have at least so many rows each, if codes are distinct.
    LEAST_ROWS = 32
    # Smaller nodes are faster to count code by code.
    LEAST_MEMBERS = 128

ctypedef vector[Condition] Body
ctypedef vector[uint32_t] Rows
ctypedef vector[uint8_t] Mask  # (n_rows,)


# A rule and the rows that it covers.
cdef struct Rule:
    Body body
    Mask mask


cdef Rows _rows_in(const Mask& mask, const Rows& rows) except * nogil:
    """Those of the rows that are in the mask, in the same order."""
    cdef Rows kept
    cdef size_t i
    kept.reserve(rows.size())
    for i in range(rows.size()):
        if mask[rows[i]]:
            kept.push_back(rows[i])
    return kept


cdef void _remove(const Mask& mask, Mask& rest) noexcept nogil:
    """Remove the rows of a mask from the rest."""
    cdef const uint8_t* removed = mask.data()
    cdef uint8_t* left = rest.data()
    cdef Py_ssize_t row, n_rows = rest.size()
    for row in range(n_rows):
        left[row] &= ~removed[row]


cdef uint64_t _count(const Mask& mask, const Mask& rest, const Mask& is_target) noexcept nogil:
    """Packed counts of the rows in both masks."""
    cdef const uint8_t* first = mask.data()
    cdef const uint8_t* second = rest.data()
    cdef const uint8_t* targets = is_target.data()
    cdef uint32_t n_examples = 0
    cdef uint32_t n_positives = 0
    cdef Py_ssize_t row, n_rows = mask.size()
    for row in range(n_rows):
        n_examples += first[row] & second[row]
        n_positives += first[row] & second[row] & targets[row]
    return pack(n_examples, n_positives)


cpdef inline double foil_gain(double p, double log2_precision, double base) noexcept nogil:
    """p·(log₂((p + 1)/(t + 1)) - base): FOIL's gain of covering p positives among t examples.

    `log2_precision` is this logarithm, `base` the same for the rule without the new condition.
    """
    return p * (log2_precision - base)


# A condition with its gain and the packed counts of the rows that satisfy it. The gain of a feature
# that is not preferred counts less.
cdef struct Found:
    double gain
    Condition condition
    uint64_t counts


# What the rules may test, and what the body that is grown tests.
cdef struct Scope:
    Limits limits
    uint8_t target  # the class of the rules, as in the limits
    uint8_t* is_tested  # (n_features,) whether the body tests a feature ...
    int32_t* low  # (n_features,) ... and the range of codes it allows
    int32_t* high
    uint64_t min_examples  # among the rows to grow on
    uint64_t min_positives


cdef bint _is_permitted(
    Condition condition, uint64_t counts, const Coded* coded, const Scope* scope
) noexcept nogil:
    """Whether the body may have a further condition, with which it covers the packed counts."""
    cdef Py_ssize_t f = condition.feature
    condition.low = max(condition.low, scope.low[f])
    condition.high = min(condition.high, scope.high[f])
    return (
        examples(counts) >= scope.min_examples
        and positives(counts) >= scope.min_positives
        and permitted_classes(&scope.limits, coded, condition) & scope.target
    )


cdef inline double _gain(uint64_t counts, double base, const double* log2_next) noexcept nogil:
    """FOIL's gain of covering the packed counts."""
    cdef int64_t p = positives(counts)  # a signed number becomes a double in one instruction
    return foil_gain(p, log2_next[p] - log2_next[examples(counts)], base)


cdef inline void _consider(
    Condition condition,
    uint64_t counts,
    double base,
    const double* log2_next,
    const Coded* coded,
    const Scope* scope,
    Found* best,
) noexcept nogil:
    """Let a condition that covers the packed counts take the place of the best one if it gains more."""
    cdef double gain = _gain(counts, base, log2_next)
    if scope.limits.is_active:
        gain *= scope.limits.share[condition.feature]
        if gain > best.gain and not _is_permitted(condition, counts, coded, scope):
            return
    if gain > best.gain:
        best[0] = Found(gain, condition, counts)


cdef inline void _find_range(
    Py_ssize_t f,
    Py_ssize_t n,
    const Coded* coded,
    const Counter* counter,
    double base,
    const double* log2_next,
    const Scope* scope,
    Found* best,
) noexcept nogil:
    """Replace the best condition if a range of a feature with n codes in the counter gains more.

    A range is = a code of a nominal feature, ≥ or ≤ a code of a numeric one. Of equal gains the lowest
    code wins, and ≥ before ≤.
    """
    cdef bint is_nominal = coded.is_nominal[f]
    cdef int32_t end = coded.n_codes[f]
    cdef const int32_t* codes = counter.codes
    cdef const uint64_t* counts = counter.counts
    cdef uint64_t above = 0
    cdef uint64_t below = 0
    cdef Py_ssize_t i
    for i in range(n):
        above += counts[i]
    for i in range(n):
        below += counts[i]
        if is_nominal:
            _consider(
                Condition(f, codes[i], codes[i] + 1), counts[i], base, log2_next, coded, scope, best
            )
        # A bound at a code without positives adds negatives only: the next code is better.
        elif positives(counts[i]) != 0:
            _consider(Condition(f, codes[i], end), above, base, log2_next, coded, scope, best)
            _consider(Condition(f, 0, codes[i] + 1), below, base, log2_next, coded, scope, best)
        above -= counts[i]


class CodeOrder(NamedTuple):
    """The rows of each dense feature by code, and blocks of neighbouring codes.

    Parameters
    ----------
    rows : (n_dense, n_rows) int32
        Missing values first. A row is written as 2·row, plus 1 if it is the last one with its code.
    block : (n_dense, n_rows) uint8
        The block of each row; 0 for missing values.
    starts : (n_dense, n_most + 2) int32
        Where each block begins in `rows`; after the last one n_rows.
    n_blocks : (n_dense,) int32
        Number of blocks, without that of missing values.
    """

    rows: Any
    block: Any
    starts: Any
    n_blocks: Any


def order_by_code(coded):
    """The `CodeOrder` of a coded table."""
    cdef const int32_t[:, ::1] dense = coded.dense
    cdef int32_t[:, ::1] rows = sort_rows_by_code(dense, coded.n_codes[coded.column >= 0])[0]
    cdef Py_ssize_t n_dense = dense.shape[0]
    cdef Py_ssize_t n_rows = dense.shape[1]
    cdef uint8_t[:, ::1] block = np.empty((n_dense, n_rows), dtype=np.uint8)
    cdef Py_ssize_t size = max(LEAST_ROWS, (n_rows + MOST_BLOCKS - 1) // MOST_BLOCKS)
    # Only the last block has fewer rows than `size`.
    cdef Py_ssize_t most = (n_rows + size - 1) // size
    cdef int32_t[:, ::1] starts = np.zeros((n_dense, most + 2), dtype=np.int32)
    cdef int32_t[::1] n_blocks = np.zeros(n_dense, dtype=np.int32)
    cdef Py_ssize_t c, i, b, full
    cdef int32_t code
    for c in range(n_dense):
        b = 0
        full = 0  # where the block has enough rows, and ends with the next code
        code = -1
        for i in range(n_rows):
            if dense[c, rows[c, i]] != code:
                code = dense[c, rows[c, i]]
                if b == 0 or i >= full:
                    b += 1
                    starts[c, b] = i
                    full = i + size
            block[c, rows[c, i]] = b
        n_blocks[c] = b
        starts[c, b + 1 :] = n_rows
        for i in range(n_rows):
            code = dense[c, rows[c, i]]
            rows[c, i] = 2 * rows[c, i] + (i + 1 == n_rows or dense[c, rows[c, i + 1]] != code)
    return CodeOrder(rows.base, block.base, starts.base, n_blocks.base)


# A `CodeOrder` as pointers, and what a node has in each block.
cdef struct Blocks:
    const int32_t* rows
    const uint8_t* block
    const int32_t* starts
    const int32_t* n_blocks
    Py_ssize_t width  # the most blocks of a feature, plus one for missing values
    uint64_t* counts  # (n_dense, width) packed counts
    double* promise  # (n_dense,) no bound on the feature gains more


cdef Blocks make_blocks(object order, list owner) except *:
    """Blocks without counts; their memory belongs to `owner`."""
    cdef const int32_t[:, ::1] rows = order.rows
    cdef const uint8_t[:, ::1] block = order.block
    cdef const int32_t[:, ::1] starts = order.starts
    cdef const int32_t[::1] n_blocks = order.n_blocks
    cdef Py_ssize_t n_dense = rows.shape[0]
    cdef Blocks blocks
    owner.append(order)
    blocks.rows = &rows[0, 0]
    blocks.block = &block[0, 0]
    blocks.starts = &starts[0, 0]
    blocks.n_blocks = &n_blocks[0]
    blocks.width = starts.shape[1] - 1
    blocks.counts = <uint64_t*> allocate(owner, n_dense * blocks.width * sizeof(uint64_t))
    blocks.promise = <double*> allocate(owner, n_dense * sizeof(double))
    return blocks


cdef inline double _promise(
    uint64_t beyond, uint64_t within, double base, const double* log2_next
) noexcept nogil:
    """No bound within a block gains more, given the packed counts beyond and within the block.

    The best bound would cover all positives of the block and none of its negatives.
    """
    cdef int64_t p = positives(beyond) + positives(within)
    cdef int64_t t = examples(beyond) + positives(within)
    return foil_gain(p, log2_next[p] - log2_next[t] + ROUNDING, base)


cdef inline double _count_blocks(
    Py_ssize_t f,
    const Coded* coded,
    const Counter* counter,
    Py_ssize_t n_members,
    const Blocks* blocks,
    double base,
    const double* log2_next,
) noexcept nogil:
    """Count the blocks of a dense feature and set its promise; return a gain that a bound reaches."""
    cdef const uint8_t* block = blocks.block + coded.column[f] * coded.n_rows
    cdef uint64_t* counts = blocks.counts + coded.column[f] * blocks.width
    cdef uint64_t above = 0
    cdef uint64_t below = 0
    cdef double promise = 0.0
    cdef double reached = 0.0
    cdef Py_ssize_t end = blocks.n_blocks[coded.column[f]] + 1
    cdef Py_ssize_t i, b
    memset(counts, 0, end * sizeof(uint64_t))
    for i in range(n_members):
        counts[block[counter.members[i]]] += counter.pair[counter.members[i]]
    for b in range(1, end):
        above += counts[b]
    for b in range(1, end):
        above -= counts[b]
        if positives(counts[b]) != 0:
            promise = max(promise, _promise(above, counts[b], base, log2_next))
            promise = max(promise, _promise(below, counts[b], base, log2_next))
            reached = max(reached, _gain(above + counts[b], base, log2_next))
            reached = max(reached, _gain(below + counts[b], base, log2_next))
        below += counts[b]
    blocks.promise[coded.column[f]] = promise
    return reached


cdef inline void _find_in_block(
    Py_ssize_t f,
    Py_ssize_t b,
    uint64_t below,
    uint64_t above,
    const Coded* coded,
    const Counter* counter,
    Py_ssize_t n_members,
    const Blocks* blocks,
    double base,
    const double* log2_next,
    const Scope* scope,
    Found* best,
) noexcept nogil:
    """Consider the bounds within a block, given the packed counts below it and from it on."""
    cdef const int32_t* codes = dense_codes(coded, f)
    cdef const int32_t* rows = blocks.rows + coded.column[f] * coded.n_rows
    cdef const int32_t* starts = blocks.starts + coded.column[f] * (blocks.width + 1)
    cdef int32_t end = coded.n_codes[f]
    cdef uint64_t counts = 0  # of one code
    cdef int32_t row
    cdef Py_ssize_t i
    cdef Py_ssize_t begin = starts[b]
    cdef Py_ssize_t last = starts[b + 1] - 1
    if codes[rows[begin] >> 1] == codes[rows[last] >> 1]:
        # All rows are known: only the last one is left to visit.
        counts = blocks.counts[coded.column[f] * blocks.width + b]
        counts -= counter.pair[rows[last] >> 1] * is_in_node(counter, rows[last] >> 1, 0, n_members)
        begin = last
    for i in range(begin, last + 1):
        row = rows[i] >> 1
        if is_in_node(counter, row, 0, n_members):
            counts += counter.pair[row]
        if not rows[i] & 1:
            continue
        below += counts
        if positives(counts) != 0:
            _consider(Condition(f, codes[row], end), above, base, log2_next, coded, scope, best)
            _consider(Condition(f, 0, codes[row] + 1), below, base, log2_next, coded, scope, best)
        above -= counts
        counts = 0


cdef inline void _find_bound(
    Py_ssize_t f,
    double reached,
    const Coded* coded,
    const Counter* counter,
    Py_ssize_t n_members,
    const Blocks* blocks,
    double base,
    const double* log2_next,
    const Scope* scope,
    Found* best,
) noexcept nogil:
    """What `_find_range` does, for a dense numeric feature whose blocks are counted.

    Looks only into blocks that may have a bound which gains more than the best one, and at least
    `reached`.
    """
    cdef const uint64_t* counts = blocks.counts + coded.column[f] * blocks.width
    cdef uint64_t above = 0
    cdef uint64_t below = 0
    cdef double least
    cdef Py_ssize_t end = blocks.n_blocks[coded.column[f]] + 1
    cdef Py_ssize_t b
    if blocks.promise[coded.column[f]] <= max(best.gain, reached):
        return
    for b in range(1, end):
        above += counts[b]
    for b in range(1, end):
        least = max(best.gain, reached)
        if positives(counts[b]) != 0 and (
            _promise(above - counts[b], counts[b], base, log2_next) > least
            or _promise(below, counts[b], base, log2_next) > least
        ):
            _find_in_block(
                f, b, below, above, coded, counter, n_members, blocks, base, log2_next, scope, best
            )
        above -= counts[b]
        below += counts[b]


@cython.final
cdef class RuleListLearner:
    """Learns rules that tell the target class from the rest, in order.

    Parameters
    ----------
    coded : CodedFeatures
    by_code : CodeOrder
    settings : RipperSettings
    n_possible : int
        Conditions that a rule could have.
    entropy : int
        Seed of the random numbers.
    every, is_target : (n_rows,) bool
        The rows to learn from, and the rows of the target class.
    order : (n_rows,) int64
        The order of the rows before they are shuffled.
    fp_share : float
        Expected share of false positives among the errors.
    limits : Limits, optional
        What the rules may test, and how many rows they have to cover.
    target : {1, 2}
        The class of the rules: presence (1) or absence (2) of the label.
    """

    cdef bint prunes, check_error
    cdef int n_optimizations
    cdef Py_ssize_t n_folds
    cdef size_t max_conditions  # 0 is no limit
    cdef double min_weight, n_possible, fp_share
    cdef uint64_t state  # of the random numbers
    cdef Mask every, is_target
    cdef Rows order, ascending
    cdef uint64_t total  # packed counts of `every`
    # Memory that all rules share.
    cdef Coded coded
    cdef Blocks blocks
    cdef Counter counter
    cdef int32_t* row_codes  # (n_rows,)
    cdef uint8_t* used  # (n_features,)
    cdef double* log2_next  # log₂(k + 1) for every k up to n_rows
    cdef Scope scope
    cdef list owner

    def __init__(
        self,
        coded,
        by_code,
        settings,
        Py_ssize_t n_possible,
        entropy,
        const uint8_t[::1] every,
        const uint8_t[::1] is_target,
        const int64_t[::1] order,
        double fp_share,
        limits=None,
        uint8_t target=PRESENCE,
    ):
        cdef Py_ssize_t n_rows = is_target.shape[0]
        cdef Py_ssize_t k, row
        self.prunes = settings.prune
        self.check_error = settings.check_error
        self.n_optimizations = settings.optimizations if settings.prune else 0
        self.n_folds = settings.folds
        self.min_weight = settings.min_weight
        most = settings.max_conditions
        self.max_conditions = (most if limits is None else limits.least_conditions(most)) or 0
        self.n_possible = n_possible
        self.fp_share = fp_share
        self.state = entropy % 2**64
        self.owner = [coded, limits]
        self.coded = borrow(coded)
        self.blocks = make_blocks(by_code, self.owner)
        cdef Py_ssize_t n_features = self.coded.n_features
        self.scope.limits = borrow_limits(limits)
        self.scope.target = target
        self.scope.is_tested = <uint8_t*> allocate(self.owner, n_features)
        self.scope.low = <int32_t*> allocate(self.owner, n_features * sizeof(int32_t))
        self.scope.high = <int32_t*> allocate(self.owner, n_features * sizeof(int32_t))
        self.counter = make_counter(&self.coded, self.owner)
        self.row_codes = <int32_t*> allocate(self.owner, n_rows * sizeof(int32_t))
        self.used = <uint8_t*> allocate(self.owner, self.coded.n_features)
        self.log2_next = <double*> allocate(self.owner, (n_rows + 1) * sizeof(double))
        for k in range(n_rows + 1):
            self.log2_next[k] = log2(<double> (k + 1))
        for row in range(n_rows):
            self.every.push_back(every[row])
            self.is_target.push_back(is_target[row])
            self.order.push_back(order[row])
            self.ascending.push_back(row)
            self.counter.pair[row] = pack(1, is_target[row])
        self.total = _count(self.every, self.every, self.is_target)

    def learn(self):
        """The rules, each a list of ranges (feature, low, high) and the mask of the rows it covers.

        There are none if all rows belong to one class.
        """
        cdef vector[Rule] rules
        cdef Rule rule
        cdef Condition c
        cdef uint8_t[::1] out
        if 0 < positives(self.total) < examples(self.total):
            with nogil:
                self._learn(rules)
        learned = []
        for rule in rules:
            mask = np.empty(rule.mask.size(), dtype=np.bool_)
            out = mask.view("u1")
            memcpy(&out[0], rule.mask.data(), rule.mask.size())
            learned.append(([(c.feature, c.low, c.high) for c in rule.body], mask))
        return learned

    cdef int _learn(self, vector[Rule]& rules) except -1 nogil:
        cdef int _
        self._add_rules(rules)
        for _ in range(self.n_optimizations):
            self._optimise(rules)
            self._add_rules(rules)
            self._reduce(rules)
        return 0

    cdef double _error_bits(self, uint64_t rest) noexcept nogil:
        """Description length of the errors of rules that leave these packed counts uncovered."""
        cdef int64_t n_examples = examples(self.total)
        cdef int64_t n_rest = examples(rest)
        cdef int64_t n_missed = positives(rest)
        cdef int64_t fp = (n_examples - positives(self.total)) - (n_rest - n_missed)
        return exception_bits(self.fp_share, n_examples - n_rest, n_rest, fp, n_missed)

    cdef double _rule_bits(self, const Body& body) noexcept nogil:
        return rule_bits(body.size(), self.n_possible)

    cdef int _add_rules(self, vector[Rule]& rules) except -1 nogil:
        """Append rules for the positives that are left, until a stopping criterion holds.

        Stops when no positive is left, when the description length is too far above its minimum, or
        when the new rule covers no positive or (with `check_error`) at least as many negatives as
        positives.
        """
        cdef Mask rest = self._remove_covered(rules, 0, self.every)
        cdef uint64_t left = _count(rest, rest, self.is_target)
        # The surplus counts from the empty theory, also where rules are added to an optimised one.
        cdef double bits = self._error_bits(self.total)
        cdef double least_bits = bits
        cdef double before = self._error_bits(left)
        cdef double after
        cdef uint64_t covered
        cdef bint is_wrong
        cdef pair[Rows, Rows] parts
        cdef Body nothing
        cdef Rule rule
        while positives(left) > 0:
            if self.prunes:
                parts = self.split(_rows_in(rest, self.order))
                rule.body = self.grow(parts.first, nothing)
                rule.body = self.prune(parts.second, rule.body, False)
            else:
                rule.body = self.grow(_rows_in(rest, self.ascending), nothing)
            self._widen(&rule)
            covered = _count(rule.mask, rest, self.is_target)
            left -= covered
            after = self._error_bits(left)
            bits += after - before + self._rule_bits(rule.body)
            before = after
            least_bits = min(bits, least_bits)
            is_wrong = self.check_error and 2 * positives(covered) <= examples(covered)
            if bits > least_bits + SURPLUS_BITS or positives(covered) == 0 or is_wrong:
                break
            if not self._covers_enough(rule.mask):
                break
            rules.push_back(rule)
            _remove(rule.mask, rest)
        return 0

    cdef bint _covers_enough(self, const Mask& mask) noexcept nogil:
        """Whether a rule covers as many of all rows as the limits demand."""
        cdef uint64_t counts
        if not self.scope.limits.is_active:
            return True
        counts = _count(mask, mask, self.is_target)
        return (
            <int64_t> examples(counts) >= self.scope.limits.min_covered
            and <int64_t> positives(counts) >= self.scope.limits.min_tp
        )

    cdef int _widen(self, Rule* rule) except -1 nogil:
        """Set the mask of a rule; delete last conditions while it covers too little of all rows."""
        rule.mask = self.cover(rule.body)
        while rule.body.size() > 0 and not self._covers_enough(rule.mask):
            rule.body.pop_back()
            rule.mask = self.cover(rule.body)
        return 0

    cdef Mask _remove_covered(
        self, const vector[Rule]& rules, size_t first, const Mask& rows
    ) except * nogil:
        """The rows that no rule covers from the given one on."""
        cdef Mask rest = rows
        cdef size_t r
        for r in range(first, rules.size()):
            _remove(rules[r].mask, rest)
        return rest

    cdef int _optimise(self, vector[Rule]& rules) except -1 nogil:
        """Let each rule in turn compete with two variants; the smallest description length wins.

        The list ends with the last positive: rules after it can only be wrong.
        """
        cdef vector[uint64_t] counts = vector[uint64_t](rules.size())
        cdef Mask rest = self.every
        cdef uint64_t n_missed = positives(self.total)
        cdef size_t position
        for position in range(rules.size()):
            if n_missed == 0:
                rules.resize(position)
                break
            if _count(rules[position].mask, rest, self.is_target) != 0:
                self._replace(rules, position, rest, counts)
            counts[position] = _count(rules[position].mask, rest, self.is_target)
            n_missed -= positives(counts[position])
            _remove(rules[position].mask, rest)
        return 0

    cdef int _replace(
        self,
        vector[Rule]& rules,
        size_t position,
        const Mask& rest,
        vector[uint64_t]& counts,
    ) except -1 nogil:
        """Put the best of a rule, its revision and its replacement into its place.

        The variants are grown from the rule itself, and from nothing. Both are pruned for the accuracy
        of the whole theory, i.e. on rows that no later rule covers. `counts` has the packed counts of
        the rules before the position, whose rows are not in `rest`.
        """
        cdef pair[Rows, Rows] parts = self.split(_rows_in(rest, self.order))
        cdef Mask alone = self._remove_covered(rules, position + 1, rest)
        cdef Rows pruning = _rows_in(alone, parts.second)
        cdef Rows covered = _rows_in(rules[position].mask, parts.first)
        cdef vector[Rule] variants = vector[Rule](3)
        cdef Body nothing
        cdef vector[size_t] later
        cdef double bits
        cdef double least_bits = INFINITY
        cdef size_t i, r
        cdef size_t best = 0
        variants[0] = rules[position]
        variants[1].body = self.grow(covered, rules[position].body)
        variants[2].body = self.grow(parts.first, nothing)
        for i in range(1, 3):
            variants[i].body = self.prune(pruning, variants[i].body, True)
            self._widen(&variants[i])
        for r in range(position + 1, rules.size()):
            later.push_back(r)
        # Of equals the old rule stays, and the revision is preferred to the replacement.
        for i in range(3):
            if not self._covers_enough(variants[i].mask):
                continue
            rules[position] = variants[i]
            self._count_in_turn(rules, position, rest, counts)
            bits = self._delete_costly(rules, counts, later).first
            bits += self._rule_bits(variants[i].body)
            if bits < least_bits:
                least_bits = bits
                best = i
        rules[position] = variants[best]
        return 0

    cdef int _reduce(self, vector[Rule]& rules) except -1 nogil:
        """Delete the rules that raise the description length, from the last to the first."""
        cdef vector[uint64_t] counts = vector[uint64_t](rules.size())
        cdef vector[size_t] backwards
        cdef vector[Rule] kept
        cdef vector[bint] deleted
        cdef size_t r
        self._count_in_turn(rules, 0, self.every, counts)
        for r in range(rules.size(), 0, -1):
            backwards.push_back(r - 1)
        deleted = self._delete_costly(rules, counts, backwards).second
        for r in range(rules.size()):
            if not deleted[r]:
                kept.push_back(rules[r])
        rules.swap(kept)
        return 0

    cdef int _count_in_turn(
        self,
        const vector[Rule]& rules,
        size_t first,
        const Mask& rest,
        vector[uint64_t]& counts,
    ) except -1 nogil:
        """Packed counts of what each rule from the first on covers in `rest` and no earlier one."""
        cdef Mask left = rest
        cdef size_t r
        for r in range(first, rules.size()):
            counts[r] = _count(rules[r].mask, left, self.is_target)
            _remove(rules[r].mask, left)
        return 0

    cdef pair[double, vector[bint]] _delete_costly(
        self,
        const vector[Rule]& rules,
        const vector[uint64_t]& counts,
        const vector[size_t]& order,
    ) except * nogil:
        """(description length without the costly rules, which rules these are)."""
        cdef vector[double] bits_of_rule
        cdef vector[int64_t] tp, fp
        cdef size_t r
        for r in range(rules.size()):
            bits_of_rule.push_back(self._rule_bits(rules[r].body))
            tp.push_back(positives(counts[r]))
            fp.push_back(examples(counts[r]) - positives(counts[r]))
        cdef int64_t n_positives = positives(self.total)
        cdef int64_t n_negatives = examples(self.total) - positives(self.total)
        return delete_costly_rules(
            tp, fp, bits_of_rule, order, n_positives, n_negatives, self.fp_share, self.check_error
        )

    cpdef pair[Rows, Rows] split(self, const Rows& rows) except * nogil:
        """Rows to grow on and rows to prune on, both ascending: 1/n_folds of each class for pruning.

        The classes are shuffled apart and dealt one after the other, target class first.
        """
        cdef Rows shuffled
        cdef Mask is_growing = Mask(self.is_target.size())
        cdef Mask is_pruning = is_growing
        cdef Py_ssize_t begin, i, j, n_rows = rows.size()
        cdef int turn
        shuffled.reserve(n_rows)
        for turn in range(2):
            begin = shuffled.size()
            for i in range(n_rows):
                if (self.is_target[rows[i]] != 0) == (turn == 0):
                    shuffled.push_back(rows[i])
            for i in range(<Py_ssize_t> shuffled.size() - 1, begin, -1):
                j = begin + next_below(&self.state, i - begin + 1)
                shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        for i in range(n_rows):
            is_growing[rows[i]] = True
        for i in range(n_rows // self.n_folds):
            j = (i + 1) * self.n_folds - 1
            is_growing[shuffled[j]] = False
            is_pruning[shuffled[j]] = True
        # Growing is a fifth faster on ascending rows, because it reads memory in order. Masks give
        # them in a fraction of the time of sorting.
        return pair[Rows, Rows](
            _rows_in(is_growing, self.ascending), _rows_in(is_pruning, self.ascending)
        )

    cpdef Body grow(self, const Rows& rows, const Body& start) except * nogil:
        """Add conditions to the body `start`, which covers all `rows`, until no negative is covered.

        Also stops when no condition has a gain, when the best one covers fewer positives than
        `min_weight`, or at `max_conditions`.
        """
        cdef const Coded* coded = &self.coded
        cdef uint32_t* members = self.counter.members
        cdef Body body = start
        cdef uint64_t total = 0
        cdef Py_ssize_t i, n_rows = rows.size()
        cdef Condition condition
        cdef Found found
        with gil:
            PyErr_CheckSignals()
        self._start_body(n_rows)
        for condition in body:
            self._note_condition(condition)
        for i in range(n_rows):
            members[i] = rows[i]
            total += self.counter.pair[rows[i]]
        while positives(total) < examples(total):
            if self.max_conditions != 0 and body.size() >= self.max_conditions:
                break
            found = self._find_condition(total)
            if found.gain == 0 or positives(found.counts) < self.min_weight:
                break
            filter_rows(coded, found.condition, members, examples(total), self.row_codes)
            body.push_back(found.condition)
            self._note_condition(found.condition)
            total = found.counts
        return body

    cdef void _start_body(self, Py_ssize_t n_rows) noexcept nogil:
        """Note that a body without conditions is grown on so many rows."""
        cdef const Limits* limits = &self.scope.limits
        cdef Py_ssize_t f
        for f in range(self.coded.n_features):
            self.used[f] = limits.is_active and not (limits.lower[f] | limits.upper[f])
            self.scope.is_tested[f] = False
            self.scope.low[f] = 0
            self.scope.high[f] = self.coded.n_codes[f]
        # A rule that covers n rows is expected to cover this many of the rows to grow on.
        self.scope.min_examples = limits.min_covered * n_rows // self.coded.n_rows
        self.scope.min_positives = limits.min_tp * n_rows // self.coded.n_rows

    cdef void _note_condition(self, Condition condition) noexcept nogil:
        """Note a condition of the body: a numeric attribute may be bounded again, a nominal one not."""
        cdef Py_ssize_t f = condition.feature
        self.used[f] = self.coded.is_nominal[f]
        self.scope.is_tested[f] = True
        self.scope.low[f] = max(self.scope.low[f], condition.low)
        self.scope.high[f] = min(self.scope.high[f], condition.high)

    cdef Found _find_condition(self, uint64_t total) noexcept nogil:
        """The condition with the largest gain on the first members, whose packed counts are given.

        Of equal gains the first attribute wins. Attributes in `used` are left out. Without a condition
        that gains, the gain is 0.
        """
        cdef const Coded* coded = &self.coded
        cdef Counter* counter = &self.counter
        cdef Py_ssize_t n_members = examples(total)
        cdef double base = self.log2_next[positives(total)] - self.log2_next[n_members]
        cdef Py_ssize_t f, i, n
        cdef Found best = Found(0.0, Condition(0, 0, 0), 0)
        cdef bint by_blocks = n_members >= LEAST_MEMBERS
        cdef double reached = 0.0
        for i in range(n_members):
            counter.position[counter.members[i]] = i
        if by_blocks:
            reached = self._count_all_blocks(n_members, base)
        for f in range(coded.n_features):
            if not self._may_test(f):
                continue
            if by_blocks and coded.column[f] >= 0 and not coded.is_nominal[f]:
                _find_bound(
                    f, reached, coded, counter, n_members, &self.blocks, base, self.log2_next,
                    &self.scope, &best,
                )
                continue
            n = count_codes(coded, f, 0, n_members, total, counter)
            _find_range(f, n, coded, counter, base, self.log2_next, &self.scope, &best)
        for i in range(n_members):
            counter.position[counter.members[i]] = outside()
        return best

    cdef double _count_all_blocks(self, Py_ssize_t n_members, double base) noexcept nogil:
        """Count the blocks of the dense numeric features; return a gain that a bound reaches.

        With limits this is 0, because the bound may be forbidden.
        """
        cdef double reached = 0.0
        cdef double gain
        cdef Py_ssize_t f
        for f in range(self.coded.n_features):
            if self.coded.column[f] < 0 or self.coded.is_nominal[f] or not self._may_test(f):
                continue
            gain = _count_blocks(
                f, &self.coded, &self.counter, n_members, &self.blocks, base, self.log2_next
            )
            reached = max(reached, gain)
        return 0.0 if self.scope.limits.is_active else reached

    cdef bint _may_test(self, Py_ssize_t f) noexcept nogil:
        """Whether a further condition of the body may test a feature."""
        return not self.used[f] and not (
            self.scope.limits.is_active and is_apart(&self.scope.limits, f, self.scope.is_tested)
        )

    cpdef Body prune(self, const Rows& rows, const Body& body, bint whole_theory) except * nogil:
        """Delete the final sequence of conditions whose absence is worth most on the pruning rows.

        A rule that covers p positives and n negatives is worth (p + 1)/(p + n + 2). This orders rules
        as (p - n)/(p + n) does but distrusts small numbers. With `whole_theory` a rule is worth the
        share of rows that are classified correctly, (p + true negatives)/all. Of equals the shortest
        stays.
        """
        cdef Body kept = body
        cdef Rows covered = rows
        cdef Py_ssize_t n_rows = rows.size()
        cdef Py_ssize_t n_covered = n_rows
        cdef Py_ssize_t n_positives = self._count_targets(rows, n_rows)
        # The first formula judges the empty rule in either case, as in JRip.
        cdef double best = (n_positives + 1.0) / (n_rows + 2.0)
        cdef double worth
        cdef size_t c
        cdef size_t n_kept = 0
        cdef Py_ssize_t p
        if n_rows == 0:
            return kept
        for c in range(body.size()):
            n_covered = filter_rows(
                &self.coded, body[c], covered.data(), n_covered, self.row_codes
            )
            p = self._count_targets(covered, n_covered)
            if whole_theory:
                worth = <double> (p + (n_rows - n_positives) - (n_covered - p)) / n_rows
            else:
                worth = (p + 1.0) / (n_covered + 2.0)
            if worth > best:
                best = worth
                n_kept = c + 1
        kept.resize(n_kept)
        return kept

    cdef Py_ssize_t _count_targets(self, const Rows& rows, Py_ssize_t n) noexcept nogil:
        """Rows of the target class among the first n."""
        cdef Py_ssize_t i, n_targets = 0
        for i in range(n):
            n_targets += self.is_target[rows[i]]
        return n_targets

    cpdef Mask cover(self, const Body& body) except * nogil:
        """Mask (n_rows,) of the rows that a body covers."""
        cdef Mask mask = Mask(self.coded.n_rows)
        cover_mask(&self.coded, body.data(), body.size(), mask.data())
        return mask
