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
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from steelyard._files import TEMPORARY, read_text, write_atomically

from .config import StudyError

Arrays = dict[str, NDArray[Any]]


class StudyStore:
    """The finished units of a study and its theories.

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
        differences = _list_differences(json.loads(read_text(file)), json.loads(text))
        if differences:
            raise StudyError(
                f"{str(self.folder)!r} holds another study ({differences}): choose another folder, "
                "or delete this one to start again"
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

    def theory_file(self, dataset: str, fold: int) -> Path:
        """The file of all theories of a fold."""
        return self.folder / "theories" / dataset / f"fold-{fold}.json.gz"

    def write_theories(self, dataset: str, fold: int, text: str) -> None:
        """Save the theory path of a fold; equal paths give equal bytes."""
        packed = gzip.compress(text.encode(), compresslevel=6, mtime=0)
        write_atomically(self.theory_file(dataset, fold), packed)


def _lock(file: Any) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _list_differences(known: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The settings that differ, with the old and the new value."""
    pairs = {key: (known.get(key), wanted.get(key)) for key in known | wanted}
    texts = {k: tuple(map(reprlib.repr, pair)) for k, pair in pairs.items() if pair[0] != pair[1]}
    return "; ".join(f"{k} was {was}, now {now}" for k, (was, now) in [*texts.items()][:3])
