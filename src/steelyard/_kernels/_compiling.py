"""Compiler options of the inner functions."""

# These functions do not count references to arrays. Numba would count them with an atomic addition at
# every slice and every field of a named tuple, which took a third to half of the time of growing. In
# return, such a function cannot allocate memory, not even to copy a slice.
BORROWING = {"cache": True, "nogil": True, "_nrt": False}
