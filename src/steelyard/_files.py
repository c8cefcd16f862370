"""Files: atomic writes, and reading of text that may be compressed. Knows bytes only."""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from pathlib import Path

_GZIP_MAGIC = b"\x1f\x8b"

# Prefix of the temporary files that a killed process leaves behind.
TEMPORARY = ".unfinished-"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is complete or absent at any moment, and create its folder.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder, "unit"), b"done")
    ...     sorted(p.name for p in Path(folder).iterdir())
    ['unit']
    """
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a pipe or a device cannot be replaced
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
    # The mask can only be read by setting it. mkstemp makes files for the owner alone.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def read_bytes(path: Path) -> bytes:
    """Read a file, and decompress it if its content or its name says gzip."""
    content = path.read_bytes()
    if not content.startswith(_GZIP_MAGIC) and path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise ValueError(
            f"{path} is not a valid gzip file: it is damaged or another kind of file"
        ) from None


def read_text(path: Path) -> str:
    """Read a text in UTF-8, compressed with gzip or not."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not text in UTF-8: byte {error.start} is invalid; the file is damaged or"
            " another kind of file"
        ) from None
