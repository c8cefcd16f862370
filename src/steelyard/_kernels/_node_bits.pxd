"""Counting binary features in a node by their bits, 64 rows at a time.

The rows of a node are kept as planes: plane k has the rows whose number of draws has the bit k. Three
planes, all that most bags need, are counted together. Few rows are kept one by one. Positives and
negatives are in words of their own, so each is counted by itself.
Counts are packed pairs: see `_counting`.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ._bits cimport popcount, set_bit, test_bit
from ._coded cimport Coded, dense_codes
from ._counting cimport Tally, examples, pack
from ._memory cimport allocate


cdef struct NodeBits:
    Py_ssize_t n_words  # of a feature
    Py_ssize_t n_positive_words  # the first ones hold the positives
    uint32_t* bit_of_row
    int32_t* place  # (n_features,) of a feature among those with bits, or -1
    uint64_t* bits  # (features with bits, n_words) rows without the default code (dense: code 0)
    uint64_t* planes  # (most groups, n_words, 3) planes of the current node, in groups of three
    Py_ssize_t n_groups  # 0: its rows are few, and these are ...
    const uint32_t* rows
    Py_ssize_t n_rows
    const uint64_t* pair  # ... and their packed counts


cdef inline NodeBits make_node_bits(
    const Coded* coded,
    const Tally* lists,
    const uint8_t* is_binary,
    const uint8_t* is_positive,
    Py_ssize_t bag_size,
    list owner,
) except *:
    """The bits of binary features whose lists are longer than their bits; memory belongs to `owner`."""
    cdef NodeBits node
    cdef Py_ssize_t n_rows = coded.n_rows
    cdef Py_ssize_t row, f, n_positives = 0, n_seen = 0, n_features = 0
    for row in range(n_rows):
        n_positives += is_positive[row]
    node.n_positive_words = (n_positives + 63) >> 6
    node.n_words = node.n_positive_words + ((n_rows - n_positives + 63) >> 6)
    node.bit_of_row = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    for row in range(n_rows):
        if is_positive[row]:
            node.bit_of_row[row] = n_seen
            n_seen += 1
        else:
            node.bit_of_row[row] = 64 * node.n_positive_words + row - n_seen
    node.place = <int32_t*> allocate(owner, coded.n_features * sizeof(int32_t))
    for f in range(coded.n_features):
        node.place[f] = -1
        if is_binary[f] and (
            coded.column[f] >= 0 or coded.indptr[f + 1] - coded.indptr[f] > node.n_words
        ):
            node.place[f] = n_features
            n_features += 1
    node.bits = <uint64_t*> allocate(owner, n_features * node.n_words * sizeof(uint64_t))
    _fill_bits(coded, lists, &node)
    node.n_groups = 1
    while bag_size >> 3 * node.n_groups:
        node.n_groups += 1
    node.planes = <uint64_t*> allocate(owner, node.n_groups * node.n_words * 3 * sizeof(uint64_t))
    return node


cdef inline void _fill_bits(const Coded* coded, const Tally* lists, NodeBits* node) noexcept nogil:
    cdef const int32_t* codes
    cdef uint64_t* bits
    cdef Py_ssize_t f, e, row
    cdef int32_t place
    for row in range(coded.n_rows):
        for e in range(lists.indptr[row], lists.indptr[row + 1]):
            place = node.place[lists.features[e]]
            if place >= 0:
                set_bit(node.bits + place * node.n_words, node.bit_of_row[row])
    for f in range(coded.n_features):
        if node.place[f] < 0 or lists.is_listed[f]:
            continue
        bits = node.bits + node.place[f] * node.n_words
        codes = dense_codes(coded, f)
        for row in range(coded.n_rows):
            bits[node.bit_of_row[row] >> 6] |= <uint64_t> codes[row] << (node.bit_of_row[row] & 63)


cdef inline void take_rows(
    NodeBits* node, const uint32_t* rows, Py_ssize_t n, const uint64_t* pair
) noexcept nogil:
    """Set the current node: its n rows and the packed counts of all rows."""
    cdef uint64_t* planes
    cdef uint64_t n_draws, all_draws = 0
    cdef Py_ssize_t i, group, n_groups = 0
    cdef uint32_t bit
    node.n_groups = 0
    node.rows = rows
    node.n_rows = n
    node.pair = pair
    if n <= node.n_words:
        return
    for i in range(n):
        all_draws |= examples(pair[rows[i]])
    while all_draws >> 3 * n_groups:
        n_groups += 1
    node.n_groups = n_groups
    memset(node.planes, 0, n_groups * node.n_words * 3 * sizeof(uint64_t))
    for i in range(n):
        bit = node.bit_of_row[rows[i]]
        n_draws = examples(pair[rows[i]])
        for group in range(n_groups):
            planes = node.planes + 3 * (group * node.n_words + (bit >> 6))
            planes[0] |= (n_draws & 1) << (bit & 63)
            planes[1] |= (n_draws >> 1 & 1) << (bit & 63)
            planes[2] |= (n_draws >> 2 & 1) << (bit & 63)
            n_draws >>= 3


cdef inline uint64_t _count_words(
    const uint64_t* bits, const uint64_t* planes, Py_ssize_t n_words
) noexcept nogil:
    """Draws of the rows of three planes whose bits are set."""
    cdef uint64_t ones = 0, twos = 0, fours = 0
    cdef Py_ssize_t w
    for w in range(n_words):
        ones += popcount(bits[w] & planes[3 * w])
        twos += popcount(bits[w] & planes[3 * w + 1])
        fours += popcount(bits[w] & planes[3 * w + 2])
    return ones + 2 * twos + 4 * fours


cdef inline uint64_t _count_planes(
    const NodeBits* node, Py_ssize_t f, Py_ssize_t first, Py_ssize_t last
) noexcept nogil:
    """Draws of the node's rows without the default code in some words of a feature."""
    cdef const uint64_t* bits = node.bits + node.place[f] * node.n_words + first
    cdef const uint64_t* planes = node.planes + 3 * first
    cdef uint64_t n_draws = 0
    cdef Py_ssize_t group
    for group in range(node.n_groups):
        n_draws += _count_words(bits, planes, last - first) << 3 * group
        planes += 3 * node.n_words
    return n_draws


cdef inline uint64_t count_rows(
    const NodeBits* node, Py_ssize_t f, uint64_t least_positives
) noexcept nogil:
    """Packed counts of the node's rows without the default code of a feature that has bits.

    If there are fewer positives than `least_positives`, negatives are not counted.
    """
    cdef const uint64_t* bits = node.bits + node.place[f] * node.n_words
    cdef uint64_t n_positives, counts = 0
    cdef Py_ssize_t i
    if node.n_groups > 0:
        n_positives = _count_planes(node, f, 0, node.n_positive_words)
        if n_positives < least_positives:
            return pack(n_positives, n_positives)
        return pack(
            n_positives + _count_planes(node, f, node.n_positive_words, node.n_words), n_positives
        )
    for i in range(node.n_rows):
        counts += node.pair[node.rows[i]] & -(
            <uint64_t> test_bit(bits, node.bit_of_row[node.rows[i]])
        )
    return counts
