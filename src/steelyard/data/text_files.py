"""Files to text: compression and encodings. Knows nothing of what the text means."""

from pathlib import Path

from steelyard._files import read_bytes

from .errors import DataError


def read_text(path: Path) -> str:
    """Read a text in UTF-8 or, if that fails, Latin-1; decompress it if it is gzip."""
    try:
        content = read_bytes(path)
    except ValueError as error:
        raise DataError(str(error)) from None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is encoded as UTF-16; save it as UTF-8")
    if b"\0" in content:
        raise DataError(f"{path} is not a text file: it contains binary data")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    if not text.strip():  # there are more spaces in Unicode than in bytes
        raise DataError(f"{path} is empty")
    return text


def strip_gz(path: Path) -> Path:
    """Drop the suffix of a compressed file: ``emotions.arff`` for ``emotions.arff.gz``."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path
