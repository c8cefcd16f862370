"""Jitted functions: arrays in, arrays out. They import nothing else of the package.

Files without an underscore hold the entry points, one file per step of the algorithms. Files with an
underscore hold what these share; only kernels import them.
"""
