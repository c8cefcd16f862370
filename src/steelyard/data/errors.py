"""What went wrong with a data set, said in one sentence with file and line.

Owns the exception of the data layer and the way it names a place; knows no format.
"""

import difflib
from collections.abc import Iterable
from os import PathLike
from pathlib import Path


class DataError(ValueError):
    """A data set cannot be used; the message is one sentence that says where and why.

    Examples
    --------
    >>> from steelyard.data import DataError
    >>> issubclass(DataError, ValueError)
    True
    >>> raise DataError("flags.arff, line 31: the row has 25 values instead of 26")
    Traceback (most recent call last):
        ...
    steelyard.data.errors.DataError: flags.arff, line 31: the row has 25 values instead of 26
    """


def error_at(path: str | PathLike[str], line: int, message: str) -> DataError:
    return DataError(f"{path}, line {line}: {message}")


def check_file_exists(path: str | PathLike[str]) -> Path:
    """The path as a Path, or a FileNotFoundError that says which file is missing."""
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if file.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder, not a file")
    return file


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A clause to append to a message, empty if nothing known looks like the name."""
    close = difflib.get_close_matches(name, list(known), n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def shorten(text: str, width: int = 40) -> str:
    """The text as it is quoted in a message: one line of printable characters, cut if long."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")
