"""ARFF lines to cells: quotes, escapes, comments and the two kinds of rows.

Owns the grammar below the level of a line and knows neither attributes nor files. A cell is a
string, or None where the file has an unquoted ``?``.
"""

import re
from typing import NamedTuple

from .errors import shorten

Cell = str | None

_QUOTED = {
    "'": re.compile(r"'((?:[^'\\]|\\.)*)'"),
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"'),
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROL_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

# An unquoted cell ends at a separator. A % opens a comment only where a word could start:
# many files have bare cells such as 50%.
_BARE_CELL = re.compile(r"(?:[^,\t%]|(?<=[^\s,])%)*")
_BARE_CELL_IN_BRACES = re.compile(r"(?:[^,\t%}]|(?<=[^\s,{])%)*")
_BARE_WORD = re.compile(r"[^\s{]+")
_SEPARATOR = re.compile(r" *(?:[ \t]*,|\t)[ \t]*")
_COMMENT_OR_END = re.compile(r"\s*(?:%.*)?$")
_WEIGHT = re.compile(r"\{\s*([^\s{}]+)\s*\}\s*(?:%.*)?$")
_INDEX = re.compile(r"\s*(\d+)\s+")

# Rows without any of these split at their commas and nothing else, which is 50 times faster
# than the grammar (6 times for sparse rows).
_NEEDS_THE_GRAMMAR = ("'", '"', "\\", "%", "\t", "{")
_PLAIN_VALUE = r"[^\s,'\"\\%{}]+"
_PLAIN_SPARSE_ROW = re.compile(rf"\{{ *(?:\d+ +{_PLAIN_VALUE} *(?:, *\d+ +{_PLAIN_VALUE} *)*)?\}}")


class ArffSyntaxError(Exception):
    """What is wrong with a line; whoever knows the file and the line number adds them."""


class SparseRow(NamedTuple):
    """The cells that a sparse row spells out, and where they belong."""

    columns: list[int]
    cells: list[Cell]


def read_word(text: str, start: int) -> tuple[str, int]:
    """Read a quoted or bare word such as an attribute's name, and where it ends."""
    if text[start : start + 1] in _QUOTED:
        return _read_quoted(text, start)
    word = _BARE_WORD.match(text, start)
    if word is None:
        raise ArffSyntaxError("the name is missing")
    return word.group(), word.end()


def split_nominal_values(text: str) -> list[str]:
    """Split the ``{a, 'b c', d}`` of a nominal attribute into its values."""
    values, position = [], 1
    if _COMMENT_OR_END.match(text.strip(), 1) or text[1:].lstrip().startswith("}"):
        raise ArffSyntaxError("the set of nominal values is empty")
    while True:
        cell, position = _read_cell(text, position, _BARE_CELL_IN_BRACES)
        values.append("?" if cell is None else cell)
        if text.startswith("}", position):
            break
        position = _skip_separator(text, position, "the set of nominal values")
    if not _COMMENT_OR_END.match(text, position + 1):
        raise ArffSyntaxError("there is text after the set of nominal values")
    return values


def split_dense_row(text: str) -> tuple[list[Cell], bool]:
    """Split a row of values; the flag says whether an instance weight followed them."""
    if not any(sign in text for sign in _NEEDS_THE_GRAMMAR):
        plain = text.split(",")
        if " " in text:
            plain = [cell.strip() for cell in plain]
        if "?" in text:
            return [None if cell == "?" else cell for cell in plain], False
        return list(plain), False

    cells: list[Cell] = []
    position = 0
    while True:
        if _WEIGHT.match(text, position) and cells:
            return cells, True
        cell, position = _read_cell(text, position, _BARE_CELL)
        cells.append(cell)
        if _COMMENT_OR_END.match(text, position):
            return cells, False
        position = _skip_separator(text, position, "the row")


def split_sparse_row(text: str) -> tuple[SparseRow, bool]:
    """Split a row such as ``{3 1, 17 'a b'}``; the flag is that of `split_dense_row`."""
    if _PLAIN_SPARSE_ROW.fullmatch(text):
        words = text[1:-1].replace(",", " ").split()
        cells: list[Cell] = [*words[1::2]]
        if "?" in text:
            cells = [None if cell == "?" else cell for cell in cells]
        return SparseRow(list(map(int, words[0::2])), cells), False

    row = SparseRow([], [])
    position = 1
    if not text[1:].lstrip().startswith("}"):
        while True:
            index = _INDEX.match(text, position)
            if index is None:
                found = shorten(text[position:].strip())
                raise ArffSyntaxError(f"expected an index and a value, found {found}")
            cell, position = _read_cell(text, index.end(), _BARE_CELL_IN_BRACES)
            row.columns.append(int(index.group(1)))
            row.cells.append(cell)
            if text.startswith("}", position):
                break
            position = _skip_separator(text, position, "the sparse row")
    position = text.index("}", position) + 1
    if _COMMENT_OR_END.match(text, position):
        return row, False
    separator = _SEPARATOR.match(text, position)
    if separator and _WEIGHT.match(text, separator.end()):
        return row, True
    raise ArffSyntaxError("there is text after the closing brace of the sparse row")


def _read_cell(text: str, start: int, bare: re.Pattern[str]) -> tuple[Cell, int]:
    while text.startswith((" ", "\t"), start):
        start += 1
    if text[start : start + 1] in _QUOTED:
        cell, end = _read_quoted(text, start)
        while text.startswith(" ", end):
            end += 1
        return cell, end
    match = bare.match(text, start)
    assert match is not None  # the pattern matches the empty string, too
    word = match.group().strip()
    return (None if word == "?" else word), match.end()


def _read_quoted(text: str, start: int) -> tuple[str, int]:
    match = _QUOTED[text[start]].match(text, start)
    if match is None:
        raise ArffSyntaxError(f"the quote ({text[start]}) that opens a value is never closed")
    body = match.group(1)
    return (_ESCAPE.sub(_unescape, body) if "\\" in body else body), match.end()


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return _CONTROL_CHARACTERS.get(code, code)


def _skip_separator(text: str, position: int, where: str) -> int:
    separator = _SEPARATOR.match(text, position)
    if separator is None:
        if _COMMENT_OR_END.match(text, position):
            raise ArffSyntaxError(f"the closing brace of {where} is missing")
        raise ArffSyntaxError(f"a comma is missing in {where} after a quoted value")
    return separator.end()
