"""Sets of rows, as bits, from which the rows that satisfy a condition follow quickly."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from ._bits cimport clear_bit, set_bit
from ._coded cimport Coded


cdef struct Sets:
    Coded coded
    Py_ssize_t n_words
    Py_ssize_t step  # rows between two checkpoints
    Py_ssize_t n_checkpoints  # of a feature
    const int32_t* order  # see `sort_rows_by_code`
    const int64_t* starts
    const int64_t* starts_indptr
    const int64_t* bit_of_row
    const int64_t* slot_of_feature  # the place of a feature in `checkpoints` or `defaults`, or -1
    uint64_t* every  # all rows
    # Of dense features: [slot, k] are the rows from code k on if the codes are few, else the rows from
    # the k·step-th on.
    uint64_t* checkpoints
    uint64_t* defaults  # of listed features: [slot] are the rows with the default code
    uint64_t* buffer


cdef class RowSets:
    """The sets of rows of some features; it owns the memory behind `sets`."""
    cdef Sets sets
    cdef object arrays


cdef inline bint has_few_codes(const Sets* sets, Py_ssize_t f) noexcept nogil:
    """Whether a dense feature has a checkpoint for each code."""
    return sets.coded.n_codes[f] < sets.n_checkpoints


cdef inline void _keep_dense(
    uint64_t* bits, const Sets* sets, Py_ssize_t f, Py_ssize_t low, Py_ssize_t high
) noexcept nogil:
    """A range of codes is a range of the sorted rows: the difference of two checkpoints.

    If the codes are many, the few rows between the ends of the range and the checkpoints around it
    follow one by one.
    """
    cdef Py_ssize_t column = sets.coded.column[f]
    cdef const int32_t* order = sets.order + column * sets.coded.n_rows
    cdef const int64_t* starts = sets.starts + sets.starts_indptr[column]
    cdef Py_ssize_t begin = starts[low]
    cdef Py_ssize_t stop = starts[high]
    cdef bint are_few = has_few_codes(sets, f)
    cdef Py_ssize_t above = low if are_few else begin // sets.step
    cdef Py_ssize_t below = high if are_few else (stop + sets.step - 1) // sets.step
    cdef const uint64_t* checkpoints = (
        sets.checkpoints + sets.slot_of_feature[f] * sets.n_checkpoints * sets.n_words
    )
    cdef const uint64_t* from_begin = checkpoints + above * sets.n_words
    cdef const uint64_t* from_stop = checkpoints + below * sets.n_words
    cdef Py_ssize_t w, i
    for w in range(sets.n_words):
        bits[w] &= from_begin[w] & ~from_stop[w]
    if are_few:
        return
    for i in range(above * sets.step, begin):
        clear_bit(bits, sets.bit_of_row[order[i]])
    for i in range(stop, min(below * sets.step, sets.coded.n_rows)):
        clear_bit(bits, sets.bit_of_row[order[i]])


cdef inline void _keep_listed(
    uint64_t* bits, const Sets* sets, Py_ssize_t f, Py_ssize_t low, Py_ssize_t high
) noexcept nogil:
    """Most conditions on texts allow the default code alone: a word is absent."""
    cdef const Coded* coded = &sets.coded
    cdef Py_ssize_t default = coded.default_code[f]
    cdef const uint64_t* allowed = sets.defaults + sets.slot_of_feature[f] * sets.n_words
    cdef Py_ssize_t w, e
    if low != default or high != default + 1:
        if low <= default < high:
            memcpy(sets.buffer, allowed, sets.n_words * sizeof(uint64_t))
        else:
            memset(sets.buffer, 0, sets.n_words * sizeof(uint64_t))
        for e in range(coded.indptr[f], coded.indptr[f + 1]):
            if low <= coded.codes[e] < high:
                set_bit(sets.buffer, sets.bit_of_row[coded.rows[e]])
        allowed = sets.buffer
    for w in range(sets.n_words):
        bits[w] &= allowed[w]


cdef inline void keep_condition(
    uint64_t* bits, const Sets* sets, Py_ssize_t f, Py_ssize_t low, Py_ssize_t high
) noexcept nogil:
    """Clear the bits of the rows that do not satisfy low ≤ code < high on a feature."""
    if sets.coded.column[f] >= 0:
        _keep_dense(bits, sets, f, low, high)
    else:
        _keep_listed(bits, sets, f, low, high)
