"""Rows that did not make a rule: draw the bags of trees again.

Rows are bits, as in `covering`: words [0, n_positive_words) stand for positive examples, the rest for
negative ones.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from ._bags cimport draw_row
from ._bits cimport clear_bit
from ._memory cimport allocate


def remove_bags(
    const uint64_t[::1] rows,
    const int64_t[::1] bit_of_row,
    const int64_t[::1] group_of_row,
    const int64_t[::1] draw_order,
    Py_ssize_t bag_size,
    const uint64_t[::1] seeds,
    const uint64_t[::1] draw_ends=None,
):
    """For every tree, the given rows without those of its bag, shape (n_trees, n_words).

    Parameters
    ----------
    rows : (n_words,) uint64
    bit_of_row : (n_rows,) int64
    group_of_row : (n_rows,) int64, below n_rows
        If a bag has a row of a group, all rows of the group are removed.
    draw_order, bag_size, draw_ends : as in `growing.grow_rules`, which draws the same bags
    seeds : (n_trees,) uint64
    """
    cdef Py_ssize_t n_rows = draw_order.shape[0]
    cdef Py_ssize_t n_words = rows.shape[0]
    cdef uint64_t[:, ::1] left = np.empty((seeds.shape[0], n_words), dtype=np.uint64)
    cdef list owner = []
    cdef uint8_t* is_drawn = <uint8_t*> allocate(owner, n_rows)
    cdef Py_ssize_t tree, row, _i
    cdef uint64_t state
    cdef const uint64_t* ends = NULL
    if draw_ends is not None:
        ends = &draw_ends[0]
    with nogil:
        for tree in range(seeds.shape[0]):
            memset(is_drawn, 0, n_rows)
            state = seeds[tree]
            for _i in range(bag_size):
                row = draw_row(&state, &draw_order[0], ends, n_rows)
                is_drawn[group_of_row[row]] = 1
            memcpy(&left[tree, 0], &rows[0], n_words * sizeof(uint64_t))
            for row in range(n_rows):
                if is_drawn[group_of_row[row]]:
                    clear_bit(&left[tree, 0], bit_of_row[row])
    return left.base
