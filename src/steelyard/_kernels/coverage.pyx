"""Which rows a rule covers, as packed bits."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from ._bits cimport clear_bit, set_bit
from ._coded cimport borrow


def sort_rows_by_code(const int32_t[:, ::1] dense, const int32_t[::1] n_codes_of_column):
    """Counting sort of the rows of every dense feature by code.

    Returns
    -------
    order : (n_dense, n_rows) int32
        Rows ascending by code; missing values first.
    starts, starts_indptr : int64 arrays
        ``order[c, starts[starts_indptr[c] + k]:]`` begins with the rows of code k.
    """
    cdef Py_ssize_t n_dense = dense.shape[0]
    cdef Py_ssize_t n_rows = dense.shape[1]
    cdef Py_ssize_t c, i, row, free
    # Of a feature, three more than it has codes: the start of the missing values, the end of all rows,
    # and one more because each start is stored one place too far while it is the next free slot.
    cdef int64_t[::1] starts_indptr = np.ones(n_dense + 1, dtype=np.int64)
    for c in range(n_dense):
        starts_indptr[c + 1] = starts_indptr[c] + n_codes_of_column[c] + 3
    cdef int64_t[::1] starts = np.zeros(starts_indptr[n_dense], dtype=np.int64)
    cdef int32_t[:, ::1] order = np.empty((n_dense, n_rows), dtype=np.int32)
    cdef int64_t* start
    with nogil:
        for c in range(n_dense):
            start = &starts[starts_indptr[c]]
            for row in range(n_rows):
                start[dense[c, row] + 2] += 1
            for i in range(n_codes_of_column[c] + 1):
                start[i + 1] += start[i]
            for row in range(n_rows):
                free = dense[c, row] + 1
                order[c, start[free]] = row
                start[free] += 1
    return order.base, starts.base, starts_indptr.base


cdef class RowSets:
    def __init__(
        self,
        coded,
        sorted_rows,
        Py_ssize_t step,
        const int32_t[::1] feature,
        const int64_t[::1] bit_of_row,
        Py_ssize_t n_words,
    ):
        """
        Parameters
        ----------
        coded : CodedFeatures
        sorted_rows : result of `sort_rows_by_code`
        step : int
            Rows between two checkpoints.
        feature : features of the conditions, repeated or not
        bit_of_row : (n_rows,) int64
            The bit of each row.
        n_words : int
        """
        cdef Sets* sets = &self.sets
        sets.coded = borrow(coded)
        sets.n_words = n_words
        sets.step = step
        sets.n_checkpoints = (bit_of_row.shape[0] + step - 1) // step + 1
        cdef const int32_t[:, ::1] order
        cdef const int64_t[::1] starts, starts_indptr
        order, starts, starts_indptr = sorted_rows
        sets.order = &order[0, 0]
        sets.starts = &starts[0]
        sets.starts_indptr = &starts_indptr[0]
        sets.bit_of_row = &bit_of_row[0]

        cdef int64_t[::1] slot_of_feature = np.full(sets.coded.n_features, -1, dtype=np.int64)
        cdef Py_ssize_t n_dense = 0
        cdef Py_ssize_t n_listed = 0
        cdef Py_ssize_t i
        for i in range(feature.shape[0]):
            if slot_of_feature[feature[i]] < 0:
                if sets.coded.column[feature[i]] >= 0:
                    slot_of_feature[feature[i]] = n_dense
                    n_dense += 1
                else:
                    slot_of_feature[feature[i]] = n_listed
                    n_listed += 1
        cdef uint64_t[:, :, ::1] checkpoints = np.zeros(
            (n_dense, sets.n_checkpoints, n_words), dtype=np.uint64
        )
        cdef uint64_t[:, ::1] defaults = np.empty((n_listed, n_words), dtype=np.uint64)
        cdef uint64_t[:, ::1] words = np.zeros((2, n_words), dtype=np.uint64)
        sets.slot_of_feature = &slot_of_feature[0]
        sets.checkpoints = &checkpoints[0, 0, 0]
        sets.defaults = &defaults[0, 0]
        sets.every = &words[0, 0]
        sets.buffer = &words[1, 0]
        self.arrays = (
            coded, sorted_rows, bit_of_row, slot_of_feature, checkpoints, defaults, words
        )
        _fill_sets(sets, bit_of_row.shape[0])


cdef void _fill_sets(Sets* sets, Py_ssize_t n_rows) noexcept nogil:
    cdef const int32_t* order
    cdef const int64_t* starts
    cdef uint64_t* words
    cdef Py_ssize_t size = sets.n_words * sizeof(uint64_t)
    cdef Py_ssize_t f, k, i, row, last, begin, end
    for row in range(n_rows):
        set_bit(sets.every, sets.bit_of_row[row])
    for f in range(sets.coded.n_features):
        if sets.slot_of_feature[f] < 0:
            continue
        if sets.coded.column[f] < 0:
            words = sets.defaults + sets.slot_of_feature[f] * sets.n_words
            memcpy(words, sets.every, size)
            for i in range(sets.coded.indptr[f], sets.coded.indptr[f + 1]):
                clear_bit(words, sets.bit_of_row[sets.coded.rows[i]])
            continue
        order = sets.order + sets.coded.column[f] * n_rows
        starts = sets.starts + sets.starts_indptr[sets.coded.column[f]]
        words = sets.checkpoints + sets.slot_of_feature[f] * sets.n_checkpoints * sets.n_words
        last = sets.coded.n_codes[f] if has_few_codes(sets, f) else sets.n_checkpoints - 1
        for k in range(last - 1, -1, -1):
            if has_few_codes(sets, f):
                begin, end = starts[k], starts[k + 1]
            else:
                begin, end = k * sets.step, min((k + 1) * sets.step, n_rows)
            if begin == 0:
                memcpy(words + k * sets.n_words, sets.every, size)
                continue
            memcpy(words + k * sets.n_words, words + (k + 1) * sets.n_words, size)
            for i in range(begin, end):
                set_bit(words + k * sets.n_words, sets.bit_of_row[order[i]])


def cover_rows(
    coded,
    sorted_rows,
    Py_ssize_t step,
    const int64_t[::1] indptr,
    const int32_t[::1] feature,
    const int32_t[::1] low,
    const int32_t[::1] high,
    const int64_t[::1] bit_of_row,
    uint64_t[:, ::1] out,
):
    """Write to `out` (n_rules, n_words) the bits of the rows that each rule covers.

    A rule covers a row if every condition holds: low ≤ code < high. `indptr`, `feature`, `low` and
    `high` are the bodies of the rules (CSR); for the rest see `RowSets`.
    """
    cdef RowSets row_sets = RowSets(coded, sorted_rows, step, feature, bit_of_row, out.shape[1])
    cdef const Sets* sets = &row_sets.sets
    cdef Py_ssize_t r, c
    cdef uint64_t* bits
    with nogil:
        for r in range(indptr.shape[0] - 1):
            if r & 0xFFF == 0:
                with gil:
                    PyErr_CheckSignals()
            bits = &out[r, 0]
            memcpy(bits, sets.every, sets.n_words * sizeof(uint64_t))
            for c in range(indptr[r], indptr[r + 1]):
                keep_condition(bits, sets, feature[c], low[c], high[c])
