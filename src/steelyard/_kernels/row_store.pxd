"""The rows that each rule of a label covers, kept as bits or, if they are few, as a list."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp.vector cimport vector


# What a rule covers: the bits of all rows or, if `bits` is NULL, the numbers of the set bits, ascending.
cdef struct Rows:
    const uint64_t* bits
    const uint32_t* listed
    uint32_t n_positives
    uint32_t n_negatives


cdef inline uint32_t n_listed(const Rows* rows) noexcept nogil:
    return rows.n_positives + rows.n_negatives


cdef class RowStore:
    cdef readonly Py_ssize_t n_positive_words
    cdef readonly Py_ssize_t n_words
    cdef readonly Py_ssize_t most_listed
    cdef readonly Py_ssize_t max_bytes
    cdef readonly Py_ssize_t n_bytes
    cdef vector[Rows] rules
    cdef vector[int64_t] starts  # the rules that list each bit, as a CSR; see `transpose` ...
    cdef vector[uint32_t] listing
    cdef list _blocks
    cdef char* _free
    cdef Py_ssize_t _n_free

    cdef void* _reserve(self, Py_ssize_t n_bytes) except NULL nogil
    cdef int add(self, const Rows* rows) except -1 nogil
    cdef Rows read_bits(self, const uint64_t* bits, uint32_t* buffer) noexcept nogil
    cdef void load(self, Py_ssize_t rule, uint64_t* bits) noexcept nogil
    cdef int transpose(self) except -1 nogil
