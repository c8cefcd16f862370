"""What a measured time depends on besides the code: the machine and the versions, for JSON files."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "joblib")
_ROOT = Path(__file__).resolve().parents[1]


def machine_facts() -> dict[str, object]:
    """Processor, cores, load, system and versions."""
    return {
        "processor": _name_processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: _find_version(name) for name in _PACKAGES},
    }


def find_revision(folder: Path = _ROOT) -> str | None:
    """The commit that a folder shows, marked if files differ from it; None outside of git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return found.stdout.strip() or None


def _name_processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
