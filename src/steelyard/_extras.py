"""Packages that only some parts need, and what to do where they are missing. Knows no rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def from_extra(extra: str, *packages: str) -> Iterator[None]:
    """Import packages of an extra: an `ImportError` says how to install what is missing.

    Examples
    --------
    >>> with from_extra("report", "matplotlab"):
    ...     import matplotlab
    Traceback (most recent call last):
    ...
    ImportError: matplotlab is not installed; install it with: pip install 'steelyard[report]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in packages:
            raise
        raise ImportError(
            f"{package} is not installed; install it with: pip install 'steelyard[{extra}]'"
        ) from None
