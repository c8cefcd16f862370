"""Counting binary features in a node by their bits, 64 rows at a time.

The rows of a node are kept as planes: plane k has the rows whose number of draws has the bit k. Three
planes, all that most bags need, are counted together. Few rows are kept one by one. Positives are in
words of their own, before those of all rows, which leave them out. So each class is counted by itself,
and labels share the bits of all rows.
Counts are packed pairs: see `_counting`.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ._bits cimport count_planes, set_bit, test_bit
from ._counting cimport examples, pack
from ._memory cimport allocate


cdef struct NodeBits:
    const int32_t* place  # (n_features,) of a feature among those with bits, or -1
    Py_ssize_t n_words  # of all rows
    const uint64_t* bits  # (features with bits, n_words) rows without the default code (dense: code 0)
    Py_ssize_t n_positive_words
    uint64_t* positive_bits  # (features with bits, n_positive_words) the same for the positives alone
    uint32_t* bit_of_row  # in the words of the positives, followed by those of all rows
    uint64_t* planes  # of the current node, in groups of three: those of the positives, then of all rows
    Py_ssize_t n_groups  # 0: its rows are few, and these are ...
    const uint32_t* rows
    Py_ssize_t n_rows
    const uint64_t* pair  # ... and their packed counts


cdef inline NodeBits make_node_bits(
    object lists, const uint8_t[::1] is_positive, Py_ssize_t bag_size, list owner
) except *:
    """The bits of `RowLists` for a label; memory belongs to `owner`."""
    cdef const int32_t[::1] place = lists.place
    cdef const uint64_t[:, ::1] bits = lists.bits
    cdef Py_ssize_t n_rows = is_positive.shape[0]
    cdef Py_ssize_t row, p, n_words, n_positives = 0
    cdef NodeBits node
    cdef uint64_t* words
    node.place = &place[0]
    node.n_words = bits.shape[1]
    node.bits = &bits[0, 0]
    for row in range(n_rows):
        n_positives += is_positive[row]
    node.n_positive_words = (n_positives + 63) >> 6
    node.positive_bits = <uint64_t*> allocate(
        owner, bits.shape[0] * node.n_positive_words * sizeof(uint64_t)
    )
    node.bit_of_row = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    n_positives = 0
    for row in range(n_rows):
        node.bit_of_row[row] = 64 * node.n_positive_words + row
        if is_positive[row]:
            node.bit_of_row[row] = n_positives
            n_positives += 1
            for p in range(bits.shape[0]):
                words = node.positive_bits + p * node.n_positive_words
                if test_bit(&bits[p, 0], row):
                    set_bit(words, node.bit_of_row[row])
    node.n_groups = 1
    while bag_size >> 3 * node.n_groups:
        node.n_groups += 1
    n_words = node.n_positive_words + node.n_words
    node.planes = <uint64_t*> allocate(owner, node.n_groups * n_words * 3 * sizeof(uint64_t))
    return node


cdef inline void take_rows(
    NodeBits* node, const uint32_t* rows, Py_ssize_t n, const uint64_t* pair
) noexcept nogil:
    """Set the current node: its n rows and the packed counts of all rows."""
    cdef uint64_t* planes
    cdef uint64_t n_draws, all_draws = 0
    cdef Py_ssize_t i, group, n_groups = 0
    cdef Py_ssize_t n_words = node.n_positive_words + node.n_words
    cdef Py_ssize_t first, n_class_words
    cdef uint32_t bit
    node.n_groups = 0
    node.rows = rows
    node.n_rows = n
    node.pair = pair
    if n <= n_words:
        return
    for i in range(n):
        all_draws |= examples(pair[rows[i]])
    while all_draws >> 3 * n_groups:
        n_groups += 1
    node.n_groups = n_groups
    memset(node.planes, 0, n_groups * n_words * 3 * sizeof(uint64_t))
    for i in range(n):
        bit = node.bit_of_row[rows[i]]
        n_draws = examples(pair[rows[i]])
        first = 0
        n_class_words = node.n_positive_words
        if bit >> 6 >= n_class_words:
            first = n_class_words
            n_class_words = node.n_words
        for group in range(n_groups):
            planes = node.planes + 3 * (group * n_words + first) + ((bit >> 6) - first)
            planes[0] |= (n_draws & 1) << (bit & 63)
            planes[n_class_words] |= (n_draws >> 1 & 1) << (bit & 63)
            if n_draws & 4:  # one row in fifty
                planes[2 * n_class_words] |= (<uint64_t> 1) << (bit & 63)
            n_draws >>= 3


cdef inline uint64_t _count_planes(
    const NodeBits* node, const uint64_t* bits, Py_ssize_t first, Py_ssize_t n_words
) noexcept nogil:
    """Draws of the node's rows in some words of which the bits are set."""
    cdef const uint64_t* planes = node.planes + 3 * first
    cdef uint64_t n_draws = 0
    cdef Py_ssize_t group
    for group in range(node.n_groups):
        n_draws += <uint64_t> count_planes(bits, planes, n_words) << 3 * group
        planes += 3 * (node.n_positive_words + node.n_words)
    return n_draws


cdef inline uint64_t count_rows(
    const NodeBits* node, Py_ssize_t f, uint64_t least_positives
) noexcept nogil:
    """Packed counts of the node's rows without the default code of a feature that has bits.

    If there are fewer positives than `least_positives`, negatives are not counted.
    """
    cdef const uint64_t* bits = node.bits + node.place[f] * node.n_words
    cdef const uint64_t* positive_bits
    cdef Py_ssize_t n_words = node.n_positive_words
    cdef uint64_t n_positives, counts = 0
    cdef Py_ssize_t i
    if node.n_groups > 0:
        positive_bits = node.positive_bits + node.place[f] * n_words
        n_positives = _count_planes(node, positive_bits, 0, n_words)
        if n_positives < least_positives:
            return pack(n_positives, n_positives)
        return pack(
            n_positives + _count_planes(node, bits, n_words, node.n_words), n_positives
        )
    for i in range(node.n_rows):
        counts += node.pair[node.rows[i]] & -(<uint64_t> test_bit(bits, node.rows[i]))
    return counts
