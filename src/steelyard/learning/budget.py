"""Budgets: how much memory a fit may use, and whether it will take hours. Knows numbers only."""

from __future__ import annotations

import math
import os
import re
import time
import warnings
from pathlib import Path
from typing import Any

from steelyard._numbers import is_number

from .parallel import Progress

MemoryLimit = str | float | None

# The limit of a container, if there is one: cgroup version 2, then 1.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_FALLBACK = 8 * 2**30
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}

# From here on a fit says that it will take long, once it has run long enough to know.
SECONDS_TO_MENTION = 3600.0
SECONDS_TO_KNOW = 5.0


class MemoryLimitError(MemoryError):
    """A fit takes more memory than it may, or than there is. The message says what to change."""


def read_memory(max_memory: MemoryLimit) -> int:
    """Bytes of a limit such as "4GB", "500MiB" or a number; None is a quarter of the machine's memory.

    Examples
    --------
    >>> read_memory("4GB"), read_memory("0.5 GiB"), read_memory(1e6)
    (4000000000, 536870912, 1000000)
    """
    if max_memory is None:
        return machine_memory() // 4
    found = None
    if isinstance(max_memory, str):
        match = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)(i?)b?\s*", max_memory.lower())
        if match and re.fullmatch(r"\d+\.?\d*|\.\d+", match[1]) and (match[2] or not match[3]):
            found = float(match[1]) * (_BINARY_UNITS if match[3] else _UNITS)[match[2]]
    elif is_number(max_memory):
        found = float(max_memory)
    if found is None or not 1 <= found < 2**62:
        raise ValueError(
            "max_memory must be None, a number of bytes or a size such as '4GB' or '500MiB', got "
            f"{max_memory!r}"
        )
    return int(found)


def machine_memory() -> int:
    """Bytes of memory that this process may use: the machine's or its container's."""
    try:
        known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # not on Windows
        known = [_FALLBACK]
    for name in _LIMITS:
        try:
            known.append(int(Path(name).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(known)


def format_memory(n_bytes: float) -> str:
    """A size as people read it.

    Examples
    --------
    >>> format_memory(5_340_000_000), format_memory(1_000_000), format_memory(1_500)
    ('5.3 GB', '1 MB', '2 kB')
    """
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:.1f} GB"
    return f"{round(n_bytes / 1e6)} MB" if n_bytes >= 1e6 else f"{math.ceil(n_bytes / 1e3)} kB"


def check_memory(n_bytes: float, max_memory: MemoryLimit, work: str, advice: str) -> None:
    """Raise a MemoryLimitError before work that takes more than the limit; see `read_memory`.

    Examples
    --------
    >>> check_memory(5e9, "4GB", "boosting", "fewer rows take less")
    Traceback (most recent call last):
    ...
    steelyard.learning.budget.MemoryLimitError: boosting takes up to 5.0 GB, ... less
    """
    allowed = read_memory(max_memory)
    if n_bytes > allowed:
        raise MemoryLimitError(
            f"{work} takes up to {format_memory(n_bytes)}, and max_memory allows "
            f"{format_memory(allowed)}: {advice}"
        )


class SlowWarning:
    """Progress that warns once if the work will take hours.

    Parameters
    ----------
    work : str
        What takes so long.
    advice : str
        What would make it faster.
    progress : callable(done, total), optional
        Told as well.
    """

    def __init__(self, work: str, advice: str, progress: Progress | None = None) -> None:
        self._text = (work, advice)
        self._progress = progress
        self._start = time.monotonic()
        self._has_warned = False

    def __call__(self, done: int, total: int) -> Any:
        if self._progress is not None:
            self._progress(done, total)
        seconds = time.monotonic() - self._start
        if self._has_warned or not done or seconds < SECONDS_TO_KNOW:
            return
        expected = seconds * total / done
        if expected > SECONDS_TO_MENTION:
            self._has_warned = True
            work, advice = self._text
            warnings.warn(
                f"{work} will take about {expected / 3600:.1f} hours: {advice}", stacklevel=2
            )
