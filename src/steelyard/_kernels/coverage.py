"""Which rows a rule covers, as packed bits; and which rules cover the same rows."""

from collections import namedtuple

import numpy as np
from numba import njit

from .random import mix

RowSets = namedtuple(
    "RowSets",
    [
        "coded",
        "order",
        "starts",
        "starts_indptr",
        "step",
        "bit_of_row",
        "every",
        "slot_of_column",
        "checkpoints",
        "slot_of_feature",
        "sets",
        "buffer",
    ],
)


@njit(cache=True, nogil=True)
def sort_rows_by_code(dense, n_codes_of_column):
    """Counting sort of the rows of every dense feature by code.

    Returns
    -------
    order : (n_dense, n_rows) int32
        Rows ascending by code; missing ones first.
    starts, starts_indptr : int64 arrays
        ``order[c, starts[starts_indptr[c] + k]:]`` begins with the rows of code k.
    """
    n_dense, n_rows = dense.shape
    order = np.empty((n_dense, n_rows), dtype=np.int32)
    starts_indptr = np.zeros(n_dense + 1, dtype=np.int64)
    for c in range(n_dense):
        starts_indptr[c + 1] = starts_indptr[c] + n_codes_of_column[c] + 1
    starts = np.zeros(starts_indptr[n_dense], dtype=np.int64)
    for c in range(n_dense):
        n_codes = n_codes_of_column[c]
        start = starts[starts_indptr[c] : starts_indptr[c + 1]]
        n_missing = 0
        for code in dense[c]:
            if code < 0:
                n_missing += 1
            else:
                start[code + 1] += 1
        start[0] = n_missing
        for code in range(n_codes):
            start[code + 1] += start[code]
        free = start.copy()
        n_missing = 0
        for row in range(n_rows):
            code = dense[c, row]
            if code < 0:
                order[c, n_missing] = row
                n_missing += 1
            else:
                order[c, free[code]] = row
                free[code] += 1
    return order, starts, starts_indptr


@njit(cache=True, nogil=True)
def mark_checkpoints(order, used, bit_of_row, step, n_words):
    """For every used dense feature the rows from each `step`-th on in its sorted order, as bits.

    Returns (slot_of_column, checkpoints): ``checkpoints[slot, k]`` holds the bits of the rows
    ``order[column, k * step:]``.
    """
    n_dense, n_rows = order.shape
    slot_of_column = np.full(n_dense, -1, dtype=np.int64)
    n_slots = 0
    for c in range(n_dense):
        if used[c]:
            slot_of_column[c] = n_slots
            n_slots += 1
    n_checkpoints = (n_rows + step - 1) // step + 1
    checkpoints = np.zeros((n_slots, n_checkpoints, n_words), dtype=np.uint64)
    for c in range(n_dense):
        if used[c]:
            rows = checkpoints[slot_of_column[c]]
            for k in range(n_checkpoints - 2, -1, -1):
                rows[k] = rows[k + 1]
                for i in range(k * step, min((k + 1) * step, n_rows)):
                    bit = bit_of_row[order[c, i]]
                    rows[k, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    return slot_of_column, checkpoints


@njit(cache=True, nogil=True)
def _clear_rows(bits, rows, bit_of_row):
    for row in rows:
        bit = bit_of_row[row]
        bits[bit >> 6] &= ~(np.uint64(1) << np.uint64(bit & 63))


@njit(cache=True, nogil=True)
def _keep_range(bits, order, marks, begin, stop, step, bit_of_row):
    """Clear all bits but those of the rows ``order[begin:stop]``.

    The checkpoints around the range do most of it, the stragglers between them follow one by one.
    """
    above = begin // step
    below = (stop + step - 1) // step
    from_begin = marks[above]
    from_stop = marks[below]
    for w in range(len(bits)):
        bits[w] &= from_begin[w] & ~from_stop[w]
    _clear_rows(bits, order[above * step : begin], bit_of_row)
    _clear_rows(bits, order[stop : below * step], bit_of_row)


@njit(cache=True, nogil=True)
def _keep_listed(bits, coded, f, low, high, bit_of_row, allowed):
    """Clear the bits of the rows that fail a condition on a listed feature."""
    begin, stop = coded.indptr[f], coded.indptr[f + 1]
    if low <= coded.default_code[f] < high:
        for e in range(begin, stop):
            code = coded.codes[e]
            if code < low or code >= high:
                bit = bit_of_row[coded.rows[e]]
                bits[bit >> 6] &= ~(np.uint64(1) << np.uint64(bit & 63))
        return
    allowed[:] = np.uint64(0)
    for e in range(begin, stop):
        if low <= coded.codes[e] < high:
            bit = bit_of_row[coded.rows[e]]
            allowed[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    for w in range(len(bits)):
        bits[w] &= allowed[w]


@njit(cache=True, nogil=True)
def mark_binary_features(coded, used, bit_of_row, every):
    """For every used listed feature of two codes the rows with the one and with the other, as bits.

    Returns (slot_of_feature, sets of shape (n_slots, 2, n_words)). Words in texts are such features,
    and rules on texts have many conditions: so kept sets beat walks over lists.
    """
    slot_of_feature = np.full(len(used), -1, dtype=np.int64)
    n_slots = 0
    for f in range(len(used)):
        if used[f] and coded.column[f] < 0 and coded.n_codes[f] == 2:
            slot_of_feature[f] = n_slots
            n_slots += 1
    sets = np.zeros((n_slots, 2, len(every)), dtype=np.uint64)
    for f in range(len(used)):
        slot = slot_of_feature[f]
        if slot < 0:
            continue
        default = coded.default_code[f]
        sets[slot, default] = every
        for e in range(coded.indptr[f], coded.indptr[f + 1]):
            bit = bit_of_row[coded.rows[e]]
            mask = np.uint64(1) << np.uint64(bit & 63)
            sets[slot, default, bit >> 6] &= ~mask
            if coded.codes[e] >= 0:
                sets[slot, coded.codes[e], bit >> 6] |= mask
    return slot_of_feature, sets


@njit(cache=True, nogil=True)
def make_row_sets(coded, sorted_rows, step, feature, bit_of_row, n_words):
    """Sets of rows, as bits, from which the rows that meet a condition are quickly had.

    Parameters
    ----------
    coded : CodedFeatures
    sorted_rows : result of `sort_rows_by_code`
    step : int
        Rows between two checkpoints.
    feature : features that conditions will be about
    bit_of_row : (n_rows,) int64
        Which bit stands for which row.
    """
    order, starts, starts_indptr = sorted_rows
    used = np.zeros(len(coded.n_codes), dtype=np.bool_)
    used_columns = np.zeros(len(order), dtype=np.bool_)
    for f in feature:
        used[f] = True
        if coded.column[f] >= 0:
            used_columns[coded.column[f]] = True
    slot_of_column, checkpoints = mark_checkpoints(order, used_columns, bit_of_row, step, n_words)
    every = np.zeros(n_words, dtype=np.uint64)
    for bit in bit_of_row:
        every[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    slot_of_feature, sets = mark_binary_features(coded, used, bit_of_row, every)
    return RowSets(
        coded,
        order,
        starts,
        starts_indptr,
        step,
        bit_of_row,
        every,
        slot_of_column,
        checkpoints,
        slot_of_feature,
        sets,
        np.empty(n_words, dtype=np.uint64),
    )


@njit(cache=True, nogil=True)
def keep_condition(bits, row_sets, f, low, high):
    """Clear the bits of the rows that fail low ≤ code < high on a feature.

    On a dense feature such a range is the difference of two sets of rows that are kept as bits at
    every `step`-th row of the sorted order, so a condition costs a few words and a few stragglers,
    not a look at every row.
    """
    coded = row_sets.coded
    column = coded.column[f]
    if column >= 0:
        base = row_sets.starts_indptr[column]
        _keep_range(
            bits,
            row_sets.order[column],
            row_sets.checkpoints[row_sets.slot_of_column[column]],
            row_sets.starts[base + low],
            row_sets.starts[base + high],
            row_sets.step,
            row_sets.bit_of_row,
        )
    elif row_sets.slot_of_feature[f] >= 0 and high - low == 1:
        allowed = row_sets.sets[row_sets.slot_of_feature[f], low]
        for w in range(len(bits)):
            bits[w] &= allowed[w]
    else:
        _keep_listed(bits, coded, f, low, high, row_sets.bit_of_row, row_sets.buffer)


@njit(cache=True, nogil=True)
def cover_rows(coded, sorted_rows, step, indptr, feature, low, high, bit_of_row, out):
    """Set in `out` (n_rules, n_words), all zero, the bits of the rows that each rule covers.

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
def find_distinct_rows(bits, n_conditions):
    """Rules with distinct coverage: of those that cover the same rows the one with fewest conditions.

    Returns the ascending indices of the rules to keep; among equals the first one stays.
    """
    n_rules, n_words = bits.shape
    n_slots = 16
    while n_slots < 2 * n_rules:
        n_slots <<= 1
    mask = np.uint64(n_slots - 1)
    table = np.full(n_slots, -1, dtype=np.int64)
    for r in range(n_rules):
        key = np.uint64(0)
        for w in range(n_words):
            key = mix(key + bits[r, w] + np.uint64(0x9E3779B97F4A7C15))
        slot = key & mask
        while table[slot] >= 0:
            other = table[slot]
            same = True
            for w in range(n_words):
                if bits[r, w] != bits[other, w]:
                    same = False
                    break
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0 or n_conditions[r] < n_conditions[table[slot]]:
            table[slot] = r
    return np.sort(table[table >= 0])
