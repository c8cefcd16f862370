"""Files: written whole or not at all, and read as text. Knows bytes only."""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from pathlib import Path

_START_OF_GZIP = b"\x1f\x8b"

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


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, compressed with gzip or not."""
    content = path.read_bytes()
    try:
        if content.startswith(_START_OF_GZIP):
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError(f"{path} is damaged or another kind of file than gzip") from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not text in UTF-8: byte {error.start} is wrong, so that it is damaged or "
            "another kind of file"
        ) from None
