"""What ``steelyard --version`` says."""

from __future__ import annotations

import platform
from importlib.metadata import version


def describe_versions() -> str:
    """Version of the package and of what its results depend on."""
    names = ("numpy", "numba", "scikit-learn")
    others = ", ".join(f"{name} {version(name)}" for name in names)
    return f"steelyard {version('steelyard')} (Python {platform.python_version()}, {others})"
