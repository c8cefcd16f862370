"""The results folder: a lock, an identity, and units of work that are there whole or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from steelyard._files import TEMPORARY, write_atomically

from .config import StudyError

Arrays = dict[str, NDArray[Any]]


class StudyStore:
    """Where a study keeps its finished units and its results.

    Parameters
    ----------
    folder : path-like
        The results folder; made when the store is opened.

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

    # -- one process at a time -------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder; another process that holds it is an error.

        The operating system gives the lock back when its process ends, however it ends.
        """
        self.units.mkdir(parents=True, exist_ok=True)
        with open(self.units / "lock", "a+b") as file:
            try:
                _lock(file)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                    raise
                raise StudyError(
                    f"another process is at work in {str(self.folder)!r}: wait for it to end or "
                    "choose another folder"
                ) from None
            for leftover in self.folder.rglob(f"{TEMPORARY}*"):
                leftover.unlink(missing_ok=True)
            yield

    # -- identity --------------------------------------------------------------------------------

    def claim(self, identity: dict[str, Any]) -> None:
        """Make the folder this study's, or refuse if it holds another one."""
        file = self.units / "identity.json"
        text = json.dumps(identity, indent=1, ensure_ascii=False)
        if not file.exists():
            strangers = {p.name for p in self.folder.iterdir()} - {"units"}
            if strangers:
                raise StudyError(
                    f"{str(self.folder)!r} is not empty and holds no study (there is "
                    f"{min(strangers)!r}): choose another folder"
                )
            write_atomically(file, text.encode())
            return
        known = json.loads(file.read_text(encoding="utf-8"))
        if known != json.loads(text):
            raise StudyError(
                f"{str(self.folder)!r} holds another study ({_say_difference(known, identity)}): "
                "choose another folder, or delete this one to start anew"
            )

    # -- units -----------------------------------------------------------------------------------

    def has_unit(self, name: str) -> bool:
        """Whether a unit is finished."""
        return self._unit_path(name).exists()

    def write_unit(self, name: str, arrays: Arrays) -> None:
        """Record a finished unit."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        write_atomically(self._unit_path(name), buffer.getvalue())

    def read_unit(self, name: str) -> Arrays | None:
        """What a unit recorded, or None if it is missing or damaged."""
        try:
            # By way of memory: numpy leaves a damaged file open.
            content = io.BytesIO(self._unit_path(name).read_bytes())
            with np.load(content, allow_pickle=False) as file:
                return dict(file)
        except (FileNotFoundError, BadZipFile, ValueError, EOFError, KeyError):
            return None

    def _unit_path(self, name: str) -> Path:
        return self.units / f"{name}.npz"

    # -- timings: apart from the units, so that these have the same bytes in every run -------------

    def record_seconds(self, name: str, seconds: float) -> None:
        """Append how long a unit took."""
        with open(self.units / "seconds.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps([name, round(seconds, 3)]) + "\n")

    def read_seconds(self) -> dict[str, float]:
        """Seconds of every unit, from all runs."""
        file = self.units / "seconds.jsonl"
        seconds: dict[str, float] = {}
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
            try:
                name, value = json.loads(line)
                seconds[name] = float(value)
            except (ValueError, TypeError):
                continue  # a line that a killed process left unfinished
        return seconds

    # -- theories --------------------------------------------------------------------------------

    def theory_path_file(self, dataset: str, fold: int) -> Path:
        """Where the theories of a fold are."""
        return self.folder / "theories" / dataset / f"fold-{fold}.json.gz"

    def write_theories(self, dataset: str, fold: int, text: str) -> None:
        """Keep the path of a fold; equal paths give equal bytes."""
        packed = gzip.compress(text.encode(), compresslevel=6, mtime=0)
        write_atomically(self.theory_path_file(dataset, fold), packed)

    def read_theories(self, dataset: str, fold: int) -> str | None:
        """The path of a fold as JSON, or None if it is missing."""
        file = self.theory_path_file(dataset, fold)
        return gzip.decompress(file.read_bytes()).decode() if file.exists() else None


def _lock(file: Any) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _say_difference(known: Any, wanted: Any) -> str:
    """The settings that differ, in a clause."""
    keys = [key for key in {**known, **wanted} if known.get(key) != wanted.get(key)]
    clauses = []
    for key in keys[:3]:
        before, now = known.get(key), wanted.get(key)
        if isinstance(before, dict) and isinstance(now, dict):
            names = sorted(k for k in {*before, *now} if before.get(k) != now.get(k))
            clauses.append(f"{key} differs for {', '.join(names[:3])}")
        else:
            clauses.append(f"{key} was {_shorten(before)}, now {_shorten(now)}")
    return "; ".join(clauses)


def _shorten(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
