"""TextTable: a table of text that is written as Markdown, LaTeX and CSV. Knows strings only."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from steelyard._files import write_inside
from steelyard._text import escape_formula, frame_to_csv

from .latex_table import PACKAGES, write_latex
from .styles import Style, get_style


def escape_markdown(text: str) -> str:
    r"""Escape text for a cell of a Markdown table.

    Examples
    --------
    >>> print(escape_markdown("a|b <img>\n"))
    a\|b &lt;img&gt;
    """
    text = " ".join(html.escape(text, quote=False).splitlines())
    return re.sub(r"([\\|*_`\[\]])", r"\\\1", text)


@dataclass(frozen=True)
class TextTable:
    """Rows of text below a header.

    Parameters
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequences of str
    bold : frozenset of (row, column), default=empty
        The best cells of their rows.
    notes : sequence of str, default=()
        Sentences below the table.

    Examples
    --------
    >>> table = TextTable("F1", ["data set", "R1"], [["flags", "71.81"]], frozenset({(0, 1)}))
    >>> print(table.to_markdown())
    **F1**
    <BLANKLINE>
    | data set | R1 |
    |---|---:|
    | flags | **71.81** |
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    bold: frozenset[tuple[int, int]] = frozenset()
    notes: Sequence[str] = ()

    def is_text(self, column: int) -> bool:
        """Whether a column contains words and is left-aligned; numbers are right-aligned."""
        cells = [row[column] for row in self.rows]
        return column == 0 or any(re.search(r"[^\W\d_]{3}", cell) for cell in cells)

    def format_rows(
        self, escapes: Sequence[Callable[[str], str]], bold: str
    ) -> Iterator[list[str]]:
        """Escape the cells of all rows, each column with its own function.

        `bold` is the format of a bold cell, such as "**{}**".
        """
        for i, row in enumerate(self.rows):
            cells = [escape(cell) for escape, cell in zip(escapes, row, strict=True)]
            yield [bold.format(c) if (i, j) in self.bold else c for j, c in enumerate(cells)]

    def to_markdown(self) -> str:
        """Format as a Markdown table."""
        alignment = ["---" if self.is_text(j) else "---:" for j in range(len(self.columns))]
        lines = [f"**{escape_markdown(self.title)}**", ""]
        lines += [f"| {' | '.join(map(escape_markdown, self.columns))} |"]
        lines += [f"|{'|'.join(alignment)}|"]
        escapes = [escape_markdown] * len(self.columns)
        lines += [f"| {' | '.join(row)} |" for row in self.format_rows(escapes, "**{}**")]
        for note in self.notes:
            lines += ["", escape_markdown(note)]
        return "\n".join(lines)

    def to_latex(self, label: str = "", style: Style | str | None = None) -> str:
        r"""Format as a LaTeX table that uses array, booktabs and graphicx.

        Columns of long texts are broken into lines, and a table of numbers that is too wide is turned.
        What is still wider than the text is shrunk; a table longer than a page is split.

        Parameters
        ----------
        label : str, default=""
            For ``\label{tab:...}``; by default made of the title.
        style : Style or str, default="springer"
            For the width and height of the text.

        Examples
        --------
        >>> print(TextTable("F1", ["data set", "M_F"], [["flags", "71.81"]]).to_latex())
        \begin{table}[htbp]
        \centering
        \caption{F1.}
        \label{tab:f1}
        \smallskip
        \footnotesize
        \setlength{\tabcolsep}{3pt}
        \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
        \begin{tabular}{@{}lr@{}}
        \toprule
        data set & $M_F$ \\
        \midrule
        flags & 71.81 \\
        \bottomrule
        \end{tabular}}
        \end{table}
        """
        return write_latex(self, f"tab:{slug(label or self.title)}", get_style(style))

    def turn(self) -> TextTable:
        """The table with rows and columns exchanged; the title of its first column stays.

        Examples
        --------
        >>> TextTable("F1", ["data set", "R1", "R2"], [["flags", "71", "72"]]).turn().rows
        [['R1', '71'], ['R2', '72']]
        """
        columns = [self.columns[0], *(row[0] for row in self.rows)]
        rows = [
            [name, *(row[j] for row in self.rows)]
            for j, name in enumerate(self.columns[1:], start=1)
        ]
        bold = frozenset((j - 1, i + 1) for i, j in self.bold)
        return replace(self, columns=columns, rows=rows, bold=bold)

    def to_csv(self) -> str:
        """Format as CSV, without title and notes."""
        rows = [list(map(escape_formula, row)) for row in self.rows]
        table = pd.DataFrame(rows, columns=list(map(escape_formula, self.columns)), dtype=object)
        return frame_to_csv(table)


def slug(text: str) -> str:
    """A text as a name of a file or of a label: letters and digits of ASCII, joined by hyphens.

    Examples
    --------
    >>> slug("Micro F1: pairs of methods"), slug("雨")
    ('micro-f1-pairs-of-methods', 'table')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "table"


def name_tables(name: str, tables: Sequence[TextTable]) -> list[str]:
    """The name of each table of a file: that of the file, with the start of the title if several."""
    if len(tables) == 1:
        return [name]
    return [f"{name}-{slug(table.title.partition(':')[0])}" for table in tables]


def write_tables(
    folder: Path, name: str, tables: Sequence[TextTable], style: Style | str | None = None
) -> None:
    """Write tables to ``tables/name.md`` and ``.tex``, and each table to its own CSV file."""
    labels = name_tables(name, tables)
    latex = [t.to_latex(label, style) for t, label in zip(tables, labels, strict=True)]
    texts = {
        f"{name}.md": "\n\n".join(table.to_markdown() for table in tables) + "\n",
        f"{name}.tex": "\n\n".join([PACKAGES, *latex]) + "\n",
    }
    texts |= {f"{label}.csv": t.to_csv() for t, label in zip(tables, labels, strict=True)}
    for file, text in texts.items():
        write_inside(folder, f"tables/{file}", text.encode())
