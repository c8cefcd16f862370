"""The best bound of a numeric feature in a node: between blocks of codes, then inside some of them.

A block is a byte, so the blocks of a feature and their counts stay in the fastest caches where the codes
do not. Counts are packed pairs: see `_counting`.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from ._coded cimport Coded, dense_codes
from ._counting cimport MANY_CODES, Counter, add_code, count_blocks, drain_histogram
from ._memory cimport allocate
from ._splitting cimport RUN, best_boundary, impurity, may_gain, split_gain

cdef enum:
    MOST_BLOCKS = 255
    # Fewer codes stay in the caches, and small nodes have hardly more codes than blocks.
    MANY_VALUES = 1024
    LEAST_MEMBERS = 16


# What `block_codes` makes of a table, and working memory.
cdef struct Blocks:
    const uint8_t* block  # (n_dense, n_rows) the block of each row; 0 for missing values
    const int32_t* first_code  # (n_dense, MOST_BLOCKS + 2) of each block, and the end of the last one
    uint8_t* is_open  # (MOST_BLOCKS + 1,) blocks to look into; 0 between calls
    uint64_t* below  # (MOST_BLOCKS + 1,) packed counts below an open block


# Between two neighbouring codes of a node, or between two neighbouring blocks if `lower` is -1.
cdef struct Bound:
    double gain
    int32_t lower
    int32_t upper
    int32_t block
    int32_t next_block


cdef inline Blocks make_blocks(object blocks, list owner) except *:
    """Pointers into a `CodeBlocks`, which `owner` keeps, as it does the working memory."""
    cdef const uint8_t[:, ::1] block = blocks.block
    cdef const int32_t[:, ::1] first_code = blocks.first_code
    cdef Blocks result
    owner.append(blocks)
    result.block = &block[0, 0]
    result.first_code = &first_code[0, 0]
    result.is_open = <uint8_t*> allocate(owner, MOST_BLOCKS + 1)
    result.below = <uint64_t*> allocate(owner, (MOST_BLOCKS + 1) * sizeof(uint64_t))
    return result


cdef inline bint has_blocks(const Coded* coded, Py_ssize_t f, Py_ssize_t n_members) noexcept nogil:
    """Whether to look for a bound of a feature by blocks."""
    return (
        coded.n_codes[f] >= MANY_VALUES
        and n_members >= LEAST_MEMBERS
        and coded.column[f] >= 0
        and not coded.is_nominal[f]
    )


cdef inline Bound best_bound(
    const Coded* coded,
    Py_ssize_t f,
    const uint32_t* node,
    Py_ssize_t n_members,
    double least,
    const Blocks* blocks,
    const Counter* counter,
    const double* xlogx,
) noexcept nogil:
    """The bound of a dense numeric feature with the largest gain, 0 if none has any.

    A bound that gains less than `least` need not be the best one. Of equal gains the lowest bound wins.
    """
    cdef const uint8_t* block = blocks.block + coded.column[f] * coded.n_rows
    cdef Py_ssize_t boundary
    cdef Py_ssize_t n = count_blocks(block, node, n_members, counter)
    cdef Bound best
    best.gain = best_boundary(counter.counts, n, least, xlogx, &boundary)
    best.lower = best.upper = best.block = best.next_block = -1
    if best.gain > 0.0:
        best.block = counter.codes[boundary]
        best.next_block = counter.codes[boundary + 1]
    if _open_blocks(n, max(best.gain, least), blocks, counter, xlogx) > 0:
        _look_inside(coded, f, node, n_members, blocks, counter, xlogx, &best)
    return best


cdef inline Py_ssize_t _open_blocks(
    Py_ssize_t n, double least, const Blocks* blocks, const Counter* counter, const double* xlogx
) noexcept nogil:
    """Open the blocks inside which a bound may have such a gain; return their number."""
    cdef const uint64_t* counts = counter.counts
    cdef uint64_t total = 0, passed = 0, within
    cdef double whole
    cdef Py_ssize_t i, run, start, end, n_open = 0
    for i in range(n):
        total += counts[i]
    whole = impurity(total, xlogx)
    blocks.below[0] = total
    for run in range((n + RUN - 1) // RUN):
        start = run * RUN
        end = min(start + RUN, n)
        within = 0
        for i in range(start, end):
            within += counts[i]
        if not may_gain(passed, within, total, whole, least, xlogx):
            passed += within
            continue
        for i in range(start, end):
            if may_gain(passed, counts[i], total, whole, least, xlogx):
                blocks.is_open[counter.codes[i]] = True
                blocks.below[counter.codes[i]] = passed
                n_open += 1
            passed += counts[i]
    return n_open


cdef inline void _look_inside(
    const Coded* coded,
    Py_ssize_t f,
    const uint32_t* node,
    Py_ssize_t n_members,
    const Blocks* blocks,
    const Counter* counter,
    const double* xlogx,
    Bound* best,
) noexcept nogil:
    """Consider the bounds inside the open blocks, and close these."""
    cdef const uint8_t* block = blocks.block + coded.column[f] * coded.n_rows
    cdef const int32_t* first_code = blocks.first_code + coded.column[f] * (MOST_BLOCKS + 2)
    cdef const int32_t* column = dense_codes(coded, f)
    cdef const int32_t* codes = counter.codes
    cdef uint64_t total = blocks.below[0], passed = 0
    cdef double gain, whole = impurity(total, xlogx)
    cdef bint are_many = coded.n_codes[f] > MANY_CODES
    cdef Py_ssize_t i, n
    cdef int32_t b = 0
    for i in range(n_members):
        if blocks.is_open[block[node[i]]]:
            add_code(column[node[i]], counter.pair[node[i]], are_many, counter)
    n = drain_histogram(coded.n_codes[f], counter)
    for i in range(n):
        if b == 0 or codes[i] >= first_code[b + 1]:
            while b == 0 or codes[i] >= first_code[b + 1]:
                blocks.is_open[b] = False
                b += 1
            passed = blocks.below[b]
        passed += counter.counts[i]
        if i + 1 == n or codes[i + 1] >= first_code[b + 1]:
            continue  # the end of the block, which is known
        gain = split_gain(passed, total, whole, xlogx)
        if gain > best.gain or (gain == best.gain and _is_below(b, codes[i], best)):
            best.gain = gain
            best.block = b
            best.lower = codes[i]
            best.upper = codes[i + 1]
    blocks.is_open[b] = False


cdef inline bint _is_below(int32_t b, int32_t lower, const Bound* bound) noexcept nogil:
    """Whether a bound inside a block is below another bound."""
    return b < bound.block or (b == bound.block and (bound.lower < 0 or lower < bound.lower))


cdef inline void find_codes(
    const Coded* coded,
    Py_ssize_t f,
    const uint32_t* node,
    Py_ssize_t n_members,
    const Blocks* blocks,
    Bound* bound,
) noexcept nogil:
    """Find the codes of a bound that lies between two blocks."""
    cdef const uint8_t* block = blocks.block + coded.column[f] * coded.n_rows
    cdef const int32_t* column = dense_codes(coded, f)
    cdef Py_ssize_t i
    if bound.lower >= 0:
        return
    bound.upper = coded.n_codes[f]
    for i in range(n_members):
        if block[node[i]] == bound.block:
            bound.lower = max(bound.lower, column[node[i]])
        elif block[node[i]] == bound.next_block:
            bound.upper = min(bound.upper, column[node[i]])
