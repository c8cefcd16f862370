# distutils: language = c++
"""The rows that each rule of a label covers, kept as bits or, if they are few, as a list.

The rules of one tree cover different rows. Their lists together are no longer than the table, however
many leaves a tree has, while their bits would take (number of leaves) × (number of rows)/8 bytes. Bits
[0, 64·n_positive_words) stand for positive examples, the rest for negative ones.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from ._bits cimport count_common, popcount, set_bit, test_bit, trailing_zeros
from ._memory cimport allocate

cdef enum:
    SMALLEST_BLOCK = 1 << 16
    LARGEST_BLOCK = 1 << 22


cdef class RowStore:
    def __init__(
        self,
        Py_ssize_t n_positive_words,
        Py_ssize_t n_words,
        Py_ssize_t most_listed=0,
        Py_ssize_t max_bytes=0,
    ):
        """
        Parameters
        ----------
        n_positive_words, n_words : int
        most_listed : int
            Rules that cover at most this many rows are kept as lists.
        max_bytes : int
            A MemoryError is raised instead of keeping more than this; 0 is no limit.
        """
        self.n_positive_words = n_positive_words
        self.n_words = n_words
        self.most_listed = most_listed
        self.max_bytes = max_bytes
        self._blocks = []

    def __len__(self):
        return self.rules.size()

    cdef void* _reserve(self, Py_ssize_t n_bytes) except NULL nogil:
        """Room for so many bytes, as long as the store lives: blocks that never move."""
        cdef void* found
        cdef Py_ssize_t size
        n_bytes = max(8, (n_bytes + 7) & ~7)
        if n_bytes > self._n_free:
            with gil:
                size = SMALLEST_BLOCK << min(6, len(self._blocks))
                size = max(n_bytes, min(size, LARGEST_BLOCK))
                if self.max_bytes and self.n_bytes + size > self.max_bytes:
                    raise MemoryError(self.n_bytes + size)
                self._free = <char*> allocate(self._blocks, size)
                self._n_free = size
                self.n_bytes += size
        found = self._free
        self._free += n_bytes
        self._n_free -= n_bytes
        return found

    cdef int add(self, const Rows* rows) except -1 nogil:
        """Copy the rows of another rule into the store."""
        cdef Rows kept = rows[0]
        cdef Py_ssize_t size
        if rows.bits != NULL:
            size = self.n_words * sizeof(uint64_t)
            kept.bits = <const uint64_t*> self._reserve(size)
            memcpy(<void*> kept.bits, rows.bits, size)
        else:
            size = n_listed(rows) * sizeof(uint32_t)
            kept.listed = <const uint32_t*> self._reserve(size)
            memcpy(<void*> kept.listed, rows.listed, size)
        self.rules.push_back(kept)
        return 0

    cdef Rows read_bits(self, const uint64_t* bits, uint32_t* buffer) noexcept nogil:
        """Rows that are given as bits, in the form in which they are kept.

        `buffer` has room for `most_listed` numbers; the result points to it or to the bits.
        """
        cdef Rows rows
        cdef Py_ssize_t w, n = 0
        cdef uint64_t word
        rows.bits = bits
        rows.listed = NULL
        rows.n_positives = count_common(bits, bits, 0, self.n_positive_words)
        rows.n_negatives = count_common(bits, bits, self.n_positive_words, self.n_words)
        if n_listed(&rows) > self.most_listed:
            return rows
        for w in range(self.n_words):
            word = bits[w]
            while word:
                buffer[n] = (w << 6) + trailing_zeros(word)
                n += 1
                word &= word - 1
        rows.bits = NULL
        rows.listed = buffer
        return rows

    cdef void load(self, Py_ssize_t rule, uint64_t* bits) noexcept nogil:
        """Write the bits of a rule."""
        cdef const Rows* rows = &self.rules[rule]
        cdef Py_ssize_t i
        if rows.bits != NULL:
            memcpy(bits, rows.bits, self.n_words * sizeof(uint64_t))
            return
        memset(bits, 0, self.n_words * sizeof(uint64_t))
        for i in range(n_listed(rows)):
            set_bit(bits, rows.listed[i])

    cdef int transpose(self) except -1 nogil:
        """Find the rules that list each bit, unless they are known."""
        cdef const Rows* rows
        cdef Py_ssize_t r, i, n_bits = 64 * self.n_words
        if not self.starts.empty():
            return 0
        # Each start is stored one place too far: it serves as the next free slot and ends up right.
        self.starts.assign(n_bits + 2, 0)
        for r in range(<Py_ssize_t> self.rules.size()):
            rows = &self.rules[r]
            for i in range(n_listed(rows) if rows.bits == NULL else 0):
                self.starts[rows.listed[i] + 2] += 1
        for i in range(n_bits):
            self.starts[i + 2] += self.starts[i + 1]
        self.listing.resize(self.starts[n_bits + 1])
        for r in range(<Py_ssize_t> self.rules.size()):
            rows = &self.rules[r]
            for i in range(n_listed(rows) if rows.bits == NULL else 0):
                self.listing[self.starts[rows.listed[i] + 1]] = r
                self.starts[rows.listed[i] + 1] += 1
        return 0

    def add_bits(self, const uint64_t[:, ::1] bits):
        """Add rules whose rows are given as bits."""
        cdef list owner = []
        cdef uint32_t* buffer = <uint32_t*> allocate(
            owner, self.most_listed * sizeof(uint32_t)
        )
        cdef Rows rows
        cdef Py_ssize_t r
        with nogil:
            for r in range(bits.shape[0]):
                rows = self.read_bits(&bits[r, 0], buffer)
                self.add(&rows)

    def take(self, const int64_t[::1] rules):
        """A store of some rules, with memory of its own."""
        cdef RowStore taken = RowStore(
            self.n_positive_words, self.n_words, self.most_listed, self.max_bytes
        )
        cdef Py_ssize_t i
        with nogil:
            taken.rules.reserve(rules.shape[0])
            for i in range(rules.shape[0]):
                taken.add(&self.rules[rules[i]])
        return taken

    def to_bits(self):
        """The bits of all rules, shape (n_rules, n_words)."""
        cdef uint64_t[:, ::1] bits = np.empty((len(self), self.n_words), dtype=np.uint64)
        cdef Py_ssize_t r
        with nogil:
            for r in range(<Py_ssize_t> self.rules.size()):
                self.load(r, &bits[r, 0])
        return bits.base

    def reorder(self, const int64_t[::1] order):
        """Put the rules into another order; rules that it does not name are forgotten."""
        cdef vector[Rows] rules
        cdef Py_ssize_t i
        with nogil:
            rules.reserve(order.shape[0])
            for i in range(order.shape[0]):
                rules.push_back(self.rules[order[i]])
            self.rules.swap(rules)

    def __reduce__(self):
        sizes = (self.n_positive_words, self.n_words, self.most_listed, self.max_bytes)
        return _restore, (sizes, [self._dump(r) for r in range(len(self))])

    def _dump(self, Py_ssize_t rule):
        cdef const Rows* rows = &self.rules[rule]
        cdef bint is_listed = rows.bits == NULL
        cdef Py_ssize_t size = n_listed(rows) * sizeof(uint32_t)
        cdef const char* memory = <const char*> rows.listed
        if not is_listed:
            size = self.n_words * sizeof(uint64_t)
            memory = <const char*> rows.bits
        return is_listed, rows.n_positives, rows.n_negatives, memory[:size]

    def _read(self, bint is_listed, n_positives, n_negatives, bytes memory):
        cdef Rows rows
        cdef const char* found = memory
        rows.bits = NULL
        rows.listed = NULL
        if is_listed:
            rows.listed = <const uint32_t*> found
        else:
            rows.bits = <const uint64_t*> found
        rows.n_positives = n_positives
        rows.n_negatives = n_negatives
        self.add(&rows)

    def counts(self):
        """TP and FP of every rule on all examples."""
        cdef Py_ssize_t n_rules = self.rules.size()
        cdef int32_t[:, ::1] counts = np.empty((2, n_rules), dtype=np.int32)
        cdef Py_ssize_t r
        with nogil:
            for r in range(n_rules):
                counts[0, r] = self.rules[r].n_positives
                counts[1, r] = self.rules[r].n_negatives
        return counts.base[0], counts.base[1]

    def count_among(self, const uint64_t[:, ::1] sets, const int64_t[::1] set_of_rule):
        """TP and FP of every rule on a set of rows of its own, given as bits."""
        cdef Py_ssize_t n_rules = self.rules.size()
        cdef int32_t[:, ::1] counts = np.zeros((2, n_rules), dtype=np.int32)
        cdef const uint64_t* among
        cdef const Rows* rows
        cdef Py_ssize_t r, i
        with nogil:
            for r in range(n_rules):
                among = &sets[set_of_rule[r], 0]
                rows = &self.rules[r]
                if rows.bits != NULL:
                    counts[0, r] = count_common(rows.bits, among, 0, self.n_positive_words)
                    counts[1, r] = count_common(
                        rows.bits, among, self.n_positive_words, self.n_words
                    )
                    continue
                for i in range(rows.n_positives):
                    counts[0, r] += test_bit(among, rows.listed[i])
                for i in range(rows.n_positives, n_listed(rows)):
                    counts[1, r] += test_bit(among, rows.listed[i])
        return counts.base[0], counts.base[1]

    def count_new(self, const int64_t[::1] order):
        """Positives and negatives that each rule is the first in an order to cover."""
        cdef list owner = []
        cdef Py_ssize_t size = self.n_words * sizeof(uint64_t)
        cdef uint64_t* covered = <uint64_t*> allocate(owner, size)
        cdef int64_t[:, ::1] counts = np.zeros((2, order.shape[0]), dtype=np.int64)
        cdef const Rows* rows
        cdef uint64_t new
        cdef Py_ssize_t position, w, i
        with nogil:
            for position in range(order.shape[0]):
                rows = &self.rules[order[position]]
                if rows.bits != NULL:
                    for w in range(self.n_words):
                        new = rows.bits[w] & ~covered[w]
                        covered[w] |= new
                        counts[w >= self.n_positive_words, position] += popcount(new)
                    continue
                for i in range(n_listed(rows)):
                    if not test_bit(covered, rows.listed[i]):
                        set_bit(covered, rows.listed[i])
                        counts[i >= rows.n_positives, position] += 1
        return counts.base[0], counts.base[1]


def _restore(sizes, rules):
    """The store that was pickled."""
    store = RowStore(*sizes)
    for rule in rules:
        store._read(*rule)
    return store


cdef struct Similar:
    double similarity
    int64_t rule


cdef inline void _compare(
    Similar* best, int64_t common, int64_t size, int64_t other_size, int64_t other
) noexcept nogil:
    """Keep the other rule if it is more similar; of equal ones the first."""
    cdef double similarity = <double> common / <double> max(1, size + other_size - common)
    if similarity > best.similarity or (similarity == best.similarity and other < best.rule):
        best[0] = Similar(similarity, other)


cdef int64_t _count_shared(
    const Rows* rows, const uint64_t* bits, const uint64_t* others, Py_ssize_t n_words
) noexcept nogil:
    """Number of bits that are set in both arrays; all of `bits` are in the rows."""
    cdef int64_t count = 0
    cdef Py_ssize_t i
    if rows.bits != NULL:
        return count_common(bits, others, 0, n_words)
    for i in range(n_listed(rows)):
        count += test_bit(bits, rows.listed[i]) & test_bit(others, rows.listed[i])
    return count


def find_most_similar(RowStore rules, RowStore others, const uint64_t[::1] among):
    """For every rule, the other rule with the largest |A ∩ B|/|A ∪ B|, and this share; ties: the first.

    Returns indices, (n_rules,) int64, and shares, (n_rules,) float64. Only the rows in `among` count. Of
    the others that are kept as lists, only those that share a row with the rule are looked at.
    """
    cdef Py_ssize_t n_words = rules.n_words
    cdef Py_ssize_t n_others = others.rules.size()
    cdef int64_t[::1] best = np.zeros(len(rules), dtype=np.int64)
    cdef double[::1] similarity = np.zeros(len(rules))
    cdef int32_t[::1] common = np.zeros(n_others, dtype=np.int32)
    cdef uint64_t[::1] bits = np.empty(n_words, dtype=np.uint64)
    tp, fp = others.count_among(
        np.asarray(among)[None, :], np.zeros(n_others, dtype=np.int64)
    )
    cdef int32_t[::1] sizes = tp + fp
    cdef vector[uint32_t] touched, wide
    cdef Similar found
    cdef Py_ssize_t r, i, w, e
    cdef int64_t size, n_shared
    cdef uint64_t word
    cdef uint32_t bit, other
    with nogil:
        others.transpose()
        for i in range(n_others):
            if others.rules[i].bits != NULL:
                wide.push_back(i)
        for r in range(best.shape[0]):
            rules.load(r, &bits[0])
            size = 0
            touched.clear()
            for w in range(n_words):
                word = bits[w] & among[w]
                bits[w] = word
                size += popcount(word)
                while word:
                    bit = (w << 6) + trailing_zeros(word)
                    word &= word - 1
                    for e in range(others.starts[bit], others.starts[bit + 1]):
                        other = others.listing[e]
                        if common[other] == 0:
                            touched.push_back(other)
                        common[other] += 1
            found = Similar(0.0, 0)
            for i in range(<Py_ssize_t> wide.size()):
                n_shared = _count_shared(
                    &rules.rules[r], &bits[0], others.rules[wide[i]].bits, n_words
                )
                _compare(&found, n_shared, size, sizes[wide[i]], wide[i])
            for i in range(<Py_ssize_t> touched.size()):
                _compare(&found, common[touched[i]], size, sizes[touched[i]], touched[i])
                common[touched[i]] = 0
            best[r] = found.rule
            similarity[r] = found.similarity
    return best.base, similarity.base
