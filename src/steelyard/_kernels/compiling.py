"""How the innermost kernels are compiled."""

# A function that only looks into arrays need not count references to them. Numba does so all the same,
# by an atomic addition at every slice and every field of a named tuple, which took a third to half of
# the time of growing. The price: such a function can allocate nothing, not even to copy a slice.
BORROWING = {"cache": True, "nogil": True, "_nrt": False}
