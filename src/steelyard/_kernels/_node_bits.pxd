"""Counting binary features in a node by their bits, 64 rows at a time.

The rows of a bag are kept as planes: plane k has the rows whose number of draws has the bit k. Three
planes, all that most bags need, are counted together. Those of a node are the rows of the bag that it
has; they are made when the first feature is counted. Few rows are counted one by one. Positives are in
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
    const uint8_t* is_positive  # (n_rows,)
    uint32_t* positive_rows
    Py_ssize_t n_positives
    uint32_t* bit_of_row  # in the words of the positives, followed by those of all rows
    Py_ssize_t n_groups  # of three planes each
    uint64_t* bag_planes  # (n_groups, 3, words of the positives and of all rows)
    uint64_t* planes  # of the current node
    uint64_t* mask  # the bits of its rows
    const uint32_t* rows
    Py_ssize_t n_rows
    const uint64_t* pair  # packed counts of all rows
    bint is_masked  # whether the planes are those of the current node


cdef inline NodeBits make_node_bits(
    object lists, const uint8_t[::1] is_positive, Py_ssize_t bag_size, list owner
) except *:
    """The bits of `RowLists` for a label; memory belongs to `owner`."""
    cdef const int32_t[::1] place = lists.place
    cdef const uint64_t[:, ::1] bits = lists.bits
    cdef Py_ssize_t n_rows = is_positive.shape[0]
    cdef Py_ssize_t row, p, n_words, n_groups = 1, n_positives = 0
    cdef NodeBits node
    cdef uint64_t* words
    node.place = &place[0]
    node.n_words = bits.shape[1]
    node.bits = &bits[0, 0]
    for row in range(n_rows):
        n_positives += is_positive[row]
    node.is_positive = &is_positive[0]
    node.n_positives = n_positives
    node.positive_rows = <uint32_t*> allocate(owner, n_positives * sizeof(uint32_t))
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
            node.positive_rows[n_positives] = row
            n_positives += 1
            for p in range(bits.shape[0]):
                words = node.positive_bits + p * node.n_positive_words
                if test_bit(&bits[p, 0], row):
                    set_bit(words, node.bit_of_row[row])
    while bag_size >> 3 * n_groups:
        n_groups += 1
    n_words = node.n_positive_words + node.n_words
    node.bag_planes = <uint64_t*> allocate(owner, n_groups * n_words * 3 * sizeof(uint64_t))
    node.planes = <uint64_t*> allocate(owner, n_groups * n_words * 3 * sizeof(uint64_t))
    node.mask = <uint64_t*> allocate(owner, n_words * sizeof(uint64_t))
    return node


cdef inline void _pack_draws(
    const uint64_t* pair,
    const uint32_t* rows,
    Py_ssize_t n_rows,
    const uint8_t* is_left_out,
    int shift,
    uint64_t* planes,
    Py_ssize_t stride,
) noexcept nogil:
    """Write three bits of the draws of rows, from `shift` on, to planes: those of `rows`, or all."""
    cdef uint64_t ones, twos, fours, n_draws
    cdef Py_ssize_t w, i, row
    for w in range((n_rows + 63) >> 6):
        ones = twos = fours = 0
        for i in range(w << 6, min((w + 1) << 6, n_rows)):
            row = i if rows == NULL else rows[i]
            n_draws = examples(pair[row]) >> shift
            if rows == NULL:
                n_draws &= <uint64_t> is_left_out[row] - 1
            ones |= (n_draws & 1) << (i & 63)
            twos |= (n_draws >> 1 & 1) << (i & 63)
            fours |= (n_draws >> 2 & 1) << (i & 63)
        planes[w] = ones
        planes[w + stride] = twos
        planes[w + 2 * stride] = fours


cdef inline void take_bag(
    NodeBits* node, const uint64_t* pair, Py_ssize_t n_rows, uint64_t most_draws
) noexcept nogil:
    """Set the bag: the packed counts of all rows, none of which has more than `most_draws` draws."""
    cdef Py_ssize_t n_words = node.n_positive_words + node.n_words
    cdef Py_ssize_t group
    cdef uint64_t* planes
    node.pair = pair
    node.n_groups = 1
    while most_draws >> 3 * node.n_groups:
        node.n_groups += 1
    for group in range(node.n_groups):
        planes = node.bag_planes + 3 * group * n_words
        _pack_draws(
            pair, node.positive_rows, node.n_positives, NULL, 3 * group, planes, n_words
        )
        planes += node.n_positive_words
        _pack_draws(pair, NULL, n_rows, node.is_positive, 3 * group, planes, n_words)


cdef inline void take_rows(NodeBits* node, const uint32_t* rows, Py_ssize_t n) noexcept nogil:
    """Set the current node: n rows of the bag."""
    node.rows = rows
    node.n_rows = n
    node.is_masked = False


cdef inline void _mask_planes(NodeBits* node) noexcept nogil:
    cdef Py_ssize_t n_words = node.n_positive_words + node.n_words
    cdef const uint64_t* bag_planes = node.bag_planes
    cdef uint64_t* planes = node.planes
    cdef uint64_t* mask = node.mask
    cdef Py_ssize_t i, w, _
    memset(mask, 0, n_words * sizeof(uint64_t))
    for i in range(node.n_rows):
        set_bit(mask, node.bit_of_row[node.rows[i]])
    for _ in range(3 * node.n_groups):
        for w in range(n_words):
            planes[w] = bag_planes[w] & mask[w]
        planes += n_words
        bag_planes += n_words
    node.is_masked = True


cdef inline uint64_t _count_planes(
    const NodeBits* node, const uint64_t* bits, Py_ssize_t first, Py_ssize_t n_words
) noexcept nogil:
    """Draws of the node's rows in some words of which the bits are set."""
    cdef Py_ssize_t stride = node.n_positive_words + node.n_words
    cdef const uint64_t* planes = node.planes + first
    cdef uint64_t n_draws = 0
    cdef Py_ssize_t group
    for group in range(node.n_groups):
        n_draws += <uint64_t> count_planes(bits, planes, stride, n_words) << 3 * group
        planes += 3 * stride
    return n_draws


cdef inline uint64_t count_rows(
    NodeBits* node, Py_ssize_t f, uint64_t least_positives
) noexcept nogil:
    """Packed counts of the node's rows without the default code of a feature that has bits.

    If there are fewer positives than `least_positives`, negatives are not counted.
    """
    cdef const uint64_t* bits = node.bits + node.place[f] * node.n_words
    cdef const uint64_t* positive_bits
    cdef Py_ssize_t n_words = node.n_positive_words
    cdef uint64_t n_positives, counts = 0
    cdef Py_ssize_t i
    if node.n_rows > n_words + node.n_words:
        if not node.is_masked:
            _mask_planes(node)
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
