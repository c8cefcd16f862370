"""Rows that did not make a rule: draw the bags of trees again, count and compare on some rows only.

Rows are bits, as in `covering`: words [0, n_positive_words) stand for positive examples, the rest for
negative ones.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from ._bits cimport clear_bit, count_common, popcount
from ._memory cimport allocate
from ._random cimport next_below


def remove_bags(
    const uint64_t[::1] rows,
    const int64_t[::1] bit_of_row,
    const int64_t[::1] group_of_row,
    const int64_t[::1] draw_order,
    Py_ssize_t bag_size,
    const uint64_t[::1] seeds,
):
    """For every tree, the given rows without those of its bag, shape (n_trees, n_words).

    Parameters
    ----------
    rows : (n_words,) uint64
    bit_of_row : (n_rows,) int64
    group_of_row : (n_rows,) int64, below n_rows
        If a bag has a row of a group, all rows of the group are removed.
    draw_order, bag_size : as in `growing.grow_rules`, which draws the same bags
    seeds : (n_trees,) uint64
    """
    cdef Py_ssize_t n_rows = draw_order.shape[0]
    cdef Py_ssize_t n_words = rows.shape[0]
    cdef uint64_t[:, ::1] left = np.empty((seeds.shape[0], n_words), dtype=np.uint64)
    cdef list owner = []
    cdef uint8_t* is_drawn = <uint8_t*> allocate(owner, n_rows)
    cdef Py_ssize_t tree, row, _i
    cdef uint64_t state
    with nogil:
        for tree in range(seeds.shape[0]):
            memset(is_drawn, 0, n_rows)
            state = seeds[tree]
            for _i in range(bag_size):
                is_drawn[group_of_row[draw_order[next_below(&state, n_rows)]]] = 1
            memcpy(&left[tree, 0], &rows[0], n_words * sizeof(uint64_t))
            for row in range(n_rows):
                if is_drawn[group_of_row[row]]:
                    clear_bit(&left[tree, 0], bit_of_row[row])
    return left.base


def count_covered_among(
    const uint64_t[:, ::1] coverage, Py_ssize_t n_positive_words, const uint64_t[::1] rows
):
    """TP and FP of every rule on the given rows."""
    cdef Py_ssize_t n_rules = coverage.shape[0]
    cdef int32_t[:, ::1] counts = np.empty((2, n_rules), dtype=np.int32)
    cdef Py_ssize_t r, w
    cdef int32_t tp, fp
    with nogil:
        for r in range(n_rules):
            tp = fp = 0
            for w in range(n_positive_words):
                tp += popcount(coverage[r, w] & rows[w])
            for w in range(n_positive_words, coverage.shape[1]):
                fp += popcount(coverage[r, w] & rows[w])
            counts[0, r] = tp
            counts[1, r] = fp
    return counts.base[0], counts.base[1]


def find_most_similar(const uint64_t[:, ::1] coverage, const uint64_t[:, ::1] others):
    """For every rule, the index of the other rule with the largest |A ∩ B|/|A ∪ B|; ties: the first."""
    cdef Py_ssize_t n_words = coverage.shape[1]
    cdef int64_t[::1] best = np.zeros(coverage.shape[0], dtype=np.int64)
    cdef int64_t[::1] sizes = np.empty(others.shape[0], dtype=np.int64)
    cdef Py_ssize_t r, i
    cdef int64_t size, common
    cdef double similarity, best_similarity
    with nogil:
        for i in range(others.shape[0]):
            sizes[i] = count_common(&others[i, 0], &others[i, 0], 0, n_words)
        for r in range(coverage.shape[0]):
            size = count_common(&coverage[r, 0], &coverage[r, 0], 0, n_words)
            best_similarity = -1.0
            for i in range(others.shape[0]):
                common = count_common(&coverage[r, 0], &others[i, 0], 0, n_words)
                similarity = <double> common / <double> max(1, size + sizes[i] - common)
                if similarity > best_similarity:
                    best_similarity = similarity
                    best[r] = i
    return best.base
