"""Files to lines of text: compression, encodings and line ends, and nothing of their meaning."""

import gzip
import zlib
from pathlib import Path

from .errors import DataError, check_file_exists

_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacked if it is compressed by gzip, whatever it is called."""
    raw = check_file_exists(path).read_bytes()
    if raw.startswith(_GZIP_MAGIC):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} is a damaged gzip file ({error})") from error
    elif path.suffix == ".gz":
        raise DataError(f"{path} is named .gz, but it is not a gzip file")
    if not raw.strip():
        raise DataError(f"{path} is empty")
    return raw


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text file in UTF-8 or, where that fails, Latin-1."""
    raw = read_bytes(path)
    if raw.startswith(_UTF16_MARKS):
        raise DataError(f"{path} is encoded as UTF-16; save it as UTF-8")
    if b"\0" in raw:
        raise DataError(f"{path} is not a text file: it contains binary data")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    # Not splitlines(), which also splits at form feeds and a dozen other characters.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def stem_without_gz(path: Path) -> str:
    """``emotions`` for ``emotions.arff`` as for ``emotions.arff.gz``."""
    return Path(path.stem).stem if path.suffix == ".gz" else path.stem
