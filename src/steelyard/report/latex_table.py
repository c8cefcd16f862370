r"""TextTable → LaTeX: a table that fits the width of the text, split where it is longer than a page.

The packages are array, booktabs and graphicx, which every distribution of LaTeX has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .latex_text import escape_cell, escape_paragraph, split_word
from .layout import cm_to_points
from .styles import Style

if TYPE_CHECKING:
    from .text_table import TextTable

PACKAGES = "% Needs \\usepackage{array,booktabs,graphicx} in the preamble."
# Widths of text of 8 pt (\footnotesize) in pt: a character on average, and the space between columns.
_CHARACTER = 4.3
_BETWEEN = 6.0
# Columns of words that are wider may be broken into lines; they keep at least this many characters.
_FEWEST_CHARACTERS = 18
# A header that is longer is broken into lines.
_LONGEST_HEADER = 12


class _Column(NamedTuple):
    """A column of a table: its letter in LaTeX, the lines of its header, its width in characters."""

    kind: str
    header: Sequence[str]
    width: int


def write_latex(table: TextTable, label: str, style: Style) -> str:
    """A table as LaTeX; see `TextTable.to_latex`."""
    if _is_too_wide(table, style) and _is_numeric(table):
        turned = table.turn()
        table = turned if not _is_too_wide(turned, style) else table
    # What the columns look like depends on all rows, not on those of a part.
    columns = _plan_columns(table, style)
    parts = list(_split(table, columns, style))
    texts = []
    for i, part in enumerate(parts):
        caption = _write_caption(table, i)
        own = label if i == 0 else f"{label}-{i + 1}"
        texts.append(_write_part(part, columns, caption, own, style))
    return "\n\n".join(texts)


def _natural_width(table: TextTable, j: int) -> int:
    """Characters of the widest cell of a column, or of the widest word of its header."""
    cells = [len(row[j]) for row in table.rows]
    return max([*cells, *map(len, _break_header(table.columns[j]))], default=1)


def _break_header(text: str) -> list[str]:
    """Lines of a header: full of words, and of parts of words that are too long for a line."""
    lines: list[str] = []
    for word in text.split():
        joint = " "
        for part in split_word(word):
            if lines and len(lines[-1]) + len(joint) + len(part) <= _LONGEST_HEADER:
                lines[-1] += joint + part
            else:
                lines.append(part)
            joint = ""
    return lines or [text]


def _points(widths: Sequence[int]) -> float:
    return _CHARACTER * sum(widths) + _BETWEEN * (len(widths) - 1)


def _is_too_wide(table: TextTable, style: Style) -> bool:
    widths = [_natural_width(table, j) for j in range(len(table.columns))]
    return _points(widths) > cm_to_points(style.page_width)


def _is_numeric(table: TextTable) -> bool:
    """Whether all columns but the first have numbers."""
    return not any(table.is_text(j) for j in range(1, len(table.columns)))


def _plan_columns(table: TextTable, style: Style) -> list[_Column]:
    """Decide which columns are broken into lines: the widest ones, until the table fits."""
    indices = range(len(table.columns))
    natural = [_natural_width(table, j) for j in indices]
    available = cm_to_points(style.page_width)
    widths, broken = list(natural), set[int]()
    for j in sorted(indices, key=lambda j: -natural[j]):
        # A column that is wider than those that are broken is broken, too.
        limit = min((widths[k] for k in broken), default=natural[j])
        if _points(widths) <= available and natural[j] <= limit:
            break
        if natural[j] <= _FEWEST_CHARACTERS:
            break
        if not table.is_text(j):
            continue
        broken.add(j)
        others = _points([_FEWEST_CHARACTERS if j in broken else natural[j] for j in indices])
        spare = int((available - others) / _CHARACTER / len(broken))
        share = _FEWEST_CHARACTERS + max(0, spare)
        widths = [share if j in broken else natural[j] for j in indices]
    kinds = ["p" if j in broken else "l" if table.is_text(j) else "r" for j in indices]
    headers = [
        _break_header(name) if kind == "r" else [name]
        for name, kind in zip(table.columns, kinds, strict=True)
    ]
    return [_Column(*parts) for parts in zip(kinds, headers, widths, strict=True)]


def _split(table: TextTable, columns: Sequence[_Column], style: Style) -> Iterator[TextTable]:
    """Parts of a table that fit on a page each, of nearly equal height."""
    lines = [
        max(
            math.ceil(len(cell) / column.width) if column.kind == "p" else 1
            for cell, column in zip(row, columns, strict=True)
        )
        for row in table.rows
    ]
    n_parts = max(1, math.ceil(sum(lines) / style.max_table_lines))
    # A row that does not fit begins the next part, so parts need some lines more than the average.
    most = min(style.max_table_lines, sum(lines) / n_parts + max(lines, default=0) / 2)
    start, height = 0, 0
    for i, needed in enumerate(lines):
        if height + needed > most and i > start:
            yield _take(table, start, i)
            start, height = i, 0
        height += needed
    yield _take(table, start, len(table.rows))


def _take(table: TextTable, start: int, end: int) -> TextTable:
    bold = frozenset((i - start, j) for i, j in table.bold if start <= i < end)
    return replace(table, rows=table.rows[start:end], bold=bold)


def _write_caption(table: TextTable, part: int) -> str:
    if part:
        return escape_paragraph(f"{table.title}, continued.")
    return " ".join(map(escape_paragraph, [f"{table.title}.", *table.notes]))


def _write_part(
    table: TextTable, columns: Sequence[_Column], caption: str, label: str, style: Style
) -> str:
    escapes = [escape_paragraph if column.kind == "p" else escape_cell for column in columns]
    rows = table.format_rows(escapes, r"\textbf{{{}}}")
    width = _points([column.width for column in columns])
    # In two columns of text, a wide table spans both of them.
    star = "*" if cm_to_points(style.width) < width and style.page_width > style.width else ""
    alignment = "@{}" + "".join(map(_write_kind, columns)) + "@{}"
    lines = [
        rf"\begin{{table{star}}}[htbp]",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        r"\smallskip",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{3pt}",
        *_fit(style),
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(map(_write_header, columns)) + r" \\",
        r"\midrule",
    ]
    for i, row in enumerate(rows):
        if i and table.rows[i][0] == "average rank":
            lines.append(r"\midrule")
        lines.append(" & ".join(row) + r" \\")
    closing = "}" * len(_fit(style))
    lines += [r"\bottomrule", rf"\end{{tabular}}{closing}", rf"\end{{table{star}}}"]
    return "\n".join(lines)


def _fit(style: Style) -> list[str]:
    r"""Shrink what is wider than the text (on a slide also what is higher), leave the rest as it is."""
    lines = [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"]
    if style.is_slide:
        lines.insert(
            0,
            r"\resizebox*{!}{\ifdim\totalheight>0.75\textheight 0.75\textheight"
            r"\else\totalheight\fi}{%",
        )
    return lines


def _write_kind(column: _Column) -> str:
    width = f"p{{{_CHARACTER * column.width:.0f}pt}}"
    return rf">{{\raggedright\arraybackslash}}{width}" if column.kind == "p" else column.kind


def _write_header(column: _Column) -> str:
    lines = [escape_cell(line) for line in column.header]
    if len(lines) == 1:
        return lines[0]
    # The lines of a header end where its numbers end.
    return (
        rf"\begin{{tabular}}[b]{{@{{}}{column.kind}@{{}}}}" + r"\\".join(lines) + r"\end{tabular}"
    )
