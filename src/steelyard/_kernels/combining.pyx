"""Which rules cover a row → scores of the labels, one function for each way to combine rules.

All functions take `coverage` (n_rules, n_words), where bit i is row i; `order`, the rules to combine;
`label_of_rule` (n_rules,); and `out` (n_labels, n_rows), which they change.
"""

from libc.stdint cimport int64_t, uint64_t

from ._bits cimport trailing_zeros

# Votes are integers, so that their sums are exact; precisions are not.
ctypedef fused Points:
    int64_t
    double


def add_points(
    const uint64_t[:, ::1] coverage,
    const int64_t[::1] order,
    const int64_t[::1] label_of_rule,
    const Points[::1] points,
    Points[:, ::1] out,
):
    """Add the points of the rules that cover a row; `points` are aligned with `order`."""
    cdef Py_ssize_t position, w
    cdef int64_t rule, label
    cdef uint64_t word
    with nogil:
        for position in range(order.shape[0]):
            rule = order[position]
            label = label_of_rule[rule]
            for w in range(coverage.shape[1]):
                word = coverage[rule, w]
                while word:
                    out[label, (w << 6) + trailing_zeros(word)] += points[position]
                    word &= word - 1


def raise_points(
    const uint64_t[:, ::1] coverage,
    const int64_t[::1] order,
    const int64_t[::1] label_of_rule,
    const Points[::1] points,
    Points[:, ::1] out,
):
    """Raise `out` to the most points of the rules that cover a row."""
    cdef Py_ssize_t position, w, row
    cdef int64_t rule, label
    cdef uint64_t word
    with nogil:
        for position in range(order.shape[0]):
            rule = order[position]
            label = label_of_rule[rule]
            for w in range(coverage.shape[1]):
                word = coverage[rule, w]
                while word:
                    row = (w << 6) + trailing_zeros(word)
                    if points[position] > out[label, row]:
                        out[label, row] = points[position]
                    word &= word - 1
