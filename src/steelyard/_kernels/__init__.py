"""Compiled functions: arrays in, arrays out. They import nothing else of the package.

Each .pyx file is a module with entry points, one per step of the algorithms. The .pxd files hold what
kernels share; only kernels include them.
"""
