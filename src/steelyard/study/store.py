"""StudyStore: the lock, the identity, the finished units and the theories in a results folder.

Knows files, arrays and JSON text. A unit counts as finished if its file matches its checksum.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import reprlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._files import TEMPORARY, compress, locate_inside, read_text, write_inside

from .config import StudyError

Arrays = dict[str, NDArray[Any]]

_CHECKSUM_SIZE = 64


class StudyStore:
    """The finished units of a study and its theories.

    Parameters
    ----------
    folder : path-like
        The results folder; `claimed` creates it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = StudyStore(folder)
    ...     with store.claimed({"seed": 1}):
    ...         store.write_unit("flags/fold-1", {"value": np.array([0.5])})
    ...         store.read_unit("flags/fold-1")
    {'value': array([0.5])}
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    @property
    def identity_file(self) -> Path:
        """The file that says whose folder this is."""
        return self.folder / "units" / "identity.json"

    @contextmanager
    def claimed(self, identity: dict[str, Any]) -> Iterator[None]:
        """Lock the folder for a study; raise an error if it is in use or belongs to something else.

        Nothing changes in a folder that is rejected. The operating system releases the lock when the
        process ends, even if it is killed.
        """
        self._check_owner(identity)
        lock = locate_inside(self.folder, "units/lock")
        lock.parent.mkdir(parents=True, exist_ok=True)
        with open(lock, "a+b") as file:
            try:
                _lock(file)
            except (BlockingIOError, PermissionError):
                raise StudyError(
                    f"another process is using {str(self.folder)!r}: wait until it ends or "
                    "choose another folder"
                ) from None
            self._check_owner(identity)  # another process may have been faster
            self._drop_leftovers()
            if not self.identity_file.exists():
                text = json.dumps(identity, indent=1, ensure_ascii=False)
                write_inside(self.folder, "units/identity.json", text.encode())
            yield

    def _check_owner(self, identity: dict[str, Any]) -> None:
        """Raise an error unless the folder is missing, empty or of this study."""
        if not self.identity_file.exists():
            stranger = self._find_stranger()
            if stranger is not None:
                raise StudyError(
                    f"{str(self.folder)!r} is not empty and holds no study (it contains "
                    f"{stranger!r}): choose another folder"
                )
            return
        known = read_json(self.identity_file)
        differences = _list_differences(known, json.loads(json.dumps(identity)))
        if differences:
            raise StudyError(
                f"{str(self.folder)!r} holds another study ({differences}): choose another folder, "
                "or delete this one to start again"
            )

    def _find_stranger(self) -> str | None:
        """The first name that a study which has just begun would not leave behind, if any."""
        names = {p.name for p in self.folder.iterdir()} if self.folder.exists() else set()
        if "units" in names:
            own = {p.name for p in (self.folder / "units").iterdir()} - {"lock"}
            names |= {f"units/{name}" for name in own if not name.startswith(TEMPORARY)}
        return min(names - {"units"}, default=None)

    def _drop_leftovers(self) -> None:
        """Delete the temporary files of a killed process, in the places where a study writes."""
        leftovers = list(self.folder.glob(f"{TEMPORARY}*"))
        for name in ("units", "theories", "examples", "tables", "figures"):
            leftovers += locate_inside(self.folder, name).rglob(f"{TEMPORARY}*")
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the study; raise an error if somebody deleted the folder."""
        if not self.identity_file.exists():
            raise StudyError(
                f"{str(self.folder)!r} was deleted while the study was running: start it again"
            )
        write_inside(self.folder, name, content)

    def write_unit(self, name: str, arrays: Arrays) -> None:
        """Save the arrays of a finished unit; the checksum follows the archive."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        content = buffer.getvalue()
        self.write(_unit_file(name), content + _hash_unit(name, content))

    def read_unit(self, name: str) -> Arrays | None:
        """The arrays of a unit, or None if its file is missing, damaged or of another unit."""
        try:
            content = locate_inside(self.folder, _unit_file(name)).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        archive, checksum = content[:-_CHECKSUM_SIZE], content[-_CHECKSUM_SIZE:]
        if checksum != _hash_unit(name, archive):
            return None
        try:
            with np.load(io.BytesIO(archive), allow_pickle=False) as file:
                # A unit is not compressed; a forged one may not grow in memory.
                if sum(info.file_size for info in file.zip.infolist()) > len(archive):
                    return None
                return dict(file)
        except Exception:  # whatever numpy and zipfile raise for an archive that was forged
            return None

    def theory_file(self, dataset: str, fold: int) -> Path:
        """The file of all theories of a fold."""
        return locate_inside(self.folder, _theory_file(dataset, fold))

    def write_theories(self, dataset: str, fold: int, text: str) -> str:
        """Save the theory path of a fold and return its checksum; equal paths give equal bytes."""
        content = compress(text)
        self.write(_theory_file(dataset, fold), content)
        return hashlib.sha256(content).hexdigest()

    def hash_theories(self, dataset: str, fold: int) -> str | None:
        """The checksum of the theories of a fold, or None if they are missing."""
        file = self.theory_file(dataset, fold)
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def read_json(path: Path) -> dict[str, Any]:
    """Read an object of JSON; the error for anything else names the file."""
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{path} is damaged: {error}") from None
    if not isinstance(content, dict):
        raise StudyError(f"{path} is damaged: expected an object, got {reprlib.repr(content)}")
    return content


def _unit_file(name: str) -> str:
    # In a folder of their own: a data set may be called "lock".
    return f"units/data/{name}.npz"


def _theory_file(dataset: str, fold: int) -> str:
    return f"theories/{dataset}/fold-{fold}.json.gz"


def _hash_unit(name: str, archive: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + archive).hexdigest().encode()


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
