"""Which rows a rule covers, as packed bits; and which rules cover the same rows."""

import numpy as np
from numba import njit

from .random import mix


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
def list_entries_of_rows(indptr, rows, n_rows):
    """The listed entries turned round: for each row, the features that list it and where.

    Returns (row_indptr, feature, entry) as a CSR over rows.
    """
    row_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for row in rows:
        row_indptr[row + 1] += 1
    for row in range(n_rows):
        row_indptr[row + 1] += row_indptr[row]
    feature = np.empty(len(rows), dtype=np.int32)
    entry = np.empty(len(rows), dtype=np.int64)
    free = row_indptr[:-1].copy()
    for f in range(len(indptr) - 1):
        for e in range(indptr[f], indptr[f + 1]):
            slot = free[rows[e]]
            feature[slot] = f
            entry[slot] = e
            free[rows[e]] += 1
    return row_indptr, feature, entry


@njit(cache=True, nogil=True)
def _sort_conditions(coded, starts, starts_indptr, n_rows, feature, low, high, order, sizes):
    """Sort the conditions of a rule, the one that leaves the fewest rows first; `sizes` says how many.

    A listed condition that admits the default code leaves all rows, as far as this is concerned.
    """
    for c in range(len(feature)):
        f = feature[c]
        if coded.column[f] >= 0:
            base = starts_indptr[coded.column[f]]
            size = starts[base + high[c]] - starts[base + low[c]]
        elif low[c] <= coded.default_code[f] < high[c]:
            size = n_rows
        else:
            size = coded.indptr[f + 1] - coded.indptr[f]
        i = c
        while i > 0 and sizes[i - 1] > size:
            sizes[i] = sizes[i - 1]
            order[i] = order[i - 1]
            i -= 1
        sizes[i] = size
        order[i] = c


@njit(cache=True, nogil=True)
def _strike_out(coded, f, low, high, bit_of_row, bits, allowed):
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
def cover_rows(coded, sorted_rows, entries, indptr, feature, low, high, bit_of_row, out):
    """Set in `out` (n_rules, n_words), all zero, the bits of the rows that each rule covers.

    A rule covers a row if every condition holds: low ≤ code < high. The most selective condition
    gives the first rows, the others are checked on them alone, in the order of their selectivity.

    Parameters
    ----------
    coded : CodedFeatures
    sorted_rows : result of `sort_rows_by_code`
    entries : result of `list_entries_of_rows`
    indptr, feature, low, high : bodies of the rules (CSR)
    bit_of_row : (n_rows,) int64
        Which bit stands for which row.
    """
    order, starts, starts_indptr = sorted_rows
    row_indptr, row_feature, row_entry = entries
    n_rows = len(bit_of_row)
    most_conditions = 0
    for r in range(len(indptr) - 1):
        most_conditions = max(most_conditions, indptr[r + 1] - indptr[r])
    by_size = np.empty(most_conditions, dtype=np.int64)
    sizes = np.empty(most_conditions, dtype=np.int64)
    # The dense conditions of a rule, ready to check: offset of the column, lowest code, width.
    flat = coded.dense.ravel()
    offset = np.empty(most_conditions, dtype=np.uint64)
    lowest = np.empty(most_conditions, dtype=np.int32)
    width = np.empty(most_conditions, dtype=np.uint32)
    condition_of_feature = np.full(len(coded.n_codes), -1, dtype=np.int64)
    every = np.zeros(out.shape[1], dtype=np.uint64)
    for bit in bit_of_row:
        every[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    allowed = np.empty(out.shape[1], dtype=np.uint64)
    entries_a_row = max(1.0, len(row_feature) / max(1, n_rows))

    for r in range(len(indptr) - 1):
        bits = out[r]
        first, last = indptr[r], indptr[r + 1]
        n = last - first
        if n == 0:
            bits[:] = every
            continue
        _sort_conditions(
            coded,
            starts,
            starts_indptr,
            n_rows,
            feature[first:last],
            low[first:last],
            high[first:last],
            by_size,
            sizes,
        )
        seed = first + by_size[0]
        n_dense = 0
        n_required = 0
        listed_size = 0
        n_listed = 0
        for i in range(1, n):
            c = first + by_size[i]
            f = feature[c]
            if coded.column[f] >= 0:
                offset[n_dense] = np.uint64(coded.column[f]) * np.uint64(n_rows)
                lowest[n_dense] = low[c]
                width[n_dense] = high[c] - low[c]
                n_dense += 1
            else:
                n_listed += 1
                listed_size += coded.indptr[f + 1] - coded.indptr[f]
                if not low[c] <= coded.default_code[f] < high[c]:
                    n_required += 1
        f = feature[seed]
        seed_is_listed = coded.column[f] < 0
        if seed_is_listed and low[seed] <= coded.default_code[f] < high[seed]:
            # Nothing but listed conditions that hold by default: strike out the exceptions.
            bits[:] = every
            for c in range(first, last):
                _strike_out(coded, feature[c], low[c], high[c], bit_of_row, bits, allowed)
            continue

        row_by_row = n_listed > 0 and sizes[0] * entries_a_row <= listed_size
        if row_by_row:
            for i in range(1, n):
                c = first + by_size[i]
                if coded.column[feature[c]] < 0:
                    condition_of_feature[feature[c]] = c
        if seed_is_listed:
            begin, stop = coded.indptr[f], coded.indptr[f + 1]
        else:
            base = starts_indptr[coded.column[f]]
            begin, stop = starts[base + low[seed]], starts[base + high[seed]]
        for i in range(begin, stop):
            if seed_is_listed:
                if coded.codes[i] < low[seed] or coded.codes[i] >= high[seed]:
                    continue
                row = np.uint64(coded.rows[i])
            else:
                row = np.uint64(order[coded.column[f], i])
            covered = True
            for d in range(n_dense):
                # One unsigned comparison for both ends; missing (-1) lies outside as well.
                if np.uint32(flat[offset[d] + row] - lowest[d]) >= width[d]:
                    covered = False
                    break
            if covered and row_by_row:
                n_met = 0
                for e in range(row_indptr[row], row_indptr[row + np.uint64(1)]):
                    c = condition_of_feature[row_feature[e]]
                    if c >= 0:
                        code = coded.codes[row_entry[e]]
                        if code < low[c] or code >= high[c]:
                            covered = False
                            break
                        if not low[c] <= coded.default_code[feature[c]] < high[c]:
                            n_met += 1
                covered = covered and n_met == n_required
            if covered:
                bit = bit_of_row[row]
                bits[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
        for i in range(1, n):
            c = first + by_size[i]
            if coded.column[feature[c]] < 0:
                if row_by_row:
                    condition_of_feature[feature[c]] = -1
                else:
                    _strike_out(coded, feature[c], low[c], high[c], bit_of_row, bits, allowed)


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
