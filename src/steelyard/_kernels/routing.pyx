# distutils: language = c++
"""Rules → the rows that they cover, in a store; rules that cover the same rows are kept once.

A rule by itself is an intersection of the bits of its conditions. The rules of a large tree are routed
together: their ranges on an attribute fall into groups that do not overlap, so each row goes to one
group, as it did when the tree was grown. This takes (rows) × (depth) steps per tree, however many leaves
it has.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

from ._bits cimport set_bit
from ._conditions cimport Condition, filter_rows
from ._counting cimport codes_of_rows
from ._memory cimport allocate
from ._random cimport increment, mix
from .coverage cimport RowSets, Sets, keep_condition
from .row_store cimport Rows, RowStore, n_listed


# The bodies of all rules (CSR).
cdef struct Bodies:
    const int64_t* indptr
    const int32_t* feature
    const int32_t* low
    const int32_t* high


# Memory that is used again.
cdef struct Space:
    uint32_t* rows  # (n_rows,) the rows of all branches
    uint32_t* buffer  # (n_rows,)
    int32_t* codes  # (n_rows,)
    uint32_t* listed  # (n_rows,)
    uint64_t* bits  # (n_words,)


# Rules and rows that belong together: all rows that one of the rules covers are among the rows. The
# first `n_routed` conditions of the rules have sent the rows here. Those of them whose bit is set in
# `is_open` may still fail for some of the rules; conditions beyond the 64th are open.
cdef struct Branch:
    Py_ssize_t first_rule
    Py_ssize_t last_rule
    Py_ssize_t first_row
    Py_ssize_t last_row
    Py_ssize_t n_routed
    uint64_t is_open


# The range of codes that a rule allows.
cdef struct Span:
    int32_t low
    int32_t high
    uint32_t rule


cdef bint _starts_lower(const Span& span, const Span& other) noexcept nogil:
    return span.low < other.low


cdef uint64_t _hash(const Rows* rows, Py_ssize_t n_words) noexcept nogil:
    cdef uint64_t key = 0
    cdef Py_ssize_t i
    if rows.bits != NULL:
        for i in range(n_words):
            key = mix(key + rows.bits[i] + increment())
    else:
        for i in range(n_listed(rows)):
            key = mix(key + rows.listed[i] + increment())
    return key


cdef bint _are_equal(const Rows* rows, const Rows* others, Py_ssize_t n_words) noexcept nogil:
    if rows.n_positives != others.n_positives or rows.n_negatives != others.n_negatives:
        return False
    if rows.bits != NULL:
        return memcmp(rows.bits, others.bits, n_words * sizeof(uint64_t)) == 0
    return memcmp(rows.listed, others.listed, n_listed(rows) * sizeof(uint32_t)) == 0


cdef class _Collector:
    """Keeps the rows of rules; of rules that cover the same rows only one, if there is a key.

    That is the rule with the smallest key, then the first.
    """

    cdef RowStore store
    cdef const int64_t[::1] key
    cdef bint is_distinct
    cdef vector[uint64_t] hashes  # of each group of rules that cover the same rows
    cdef vector[int64_t] best_of_group
    cdef vector[int64_t] table  # an open hash table of groups; -1 is a free slot
    cdef int64_t[::1] group_of_rule

    def __cinit__(self, RowStore store, Py_ssize_t n_rules, key):
        self.store = store
        self.is_distinct = key is not None
        if self.is_distinct:
            self.key = key
        self.table.assign(1 << 10, -1)
        self.group_of_rule = np.empty(n_rules, dtype=np.int64)

    cdef int _enlarge_table(self) except -1 nogil:
        cdef uint64_t mask = 4 * self.table.size() - 1
        cdef uint64_t slot
        cdef size_t group
        self.table.assign(mask + 1, -1)
        for group in range(self.hashes.size()):
            slot = self.hashes[group] & mask
            while self.table[slot] >= 0:
                slot = (slot + 1) & mask
            self.table[slot] = group
        return 0

    cdef int add(self, int64_t rule, const Rows* rows) except -1 nogil:
        """Take the rows of a rule."""
        cdef uint64_t key = 0, slot = 0, mask
        cdef int64_t group
        cdef int64_t* best
        if self.is_distinct:
            if 2 * self.hashes.size() > self.table.size():
                self._enlarge_table()
            key = _hash(rows, self.store.n_words)
            mask = self.table.size() - 1
            slot = key & mask
            while self.table[slot] >= 0:
                group = self.table[slot]
                if self.hashes[group] == key and _are_equal(
                    rows, &self.store.rules[group], self.store.n_words
                ):
                    best = &self.best_of_group[group]
                    if self.key[rule] < self.key[best[0]] or (
                        self.key[rule] == self.key[best[0]] and rule < best[0]
                    ):
                        best[0] = rule
                    self.group_of_rule[rule] = group
                    return 0
                slot = (slot + 1) & mask
        group = self.best_of_group.size()
        self.table[slot] = group
        self.hashes.push_back(key)
        self.best_of_group.push_back(rule)
        self.group_of_rule[rule] = group
        self.store.add(rows)
        return 0

    def finish(self):
        """The rules that are kept, ascending, and for every rule the position among them of its equal.

        The store is brought into the same order.
        """
        cdef Py_ssize_t n_groups = self.best_of_group.size()
        cdef int64_t[::1] best = np.empty(n_groups, dtype=np.int64)
        cdef Py_ssize_t g
        for g in range(n_groups):
            best[g] = self.best_of_group[g]
        order = np.argsort(best.base)
        self.store.reorder(order)
        position = np.empty(n_groups, dtype=np.int64)
        position[order] = np.arange(n_groups)
        return best.base[order], position[self.group_of_rule.base]


cdef class _Router:
    """Routes the rows of a table to the rules of one tree after the other."""

    cdef object coded
    cdef RowSets row_sets
    cdef const Sets* sets
    cdef Bodies bodies
    cdef Space space
    cdef const int64_t* bit_of_row
    cdef Py_ssize_t n_rows
    cdef _Collector collector
    cdef list owner
    cdef vector[Branch] branches
    cdef vector[uint32_t] rules  # the rules of the tree; a branch is a range of it
    cdef vector[Span] spans
    cdef vector[Py_ssize_t] group_starts  # in `spans`; one more than there are groups
    cdef vector[Py_ssize_t] row_starts

    cdef int add_tree(self, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
        """Collect the rows of the rules [first, last) of a tree."""
        cdef Branch branch
        cdef Py_ssize_t i
        self.rules.resize(last - first)
        for i in range(first, last):
            self.rules[i - first] = i
        for i in range(self.n_rows):
            self.space.rows[i] = i
        self.branches.push_back(Branch(0, last - first, 0, self.n_rows, 0, 0))
        while not self.branches.empty():
            branch = self.branches.back()
            self.branches.pop_back()
            if (
                branch.last_rule - branch.first_rule == 1
                or branch.first_row == branch.last_row
                or not self._split(&branch)
            ):
                for i in range(branch.first_rule, branch.last_rule):
                    self._add_rule(&branch, self.rules[i])
        return 0

    cdef int _add_rule(self, const Branch* branch, int64_t rule) except -1 nogil:
        """Collect those rows of a branch that a rule covers."""
        cdef Py_ssize_t n = branch.last_row - branch.first_row
        cdef Py_ssize_t begin = self.bodies.indptr[rule]
        cdef Py_ssize_t c, i, n_positives = 0, n_negatives = 0
        cdef uint32_t* rows = self.space.buffer
        cdef int64_t bit, first_negative = 64 * self.collector.store.n_positive_words
        cdef Rows found
        memcpy(rows, self.space.rows + branch.first_row, n * sizeof(uint32_t))
        for c in range(self.bodies.indptr[rule + 1] - begin):
            if c >= branch.n_routed or c >= 64 or (branch.is_open >> c) & 1:
                n = filter_rows(
                    &self.sets.coded, self._condition(begin + c), rows, n, self.space.codes
                )
        # Rows ascend, and so do the bits of the positives and those of the negatives.
        for i in range(n):
            n_positives += self.bit_of_row[rows[i]] < first_negative
        if n > self.collector.store.most_listed:
            for i in range(self.sets.n_words):
                self.space.bits[i] = 0
            for i in range(n):
                set_bit(self.space.bits, self.bit_of_row[rows[i]])
            found = Rows(self.space.bits, NULL, n_positives, n - n_positives)
            return self.collector.add(rule, &found)
        found = Rows(NULL, self.space.listed, n_positives, n - n_positives)
        n_positives = 0
        for i in range(n):
            bit = self.bit_of_row[rows[i]]
            if bit < first_negative:
                self.space.listed[n_positives] = bit
                n_positives += 1
            else:
                self.space.listed[found.n_positives + n_negatives] = bit
                n_negatives += 1
        return self.collector.add(rule, &found)

    cdef Condition _condition(self, Py_ssize_t c) noexcept nogil:
        return Condition(self.bodies.feature[c], self.bodies.low[c], self.bodies.high[c])

    cdef int _split(self, Branch* branch) except -1 nogil:
        """Split a branch by one of its conditions; return 0 if none can tell rules apart.

        The rules of a tree have the conditions of their common path in common, in the same order. A
        later split on an attribute of the path narrows the range of the earlier condition, so conditions
        that are open are tried first.
        """
        cdef Py_ssize_t c = 0
        cdef uint64_t is_open = branch.is_open
        while is_open:
            if is_open & 1:
                self._group_rules(branch, c)
                if self.group_starts.size() > 2:
                    return self._send_rows(branch, c)
            is_open >>= 1
            c += 1
        c = branch.n_routed
        if c >= 64 or not self._share_feature(branch, c):
            return 0
        branch.n_routed += 1
        self._group_rules(branch, c)
        return self._send_rows(branch, c)

    cdef bint _share_feature(self, const Branch* branch, Py_ssize_t c) noexcept nogil:
        """Whether all rules of a branch have their c-th condition on the same feature."""
        cdef Py_ssize_t i, begin
        cdef int32_t feature = -1
        for i in range(branch.first_rule, branch.last_rule):
            begin = self.bodies.indptr[self.rules[i]]
            if begin + c >= self.bodies.indptr[self.rules[i] + 1]:
                return False
            if feature >= 0 and self.bodies.feature[begin + c] != feature:
                return False
            feature = self.bodies.feature[begin + c]
        return True

    cdef int _group_rules(self, const Branch* branch, Py_ssize_t c) except -1 nogil:
        """Group the rules of a branch: ranges of their c-th condition overlap within groups only.

        The groups are ascending in `spans`.
        """
        cdef Py_ssize_t n = branch.last_rule - branch.first_rule
        cdef Py_ssize_t i, condition
        cdef Span span
        cdef int32_t low = 0x7FFFFFFF, high = -1
        cdef bint is_one = False
        self.spans.resize(n)
        for i in range(n):
            span.rule = self.rules[branch.first_rule + i]
            condition = self.bodies.indptr[span.rule] + c
            span.low = self.bodies.low[condition]
            span.high = self.bodies.high[condition]
            is_one = (is_one and low <= span.low and span.high <= high) or (
                span.low <= low and high <= span.high
            )
            low = min(low, span.low)
            high = max(high, span.high)
            self.spans[i] = span
        self.group_starts.assign(1, 0)
        if not is_one:
            sort(self.spans.begin(), self.spans.end(), _starts_lower)
            high = self.spans[0].high
            for i in range(1, n):
                if self.spans[i].low >= high:
                    self.group_starts.push_back(i)
                high = max(high, self.spans[i].high)
        self.group_starts.push_back(n)
        return 0

    cdef int _send_rows(self, const Branch* branch, Py_ssize_t c) except -1 nogil:
        """Push a branch for each group of rules with the rows in its range."""
        cdef Py_ssize_t n_groups = self.group_starts.size() - 1
        cdef Py_ssize_t n = branch.last_row - branch.first_row
        cdef int32_t* group_of_row = self.space.codes
        cdef uint32_t* rows = self.space.rows + branch.first_row
        cdef Py_ssize_t g, i, low_group, high_group, middle, start
        cdef int32_t code, low, high
        cdef bint is_same
        cdef Branch child
        cdef vector[int32_t] lows, highs
        codes_of_rows(
            &self.sets.coded,
            self.bodies.feature[self.bodies.indptr[self.spans[0].rule] + c],
            rows,
            n,
            group_of_row,
        )
        lows.resize(n_groups)
        highs.resize(n_groups)
        self.row_starts.assign(n_groups + 1, 0)
        child = branch[0]
        for g in range(n_groups):
            low, high = self.spans[self.group_starts[g]].low, self.spans[self.group_starts[g]].high
            for i in range(self.group_starts[g], self.group_starts[g + 1]):
                low = min(low, self.spans[i].low)
                high = max(high, self.spans[i].high)
            lows[g], highs[g] = low, high
        for i in range(n):
            code = group_of_row[i]
            low_group, high_group = 0, n_groups
            while high_group - low_group > 1:
                middle = (low_group + high_group) >> 1
                if lows[middle] <= code:
                    low_group = middle
                else:
                    high_group = middle
            if lows[low_group] <= code < highs[low_group]:
                group_of_row[i] = low_group
                self.row_starts[low_group + 1] += 1
            else:
                group_of_row[i] = -1  # no rule of the branch covers it
        for g in range(n_groups):
            self.row_starts[g + 1] += self.row_starts[g]
        for g in range(n_groups):
            is_same = True
            for i in range(self.group_starts[g], self.group_starts[g + 1]):
                self.rules[branch.first_rule + i] = self.spans[i].rule
                is_same &= self.spans[i].low == lows[g] and self.spans[i].high == highs[g]
            child.first_rule = branch.first_rule + self.group_starts[g]
            child.last_rule = branch.first_rule + self.group_starts[g + 1]
            child.first_row = branch.first_row + self.row_starts[g]
            child.last_row = branch.first_row + self.row_starts[g + 1]
            child.is_open = branch.is_open & ~((<uint64_t> 1) << c)
            if not is_same:
                child.is_open |= (<uint64_t> 1) << c
            self.branches.push_back(child)
        start = self.row_starts[n_groups]
        for i in range(n):
            if group_of_row[i] >= 0:
                self.space.buffer[self.row_starts[group_of_row[i]]] = rows[i]
                self.row_starts[group_of_row[i]] += 1
        memcpy(rows, self.space.buffer, start * sizeof(uint32_t))
        return 1


def collect_rows(
    coded,
    sorted_rows,
    Py_ssize_t step,
    const int64_t[::1] indptr,
    const int32_t[::1] feature,
    const int32_t[::1] low,
    const int32_t[::1] high,
    const int64_t[::1] bit_of_row,
    const int64_t[::1] tree_starts,
    Py_ssize_t min_routed,
    RowStore store,
    key=None,
):
    """Fill an empty store with the rows that the rules cover.

    Parameters
    ----------
    coded, sorted_rows, step, bit_of_row : as in `coverage.RowSets`
        Bits ascend with the rows, among the positives and among the negatives.
    indptr, feature, low, high : bodies of the rules (CSR)
    tree_starts : (n_trees + 1,) int64
        The first rule of each tree, then the number of rules. Any rules can be called a tree; those of a
        real one are fast.
    min_routed : int
        The rules of a tree with at least this many are routed together.
    store : RowStore
    key : (n_rules,) int64, optional
        Of rules that cover the same rows, keep only the one with the smallest key, then the first.

    Returns
    -------
    kept : (n_kept,) int64
        The rules in the store, ascending.
    position : (n_rules,) int64
        For every rule, the position in `kept` of the one that covers the same rows.
    """
    cdef Py_ssize_t n_rules = indptr.shape[0] - 1
    cdef Py_ssize_t n_rows = bit_of_row.shape[0]
    cdef _Router router = _Router()
    cdef _Collector collector = _Collector(store, n_rules, key)
    cdef list owner = []
    cdef Rows rows
    cdef Py_ssize_t t, r, c
    router.row_sets = RowSets(coded, sorted_rows, step, feature, bit_of_row, store.n_words)
    router.sets = &router.row_sets.sets
    router.collector = collector
    router.bodies = Bodies(&indptr[0], &feature[0], &low[0], &high[0])
    router.bit_of_row = &bit_of_row[0]
    router.n_rows = n_rows
    router.space.rows = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    router.space.buffer = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    router.space.codes = <int32_t*> allocate(owner, n_rows * sizeof(int32_t))
    router.space.listed = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    router.space.bits = <uint64_t*> allocate(owner, store.n_words * sizeof(uint64_t))
    cdef uint64_t* bits = router.space.bits
    with nogil:
        for t in range(tree_starts.shape[0] - 1):
            with gil:
                PyErr_CheckSignals()
            if tree_starts[t + 1] - tree_starts[t] >= min_routed:
                router.add_tree(tree_starts[t], tree_starts[t + 1])
                continue
            for r in range(tree_starts[t], tree_starts[t + 1]):
                if r & 0xFFF == 0:
                    with gil:
                        PyErr_CheckSignals()
                memcpy(bits, router.sets.every, store.n_words * sizeof(uint64_t))
                for c in range(indptr[r], indptr[r + 1]):
                    keep_condition(bits, router.sets, feature[c], low[c], high[c])
                rows = store.read_bits(bits, router.space.listed)
                collector.add(r, &rows)
    return collector.finish()
