"""StudyStore: the lock, the identity, the finished units and the theories in a results folder.

Knows files, arrays and JSON text; a unit file is complete or missing.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import reprlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from steelyard._files import TEMPORARY, read_text, write_atomically

from .config import StudyError

Arrays = dict[str, NDArray[Any]]


class StudyStore:
    """The finished units of a study, its theories and its timings.

    Parameters
    ----------
    folder : path-like
        The results folder; `locked` creates it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = StudyStore(folder)
    ...     with store.locked():
    ...         store.write_unit("flags/fold-1", {"value": np.array([0.5])})
    ...         store.read_unit("flags/fold-1")
    {'value': array([0.5])}
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.units = self.folder / "units"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder; raise an error if another process has locked it.

        The operating system releases the lock when the process ends, even if it is killed.
        """
        self.units.mkdir(parents=True, exist_ok=True)
        with open(self.units / "lock", "a+b") as file:
            try:
                _lock(file)
            except (BlockingIOError, PermissionError):
                raise StudyError(
                    f"another process is using {str(self.folder)!r}: wait until it ends or "
                    "choose another folder"
                ) from None
            for leftover in self.folder.rglob(f"{TEMPORARY}*"):
                leftover.unlink(missing_ok=True)
            yield

    def claim(self, identity: dict[str, Any]) -> None:
        """Record whose folder this is; raise an error if it belongs to another study."""
        file = self.units / "identity.json"
        text = json.dumps(identity, indent=1, ensure_ascii=False)
        if not file.exists():
            strangers = {p.name for p in self.folder.iterdir()} - {"units"}
            if strangers:
                raise StudyError(
                    f"{str(self.folder)!r} is not empty and holds no study (it contains "
                    f"{min(strangers)!r}): choose another folder"
                )
            write_atomically(file, text.encode())
            return
        known = json.loads(file.read_text(encoding="utf-8"))
        if known != json.loads(text):
            raise StudyError(
                f"{str(self.folder)!r} holds another study ({_list_differences(known, identity)}): "
                "choose another folder, or delete this one to start again"
            )

    def write_unit(self, name: str, arrays: Arrays) -> None:
        """Save the arrays of a finished unit."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        write_atomically(self.units / f"{name}.npz", buffer.getvalue())

    def read_unit(self, name: str) -> Arrays | None:
        """The arrays of a unit, or None if its file is missing or damaged."""
        try:
            # Read the bytes first: numpy would leave a damaged file open.
            content = io.BytesIO((self.units / f"{name}.npz").read_bytes())
            with np.load(content, allow_pickle=False) as file:
                return dict(file)
        except (FileNotFoundError, BadZipFile, ValueError, EOFError, KeyError):
            return None

    def record_seconds(self, name: str, seconds: float) -> None:
        """Append the duration of a unit; in a separate file, so that units are reproducible bytes."""
        with open(self.units / "seconds.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps([name, round(seconds, 3)]) + "\n")

    def read_seconds(self) -> dict[str, float]:
        """The duration of every unit, from all runs."""
        file = self.units / "seconds.jsonl"
        seconds: dict[str, float] = {}
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
            with suppress(ValueError, TypeError):  # a killed process may leave an incomplete line
                name, value = json.loads(line)
                seconds[name] = float(value)
        return seconds

    def write_theories(self, dataset: str, fold: int, text: str) -> None:
        """Save the theory path of a fold; equal paths give equal bytes."""
        packed = gzip.compress(text.encode(), compresslevel=6, mtime=0)
        write_atomically(self._theory_file(dataset, fold), packed)

    def read_theories(self, dataset: str, fold: int) -> str | None:
        """The theory path of a fold as JSON text, or None if its file is missing."""
        file = self._theory_file(dataset, fold)
        return read_text(file) if file.exists() else None

    def _theory_file(self, dataset: str, fold: int) -> Path:
        return self.folder / "theories" / dataset / f"fold-{fold}.json.gz"


def _lock(file: Any) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _list_differences(known: Any, wanted: Any) -> str:
    """The settings that differ, with the old and the new value."""
    keys = [key for key in {**known, **wanted} if known.get(key) != wanted.get(key)]
    clauses = []
    for key in keys[:3]:
        before, now = known.get(key), wanted.get(key)
        if isinstance(before, dict) and isinstance(now, dict):
            names = sorted(k for k in {*before, *now} if before.get(k) != now.get(k))
            clauses.append(f"{key} differs for {', '.join(names[:3])}")
        else:
            clauses.append(f"{key} was {reprlib.repr(before)}, now {reprlib.repr(now)}")
    return "; ".join(clauses)
