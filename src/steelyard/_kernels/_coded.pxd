"""A table as integer codes, as kernels see it: the arrays of a `CodedFeatures` as pointers."""

from libc.stdint cimport int32_t, int64_t, uint8_t


cdef struct Coded:
    Py_ssize_t n_features
    Py_ssize_t n_rows
    const int32_t* n_codes
    const uint8_t* is_nominal
    const int32_t* column  # the feature's row of `dense`, or -1 if it is listed
    const int32_t* dense  # (n_dense, n_rows)
    const int32_t* default_code
    const int64_t* indptr
    const int32_t* rows
    const int32_t* codes


cdef inline Coded borrow(object coded) except *:
    """Pointers into the arrays of a `CodedFeatures`, which has to outlive them."""
    cdef const int32_t[::1] n_codes = coded.n_codes
    cdef const uint8_t[::1] is_nominal = coded.is_nominal.view("u1")
    cdef const int32_t[::1] column = coded.column
    cdef const int32_t[:, ::1] dense = coded.dense
    cdef const int32_t[::1] default_code = coded.default_code
    cdef const int64_t[::1] indptr = coded.indptr
    cdef const int32_t[::1] rows = coded.rows
    cdef const int32_t[::1] codes = coded.codes
    cdef Coded result
    result.n_features = n_codes.shape[0]
    result.n_rows = dense.shape[1]
    result.n_codes = &n_codes[0]
    result.is_nominal = &is_nominal[0]
    result.column = &column[0]
    result.dense = &dense[0, 0]
    result.default_code = &default_code[0]
    result.indptr = &indptr[0]
    result.rows = &rows[0]
    result.codes = &codes[0]
    return result


cdef inline const int32_t* dense_codes(const Coded* coded, Py_ssize_t feature) noexcept nogil:
    """Codes of all rows on a dense feature."""
    return coded.dense + coded.column[feature] * coded.n_rows
