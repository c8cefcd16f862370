"""What is wrong with a data set, in one sentence with file and line.

Owns the exception of the data layer and how it names a place. Knows no format.
"""

import difflib
from collections.abc import Iterable
from os import PathLike


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


def error_at(path: str | PathLike[str], line: int, problem: object) -> DataError:
    """Return the error about a line of a file."""
    return DataError(f"{path}, line {line}: {problem}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a clause to append to a message, empty if no known name is similar."""
    close = difflib.get_close_matches(name, list(known), n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def shorten(text: str, width: int = 40) -> str:
    """Quote a text in one line of printable characters, and cut it if it is long."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")
