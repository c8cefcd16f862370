"""The most memory that a process has had."""

from __future__ import annotations

import contextlib
import re
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def forget_peak() -> None:
    """Begin again with what the process has now; only Linux can, and not always."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """The most memory that this process has had, in GB."""
    if _STATUS.exists():
        # Linux hands ru_maxrss on to a new program, so that a child begins with its parent's peak.
        return int(re.findall(r"VmHWM:\s+(\d+) kB", _STATUS.read_text())[0]) / 1024**2
    unit = 1024**3 if sys.platform == "darwin" else 1024**2
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
