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
def _clear_outside(bits, rows, bit_of_row):
    for row in rows:
        bit = bit_of_row[row]
        bits[bit >> 6] &= ~(np.uint64(1) << np.uint64(bit & 63))


@njit(cache=True, nogil=True)
def _set_all(bits, bit_of_row):
    for bit in bit_of_row:
        bits[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@njit(cache=True, nogil=True)
def cover_rows(coded, sorted_rows, indptr, feature, low, high, bit_of_row, out):
    """Set in `out` (n_rules, n_words), all zero, the bits of the rows that each rule covers.

    A rule covers a row if every condition holds: low ≤ code < high. The most selective condition
    gives the first rows, the others are checked on them alone.

    Parameters
    ----------
    coded : CodedFeatures
    sorted_rows : result of `sort_rows_by_code`
    indptr, feature, low, high : bodies of the rules (CSR)
    bit_of_row : (n_rows,) int64
        Which bit stands for which row.
    """
    n_codes, is_nominal, column, dense, default_code, list_indptr, list_rows, list_codes = coded
    order, starts, starts_indptr = sorted_rows
    n_rows = len(bit_of_row)
    every = np.zeros(out.shape[1], dtype=np.uint64)
    _set_all(every, bit_of_row)

    for r in range(len(indptr) - 1):
        bits = out[r]
        first = indptr[r]
        last = indptr[r + 1]
        # The condition that leaves the fewest rows; a listed one that admits the default leaves most.
        seed = -1
        seed_size = n_rows + 1
        for c in range(first, last):
            f = feature[c]
            if column[f] >= 0:
                base = starts_indptr[column[f]]
                size = starts[base + high[c]] - starts[base + low[c]]
            elif low[c] <= default_code[f] < high[c]:
                size = n_rows
            else:
                size = list_indptr[f + 1] - list_indptr[f]
            if size < seed_size:
                seed_size = size
                seed = c

        if seed >= 0 and seed_size < n_rows:
            f = feature[seed]
            from_list = column[f] < 0
            if from_list:
                begin = list_indptr[f]
                stop = list_indptr[f + 1]
            else:
                base = starts_indptr[column[f]]
                begin = starts[base + low[seed]]
                stop = starts[base + high[seed]]
            for i in range(begin, stop):
                if from_list:
                    code = list_codes[i]
                    if code < low[seed] or code >= high[seed]:
                        continue
                    row = list_rows[i]
                else:
                    row = order[column[f], i]
                covered = True
                for c in range(first, last):
                    g = feature[c]
                    if column[g] >= 0 and c != seed:
                        code = dense[column[g], row]
                        if code < low[c] or code >= high[c]:
                            covered = False
                            break
                if covered:
                    bit = bit_of_row[row]
                    bits[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
        else:
            bits[:] = every
            seed = -1
            for c in range(first, last):
                f = feature[c]
                if column[f] >= 0:
                    base = starts_indptr[column[f]]
                    _clear_outside(bits, order[column[f], : starts[base + low[c]]], bit_of_row)
                    _clear_outside(bits, order[column[f], starts[base + high[c]] :], bit_of_row)

        # Conditions on listed features: strike out the listed rows that fail them.
        for c in range(first, last):
            f = feature[c]
            if column[f] >= 0 or c == seed:
                continue
            begin = list_indptr[f]
            stop = list_indptr[f + 1]
            if low[c] <= default_code[f] < high[c]:
                for i in range(begin, stop):
                    code = list_codes[i]
                    if code < low[c] or code >= high[c]:
                        bit = bit_of_row[list_rows[i]]
                        bits[bit >> 6] &= ~(np.uint64(1) << np.uint64(bit & 63))
            else:
                allowed = np.zeros(out.shape[1], dtype=np.uint64)
                for i in range(begin, stop):
                    code = list_codes[i]
                    if low[c] <= code < high[c]:
                        bit = bit_of_row[list_rows[i]]
                        allowed[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
                for w in range(out.shape[1]):
                    bits[w] &= allowed[w]


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
