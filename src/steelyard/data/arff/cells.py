"""ARFF lines to cells: quotes, escapes, comments, dense and sparse rows.

Owns the grammar inside a line. Knows neither attributes nor files.
"""

import re
from math import nan
from typing import NamedTuple

from steelyard._text import shorten_repr

Cell = str | float  # the only number is `MISSING`, for an unquoted ``?``
MISSING = nan

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROL_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SEPARATOR = re.compile(r" *(?:[ \t]*,|\t)[ \t]*")
_END_OF_LINE = r"\s*(?:%.*)?$"
_END_OF_ROW = rf"(?P<weight>{_SEPARATOR.pattern}\{{\s*[^\s{{}}]+\s*\}})?{_END_OF_LINE}"

# Rows without any of these split at their commas and nothing else. This is 50 times faster than
# the grammar (6 times for sparse rows).
_NEEDS_THE_GRAMMAR = ("'", '"', "\\", "%", "\t", "{")
_PLAIN_VALUE = r"[^\s,'\"\\%{}]+"
# An index: a longer one fits no array, and Python does not read thousands of digits.
_INDEX = r"\d{1,18}"
_PLAIN_PAIR = rf" *{_INDEX} +{_PLAIN_VALUE} *"
_PLAIN_SPARSE_ROW = re.compile(rf"\{{(?:{_PLAIN_PAIR}(?:,{_PLAIN_PAIR})*| *)\}}")
_EMPTY_SPARSE_ROW = re.compile(rf"\{{\s*\}}{_END_OF_ROW}")


class ArffSyntaxError(Exception):
    """Says what is wrong with a line. The caller adds the file and the line number."""


class Row(NamedTuple):
    """The cells of a row; `columns` are the indices of a sparse row, and None for a dense row."""

    columns: list[int] | None
    cells: list[Cell]
    has_weight: bool


class _Grammar(NamedTuple):
    """How one cell looks, and what may follow the last one."""

    name: str
    cell: re.Pattern[str]
    end: re.Pattern[str]


def _cell_pattern(bare: str, before: str = "") -> re.Pattern[str]:
    # Possessive repetitions: the others keep 140 bytes per character for going back.
    quoted = (
        r"""'(?P<single>[^'\\]*+(?:\\.[^'\\]*+)*+)' *|"(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*+)" *"""
    )
    return re.compile(rf"""{before}[ \t]*+(?:{quoted}|(?!['"])(?P<bare>{bare}))""")


# A % starts a comment only at the start of a word: many files have unquoted cells such as 50%.
_BARE_CELL = r"[^,\t%]*+(?:(?<=[^\s,])%[^,\t%]*+)*+"
_BARE_CELL_IN_BRACES = r"[^,\t%}]*+(?:(?<=[^\s,{])%[^,\t%}]*+)*+"
_WORD = _cell_pattern(r"[^\s{]+")
_DENSE_ROW = _Grammar("row", _cell_pattern(_BARE_CELL), re.compile(_END_OF_ROW))
_SPARSE_ROW = _Grammar(
    "sparse row",
    _cell_pattern(_BARE_CELL_IN_BRACES, before=rf"\s*(?P<index>{_INDEX})\s+"),
    re.compile(r"\}" + _END_OF_ROW),
)
_NOMINAL_VALUES = _Grammar(
    "set of nominal values", _cell_pattern(_BARE_CELL_IN_BRACES), re.compile(r"\}" + _END_OF_LINE)
)


def split_word(text: str) -> tuple[str, str]:
    """Split a text into its first word, quoted or bare, and the rest."""
    match = _WORD.match(text)
    if match is None:
        raise ArffSyntaxError("the name is missing or its quote is never closed")
    return _decode_text(match), text[match.end() :].strip()


def split_nominal_values(text: str) -> list[str]:
    """Split the ``{a, 'b c', d}`` of a nominal attribute into its values."""
    if text[1:].strip()[:1] in ("", "%", "}"):
        raise ArffSyntaxError("the set of nominal values is empty")
    matches, _ = _match_cells(text, 1, _NOMINAL_VALUES)
    return [_decode_text(match) for match in matches]


def split_row(text: str) -> Row:
    """Split a dense row such as ``1, 'a b', ?`` or a sparse row such as ``{3 1, 17 'a b'}``."""
    if not any(sign in text for sign in _NEEDS_THE_GRAMMAR):
        columns, words = None, text.split(",")
        if " " in text:
            words = [word.strip() for word in words]
    elif _PLAIN_SPARSE_ROW.fullmatch(text):
        pairs = text[1:-1].replace(",", " ").split()
        columns, words = [*map(int, pairs[0::2])], pairs[1::2]
    elif empty := _EMPTY_SPARSE_ROW.match(text):
        return Row([], [], empty["weight"] is not None)
    else:
        is_sparse = text.startswith("{")
        matches, end = _match_cells(text, int(is_sparse), _SPARSE_ROW if is_sparse else _DENSE_ROW)
        columns = [int(match["index"]) for match in matches] if is_sparse else None
        return Row(columns, [_decode(match) for match in matches], end["weight"] is not None)
    cells: list[Cell] = [*words]
    if "?" in text:
        cells = [MISSING if word == "?" else word for word in words]
    return Row(columns, cells, has_weight=False)


def _match_cells(
    text: str, position: int, grammar: _Grammar
) -> tuple[list[re.Match[str]], re.Match[str]]:
    """Match all cells from a position on, and what follows the last one."""
    matches = []
    while match := grammar.cell.match(text, position):
        matches.append(match)
        position = match.end()
        if end := grammar.end.match(text, position):
            return matches, end
        separator = _SEPARATOR.match(text, position)
        if separator is None:
            following = text[position:].lstrip()[:1]
            if following == "}" and grammar is not _DENSE_ROW:
                problem = f"there is text after the closing brace of the {grammar.name}"
            elif following in ("", "%"):
                problem = f"the closing brace of the {grammar.name} is missing"
            else:
                problem = f"a comma is missing in the {grammar.name} after a quoted value"
            raise ArffSyntaxError(problem)
        position = separator.end()
    is_sparse = grammar is _SPARSE_ROW
    problem = "expected an index and a value" if is_sparse else "a quote is never closed"
    raise ArffSyntaxError(f"{problem}: {shorten_repr(text[position:].strip())}")


def _decode(match: re.Match[str]) -> Cell:
    return MISSING if (match["bare"] or "").strip() == "?" else _decode_text(match)


def _decode_text(match: re.Match[str]) -> str:
    text = str(match[match.lastgroup or "bare"])
    return text.strip() if match.lastgroup == "bare" else _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    return chr(int(code[1:], 16)) if len(code) == 5 else _CONTROL_CHARACTERS.get(code, code)
