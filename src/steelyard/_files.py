"""Files: atomic writes, and reading of text that may be compressed. Knows bytes only."""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from pathlib import Path

_GZIP_MAGIC = b"\x1f\x8b"

# Prefix of the temporary files that a killed process leaves behind.
TEMPORARY = ".unfinished-"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is complete or absent at any moment, and create its folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder, "unit"), b"done")
    ...     sorted(p.name for p in Path(folder).iterdir())
    ['unit']
    """
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a pipe or a device cannot be replaced
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(TEMPORARY + secrets.token_hex(8))
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            # Without it a power failure may keep the name and lose the bytes.
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
