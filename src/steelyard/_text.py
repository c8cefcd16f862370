"""Numbers, counts and names as text for people. Knows neither rules nor data."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T", bound=Hashable)


def format_number(value: float) -> str:
    """A number with at most six significant digits.

    Examples
    --------
    >>> format_number(0.5), format_number(1234567.0), format_number(-0.123456789)
    ('0.5', '1234567', '-0.123457')
    """
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return f"{value:.6g}"


def format_count(n: int, noun: str) -> str:
    """A count with its noun in the right number.

    Examples
    --------
    >>> format_count(1, "rule"), format_count(0, "rule")
    ('1 rule', '0 rules')
    """
    return f"{n} {noun}{'s' * (n != 1)}"


def count_bodies(n: int) -> str:
    """How many bodies rules share.

    Examples
    --------
    >>> count_bodies(1), count_bodies(8)
    ('1 body', '8 different bodies')
    """
    return "1 body" if n == 1 else f"{n} different bodies"


def shorten_repr(value: object, width: int = 40) -> str:
    """The repr of a value, cut to fit into a message."""
    text = repr(value)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def list_names(names: Sequence[str], most: int = 5) -> str:
    """Quoted names, separated by commas; says how many are left out.

    Examples
    --------
    >>> list_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    left_out = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + left_out


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A clause to append to a message; empty if no known name is similar.

    Examples
    --------
    >>> did_you_mean("fevr", ["fever", "cough"])
    " (did you mean 'fever'?)"
    """
    close = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def check_text(text: str, what: str) -> None:
    """Reject lone surrogates, which no file and no DataFrame can store as text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} contains a lone surrogate; replace that character") from None


def as_text(value: object, what: str) -> str:
    """Reject what is not text; a subclass of str, such as numpy's, becomes a plain one."""
    if not isinstance(value, str):
        raise ValueError(f"{what} must be text, got {value!r}")
    return str(value)


def escape_formula(text: str) -> str:
    """Quote a text that spreadsheets would read as a formula; numbers stay as they are.

    Examples
    --------
    >>> escape_formula("=1+2"), escape_formula("-0.5"), escape_formula("a = b")
    ("'=1+2", '-0.5', 'a = b')
    """
    is_formula = text.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{text}" if is_formula and not re.fullmatch(r"[-+][\d.]+", text) else text


def find_repeated(names: Iterable[T]) -> T | None:
    """The first name, or any other key, that occurs twice, or None."""
    seen: set[T] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def frame_to_csv(table: Any) -> str:
    r"""A DataFrame as CSV without its index.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_to_csv(pd.DataFrame({"a": [1, 2]}))
    'a\n1\n2\n'
    """
    text = str(table.to_csv(index=False, lineterminator="\n"))
    if "\r" not in text:
        return text
    # Python 3.11 leaves a carriage return unquoted, which readers take for the end of a line.
    return str(table.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC))
