# distutils: language = c++
"""Numbers → codes, and codes → keys of rows.

The code of a number says how many cut points of its feature are not above it.
"""

from typing import Any, NamedTuple

import numpy as np

from libc.math cimport INFINITY, NAN, nextafter
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memmove
from libcpp.vector cimport vector

from ._bits cimport set_bit
from ._blocks cimport MANY_VALUES, MOST_BLOCKS
from ._coded cimport Coded, borrow, dense_codes
from ._counting cimport find_binary
from ._random cimport increment, mix

# A dense column has 4 bytes per row; with this share its list has at most a quarter of them.
cdef double MOST_DEPARTING = 0.25

cdef enum:
    ROWS_AT_A_TIME = 8
    FEW_NUMBERS = 8


def distinct_numbers(const double[::1] ascending):
    """The distinct values of ascending numbers, without NaN."""
    cdef double[::1] distinct = np.empty(ascending.shape[0])
    cdef Py_ssize_t i, n = 0
    for i in range(ascending.shape[0]):
        if ascending[i] == ascending[i] and (n == 0 or ascending[i] != distinct[n - 1]):
            distinct[n] = ascending[i]
            n += 1
    return distinct.base[:n].copy()


def few_distinct_numbers(const double[::1] numbers, bint with_zero):
    """The same of numbers in any order if they are few, otherwise None; `with_zero` adds 0."""
    cdef double[FEW_NUMBERS] found
    cdef Py_ssize_t i, k, n = 0
    cdef double number, last = NAN
    if with_zero:
        found[0] = 0.0
        n = 1
    for i in range(numbers.shape[0]):
        number = numbers[i] + 0.0  # -0.0 is 0.0
        if number != number or number == last:
            continue
        last = number
        k = n
        while k > 0 and found[k - 1] > number:
            k -= 1
        if k > 0 and found[k - 1] == number:
            continue
        if n == FEW_NUMBERS:
            return None
        memmove(found + k + 1, found + k, (n - k) * sizeof(double))
        found[k] = number
        n += 1
    cdef double[::1] distinct = np.empty(n)
    for i in range(n):
        distinct[i] = found[i]
    return distinct.base


def pair_with_next(const double[::1] numbers):
    """Each number followed by the next larger float; infinity follows the largest one."""
    cdef double[::1] pairs = np.empty(2 * numbers.shape[0])
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        pairs[2 * i] = numbers[i]
        pairs[2 * i + 1] = nextafter(numbers[i], INFINITY)
    return pairs.base


cdef inline Py_ssize_t _count_up_to(
    const double* cuts, Py_ssize_t first, Py_ssize_t last, double number
) noexcept nogil:
    """Number of ascending cuts[:last] that are not above `number`, given that cuts[:first] are not."""
    cdef Py_ssize_t middle
    while first < last:
        middle = (first + last) >> 1
        if cuts[middle] <= number:
            first = middle + 1
        else:
            last = middle
    return first


def count_codes(const int32_t[::1] codes, Py_ssize_t n_codes):
    """The number of rows with each code; negative codes do not count."""
    cdef int64_t[::1] counts = np.zeros(n_codes, dtype=np.int64)
    cdef Py_ssize_t i
    for i in range(codes.shape[0]):
        if codes[i] >= 0:
            counts[codes[i]] += 1
    return counts.base


def take_codes(const int32_t[::1] codes, const int32_t[::1] new_codes):
    """The new code of each code; negative codes become -1."""
    cdef int32_t[::1] found = np.empty(codes.shape[0], dtype=np.int32)
    cdef Py_ssize_t i
    for i in range(codes.shape[0]):
        found[i] = -1 if codes[i] < 0 else new_codes[codes[i]]
    return found.base


def list_numbers(
    const double[::1] numbers, const int64_t[::1] rows, const double[::1] cuts
):
    """Rows and codes of the numbers that have not the code of 0, and that code.

    None if the rows do not ascend.
    """
    cdef Py_ssize_t n = numbers.shape[0]
    cdef int32_t zero = _count_up_to(&cuts[0], 0, cuts.shape[0], 0.0) if cuts.shape[0] else 0
    cdef int32_t[::1] codes = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] kept = np.empty(n + 1, dtype=np.int32)  # the last one is overwritten
    cdef Py_ssize_t i, n_kept = 0
    code_numbers(numbers, cuts, codes)
    for i in range(n):
        if i > 0 and rows[i] < rows[i - 1]:
            return None
        kept[n_kept] = rows[i]
        codes[n_kept] = codes[i]
        n_kept += codes[i] != zero
    return kept.base[:n_kept], codes.base[:n_kept], zero


def list_other_rows(const int32_t[::1] codes, int32_t usual, Py_ssize_t n):
    """The n rows that have not the usual code, ascending."""
    cdef int32_t[::1] rows = np.empty(n + 1, dtype=np.int32)  # the last one is overwritten
    cdef Py_ssize_t i, n_found = 0
    for i in range(codes.shape[0]):
        rows[n_found] = i
        n_found += codes[i] != usual
    return rows.base[:n]


def code_numbers(const double[::1] numbers, const double[::1] cuts, int32_t[::1] out):
    """Write the code of every number, -1 for NaN; `cuts` ascend.

    Unless they are few, numbers are first sorted into equal bins between the outer cuts, most of which
    hold one cut or none. A search within the bin takes half the time of a search over all (70) cuts,
    and a quarter where each of 64,000 numbers is a cut.
    """
    cdef Py_ssize_t n_cuts = cuts.shape[0]
    cdef Py_ssize_t n_bins = 2 * n_cuts
    cdef double scale = 0.0
    cdef int32_t[::1] bin_starts
    if n_cuts >= 8 and 4 * numbers.shape[0] >= n_cuts:
        scale = (n_bins - 1) / (cuts[n_cuts - 1] - cuts[0])
    if 0.0 < scale < INFINITY:
        bin_starts = np.zeros(n_bins + 1, dtype=np.int32)
        with nogil:
            _code_by_bins(numbers, cuts, scale, bin_starts, out)
    else:
        with nogil:
            _code_by_search(numbers, cuts, out)


cdef void _code_by_search(
    const double[::1] numbers, const double[::1] cuts, int32_t[::1] out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        if numbers[i] == numbers[i]:
            out[i] = _count_up_to(&cuts[0], 0, cuts.shape[0], numbers[i])
        else:
            out[i] = -1


cdef void _code_by_bins(
    const double[::1] numbers,
    const double[::1] cuts,
    double scale,
    int32_t[::1] bin_starts,
    int32_t[::1] out,
) noexcept nogil:
    """Rounding keeps the order of numbers, so a cut in a lower bin is below all numbers of a bin."""
    cdef Py_ssize_t n_cuts = cuts.shape[0]
    cdef double lowest = cuts[0], highest = cuts[n_cuts - 1], number
    cdef Py_ssize_t i, b
    for i in range(n_cuts):
        bin_starts[<Py_ssize_t> ((cuts[i] - lowest) * scale) + 1] += 1
    for b in range(bin_starts.shape[0] - 1):
        bin_starts[b + 1] += bin_starts[b]
    for i in range(numbers.shape[0]):
        number = numbers[i]
        if number >= highest:
            out[i] = n_cuts
        elif number >= lowest:
            b = <Py_ssize_t> ((number - lowest) * scale)
            out[i] = _count_up_to(&cuts[0], bin_starts[b], bin_starts[b + 1], number)
        else:
            out[i] = 0 if number == number else -1


def hash_rows(coded):
    """A 64-bit key of the codes of every row."""
    cdef Coded table = borrow(coded)
    keys = np.zeros(table.n_rows, dtype=np.uint64)
    cdef uint64_t[::1] out = keys
    cdef const int32_t* codes
    cdef uint64_t salt, usual
    cdef Py_ssize_t f, row, e
    with nogil:
        for f in range(table.n_features):
            salt = mix(<uint64_t> (f + 1) * increment())
            if table.column[f] >= 0:
                codes = dense_codes(&table, f)
                for row in range(table.n_rows):
                    out[row] += mix(salt + <uint64_t> (codes[row] + 1))
            else:
                # Only differences from the default count, so a row costs no more than its entries.
                usual = mix(salt + <uint64_t> (table.default_code[f] + 1))
                for e in range(table.indptr[f], table.indptr[f + 1]):
                    out[table.rows[e]] += mix(salt + <uint64_t> (table.codes[e] + 1)) - usual
    return keys


class RowLists(NamedTuple):
    """For each row the features that it departs from, which means: it lacks their default (dense: 0).

    Parameters
    ----------
    indptr : (n_rows + 1,) int64
    features : (n_entries,) uint32
        The features of each row, as a CSR. If there are none, one entry that belongs to no row.
    is_listed : (n_features,) bool
        The features that occur: listed ones and, on request, dense binary ones with few entries.
    is_binary : (n_features,) bool
        Features with two codes and no missing value.
    is_split_off : (n_features,) bool
        Listed features of which one side of every split has only rows that depart from it: binary ones,
        and numbers without missing values.
    n_departing : (n_features,) uint32
        Number of entries.
    dense_indptr : (n_features + 1,) int64
    dense_rows : int32
        The rows of each dense feature that occurs, as a CSR; those of others are in the coded table.
    place : (n_features,) int32
        Position of a binary feature among those with bits, -1 without: it is dense, or its list is
        longer than its bits.
    bits : (n_features with bits, n_words) uint64
        The rows that depart from these features. Words of no row may follow. If there are none, one
        feature that is none of them.
    """

    indptr: Any
    features: Any
    is_listed: Any
    is_binary: Any
    is_split_off: Any
    n_departing: Any
    dense_indptr: Any
    dense_rows: Any
    place: Any
    bits: Any


def list_features(coded, bint with_dense):
    """The features that each row departs from; dense ones only if `with_dense` is set.

    Returns
    -------
    RowLists
    """
    cdef Coded table = borrow(coded)
    cdef const int32_t* codes
    cdef Py_ssize_t f, e, row
    are_listed = np.array(coded.column < 0)
    are_binary = np.empty(table.n_features, dtype=np.bool_)
    cdef uint8_t[::1] is_listed = are_listed.view("u1")
    cdef uint8_t[::1] is_binary = are_binary.view("u1")
    find_binary(&table, &is_binary[0])
    if with_dense:
        dense = np.flatnonzero(are_binary & (coded.column >= 0))
        shares = coded.dense[coded.column[dense]].mean(axis=1)
        are_listed[dense[shares <= MOST_DEPARTING]] = True
    # Each start is stored one place too far: it serves as the next free slot and ends up right.
    cdef int64_t[::1] indptr = np.zeros(table.n_rows + 2, dtype=np.int64)
    cdef uint32_t[::1] features
    for f in range(table.n_features):
        if not is_listed[f]:
            continue
        if table.column[f] < 0:
            for e in range(table.indptr[f], table.indptr[f + 1]):
                indptr[table.rows[e] + 2] += 1
        else:
            codes = dense_codes(&table, f)
            for row in range(table.n_rows):
                indptr[row + 2] += codes[row]
    for row in range(table.n_rows):
        indptr[row + 2] += indptr[row + 1]
    features = np.zeros(max(1, indptr[table.n_rows + 1]), dtype=np.uint32)
    for f in range(table.n_features):
        if not is_listed[f]:
            continue
        if table.column[f] < 0:
            for e in range(table.indptr[f], table.indptr[f + 1]):
                row = table.rows[e]
                features[indptr[row + 1]] = f
                indptr[row + 1] += 1
        else:
            codes = dense_codes(&table, f)
            for row in range(table.n_rows):
                if codes[row] != 0:
                    features[indptr[row + 1]] = f
                    indptr[row + 1] += 1
    starts = indptr.base[: table.n_rows + 1]
    n_departing = np.bincount(
        features.base[: starts[table.n_rows]], minlength=table.n_features
    ).astype(np.uint32)
    dense = np.flatnonzero(are_listed & (coded.column >= 0))
    dense_rows = [np.flatnonzero(coded.dense[coded.column[f]]) for f in dense]
    lengths = np.where(coded.column >= 0, n_departing, 0)
    return RowLists(
        starts,
        features.base,
        are_listed,
        are_binary,
        are_listed & (are_binary | (~coded.is_nominal & ~_have_missing(coded))),
        n_departing,
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.concatenate((*dense_rows, [0])).astype(np.int32),  # never empty: see `features`
        *_pack_features(coded, are_binary),
    )


cdef _pack_features(coded, are_binary):
    """(place, bits) of `RowLists`."""
    cdef Coded table = borrow(coded)
    cdef Py_ssize_t n_words = (table.n_rows + 63) >> 6
    if n_words >= 8:
        n_words = (n_words + 7) & ~7  # a multiple of what is counted at a time: see `_bits`
    has_bits = are_binary & ((coded.column >= 0) | (np.diff(coded.indptr) > n_words))
    cdef int32_t[::1] place = np.where(has_bits, np.cumsum(has_bits) - 1, -1).astype(np.int32)
    cdef uint64_t[:, ::1] bits = np.zeros((max(1, has_bits.sum()), n_words), dtype=np.uint64)
    cdef const int32_t* codes
    cdef uint64_t* words
    cdef Py_ssize_t f, e, row
    for f in range(table.n_features):
        if place[f] < 0:
            continue
        words = &bits[place[f], 0]
        if table.column[f] < 0:
            for e in range(table.indptr[f], table.indptr[f + 1]):
                set_bit(words, table.rows[e])
        else:
            codes = dense_codes(&table, f)
            for row in range(table.n_rows):
                words[row >> 6] |= <uint64_t> codes[row] << (row & 63)
    return place.base, bits.base


def _have_missing(coded):
    """Which of the listed features have missing values."""
    owners = np.repeat(np.arange(len(coded.n_codes)), np.diff(coded.indptr))
    return np.bincount(owners[coded.codes < 0], minlength=len(coded.n_codes)) > 0


class CodeBlocks(NamedTuple):
    """Neighbouring codes of numeric features with many values in at most 255 blocks.

    Parameters
    ----------
    block : (n_dense, n_rows) uint8
        The block of each row, from 1 on; 0 for missing values and other features. Without any of these
        features, one entry.
    first_code : (n_dense, 257) int32
        The first code of each block, and after the last one the number of codes.
    """

    block: Any
    first_code: Any


def block_codes(coded):
    """The `CodeBlocks` of a coded table."""
    has_blocks = (coded.n_codes >= MANY_VALUES) & (coded.column >= 0) & ~coded.is_nominal
    cdef const int32_t[::1] columns = coded.column[has_blocks]
    cdef const int32_t[::1] n_codes = coded.n_codes[has_blocks]
    cdef const int32_t[:, ::1] dense = coded.dense
    shape = coded.dense.shape if len(columns) else (1, 1)
    cdef uint8_t[:, ::1] block = np.zeros(shape, dtype=np.uint8)
    cdef int32_t[:, ::1] first_code = np.zeros((shape[0], MOST_BLOCKS + 2), dtype=np.int32)
    cdef Py_ssize_t c
    with nogil:
        for c in range(columns.shape[0]):
            _block_feature(
                dense[columns[c]], n_codes[c], block[columns[c]], first_code[columns[c]]
            )
    return CodeBlocks(block.base, first_code.base)


cdef int _block_feature(
    const int32_t[::1] codes, Py_ssize_t n_codes, uint8_t[::1] block, int32_t[::1] first_code
) except -1 nogil:
    """Give blocks about as many rows each."""
    cdef vector[int64_t] n_rows_of = vector[int64_t](n_codes + 1)  # of missing values, of each code
    cdef vector[uint8_t] block_of = vector[uint8_t](n_codes + 1)
    cdef Py_ssize_t n_known, n_passed = 0, b = 0
    cdef Py_ssize_t row, code
    for row in range(codes.shape[0]):
        n_rows_of[codes[row] + 1] += 1
    n_known = codes.shape[0] - n_rows_of[0]
    for code in range(n_codes):
        if b == 0 or (b < MOST_BLOCKS and n_passed * MOST_BLOCKS >= b * n_known):
            b += 1
            first_code[b] = code
        block_of[code + 1] = b
        n_passed += n_rows_of[code + 1]
    first_code[b + 1 :] = n_codes
    for row in range(codes.shape[0]):
        block[row] = block_of[codes[row] + 1]
    return 0


def take_columns(const double[:, ::1] table, const int64_t[::1] taken, double[:, ::1] out):
    """Write the taken columns of a table to the rows of `out` (n_taken, n_rows).

    The numbers of a column are far apart. Those of some rows are read together, as many as a piece of
    memory that the cache loads at once holds of a row of `out`.
    """
    cdef Py_ssize_t n_rows = table.shape[0]
    cdef Py_ssize_t block, start, end, row, c
    cdef const int64_t* column
    if taken.shape[0] == 0 or n_rows == 0:
        return
    column = &taken[0]
    with nogil:
        for block in range((n_rows + ROWS_AT_A_TIME - 1) // ROWS_AT_A_TIME):
            start = block * ROWS_AT_A_TIME
            end = min(start + ROWS_AT_A_TIME, n_rows)
            for c in range(taken.shape[0]):
                for row in range(start, end):
                    out[c, row] = table[row, column[c]]
