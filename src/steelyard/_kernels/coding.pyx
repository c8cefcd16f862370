"""Numbers → codes, and codes → keys of rows.

The code of a number says how many cut points of its feature are not above it.
"""

import numpy as np

from libc.math cimport INFINITY, nextafter
from libc.stdint cimport int32_t, int64_t, uint64_t

from ._coded cimport Coded, borrow, dense_codes
from ._random cimport increment, mix


def distinct_numbers(const double[::1] ascending):
    """The distinct values of ascending numbers, without NaN."""
    cdef double[::1] distinct = np.empty(ascending.shape[0])
    cdef Py_ssize_t i, n = 0
    for i in range(ascending.shape[0]):
        if ascending[i] == ascending[i] and (n == 0 or ascending[i] != distinct[n - 1]):
            distinct[n] = ascending[i]
            n += 1
    return distinct.base[:n].copy()


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


def code_numbers(const double[::1] numbers, const double[::1] cuts, int32_t[::1] out):
    """Write the code of every number, -1 for NaN; `cuts` ascend.

    Many numbers are first sorted into equal bins between the outer cuts, most of which hold one cut
    or none. A search within the bin takes half the time of a search over all (70) cuts.
    """
    cdef Py_ssize_t n_cuts = cuts.shape[0]
    cdef Py_ssize_t n_bins = 2 * n_cuts
    cdef double scale = 0.0
    cdef int64_t[::1] bin_starts
    if n_cuts >= 8 and numbers.shape[0] >= 4 * n_cuts:
        scale = (n_bins - 1) / (cuts[n_cuts - 1] - cuts[0])
    if 0.0 < scale < INFINITY:
        bin_starts = np.zeros(n_bins + 1, dtype=np.int64)
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
    int64_t[::1] bin_starts,
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
