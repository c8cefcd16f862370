"""StudyStore: the lock, the identity, the claims, the finished units and the theories in a folder.

Knows files, arrays and JSON text. A unit counts as finished if its file matches its checksum.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import reprlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from steelyard._files import TEMPORARY, locate_inside, read_text, write_inside

from .claims import Claims
from .config import StudyError

Arrays = dict[str, NDArray[Any]]

_CHECKSUM_SIZE = 64
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


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

    @property
    def claims(self) -> Claims:
        """The claims of the processes that share the folder."""
        return Claims(self.folder / "units" / "claims")

    @contextmanager
    def claimed(self, identity: dict[str, Any], *, shared: bool = False) -> Iterator[None]:
        """Lock the folder for a study; raise an error if it is in use or belongs to something else.

        Nothing changes in a folder that is rejected. The operating system releases the lock when the
        process ends, even if it is killed.

        Parameters
        ----------
        identity : dict
            What two runs of the same study have in common.
        shared : bool, default=False
            Whether other processes may share the folder at the same time, each with its own claims.
        """
        self._check_owner(identity)
        lock = locate_inside(self.folder, "units/lock")
        (lock.parent / "claims").mkdir(parents=True, exist_ok=True)
        with open(lock, "a+b") as file:
            try:
                _lock(file, shared)
            except (BlockingIOError, PermissionError):
                self._reject_second_process()
            self._check_owner(identity)  # another process may have been faster
            if not shared:
                # Where locks do not reach other machines, claims that are alive do.
                if self.claims.list_names(dead=False):
                    self._reject_second_process()
                self.claims.delete_all()
                self._drop_leftovers()
            self._write_identity(identity)
            yield

    def _reject_second_process(self) -> NoReturn:
        raise StudyError(
            f"another process is using {str(self.folder)!r}: wait until it ends or choose another folder"
        )

    def _write_identity(self, identity: dict[str, Any]) -> None:
        """Write the identity once, even if several processes begin at the same time."""
        if self.identity_file.exists():
            return
        text = json.dumps(identity, indent=1, ensure_ascii=False)
        draft = f"units/{TEMPORARY}{secrets.token_hex(8)}"
        write_inside(self.folder, draft, text.encode())
        try:
            # A link, unlike a renamed file, does not replace what another process wrote.
            os.link(self.folder / draft, self.identity_file)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            write_inside(self.folder, "units/identity.json", text.encode())
        (self.folder / draft).unlink(missing_ok=True)
        self._check_owner(identity)

    def grows(self, identity: dict[str, Any]) -> bool:
        """Whether a study covers more than the one in the folder."""
        return bool(read_json(self.identity_file) != json.loads(json.dumps(identity)))

    def grow(self, identity: dict[str, Any]) -> None:
        """Write down what a finished study covers."""
        if self.grows(identity):
            text = json.dumps(identity, indent=1, ensure_ascii=False)
            self.write("units/identity.json", text.encode())
        (self.folder / "planned.toml").unlink(missing_ok=True)

    def _check_owner(self, identity: dict[str, Any]) -> None:
        """Raise an error unless the folder is missing, empty or of this study."""
        if not self.identity_file.exists():
            foreign = self._find_foreign_file()
            if foreign is not None:
                raise StudyError(
                    f"{str(self.folder)!r} is not empty and holds no study (it contains "
                    f"{foreign!r}): choose another folder"
                )
            if not self.identity_file.exists():
                return
        known = read_json(self.identity_file)
        covers = known.get("covers", {})
        covered = list(covers.values()) if isinstance(covers, dict) else [None]
        if not all(isinstance(what, list | dict) for what in covered):
            raise StudyError(
                f"{self.identity_file} is damaged or of an older version: choose another folder"
            )
        differences = _list_differences(known, json.loads(json.dumps(identity)))
        if differences:
            raise StudyError(
                f"{str(self.folder)!r} holds another study ({differences}): choose another folder, "
                "or delete this one to start again"
            )

    def _find_foreign_file(self) -> str | None:
        """The first name that a study which has just begun would not leave behind, if any."""
        names = {p.name for p in self.folder.iterdir()} if self.folder.exists() else set()
        if "units" in names:
            own = {p.name for p in (self.folder / "units").iterdir()}
            if "identity.json" in own:  # of a process that began at this moment
                return None
            own -= {"lock", "claims"}
            names |= {f"units/{name}" for name in own if not name.startswith(TEMPORARY)}
        return min(names - {"units"}, default=None)

    def _drop_leftovers(self) -> None:
        """Delete the temporary files of a killed process, in the places where a study writes."""
        leftovers = list(self.folder.glob(f"{TEMPORARY}*"))
        for name in ("units", "theories", "examples", "tables", "figures"):
            leftovers += locate_inside(self.folder, name).rglob(f"{TEMPORARY}*")
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)

    def require_folder(self) -> None:
        """Raise an error if somebody deleted the folder."""
        if not self.identity_file.exists():
            raise StudyError(
                f"{str(self.folder)!r} was deleted while the study was running: start it again"
            )

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the study; raise an error if somebody deleted the folder."""
        self.require_folder()
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

    def write_theories(self, dataset: str, fold: int, content: bytes) -> None:
        """Save the theory path of a fold, as compressed JSON."""
        self.write(_theory_file(dataset, fold), content)

    def read_theories(self, dataset: str, fold: int) -> bytes | None:
        """The theory path of a fold, as compressed JSON, or None if it is missing."""
        file = self.theory_file(dataset, fold)
        return file.read_bytes() if file.is_file() else None


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


def _lock(file: Any, shared: bool) -> None:
    """Lock a file, alone or beside others; raise BlockingIOError or PermissionError if it is locked."""
    try:
        import fcntl
    except ImportError:  # Windows, which has no shared locks: claims have to do
        if not shared:
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        return
    try:
        fcntl.flock(file.fileno(), (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        # Some file systems of clusters have no locks. Processes with claims need none.
        if not shared or error.errno not in _NO_LOCKS:
            raise


def _list_differences(known: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The settings that differ, with the old and the new value; what a study covers may grow."""
    fixed = {key: (known.get(key), wanted.get(key)) for key in known | wanted if key != "covers"}
    changed = {key: tuple(map(reprlib.repr, p)) for key, p in fixed.items() if p[0] != p[1]}
    texts = [f"{key} was {was}, now {now}" for key, (was, now) in changed.items()]
    if texts:  # another seed makes other folds, which would be one more difference
        return "; ".join(texts[:3])
    before, after = (identity.get("covers", {}) for identity in (known, wanted))
    texts += [text for key in before for text in _list_lost(key, before[key], after.get(key, ()))]
    return "; ".join(texts[:3])


def _list_lost(what: str, before: Any, after: Any) -> Iterator[str]:
    """What a study covered and would not cover any more; a data set has to keep its hash."""
    if after == ["all"]:
        return
    lost = [item for item in before if item not in after]
    if lost:
        yield f"{what} without {', '.join(map(str, lost[:3]))}, which it has"
    elif isinstance(before, dict):
        for name in before:
            if before[name] != after[name]:
                yield f"data {name} was {str(before[name])[:12]}…, now {after[name][:12]}…"
