"""Files: atomic writes, names that stay in a folder, text that may be compressed. Knows bytes only."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import zlib
from pathlib import Path

_GZIP_MAGIC = b"\x1f\x8b"

# Size of a text after decompression. A small file can decompress to more than any memory holds.
MAX_DECOMPRESSED = 2**30

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


def locate_inside(folder: Path, name: str) -> Path:
    """A path in a folder; reject a name that leads out of it, also by a symbolic link.

    Examples
    --------
    >>> locate_inside(Path("results"), "tables/ranks.csv").as_posix()
    'results/tables/ranks.csv'
    >>> locate_inside(Path("results"), "../photo.png")
    Traceback (most recent call last):
        ...
    ValueError: '../photo.png' leads out of the folder 'results'
    """
    path = folder / name
    try:
        found = path.resolve()
        # Python raises a RuntimeError for a loop of links, from 3.13 on it leaves the links there.
        is_loop = any(part.is_symlink() for part in (found, *found.parents))
        is_inside = not is_loop and found.is_relative_to(folder.resolve())
    except (RuntimeError, ValueError, OSError):  # a loop of links, or a name that no file can have
        is_inside = False
    if not is_inside:
        raise ValueError(f"{name!r} leads out of the folder {str(folder)!r}")
    return path


def write_inside(folder: Path, name: str, content: bytes) -> None:
    """Write a file in a folder atomically; reject a name that leads out of the folder."""
    write_atomically(locate_inside(folder, name), content)


def compress(text: str, level: int = 6) -> bytes:
    """Compress a text with gzip; equal texts give equal bytes on all systems.

    Examples
    --------
    >>> gzip.decompress(compress("a")), compress("a")[9]
    (b'a', 3)
    """
    content = bytearray(gzip.compress(text.encode(), level, mtime=0))
    content[9] = 3  # the system, which versions of Python fill in differently: 3 is Unix
    return bytes(content)


def read_bytes(path: Path) -> bytes:
    """Read a file, and decompress it if its content or its name says gzip."""
    content = path.read_bytes()
    if not content.startswith(_GZIP_MAGIC) and path.suffix != ".gz":
        return content
    return decompress(content, str(path))


def decompress(content: bytes, where: str) -> bytes:
    """The content of a gzip file, up to a limit; the error for anything else names its place."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            content = file.read(MAX_DECOMPRESSED + 1)
    except (OSError, EOFError, zlib.error):
        raise ValueError(
            f"{where} is not a valid gzip file: it is damaged or another kind of file"
        ) from None
    if len(content) > MAX_DECOMPRESSED:
        raise ValueError(
            f"{where} decompresses to more than {MAX_DECOMPRESSED:,} bytes; decompress it first if that "
            "is intended"
        )
    return content


def read_text(path: Path) -> str:
    """Read a text in UTF-8, compressed with gzip or not."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not text in UTF-8: byte {error.start} is invalid; the file is damaged or"
            " another kind of file"
        ) from None
