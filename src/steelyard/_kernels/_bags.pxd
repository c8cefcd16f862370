"""Draw the rows of a bag, all with the same probability or each in proportion to its weight."""

from libc.stdint cimport int64_t, uint64_t

from ._random cimport increment, mix, next_below


cdef inline Py_ssize_t draw_row(
    uint64_t* state, const int64_t* order, const uint64_t* ends, Py_ssize_t n_rows
) noexcept nogil:
    """Advance `state` and return a row.

    Position i of `order` is drawn with probability (ends[i] - ends[i - 1])/2³². Without `ends`, which is
    then NULL, all positions have the same probability.
    """
    cdef uint64_t number
    cdef Py_ssize_t first, last, middle
    if ends == NULL:
        return order[next_below(state, n_rows)]
    state[0] += increment()
    number = mix(state[0]) >> 32
    first, last = 0, n_rows - 1
    while first < last:
        middle = (first + last) >> 1
        if ends[middle] > number:
            last = middle
        else:
            first = middle + 1
    return order[first]
