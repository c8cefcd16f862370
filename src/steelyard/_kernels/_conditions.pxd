"""Rule bodies: merge the conditions of a feature, hash a body, and find the rows that it covers.

A condition is low ≤ code < high on a feature. A body is an array of conditions; in Python it is an int32
array of shape (n_conditions, 3), which has the same layout.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ._coded cimport Coded, dense_codes
from ._counting cimport codes_of_rows
from ._random cimport increment, mix


cdef struct Condition:
    int32_t feature
    int32_t low
    int32_t high


cdef inline bint holds(Condition condition, int32_t code) noexcept nogil:
    """Whether a code satisfies a condition; without a branch."""
    return (condition.low <= code) & (code < condition.high)


cdef inline Py_ssize_t merge_conditions(
    const Condition* conditions, Py_ssize_t n, int32_t* slot_of_feature, Condition* out
) noexcept nogil:
    """Intersect the ranges of each feature among n conditions; return the new length.

    Features stay in the order of their first condition. `slot_of_feature` (n_features,) is working
    memory, -1 before and after a call: paths are long, and a search per condition would be slow.
    """
    cdef Py_ssize_t c, length = 0
    cdef int32_t slot
    for c in range(n):
        slot = slot_of_feature[conditions[c].feature]
        if slot < 0:
            slot_of_feature[conditions[c].feature] = length
            out[length] = conditions[c]
            length += 1
        else:
            out[slot].low = max(out[slot].low, conditions[c].low)
            out[slot].high = min(out[slot].high, conditions[c].high)
    for c in range(length):
        slot_of_feature[out[c].feature] = -1
    return length


cdef inline uint64_t hash_body(const Condition* body, Py_ssize_t length) noexcept nogil:
    """Key of a body, never 0; the order of its conditions does not matter."""
    cdef uint64_t word, key = 0
    cdef Py_ssize_t c
    for c in range(length):
        word = mix(<uint64_t> body[c].feature + increment())
        word = mix(word ^ <uint64_t> body[c].low)
        key += mix(word + (<uint64_t> body[c].high << 20))
    return key if key != 0 else 1


cdef inline Py_ssize_t filter_rows(
    const Coded* coded, Condition condition, uint32_t* rows, Py_ssize_t n, int32_t* row_codes
) noexcept nogil:
    """Move those of n rows that satisfy a condition to the front, in order; return their number.

    `row_codes` is working memory for n codes.
    """
    cdef Py_ssize_t i, n_kept = 0
    codes_of_rows(coded, condition.feature, rows, n, row_codes)
    for i in range(n):
        rows[n_kept] = rows[i]  # the next row takes the place of one that fails
        n_kept += holds(condition, row_codes[i])
    return n_kept


cdef inline void filter_mask(
    const Coded* coded, Condition condition, uint8_t* mask
) noexcept nogil:
    """Clear the rows of a mask that do not satisfy a condition."""
    cdef Py_ssize_t feature = condition.feature
    cdef Py_ssize_t first = coded.indptr[feature]
    cdef Py_ssize_t last = coded.indptr[feature + 1]
    cdef const int32_t* codes
    cdef Py_ssize_t row, e, listed
    if coded.column[feature] >= 0:
        codes = dense_codes(coded, feature)
        for row in range(coded.n_rows):
            mask[row] &= holds(condition, codes[row])
        return
    if holds(condition, coded.default_code[feature]):
        for e in range(first, last):
            mask[coded.rows[e]] &= holds(condition, coded.codes[e])
        return
    # Only listed rows can satisfy it: clear everything between one of them and the next.
    row = 0
    for e in range(first, last):
        listed = coded.rows[e]
        memset(mask + row, 0, listed - row)
        mask[listed] &= holds(condition, coded.codes[e])
        row = listed + 1
    memset(mask + row, 0, coded.n_rows - row)


cdef inline void cover_mask(
    const Coded* coded, const Condition* body, Py_ssize_t length, uint8_t* out
) noexcept nogil:
    """Set `out` (n_rows,) to 1 where a row satisfies all conditions of a body, else to 0."""
    cdef Py_ssize_t c
    memset(out, 1, coded.n_rows)
    for c in range(length):
        filter_mask(coded, body[c], out)
