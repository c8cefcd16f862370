"""Working memory of the kernels. Python frees it, also after an error or an interrupt."""

from cpython.bytearray cimport PyByteArray_AS_STRING


cdef inline void* allocate(list owner, Py_ssize_t n_bytes) except NULL:
    """Room for this many bytes, all 0. It lives as long as the list `owner`."""
    block = bytearray(n_bytes)
    owner.append(block)
    return PyByteArray_AS_STRING(block)
