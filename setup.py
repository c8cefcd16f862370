"""Compile the kernels; everything else about the package is declared in pyproject.toml."""

import os
import platform
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = Path("src/steelyard/_kernels")
# What Cython needs for arrays, compiled once instead of into every kernel.
SHARED = "steelyard._kernels._shared"

if sys.platform == "win32":
    FLAGS = ["/O2", "/fp:precise"]
    SHARED_FLAGS = []
else:
    # The same numbers on every machine: no fused multiply-add. Without debugging symbols, compiling
    # takes two thirds of the time and the package a fifth of the space.
    FLAGS = ["-O3", "-ffp-contract=off", "-g0"]
    SHARED_FLAGS = ["-O1", "-g0"]  # not in inner loops
    if platform.machine() in ("x86_64", "AMD64"):
        FLAGS.append("-mpopcnt")  # an instruction of every x86-64 processor since 2009

shared = Extension(SHARED, [(KERNELS / "_shared.c").as_posix()], extra_compile_args=SHARED_FLAGS)
kernels = [
    Extension(f"steelyard._kernels.{path.stem}", [path.as_posix()], extra_compile_args=FLAGS)
    for path in sorted(KERNELS.glob("*.pyx"))
]

setup(
    ext_modules=cythonize(
        [shared, *kernels],
        build_dir="build",
        shared_utility_qualified_name=SHARED,
        language_level=3,
        compiler_directives={
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
