"""Files: written whole or not at all, and read as text. Knows bytes only."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# What a killed process leaves behind begins like this.
TEMPORARY = ".unfinished-"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at any moment it is there whole or not at all; its folder is made if need be.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder, "unit"), b"done")
    ...     sorted(p.name for p in Path(folder).iterdir())
    ['unit']
    """
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a pipe or a device has nothing to lose
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            # Without it a power failure may keep the name and lose the bytes.
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    # There is no way to ask for it but to set it; mkstemp's files are for the owner's eyes only.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def read_utf8(path: Path) -> str:
    """The text of a file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not text in UTF-8: byte {error.start} is wrong") from None
