"""The header of an ARFF file: its relation and its attributes, up to ``@data``.

Owns the declarations. Knows the grammar of words, but no rows.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from steelyard._text import find_repeated, shorten_repr

from ..errors import DataError, error_at
from .cells import ArffSyntaxError, split_nominal_values, split_word

_KEYWORD = re.compile(r"@(\w+)(?=\s|$|['\"{])")
_KIND_OF_TYPE: dict[str, Literal["numeric", "unsupported"]] = {
    **dict.fromkeys(("numeric", "real", "integer"), "numeric"),
    **dict.fromkeys(("string", "date"), "unsupported"),  # a date in a known format is supported
}


# The parts of Java's date formats that have an equivalent in Python's.
_DATE_PARTS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_DATE_FORMAT = re.compile("|".join(_DATE_PARTS) + r"|'[^']*'|[^A-Za-z']")
_ISO_FORMAT = "yyyy-MM-dd'T'HH:mm:ss"


class Attribute(NamedTuple):
    """What an ARFF file declares about one column."""

    name: str
    kind: Literal["numeric", "nominal", "date", "unsupported"]
    values: tuple[str, ...]  # of a nominal attribute, in the order of the file
    type_name: str  # for messages: a word, or the values of a nominal attribute
    line: int
    date_format: str = ""  # of a date, as Python writes it


def parse_header(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[str, list[Attribute]]:
    """Parse the relation and the attributes from numbered lines, up to and including ``@data``."""
    relation = ""
    attributes: dict[str, Attribute] = {}
    for number, text in lines:
        try:
            keyword, rest = _split_keyword(text)
            if keyword == "relation":
                # MEKA keeps its options here, unquoted in some files: take the whole line.
                relation = split_word(rest)[0] if rest[:1] in ("'", '"') else rest
            elif keyword == "attribute":
                attribute = _parse_attribute(rest, number)
                first = attributes.setdefault(attribute.name, attribute)
                if first is not attribute:
                    problem = f"is declared a second time, after line {first.line}"
                    raise ArffSyntaxError(f"attribute {attribute.name!r} {problem}")
            elif keyword != "data":
                raise ArffSyntaxError(f"@{keyword} is not a keyword of ARFF")
            elif attributes:
                return relation, list(attributes.values())
            else:
                raise ArffSyntaxError("there is no @attribute before @data")
        except ArffSyntaxError as error:
            raise error_at(path, number, error) from None
    raise DataError(f"{path} has no @data section")


def _split_keyword(text: str) -> tuple[str, str]:
    keyword = _KEYWORD.match(text)
    if keyword is None:
        expected = "expected @relation, @attribute or @data"
        raise ArffSyntaxError(f"{expected}, found {shorten_repr(text)}")
    return keyword.group(1).lower(), text[keyword.end() :].strip()


def _parse_attribute(text: str, line: int) -> Attribute:
    name, declaration = split_word(text)
    if declaration.startswith("{"):
        values = tuple(split_nominal_values(declaration))
        if (twice := find_repeated(values)) is not None:
            raise ArffSyntaxError(f"attribute {name!r} lists its value {twice!r} twice")
        shown = shorten_repr(", ".join(values)).strip("'\"")
        return Attribute(name, "nominal", values, f"{{{shown}}}", line)
    if not declaration:
        raise ArffSyntaxError(f"attribute {name!r} has no type")
    type_name = declaration.split()[0].lower()
    if type_name not in _KIND_OF_TYPE:
        raise ArffSyntaxError(
            f"attribute {name!r} has the unknown type {shorten_repr(declaration)}"
        )
    if type_name == "date":
        pattern = declaration[len(type_name) :].strip()
        date_format = _convert_date_format(split_word(pattern)[0] if pattern else _ISO_FORMAT)
        if date_format is not None:
            return Attribute(name, "date", (), type_name, line, date_format)
    return Attribute(name, _KIND_OF_TYPE[type_name], (), type_name, line)


def _convert_date_format(pattern: str) -> str | None:
    """Python's form of a date format of Java; None if it has none or repeats a part.

    Examples
    --------
    >>> _convert_date_format("yyyy-MM-dd'T'HH:mm:ss"), _convert_date_format("EEE, d MMM")
    ('%Y-%m-%dT%H:%M:%S', None)
    """
    parts = _DATE_FORMAT.findall(pattern)
    if "".join(parts) != pattern or find_repeated(filter(_DATE_PARTS.get, parts)) is not None:
        return None
    return "".join(_DATE_PARTS.get(part, part.strip("'").replace("%", "%%")) for part in parts)
