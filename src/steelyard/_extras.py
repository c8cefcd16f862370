"""Packages that only some parts need, and what to do where they are missing. Knows no rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed_here(*packages: str) -> Iterator[None]:
    """Import packages that learning does not need: an `ImportError` says how to install them.

    They are dependencies, so they are missing only where somebody left them out, such as in a small
    container that predicts.

    Examples
    --------
    >>> with needed_here("matplotlab"):
    ...     import matplotlab
    Traceback (most recent call last):
    ...
    ImportError: matplotlab is not installed; install it with: pip install matplotlab
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in packages:
            raise
        raise ImportError(
            f"{package} is not installed; install it with: pip install {package}"
        ) from None
