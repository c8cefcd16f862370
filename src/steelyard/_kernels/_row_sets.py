"""Sets of rows, as bits, from which the rows that satisfy a condition follow quickly (numba)."""

from collections import namedtuple

import numpy as np
from numba import njit

from ._bits import clear_bit, set_bit

# Sets of rows, as bits, from which the rows that satisfy a condition follow quickly.
RowSets = namedtuple(
    "RowSets",
    [
        "coded",
        "order",  # rows of each dense feature by code, and where each code starts:
        "starts",  # see `sort_rows_by_code`
        "starts_indptr",
        "step",  # rows between two checkpoints
        "bit_of_row",
        "every",  # all rows
        "slot_of_feature",  # the place of a feature in `checkpoints` or `values`, or -1
        "checkpoints",  # of dense features: [slot, k] are the rows from the k·step-th on
        "values",  # of listed features with two codes: [slot, code] are the rows with that code
        "buffer",
    ],
)


@njit(cache=True, nogil=True)
def _mark_checkpoints(order, bit_of_row, step, out):
    """Set in ``out[k]``, all 0, the bits of the rows ``order[k * step:]``."""
    for k in range(len(out) - 2, -1, -1):
        for w in range(out.shape[1]):
            out[k, w] = out[k + 1, w]
        for row in order[k * step : (k + 1) * step]:
            set_bit(out[k], bit_of_row[row])


@njit(cache=True, nogil=True)
def _mark_values(coded, f, bit_of_row, every, out):
    """Set in ``out[code]``, all 0, the bits of the rows with that code of a listed feature."""
    default = coded.default_code[f]
    out[default] = every
    for e in range(coded.indptr[f], coded.indptr[f + 1]):
        bit = bit_of_row[coded.rows[e]]
        clear_bit(out[default], bit)
        if coded.codes[e] >= 0:
            set_bit(out[coded.codes[e]], bit)


@njit(cache=True, nogil=True)
def make_row_sets(coded, sorted_rows, step, feature, bit_of_row, n_words):
    """The sets of rows of some features.

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
    order, starts, starts_indptr = sorted_rows
    n_rows = len(bit_of_row)
    slot_of_feature = np.full(len(coded.n_codes), -1, dtype=np.int64)
    n_dense = 0
    n_binary = 0
    for f in feature:
        if slot_of_feature[f] >= 0:
            continue
        if coded.column[f] >= 0:
            slot_of_feature[f] = n_dense
            n_dense += 1
        elif coded.n_codes[f] == 2:
            # Words of texts are such features, and rules on texts have many conditions: sets are
            # faster than walks over lists.
            slot_of_feature[f] = n_binary
            n_binary += 1
    checkpoints = np.zeros((n_dense, (n_rows + step - 1) // step + 1, n_words), dtype=np.uint64)
    values = np.zeros((n_binary, 2, n_words), dtype=np.uint64)
    every = np.zeros(n_words, dtype=np.uint64)
    for bit in bit_of_row:
        set_bit(every, bit)
    for f in range(len(slot_of_feature)):
        slot = slot_of_feature[f]
        if slot >= 0 and coded.column[f] >= 0:
            _mark_checkpoints(order[coded.column[f]], bit_of_row, step, checkpoints[slot])
        elif slot >= 0:
            _mark_values(coded, f, bit_of_row, every, values[slot])
    return RowSets(
        coded,
        order,
        starts,
        starts_indptr,
        step,
        bit_of_row,
        every,
        slot_of_feature,
        checkpoints,
        values,
        np.empty(n_words, dtype=np.uint64),
    )


@njit(cache=True, nogil=True)
def _keep_dense(bits, row_sets, f, low, high):
    """A range of codes is a range of the sorted rows: the difference of two checkpoints.

    The few rows between the ends of the range and the checkpoints around it follow one by one.
    """
    column = row_sets.coded.column[f]
    order, bit_of_row, step = row_sets.order[column], row_sets.bit_of_row, row_sets.step
    base = row_sets.starts_indptr[column]
    begin, stop = row_sets.starts[base + low], row_sets.starts[base + high]
    above = begin // step
    below = (stop + step - 1) // step
    checkpoints = row_sets.checkpoints[row_sets.slot_of_feature[f]]
    from_begin, from_stop = checkpoints[above], checkpoints[below]
    for w in range(len(bits)):
        bits[w] &= from_begin[w] & ~from_stop[w]
    for row in order[above * step : begin]:
        clear_bit(bits, bit_of_row[row])
    for row in order[stop : below * step]:
        clear_bit(bits, bit_of_row[row])


@njit(cache=True, nogil=True)
def _keep_listed(bits, row_sets, f, low, high):
    """Walk over the list, unless a set of rows with the one allowed code exists."""
    coded, bit_of_row, slot = row_sets.coded, row_sets.bit_of_row, row_sets.slot_of_feature[f]
    begin, stop = coded.indptr[f], coded.indptr[f + 1]
    allowed = row_sets.buffer
    if slot >= 0 and high - low == 1:
        allowed = row_sets.values[slot, low]
    elif low <= coded.default_code[f] < high:
        for e in range(begin, stop):
            if not low <= coded.codes[e] < high:
                clear_bit(bits, bit_of_row[coded.rows[e]])
        return
    else:
        allowed[:] = np.uint64(0)
        for e in range(begin, stop):
            if low <= coded.codes[e] < high:
                set_bit(allowed, bit_of_row[coded.rows[e]])
    for w in range(len(bits)):
        bits[w] &= allowed[w]


@njit(cache=True, nogil=True)
def keep_condition(bits, row_sets, f, low, high):
    """Clear the bits of the rows that do not satisfy low ≤ code < high on a feature."""
    if row_sets.coded.column[f] >= 0:
        _keep_dense(bits, row_sets, f, low, high)
    else:
        _keep_listed(bits, row_sets, f, low, high)
