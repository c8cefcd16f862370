# distutils: language = c++
"""Separate-and-conquer: select the best rule, remove what it covers, repeat.

A heuristic sees TP and FP only. Rules that are kept as lists are many and cover few rows, so many of
them have equal counts: they are grouped by these, and a heuristic is asked once per group. The rules
that list a removed row are known, so all removals together take as many steps as the lists are long.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp.queue cimport priority_queue
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from ._bits cimport clear_bit, popcount, test_bit, trailing_zeros
from .row_store cimport Rows, RowStore, n_listed


# Rules with the same counts and of the same kind. Those that have left are still in the queue.
cdef struct Group:
    int32_t tp
    int32_t fp
    int64_t kind
    int64_t n_rules
    Py_ssize_t place  # among the groups that have rules


cdef class Covering:
    """The candidates of a label, and what is left of them as their rows are removed.

    Parameters
    ----------
    rows : RowStore
    tp, fp : (n_rules,) int32
        Counts of the candidates on the uncovered rows.
    rank : (n_rules,) int64
        Of candidates with equal values and TP, the one with the smallest rank is taken.
    uncovered : (n_words,) uint64
        The rows that count, as bits.
    kind : (n_rules,) int64, optional
        Candidates of different kinds may have different values in spite of equal counts.
    """

    cdef RowStore rows
    cdef const int64_t[::1] rank
    cdef const int64_t[::1] kind
    cdef uint64_t[::1] uncovered
    cdef int64_t[::1] rule_of_rank
    cdef int32_t[::1] tp
    cdef int32_t[::1] fp
    cdef vector[int64_t] wide  # the candidates that are kept as bits and cover a positive ...
    cdef vector[int32_t] wide_tp  # ... and their counts
    cdef vector[int32_t] wide_fp
    cdef vector[Group] groups
    cdef vector[priority_queue[int64_t]] queues  # of each group: -rank, the smallest rank on top
    cdef vector[int64_t] occupied  # the groups that have rules
    cdef vector[int64_t] group_of_rule  # -1: it covers no positive, or is kept as bits
    cdef unordered_map[uint64_t, int64_t] group_of_key
    cdef vector[Py_ssize_t] touched  # the words from which rows are being removed ...
    cdef vector[uint64_t] removed  # ... and these rows
    cdef vector[uint32_t] moved  # listed candidates that lose rows

    def __init__(
        self,
        RowStore rows,
        const int32_t[::1] tp,
        const int32_t[::1] fp,
        const int64_t[::1] rank,
        const uint64_t[::1] uncovered,
        const int64_t[::1] kind=None,
    ):
        cdef Py_ssize_t i, r
        self.rows = rows
        self.tp = np.array(tp)
        self.fp = np.array(fp)
        self.rank = rank
        self.kind = kind if kind is not None else np.zeros(len(rows), dtype=np.int64)
        self.uncovered = np.array(uncovered)
        self.rule_of_rank = np.empty(len(rows), dtype=np.int64)
        self.rule_of_rank.base[rank.base] = np.arange(len(rows))
        self.group_of_rule.assign(rank.shape[0], -1)
        with nogil:
            rows.transpose()
            for i in range(rank.shape[0]):
                r = self.rule_of_rank[i]
                if self.tp[r] == 0:
                    continue
                if self.rows.rules[r].bits == NULL:
                    self._enter_group(r)
            for r in range(rank.shape[0]):
                if self.tp[r] > 0 and self.rows.rules[r].bits != NULL:
                    self.wide.push_back(r)
                    self.wide_tp.push_back(self.tp[r])
                    self.wide_fp.push_back(self.fp[r])

    def copy(self):
        """The same candidates with the same rows removed, for another choice from here on."""
        cdef Covering other = Covering.__new__(Covering)
        other.rows = self.rows
        other.rank = self.rank
        other.kind = self.kind
        other.rule_of_rank = self.rule_of_rank
        other.uncovered = np.array(self.uncovered)
        other.tp = np.array(self.tp)
        other.fp = np.array(self.fp)
        other.wide = self.wide
        other.wide_tp = self.wide_tp
        other.wide_fp = self.wide_fp
        other.groups = self.groups
        other.queues = self.queues
        other.occupied = self.occupied
        other.group_of_rule = self.group_of_rule
        other.group_of_key = self.group_of_key
        return other

    cdef int _enter_group(self, Py_ssize_t rule) except -1 nogil:
        """Put a rule into the group of its counts."""
        cdef uint64_t most = self.rows.most_listed + 1
        cdef uint64_t key = (self.kind[rule] * most + self.tp[rule]) * most + self.fp[rule]
        cdef Py_ssize_t group
        if self.group_of_key.count(key):
            group = self.group_of_key[key]
        else:
            group = self.groups.size()
            self.group_of_key[key] = group
            self.groups.push_back(Group(self.tp[rule], self.fp[rule], self.kind[rule], 0, 0))
            self.queues.resize(group + 1)
        if self.groups[group].n_rules == 0:
            self.groups[group].place = self.occupied.size()
            self.occupied.push_back(group)
        self.groups[group].n_rules += 1
        self.queues[group].push(-self.rank[rule])
        self.group_of_rule[rule] = group
        return 0

    cdef void _leave_group(self, Py_ssize_t rule) noexcept nogil:
        cdef Group* group = &self.groups[self.group_of_rule[rule]]
        cdef int64_t last
        group.n_rules -= 1
        if group.n_rules == 0:
            last = self.occupied.back()
            self.occupied[group.place] = last
            self.groups[last].place = group.place
            self.occupied.pop_back()
        self.group_of_rule[rule] = -1

    cdef int64_t _first_of_group(self, Py_ssize_t group) noexcept nogil:
        """The rule of a group with the smallest rank."""
        cdef int64_t rule
        while True:
            rule = self.rule_of_rank[-self.queues[group].top()]
            if self.group_of_rule[rule] == <int64_t> group:
                return rule
            self.queues[group].pop()

    def counts(self):
        """TP, FP and kind of every candidate and group that is left, in an order that `pick` knows."""
        cdef Py_ssize_t n_wide = self.wide.size()
        cdef Py_ssize_t n = n_wide + self.occupied.size()
        cdef int32_t[:, ::1] counts = np.empty((2, n), dtype=np.int32)
        cdef int64_t[::1] kinds = np.empty(n, dtype=np.int64)
        cdef const Group* group
        cdef Py_ssize_t i
        with nogil:
            for i in range(n_wide):
                counts[0, i] = self.wide_tp[i]
                counts[1, i] = self.wide_fp[i]
                kinds[i] = self.kind[self.wide[i]]
            for i in range(n_wide, n):
                group = &self.groups[self.occupied[i - n_wide]]
                counts[0, i] = group.tp
                counts[1, i] = group.fp
                kinds[i] = group.kind
        return counts.base[0], counts.base[1], kinds.base

    def pick(self, const double[::1] values, const int32_t[::1] tp):
        """The best candidate in the order of the paper, given the values and TP of all `counts`.

        The larger value wins, then more true positives, then the smaller rank.
        """
        cdef Py_ssize_t n_wide = self.wide.size()
        cdef Py_ssize_t i, best = -1
        cdef int64_t rule, best_rule = -1
        with nogil:
            for i in range(values.shape[0]):
                if best >= 0 and not values[i] >= values[best]:
                    continue
                if best >= 0 and values[i] == values[best] and tp[i] < tp[best]:
                    continue
                if i < n_wide:
                    rule = self.wide[i]
                else:
                    rule = self._first_of_group(self.occupied[i - n_wide])
                if (
                    best < 0
                    or values[i] > values[best]
                    or tp[i] > tp[best]
                    or self.rank[rule] < self.rank[best_rule]
                ):
                    best, best_rule = i, rule
        return best_rule

    def remove(self, Py_ssize_t rule):
        """Remove what a candidate covers; return the numbers of removed positives and negatives."""
        cdef const Rows* rows = &self.rows.rules[rule]
        cdef Py_ssize_t i, w
        cdef uint64_t word = 0
        if rows.bits != NULL:
            return self.remove_rows(<const uint64_t[:self.rows.n_words]> rows.bits)
        with nogil:
            for i in range(n_listed(rows)):
                w = rows.listed[i] >> 6
                word |= (<uint64_t> 1) << (rows.listed[i] & 63)
                if i + 1 == n_listed(rows) or w != rows.listed[i + 1] >> 6:
                    self._remove_word(w, word)
                    word = 0
        return self._update_counts()

    def remove_rows(self, const uint64_t[::1] bits):
        """Remove rows, given as bits."""
        cdef Py_ssize_t w
        with nogil:
            for w in range(bits.shape[0]):
                self._remove_word(w, bits[w])
        return self._update_counts()

    cdef int _remove_word(self, Py_ssize_t w, uint64_t word) except -1 nogil:
        """Remove the uncovered rows of a word."""
        word &= self.uncovered[w]
        if word != 0:
            self.uncovered[w] &= ~word
            self.touched.push_back(w)
            self.removed.push_back(word)
        return 0

    cdef object _update_counts(self):
        """Update all candidates after rows were removed; return how many these are."""
        cdef int64_t n_positives = 0, n_negatives = 0
        cdef Py_ssize_t n_positive_words = 0
        cdef Py_ssize_t i
        with nogil:
            for i in range(<Py_ssize_t> self.touched.size()):
                if self.touched[i] < self.rows.n_positive_words:
                    n_positive_words += 1
                    n_positives += popcount(self.removed[i])
                else:
                    n_negatives += popcount(self.removed[i])
            self._update_groups()
            self._update_wide(n_positive_words)
            self.touched.clear()
            self.removed.clear()
        return n_positives, n_negatives

    cdef int _update_groups(self) except -1 nogil:
        """Move the listed rules that lost rows to other groups."""
        cdef Py_ssize_t i, e
        cdef uint64_t word
        cdef int64_t bit, rule
        cdef bint is_positive
        for i in range(<Py_ssize_t> self.touched.size()):
            word = self.removed[i]
            is_positive = self.touched[i] < self.rows.n_positive_words
            while word:
                bit = (self.touched[i] << 6) + trailing_zeros(word)
                word &= word - 1
                for e in range(self.rows.starts[bit], self.rows.starts[bit + 1]):
                    rule = self.rows.listing[e]
                    if self.group_of_rule[rule] >= 0:
                        self._leave_group(rule)
                        self.moved.push_back(rule)
                    self.tp[rule] -= is_positive
                    self.fp[rule] -= not is_positive
        for i in range(<Py_ssize_t> self.moved.size()):
            if self.tp[self.moved[i]] > 0:
                self._enter_group(self.moved[i])
        self.moved.clear()
        return 0

    cdef int _update_wide(self, Py_ssize_t n_positive_words) except -1 nogil:
        """Count the rules that are kept as bits again; drop those without positives."""
        cdef const uint64_t* covered
        cdef Py_ssize_t n_touched = self.touched.size()
        cdef const Py_ssize_t* touched = self.touched.data()
        cdef const uint64_t* removed = self.removed.data()
        cdef int64_t* wide = self.wide.data()
        cdef int32_t* tp = self.wide_tp.data()
        cdef int32_t* fp = self.wide_fp.data()
        cdef const Rows* rules = self.rows.rules.data()
        cdef Py_ssize_t i, w, n_left = 0
        cdef int32_t n
        for i in range(<Py_ssize_t> self.wide.size()):
            covered = rules[wide[i]].bits
            n = tp[i]
            for w in range(n_positive_words):
                n -= popcount(covered[touched[w]] & removed[w])
            if n == 0:
                continue
            wide[n_left] = wide[i]
            tp[n_left] = n
            n = fp[i]
            for w in range(n_positive_words, n_touched):
                n -= popcount(covered[touched[w]] & removed[w])
            fp[n_left] = n
            n_left += 1
        self.wide.resize(n_left)
        self.wide_tp.resize(n_left)
        self.wide_fp.resize(n_left)
        return 0


def select_in_order(RowStore rows, const int64_t[::1] order, const uint64_t[::1] uncovered):
    """Of the rules in an order, those that cover a positive that none before them covers."""
    cdef uint64_t[::1] left = np.array(uncovered)
    cdef list selected = []
    cdef const Rows* found
    cdef Py_ssize_t position, w, i
    cdef bint is_new
    for position in range(order.shape[0]):
        found = &rows.rules[order[position]]
        is_new = False
        with nogil:
            if found.bits != NULL:
                for w in range(rows.n_positive_words):
                    is_new |= (found.bits[w] & left[w]) != 0
                for w in range(rows.n_words if is_new else 0):
                    left[w] &= ~found.bits[w]
            else:
                for i in range(found.n_positives):
                    is_new |= test_bit(&left[0], found.listed[i])
                for i in range(n_listed(found) if is_new else 0):
                    clear_bit(&left[0], found.listed[i])
        if is_new:
            selected.append(order[position])
    return np.array(selected, dtype=np.int64)


def evaluate_fraction(
    const double[:, ::1] coefficients,
    const int32_t[::1] tp,
    const int32_t[::1] fp,
    double n_positives,
    double n_negatives,
):
    """Values of the fraction with the given (6, 6) coefficients; 0/0 counts as 0.

    `steelyard.heuristics.FractionHeuristic` does the same operations in the same order.
    """
    cdef double total = n_positives + n_negatives
    cdef double product = n_positives * n_negatives
    cdef double[6] terms = [1.0, n_positives, n_negatives, total, total * total, product]
    cdef double[6] weights
    cdef double[::1] values = np.empty(tp.shape[0])
    cdef double a, b, c, d, e, f, denominator
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(6):
            weights[i] = 0.0
            for k in range(6):
                weights[i] += coefficients[i, k] * terms[k]
        a, b, c, d, e, f = weights[0], weights[1], weights[2], weights[3], weights[4], weights[5]
        for i in range(tp.shape[0]):
            denominator = d * tp[i] + e * fp[i] + f
            if denominator != 0:
                values[i] = (a * tp[i] + b * fp[i] + c) / denominator
            else:
                values[i] = 0.0
    return values.base
