"""Which rows satisfy the bounds of rules, and which rules fire where, as packed bits."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from ._bits cimport clear_bit, set_bit

# BIT[i] has bit i alone. The compiler uses vectors for such a table, but not for shifts.
cdef uint64_t[64] BIT
cdef int _i
for _i in range(64):
    BIT[_i] = (<uint64_t> 1) << _i


cdef inline uint64_t _test_rows(
    const double* numbers, Py_ssize_t n, double low, double high
) noexcept nogil:
    """Bits of at most 64 numbers with low ≤ number < high; NaN is in no range."""
    cdef uint64_t word = 0
    cdef Py_ssize_t i
    if high == INFINITY:
        for i in range(n):
            word |= BIT[i] if numbers[i] >= low else 0
    else:
        for i in range(n):
            word |= BIT[i] if numbers[i] < high else 0
    return word


cdef void _test_dense(
    const double* numbers,
    Py_ssize_t n_rows,
    const double* cuts,
    const uint8_t* is_upper,
    Py_ssize_t n_bounds,
    Py_ssize_t n_words,
    uint64_t* out,
) noexcept nogil:
    """64 rows are tested for all bounds before the next ones are read."""
    cdef Py_ssize_t w, b, n
    cdef double low, high
    for w in range(n_words):
        n = min(64, n_rows - 64 * w)
        for b in range(n_bounds):
            low = -INFINITY if is_upper[b] else cuts[b]
            high = cuts[b] if is_upper[b] else INFINITY
            if n == 64:
                out[b * n_words + w] = _test_rows(numbers + 64 * w, 64, low, high)
            else:
                out[b * n_words + w] = _test_rows(numbers + 64 * w, n, low, high)


cdef void _test_listed(
    const double* numbers,
    const int64_t* rows,
    Py_ssize_t n_listed,
    const double* cuts,
    const uint8_t* is_upper,
    Py_ssize_t n_bounds,
    const uint64_t* every,
    Py_ssize_t n_words,
    uint64_t* out,
) noexcept nogil:
    """All rows but the listed ones are 0: they satisfy a bound together or not at all."""
    cdef Py_ssize_t b, i, w
    cdef uint64_t* words
    for b in range(n_bounds):
        words = out + b * n_words
        if (0.0 < cuts[b]) == is_upper[b]:
            memcpy(words, every, n_words * sizeof(uint64_t))
        else:
            for w in range(n_words):
                words[w] = 0
        for i in range(n_listed):
            if numbers[i] < cuts[b] if is_upper[b] else numbers[i] >= cuts[b]:
                set_bit(words, rows[i])
            else:
                clear_bit(words, rows[i])


def test_bounds(
    list columns,
    const int64_t[::1] bounds_indptr,
    const double[::1] cuts,
    const uint8_t[::1] is_upper,
    const uint64_t[::1] every,
    Py_ssize_t n_rows,
    uint64_t[:, ::1] out,
):
    """Write to `out` (n_bounds, n_words) which rows satisfy each bound.

    Parameters
    ----------
    columns : list of (numbers, rows)
        The numbers (float64) of each attribute: one per row, or those of `rows` (int64) while all other
        rows are 0; then `rows` is not None.
    bounds_indptr : (n_columns + 1,) int64
        The bounds of each attribute, a range of all bounds.
    cuts, is_upper : (n_bounds,)
        A bound is number ≥ cut or, if it is an upper one, number < cut.
    every : (n_words,) uint64
        All rows.
    """
    cdef Py_ssize_t n_words = out.shape[1]
    cdef Py_ssize_t f, first, n_bounds
    cdef const double[::1] numbers
    cdef const int64_t[::1] rows
    for f in range(len(columns)):
        first = bounds_indptr[f]
        n_bounds = bounds_indptr[f + 1] - first
        if n_bounds == 0 or n_words == 0:
            continue
        PyErr_CheckSignals()
        numbers, rows = columns[f]
        with nogil:
            if rows is None:
                _test_dense(
                    &numbers[0], n_rows, &cuts[first], &is_upper[first], n_bounds, n_words,
                    &out[first, 0],
                )
            else:
                _test_listed(
                    &numbers[0], &rows[0], rows.shape[0], &cuts[first], &is_upper[first], n_bounds,
                    &every[0], n_words, &out[first, 0],
                )


def join_bounds(
    const int64_t[::1] indptr,
    const int32_t[::1] bound,
    const uint64_t[:, ::1] satisfied,
    const uint64_t[::1] every,
    uint64_t[:, ::1] out,
):
    """Write to `out` (n_rules, n_words) the rows that satisfy all bounds of a rule.

    `indptr` and `bound` are the bounds of the rules (CSR), `satisfied` is the result of `test_bounds`.
    """
    cdef Py_ssize_t n_words = out.shape[1]
    cdef Py_ssize_t r, c, w
    cdef const uint64_t* words
    cdef uint64_t* bits
    if n_words == 0:
        return
    with nogil:
        for r in range(indptr.shape[0] - 1):
            bits = &out[r, 0]
            memcpy(bits, &every[0], n_words * sizeof(uint64_t))
            for c in range(indptr[r], indptr[r + 1]):
                words = &satisfied[bound[c], 0]
                for w in range(n_words):
                    bits[w] &= words[w]
