"""Claims: which process computes which unit, on a folder that processes of many machines share.

Knows file names, times and processes; it does not know what a unit is. It needs no service and no locks:
creating a file that must not exist is exclusive on every file system, NFS included.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from steelyard._files import TEMPORARY

# The holder of a claim touches it this often.
SECONDS_BETWEEN_BEATS = 60.0
# A claim that was not touched for so long is dead. File systems such as NFS may show a time that is
# some minutes old.
SECONDS_UNTIL_DEAD = 600.0

_CLAIM = re.compile(r"(?P<name>.+)\.(?P<generation>\d+)")


class Claims:
    """The claims in a folder.

    The claim on a unit is a file with the unit's name and a generation. Who finds that the latest
    generation is dead creates the next one, and only one process can. So a claim that is taken over is
    never deleted or replaced while another process looks at it.

    Parameters
    ----------
    folder : Path
        It must exist when claims are taken.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     claims, others = Claims(Path(folder)), Claims(Path(folder))
    ...     print(claims.take("flags/fold-1"), others.take("flags/fold-1"))
    ...     claims.release("flags/fold-1")
    ...     print(others.take("flags/fold-1"))
    True False
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._own: dict[str, int] = {}

    def take(self, name: str) -> bool:
        """Claim a name for this process; False if another process holds it."""
        latest = max(self._list_generations(name), default=-1)
        if latest >= 0 and not self._is_dead(self._file(name, latest)):
            return False
        file = self._file(name, latest + 1)
        try:
            # Exclusive: if several processes try, one succeeds.
            number = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except (
            FileExistsError,
            FileNotFoundError,
        ):  # another process has it, or deleted the folder
            return False
        self._own[name] = latest + 1
        with open(number, "w", encoding="utf-8") as claim:
            json.dump(_describe_process(), claim)
        return True

    def release(self, name: str) -> None:
        """Give a claim back, and delete the dead ones before it."""
        own = self._own.pop(name)
        for generation in sorted(self._list_generations(name)):
            if generation <= own:
                self._file(name, generation).unlink(missing_ok=True)

    def release_all(self) -> None:
        """Give all claims back."""
        for name in list(self._own):
            self.release(name)

    @contextmanager
    def kept_alive(self) -> Iterator[None]:
        """Touch the claims of this process from time to time, and give them back in the end."""
        ended = threading.Event()
        thread = threading.Thread(target=self._beat, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self.release_all()

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(SECONDS_BETWEEN_BEATS):
            for name, generation in list(self._own.items()):
                with suppress(OSError):  # the claim was released, or the folder was deleted
                    os.utime(self._file(name, generation))

    def list_names(self, *, dead: bool) -> list[str]:
        """The names whose claim is dead, or the names whose claim is alive."""
        generations: dict[str, int] = {}
        for file in self._list_files():
            match = _CLAIM.fullmatch(file)
            if match is not None:
                name, generation = match["name"].replace("@", "/"), int(match["generation"])
                generations[name] = max(generation, generations.get(name, -1))
        files = {name: self._file(name, latest) for name, latest in generations.items()}
        return sorted(name for name, file in files.items() if self._is_dead(file) == dead)

    def delete_all(self) -> None:
        """Delete all claims; for a process that has the folder for itself."""
        for file in self._list_files():
            (self.folder / file).unlink(missing_ok=True)

    def _file(self, name: str, generation: int) -> Path:
        # One folder for all; no name of a unit contains an @.
        return self.folder / f"{name.replace('/', '@')}.{generation}"

    def _list_files(self) -> list[str]:
        try:
            return os.listdir(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _list_generations(self, name: str) -> list[int]:
        prefix = name.replace("/", "@") + "."
        ends = [file[len(prefix) :] for file in self._list_files() if file.startswith(prefix)]
        return [int(end) for end in ends if end.isdecimal()]

    def _is_dead(self, file: Path) -> bool:
        """Whether the process that holds a claim has ended, as far as can be seen."""
        try:
            touched = file.stat().st_mtime
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:  # released at this moment: the next look will tell
            return False
        try:
            holder = json.loads(text)
            machine, pid = holder.get("machine"), holder.get("pid")
        except (ValueError, AttributeError, RecursionError):  # not written yet, or never
            machine = pid = None
        is_here = machine == _describe_process()["machine"] and type(pid) is int and pid > 0
        if is_here and not _is_running(pid):
            return True
        return self._read_clock() - touched > SECONDS_UNTIL_DEAD

    def _read_clock(self) -> float:
        """The time by the clock of the file system, which may differ from that of this machine."""
        probe = self.folder / f"{TEMPORARY}{secrets.token_hex(8)}"
        try:
            probe.touch()
            now = probe.stat().st_mtime
            probe.unlink(missing_ok=True)
        except OSError:
            return 0.0
        return now


def _describe_process() -> dict[str, Any]:
    """The machine and the number of this process.

    Numbers are comparable on the same machine since it was started, and in the same container.
    """
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return {"machine": " ".join(parts), "pid": os.getpid()}


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # where signal 0 would interrupt the process
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
