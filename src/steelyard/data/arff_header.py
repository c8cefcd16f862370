"""The head of an ARFF file: its relation and its attributes, up to ``@data``."""

import re
from os import PathLike
from typing import Literal, NamedTuple

from .arff_cells import ArffSyntaxError, read_word, split_nominal_values
from .errors import DataError, error_at, shorten

_KEYWORD = re.compile(r"@(\w+)(?=\s|$|['\"{])", re.IGNORECASE)
_NUMERIC_TYPES = ("numeric", "real", "integer")
_UNSUPPORTED_TYPES = ("string", "date", "relational")


class Attribute(NamedTuple):
    """What an ARFF file declares about one column."""

    name: str
    kind: Literal["numeric", "nominal", "unsupported"]
    values: tuple[str, ...]  # of a nominal attribute, in the order of the file
    type_name: str  # as the file calls it, for messages
    line: int


class Header(NamedTuple):
    """All that stands before the rows."""

    relation: str
    attributes: list[Attribute]
    n_lines: int  # up to and with @data


def parse_header(path: str | PathLike[str], lines: list[str]) -> Header:
    """Parse the lines up to ``@data``; every problem is a DataError with the line."""
    relation = ""
    attributes: list[Attribute] = []
    first_line_of: dict[str, int] = {}
    inside_relational = ""

    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        keyword, rest = _split_keyword(path, number, text)
        try:
            if inside_relational:
                # The nested attributes belong to bags of instances, which have no columns here.
                if keyword == "data":
                    raise ArffSyntaxError(
                        f"the relational attribute {inside_relational!r} has no @end"
                    )
                if keyword == "end" and read_word(rest, 0)[0] == inside_relational:
                    inside_relational = ""
            elif keyword == "relation":
                # MEKA keeps its options in here, unquoted in some files: take the whole line.
                relation = read_word(rest, 0)[0] if rest[:1] in ("'", '"') else rest
            elif keyword == "attribute":
                attribute = _parse_attribute(rest, number)
                if attribute.name in first_line_of:
                    raise ArffSyntaxError(
                        f"attribute {attribute.name!r} is declared a second time,"
                        f" after line {first_line_of[attribute.name]}"
                    )
                first_line_of[attribute.name] = number
                attributes.append(attribute)
                if attribute.type_name == "relational":
                    inside_relational = attribute.name
            elif keyword == "data":
                if not attributes:
                    raise ArffSyntaxError("there is no @attribute before @data")
                return Header(relation, attributes, number)
            else:
                raise ArffSyntaxError(f"@{keyword} is not a keyword of ARFF")
        except ArffSyntaxError as error:
            raise error_at(path, number, str(error)) from None

    raise DataError(f"{path} has no @data section")


def _split_keyword(path: str | PathLike[str], number: int, text: str) -> tuple[str, str]:
    keyword = _KEYWORD.match(text)
    if keyword is None:
        raise error_at(
            path, number, f"expected @relation, @attribute or @data, found {shorten(text)}"
        )
    return keyword.group(1).lower(), text[keyword.end() :].strip()


def _parse_attribute(text: str, line: int) -> Attribute:
    name, end = read_word(text, 0)
    declaration = text[end:].strip()
    if declaration.startswith("{"):
        values = tuple(split_nominal_values(declaration))
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise ArffSyntaxError(f"attribute {name!r} lists its value {twice!r} twice")
        return Attribute(name, "nominal", values, "nominal", line)

    type_name = declaration.split(maxsplit=1)[0].lower() if declaration else ""
    if type_name in _NUMERIC_TYPES:
        return Attribute(name, "numeric", (), type_name, line)
    if type_name in _UNSUPPORTED_TYPES:
        return Attribute(name, "unsupported", (), type_name, line)
    raise ArffSyntaxError(
        f"attribute {name!r} has the unknown type {shorten(declaration)}"
        if declaration
        else f"attribute {name!r} has no type"
    )
