"""Jitted functions: arrays in, arrays out. Nothing here imports anything of the package's."""
