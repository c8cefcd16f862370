"""Which codes of a feature occur in a node, and how often: the inner loop of growing.

Counts are pairs packed into one uint64: examples in the upper half, positives in the lower.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ._bits cimport popcount, trailing_zeros
from ._coded cimport Coded, dense_codes
from ._memory cimport allocate

cdef enum:
    # Nodes up to this many examples are sorted by insertion; a histogram is cheaper for larger ones.
    SMALL_NODE = 10
    # Number of codes that are taken from a word of the bitmap at a time.
    BATCH = 4
    # With more codes, small nodes would spend their time on empty words: a summary tells which are used.
    MANY_CODES = 4096


cdef struct Counter:
    uint64_t* pair  # (n_rows,) packed counts of each row
    uint32_t* members  # rows; a node is a range of it
    uint32_t* position  # (n_rows,) position of a row in `members`, or `outside()`
    uint64_t* histogram  # packed counts by code; 0 between calls
    uint64_t* bitmap  # which codes of the histogram are in use; 0 between calls
    uint64_t* summary  # which words of the bitmap are in use, if there are many codes; 0 between calls
    int32_t* codes  # the result: the codes that occur in a node, ascending ...
    uint64_t* counts  # ... and their packed counts


# The features that a row departs from the default in (a CSR), and packed counts by feature.
cdef struct Tally:
    const int64_t* indptr
    const uint32_t* features
    const uint8_t* is_listed  # (n_features,) whether the feature is in these lists
    const int64_t* dense_indptr  # the rows of each dense feature that is in them (a CSR)
    const int32_t* dense_rows
    uint64_t* counts


ctypedef fused Ordered:
    int32_t
    double


cdef inline uint32_t outside() noexcept nogil:
    """The position of a row that is in no node."""
    return <uint32_t> 0xFFFFFFFFU


cdef inline uint64_t pack(uint64_t n_examples, uint64_t n_positives) noexcept nogil:
    return (n_examples << 32) + n_positives


cdef inline uint64_t examples(uint64_t counts) noexcept nogil:
    return counts >> 32


cdef inline uint64_t positives(uint64_t counts) noexcept nogil:
    return counts & <uint64_t> 0xFFFFFFFFU


cdef inline Py_ssize_t most_codes(const Coded* coded) noexcept nogil:
    """Room that the result of a count may need."""
    cdef Py_ssize_t f, most = 256  # blocks of codes
    for f in range(coded.n_features):
        most = max(most, coded.n_codes[f])
    return most + BATCH


cdef inline Counter make_counter(const Coded* coded, list owner) except *:
    """A counter without members; its memory belongs to `owner`."""
    cdef Py_ssize_t n_rows = coded.n_rows
    cdef Py_ssize_t size = most_codes(coded)
    cdef Counter counter
    counter.pair = <uint64_t*> allocate(owner, n_rows * sizeof(uint64_t))
    counter.members = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    counter.position = <uint32_t*> allocate(owner, n_rows * sizeof(uint32_t))
    counter.histogram = <uint64_t*> allocate(owner, size * sizeof(uint64_t))
    counter.bitmap = <uint64_t*> allocate(owner, ((size + 63) >> 6) * sizeof(uint64_t))
    counter.summary = <uint64_t*> allocate(owner, ((size + 4095) >> 12) * sizeof(uint64_t))
    counter.codes = <int32_t*> allocate(owner, size * sizeof(int32_t))
    counter.counts = <uint64_t*> allocate(owner, size * sizeof(uint64_t))
    memset(counter.position, 0xFF, n_rows * sizeof(uint32_t))
    return counter


cdef inline Py_ssize_t search(
    const Ordered* ascending, Py_ssize_t first, Py_ssize_t last, Ordered key
) noexcept nogil:
    """Position in [first, last) of the first entry that is not below the key, or `last`."""
    cdef Py_ssize_t middle
    while first < last:
        middle = (first + last) >> 1
        if ascending[middle] < key:
            first = middle + 1
        else:
            last = middle
    return first


cdef inline Py_ssize_t find_listed(
    const Coded* coded, Py_ssize_t f, int32_t row
) noexcept nogil:
    """Position of a row in the list of a feature, or -1."""
    cdef Py_ssize_t last = coded.indptr[f + 1]
    cdef Py_ssize_t e = search[int32_t](coded.rows, coded.indptr[f], last, row)
    return e if e < last and coded.rows[e] == row else -1


cdef inline void codes_of_rows(
    const Coded* coded, Py_ssize_t f, const uint32_t* node, Py_ssize_t n, int32_t* out
) noexcept nogil:
    """Write the code of each of the node's n rows on a feature."""
    cdef const int32_t* codes
    cdef Py_ssize_t i, e
    if coded.column[f] >= 0:
        codes = dense_codes(coded, f)
        for i in range(n):
            out[i] = codes[node[i]]
    else:
        for i in range(n):
            e = find_listed(coded, f, node[i])
            out[i] = coded.codes[e] if e >= 0 else coded.default_code[f]


cdef inline Py_ssize_t _count_by_insertion(
    const int32_t* column, const uint32_t* node, Py_ssize_t n_members, const Counter* counter
) noexcept nogil:
    cdef int32_t* codes = counter.codes
    cdef uint64_t* counts = counter.counts
    cdef Py_ssize_t m, i, j, n = 0
    cdef int32_t code
    for m in range(n_members):
        code = column[node[m]]
        if code < 0:
            continue
        i = n
        while i > 0 and codes[i - 1] > code:
            i -= 1
        if i > 0 and codes[i - 1] == code:
            counts[i - 1] += counter.pair[node[m]]
            continue
        for j in range(n, i, -1):
            codes[j] = codes[j - 1]
            counts[j] = counts[j - 1]
        codes[i] = code
        counts[i] = counter.pair[node[m]]
        n += 1
    return n


cdef inline Py_ssize_t _drain_word(
    Py_ssize_t w, Py_ssize_t n, const Counter* counter
) noexcept nogil:
    """Append the used codes of a word of the bitmap to n codes, empty it, and return their number."""
    cdef uint64_t word = counter.bitmap[w]
    cdef Py_ssize_t i = n
    cdef int k
    counter.bitmap[w] = 0
    n += popcount(word)
    # Always a full batch; the next one overwrites its surplus. A loop over exactly the set bits has an
    # unpredictable number of turns, and mispredictions took a tenth of the time of growing.
    while True:
        for k in range(BATCH):
            # The topmost bit does not change the lowest one; it only saves a test for 0.
            counter.codes[i + k] = (w << 6) + trailing_zeros(word | (<uint64_t> 1) << 63)
            word &= word - 1
        i += BATCH
        if i >= n:
            break
    return n


cdef inline Py_ssize_t drain_histogram(Py_ssize_t n_codes, const Counter* counter) noexcept nogil:
    """Move the used codes of the histogram, ascending, into the result and leave it empty."""
    cdef Py_ssize_t w, i, n = 0
    cdef uint64_t word
    cdef uint32_t code
    if n_codes > MANY_CODES:
        for w in range((n_codes + 4095) >> 12):
            word = counter.summary[w]
            counter.summary[w] = 0
            while word:
                n = _drain_word((w << 6) + trailing_zeros(word), n, counter)
                word &= word - 1
    else:
        for w in range((n_codes + 63) >> 6):
            n = _drain_word(w, n, counter)
    for i in range(n):
        code = counter.codes[i]
        counter.counts[i] = counter.histogram[code]
        counter.histogram[code] = 0
    return n


cdef inline void add_code(
    uint32_t code, uint64_t pair, bint are_many, const Counter* counter
) noexcept nogil:
    counter.histogram[code] += pair
    counter.bitmap[code >> 6] |= (<uint64_t> 1) << (code & 63)
    if are_many:
        counter.summary[code >> 12] |= (<uint64_t> 1) << ((code >> 6) & 63)


cdef inline Py_ssize_t _count_dense(
    const int32_t* column,
    const uint32_t* node,
    Py_ssize_t n_members,
    Py_ssize_t n_codes,
    const Counter* counter,
) noexcept nogil:
    cdef bint are_many = n_codes > MANY_CODES
    cdef Py_ssize_t i
    cdef int32_t code
    if n_members <= SMALL_NODE:
        return _count_by_insertion(column, node, n_members, counter)
    for i in range(n_members):
        code = column[node[i]]
        if code >= 0:
            add_code(code, counter.pair[node[i]], are_many, counter)
    return drain_histogram(n_codes, counter)


cdef inline Py_ssize_t count_blocks(
    const uint8_t* block, const uint32_t* node, Py_ssize_t n_members, const Counter* counter
) noexcept nogil:
    """Blocks of codes that occur in a node, as `codes` and `counts`; return how many."""
    cdef Py_ssize_t i
    cdef uint8_t b
    for i in range(n_members):
        b = block[node[i]]
        counter.histogram[b] += counter.pair[node[i]]
        counter.bitmap[b >> 6] |= (<uint64_t> 1) << (b & 63)
    counter.histogram[0] = 0  # missing values
    counter.bitmap[0] &= ~(<uint64_t> 1)
    return drain_histogram(256, counter)


cdef inline bint is_in_node(
    const Counter* counter, uint32_t row, Py_ssize_t start, Py_ssize_t end
) noexcept nogil:
    """Whether a row is in the node ``members[start:end]``."""
    # An unsigned position before the node wraps to a large one: one comparison, no branch.
    return <uint32_t> (counter.position[row] - <uint32_t> start) < <uint32_t> (end - start)


cdef inline bint is_short_list(
    const Coded* coded, Py_ssize_t f, Py_ssize_t start, Py_ssize_t end
) noexcept nogil:
    """Whether a walk over the list of a feature is faster than a search for each row of the node."""
    return coded.indptr[f + 1] - coded.indptr[f] <= 8 * (end - start)


cdef inline Py_ssize_t _count_listed(
    const Coded* coded,
    Py_ssize_t f,
    Py_ssize_t start,
    Py_ssize_t end,
    uint64_t total,
    const Counter* counter,
) noexcept nogil:
    """The default code has what the listed rows of the node leave over."""
    cdef uint64_t rest = total
    cdef bint found = False
    cdef bint are_many = coded.n_codes[f] > MANY_CODES
    cdef Py_ssize_t e, i
    cdef uint32_t row
    if is_short_list(coded, f, start, end):
        for e in range(coded.indptr[f], coded.indptr[f + 1]):
            row = coded.rows[e]
            if is_in_node(counter, row, start, end):
                rest -= counter.pair[row]
                if coded.codes[e] >= 0:
                    found = True
                    add_code(coded.codes[e], counter.pair[row], are_many, counter)
    else:
        for i in range(start, end):
            row = counter.members[i]
            e = find_listed(coded, f, row)
            if e >= 0:
                rest -= counter.pair[row]
                if coded.codes[e] >= 0:
                    found = True
                    add_code(coded.codes[e], counter.pair[row], are_many, counter)
    if not found:
        counter.codes[0] = coded.default_code[f]
        counter.counts[0] = rest
        return 1 if rest != 0 else 0
    if rest != 0:
        add_code(coded.default_code[f], rest, are_many, counter)
    return drain_histogram(coded.n_codes[f], counter)


cdef inline Py_ssize_t count_codes(
    const Coded* coded,
    Py_ssize_t f,
    Py_ssize_t start,
    Py_ssize_t end,
    uint64_t total,
    const Counter* counter,
) noexcept nogil:
    """Codes of a feature in the node ``members[start:end]`` with the counts `total`; return how many.

    The codes and their counts are in `codes` and `counts`.
    """
    if coded.column[f] >= 0:
        return _count_dense(
            dense_codes(coded, f), counter.members + start, end - start, coded.n_codes[f], counter
        )
    return _count_listed(coded, f, start, end, total, counter)


cdef inline void find_binary(const Coded* coded, uint8_t* out) noexcept nogil:
    """Which features have two codes and no missing value, so that one sum counts both."""
    cdef const int32_t* codes
    cdef Py_ssize_t f, i, n
    cdef int32_t least
    for f in range(coded.n_features):
        out[f] = False
        if coded.n_codes[f] != 2:
            continue
        if coded.column[f] >= 0:
            codes = dense_codes(coded, f)
            n = coded.n_rows
        else:
            codes = coded.codes + coded.indptr[f]
            n = coded.indptr[f + 1] - coded.indptr[f]
        least = 0
        for i in range(n):
            least |= codes[i]  # negative if one of them is
        out[f] = least >= 0


cdef inline uint64_t sum_nondefault(
    const Coded* coded, Py_ssize_t f, Py_ssize_t start, Py_ssize_t end, const Counter* counter
) noexcept nogil:
    """Packed counts of the node's rows without the default code of a binary feature (dense: 0)."""
    cdef uint64_t found = 0
    cdef const int32_t* column
    cdef Py_ssize_t i, e
    cdef uint32_t row
    cdef uint64_t mask  # all bits or none: a condition would often be mispredicted
    if coded.column[f] >= 0:
        column = dense_codes(coded, f)
        for i in range(start, end):
            row = counter.members[i]
            mask = -<int64_t> column[row]
            found += counter.pair[row] & mask
    elif is_short_list(coded, f, start, end):
        for e in range(coded.indptr[f], coded.indptr[f + 1]):
            row = coded.rows[e]
            mask = -<int64_t> is_in_node(counter, row, start, end)
            found += counter.pair[row] & mask
    else:
        for i in range(start, end):
            row = counter.members[i]
            if find_listed(coded, f, row) >= 0:
                found += counter.pair[row]
    return found


cdef inline Tally make_tally(object lists, Py_ssize_t n_slots, list owner) except *:
    """Empty tallies of the features of `RowLists`; the memory of their counts belongs to `owner`.

    A tally counts how often each of these features departs from its default in a node, row by row. In
    a small node this is cheaper than a search in the list of every drawn feature: most of these lists
    hold no row of the node.
    """
    cdef const int64_t[::1] indptr = lists.indptr
    cdef const uint32_t[::1] features = lists.features
    cdef const uint8_t[::1] is_listed = lists.is_listed.view("u1")
    cdef const int64_t[::1] dense_indptr = lists.dense_indptr
    cdef const int32_t[::1] dense_rows = lists.dense_rows
    cdef Tally tally
    tally.dense_indptr = &dense_indptr[0]
    tally.dense_rows = &dense_rows[0]
    tally.indptr = &indptr[0]
    tally.features = &features[0]
    tally.is_listed = &is_listed[0]
    tally.counts = <uint64_t*> allocate(owner, n_slots * is_listed.shape[0] * sizeof(uint64_t))
    return tally


cdef inline void add_rows(
    const Tally* tally, const uint32_t* rows, Py_ssize_t n, const uint64_t* pair
) noexcept nogil:
    """Add the packed counts of n rows to the features that list them."""
    cdef Py_ssize_t i, e
    cdef uint64_t counts  # the compiler would read them again for each feature
    for i in range(n):
        counts = pair[rows[i]]
        for e in range(tally.indptr[rows[i]], tally.indptr[rows[i] + 1]):
            tally.counts[tally.features[e]] += counts


cdef inline void subtract_rows(
    const Tally* tally, const uint32_t* rows, Py_ssize_t n, const uint64_t* pair
) noexcept nogil:
    """Take the packed counts of n rows from the features that list them."""
    cdef Py_ssize_t i, e
    cdef uint64_t counts  # the compiler would read them again for each feature
    for i in range(n):
        counts = pair[rows[i]]
        for e in range(tally.indptr[rows[i]], tally.indptr[rows[i] + 1]):
            tally.counts[tally.features[e]] -= counts


cdef inline void clear_rows(const Tally* tally, const uint32_t* rows, Py_ssize_t n) noexcept nogil:
    """Set the counts of the features that list n rows to 0."""
    cdef Py_ssize_t i, e
    for i in range(n):
        for e in range(tally.indptr[rows[i]], tally.indptr[rows[i] + 1]):
            tally.counts[tally.features[e]] = 0
