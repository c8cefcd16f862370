"""Which rows a rule covers, as packed bits; and which rules cover the same rows."""

from collections import namedtuple

import numpy as np
from numba import njit

from ._bits import clear_bit, set_bit
from ._compiling import BORROWING
from ._random import INCREMENT, mix

# Sets of rows, as bits, from which the rows that satisfy a condition follow quickly.
RowSets = namedtuple(
    "RowSets",
    [
        "coded",
        "sorted_rows",  # see `sort_rows_by_code`
        "step",  # rows between two checkpoints
        "bit_of_row",
        "every",  # all rows
        "slot_of_feature",  # the place of a feature in `checkpoints` or `defaults`, or -1
        "checkpoints",  # of dense features: [slot, k] are the rows from the k·step-th on
        "defaults",  # of listed features: [slot] are the rows with the default code
        "buffer",
    ],
)


@njit(cache=True, nogil=True)
def sort_rows_by_code(dense, n_codes_of_column):
    """Counting sort of the rows of every dense feature by code.

    Returns
    -------
    order : (n_dense, n_rows) int32
        Rows ascending by code; missing values first.
    starts, starts_indptr : int64 arrays
        ``order[c, starts[starts_indptr[c] + k]:]`` begins with the rows of code k.
    """
    n_dense, n_rows = dense.shape
    order = np.empty((n_dense, n_rows), dtype=np.int32)
    # Of a feature, three more than it has codes: the start of the missing values, the end of all rows,
    # and one more because each start is stored one place too far while it is the next free slot.
    starts_indptr = np.ones(n_dense + 1, dtype=np.int64)
    for c in range(n_dense):
        starts_indptr[c + 1] = starts_indptr[c] + n_codes_of_column[c] + 3
    starts = np.zeros(starts_indptr[-1], dtype=np.int64)
    for c in range(n_dense):
        base = starts_indptr[c]
        for code in dense[c]:
            starts[base + code + 2] += 1
        for i in range(base, starts_indptr[c + 1] - 2):
            starts[i + 1] += starts[i]
        for row in range(n_rows):
            free = base + dense[c, row] + 1
            order[c, starts[free]] = row
            starts[free] += 1
    return order, starts, starts_indptr


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
    slot_of_feature = np.full(len(coded.n_codes), -1, dtype=np.int64)
    n_dense = 0
    n_listed = 0
    for f in feature:
        if slot_of_feature[f] < 0:
            is_dense = coded.column[f] >= 0
            slot_of_feature[f] = n_dense if is_dense else n_listed
            n_dense += is_dense
            n_listed += not is_dense
    n_steps = (len(bit_of_row) + step - 1) // step
    checkpoints = np.zeros((n_dense, n_steps + 1, n_words), dtype=np.uint64)
    defaults = np.empty((n_listed, n_words), dtype=np.uint64)
    every = np.zeros(n_words, dtype=np.uint64)
    for bit in bit_of_row:
        set_bit(every, bit)
    for f in np.flatnonzero(slot_of_feature >= 0):
        slot, column = slot_of_feature[f], coded.column[f]
        if column < 0:
            defaults[slot] = every
            for row in coded.rows[coded.indptr[f] : coded.indptr[f + 1]]:
                clear_bit(defaults[slot], bit_of_row[row])
            continue
        sets, order = checkpoints[slot], sorted_rows[0][column]
        for k in range(n_steps - 1, -1, -1):
            sets[k] = sets[k + 1]
            for row in order[k * step : (k + 1) * step]:
                set_bit(sets[k], bit_of_row[row])
    buffer = np.empty(n_words, dtype=np.uint64)
    rows = (coded, sorted_rows, step, bit_of_row)
    return RowSets(*rows, every, slot_of_feature, checkpoints, defaults, buffer)


@njit(**BORROWING)
def _keep_dense(bits, row_sets, f, low, high):
    """A range of codes is a range of the sorted rows: the difference of two checkpoints.

    The few rows between the ends of the range and the checkpoints around it follow one by one.
    """
    column = row_sets.coded.column[f]
    bit_of_row, step = row_sets.bit_of_row, row_sets.step
    order, starts, starts_indptr = row_sets.sorted_rows
    base = starts_indptr[column]
    begin, stop = starts[base + low], starts[base + high]
    above = begin // step
    below = (stop + step - 1) // step
    checkpoints = row_sets.checkpoints[row_sets.slot_of_feature[f]]
    from_begin, from_stop = checkpoints[above], checkpoints[below]
    for w in range(len(bits)):
        bits[w] &= from_begin[w] & ~from_stop[w]
    for row in order[column, above * step : begin]:
        clear_bit(bits, bit_of_row[row])
    for row in order[column, stop : below * step]:
        clear_bit(bits, bit_of_row[row])


@njit(**BORROWING)
def _keep_listed(bits, row_sets, f, low, high):
    """Most conditions on texts allow the default code alone: a word is absent."""
    coded, default = row_sets.coded, row_sets.coded.default_code[f]
    defaults = row_sets.defaults[row_sets.slot_of_feature[f]]
    allowed = defaults
    if low != default or high != default + 1:
        allowed = row_sets.buffer
        for w in range(len(bits)):
            allowed[w] = defaults[w] if low <= default < high else np.uint64(0)
        for e in range(coded.indptr[f], coded.indptr[f + 1]):
            if low <= coded.codes[e] < high:
                set_bit(allowed, row_sets.bit_of_row[coded.rows[e]])
    for w in range(len(bits)):
        bits[w] &= allowed[w]


@njit(**BORROWING)
def keep_condition(bits, row_sets, f, low, high):
    """Clear the bits of the rows that do not satisfy low ≤ code < high on a feature."""
    if row_sets.coded.column[f] >= 0:
        _keep_dense(bits, row_sets, f, low, high)
    else:
        _keep_listed(bits, row_sets, f, low, high)


@njit(cache=True, nogil=True)
def cover_rows(coded, sorted_rows, step, indptr, feature, low, high, bit_of_row, out):
    """Set in `out` (n_rules, n_words), all 0, the bits of the rows that each rule covers.

    A rule covers a row if every condition holds: low ≤ code < high. `indptr`, `feature`, `low` and
    `high` are the bodies of the rules (CSR); for the rest see `make_row_sets`.
    """
    row_sets = make_row_sets(coded, sorted_rows, step, feature, bit_of_row, out.shape[1])
    for r in range(len(indptr) - 1):
        bits = out[r]
        bits[:] = row_sets.every
        for c in range(indptr[r], indptr[r + 1]):
            keep_condition(bits, row_sets, feature[c], low[c], high[c])


@njit(cache=True, nogil=True)
def hash_bits(bits):
    """A 64-bit key of every row of bits."""
    keys = np.zeros(len(bits), dtype=np.uint64)
    for r in range(len(bits)):
        for w in range(bits.shape[1]):
            keys[r] = mix(keys[r] + bits[r, w] + INCREMENT)
    return keys
