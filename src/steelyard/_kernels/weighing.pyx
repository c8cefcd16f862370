# distutils: language = c++
"""Separate-and-conquer with weights: TP and FP are sums of the weights of rows.

The weights are multiples of a power of two and their sum is below 2⁵³ of these units, so that all sums
are exact: they depend neither on their order nor on whether rows are added or removed.
"""

import numpy as np

from libc.stdint cimport int64_t, uint64_t

from ._bits cimport test_bit, weigh_common
from .row_store cimport Rows, RowStore, n_listed


cdef void _weigh_rule(
    RowStore store,
    Py_ssize_t rule,
    const uint64_t* among,
    const double* weights,
    double* tp,
    double* fp,
) noexcept nogil:
    """Write the weights of the positives and of the negatives among some rows that a rule covers."""
    cdef const Rows* rows = &store.rules[rule]
    cdef Py_ssize_t i
    tp[0] = fp[0] = 0.0
    if rows.bits != NULL:
        tp[0] = weigh_common(rows.bits, among, 0, store.n_positive_words, weights)
        fp[0] = weigh_common(rows.bits, among, store.n_positive_words, store.n_words, weights)
        return
    for i in range(n_listed(rows)):
        if not test_bit(among, rows.listed[i]):
            continue
        if i < rows.n_positives:
            tp[0] += weights[rows.listed[i]]
        else:
            fp[0] += weights[rows.listed[i]]


def weigh_rules(RowStore rows, const double[::1] weights, const uint64_t[::1] among):
    """Weighted TP and FP of every rule on some rows, given as bits, shape (2, n_rules)."""
    cdef double[:, ::1] counts = np.empty((2, len(rows)))
    cdef Py_ssize_t r
    with nogil:
        for r in range(counts.shape[1]):
            _weigh_rule(rows, r, &among[0], &weights[0], &counts[0, r], &counts[1, r])
    return counts.base


cdef class WeighedCovering:
    """As `covering.Covering`, with weighted counts.

    Parameters
    ----------
    rows : RowStore
    weights : (64 * n_words,) double
        The weight of the row of each bit.
    rank : (n_rules,) int64
        Of candidates with equal values and TP, the one with the smallest rank is taken.
    uncovered : (n_words,) uint64
        The rows that count, as bits.
    """

    cdef RowStore rows
    cdef const double[::1] weights
    cdef const int64_t[::1] rank
    cdef uint64_t[::1] uncovered
    cdef int64_t[::1] left  # the candidates that cover an uncovered positive ...
    cdef double[:, ::1] sums  # ... and their weighted TP and FP; only the first `n_left` count
    cdef Py_ssize_t n_left

    def __init__(
        self,
        RowStore rows,
        const double[::1] weights,
        const int64_t[::1] rank,
        const uint64_t[::1] uncovered,
    ):
        self.rows = rows
        self.weights = weights
        self.rank = rank
        self.uncovered = np.array(uncovered)
        self.left = np.arange(len(rows))
        self.sums = weigh_rules(rows, weights, uncovered)
        self.n_left = len(rows)
        self._drop_empty()

    cdef void _drop_empty(self) noexcept nogil:
        """Forget the candidates without positives."""
        cdef Py_ssize_t i, n = 0
        for i in range(self.n_left):
            if self.sums[0, i] > 0:
                self.left[n] = self.left[i]
                self.sums[0, n] = self.sums[0, i]
                self.sums[1, n] = self.sums[1, i]
                n += 1
        self.n_left = n

    def totals(self):
        """Weights of the uncovered positives and negatives."""
        cdef const uint64_t* bits = &self.uncovered[0]
        cdef Py_ssize_t middle = self.rows.n_positive_words
        return (
            weigh_common(bits, bits, 0, middle, &self.weights[0]),
            weigh_common(bits, bits, middle, self.rows.n_words, &self.weights[0]),
        )

    def counts(self):
        """Weighted TP and FP of the candidates that are left, and which candidates these are."""
        cdef Py_ssize_t n = self.n_left
        return self.sums.base[0, :n], self.sums.base[1, :n], self.left.base[:n]

    def pick(self, const double[::1] values):
        """The best candidate that is left: larger value, then more true positives, then smaller rank."""
        cdef Py_ssize_t i, best = 0
        with nogil:
            for i in range(1, self.n_left):
                if values[i] != values[best]:
                    if values[i] > values[best]:
                        best = i
                elif self.sums[0, i] != self.sums[0, best]:
                    if self.sums[0, i] > self.sums[0, best]:
                        best = i
                elif self.rank[self.left[i]] < self.rank[self.left[best]]:
                    best = i
        return self.left[best]

    def remove(self, Py_ssize_t rule):
        """Remove what a candidate covers."""
        cdef uint64_t[::1] bits = np.empty(self.rows.n_words, dtype=np.uint64)
        self.rows.load(rule, &bits[0])
        self.remove_rows(bits)

    def remove_rows(self, const uint64_t[::1] bits):
        """Remove rows, given as bits."""
        cdef uint64_t[::1] removed = np.array(bits)
        cdef double tp = 0.0, fp = 0.0
        cdef Py_ssize_t w, i
        with nogil:
            for w in range(removed.shape[0]):
                removed[w] &= self.uncovered[w]
                self.uncovered[w] &= ~removed[w]
            for i in range(self.n_left):
                _weigh_rule(self.rows, self.left[i], &removed[0], &self.weights[0], &tp, &fp)
                self.sums[0, i] -= tp
                self.sums[1, i] -= fp
            self._drop_empty()
