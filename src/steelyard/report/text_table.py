"""TextTable: a table of text that is written as Markdown, LaTeX and CSV. Knows strings only."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from steelyard._files import write_inside
from steelyard._text import escape_formula, frame_to_csv

_LETTERS = {"φ": r"\phi", "β": r"\beta", "χ": r"\chi", "²": "^2", "∞": r"\infty"}
_OPERATORS = {"<": "<", ">": ">", "≥": r"\geq", "≤": r"\leq", "∧": r"\wedge", "¬": r"\neg"}
_WORDS = {"\\": "textbackslash", "~": "textasciitilde", "^": "textasciicircum"}
_LATEX = str.maketrans(
    {character: rf"\{character}" for character in "&%$#_{}"}
    | {character: rf"\{word}{{}}" for character, word in _WORDS.items()}
    | {character: f"${symbol}$" for character, symbol in (_LETTERS | _OPERATORS).items()}
)
# Columns with longer texts are paragraphs in LaTeX.
_LONGEST_LINE = 40


def escape_latex(text: str) -> str:
    r"""Escape text for LaTeX.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b, φ ≥ 0.5"))
    50 \% of a\_b, $\phi$ $\geq$ 0.5
    """
    return text.translate(_LATEX)


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

    def format_rows(self, escape: Callable[[str], str], bold: str) -> Iterator[list[str]]:
        """Escape the cells of all rows; `bold` is the format of a bold cell, such as "**{}**"."""
        for i, row in enumerate(self.rows):
            cells = map(escape, row)
            yield [bold.format(c) if (i, j) in self.bold else c for j, c in enumerate(cells)]

    def to_markdown(self) -> str:
        """Format as a Markdown table."""
        alignment = ["---" if self.is_text(j) else "---:" for j in range(len(self.columns))]
        lines = [f"**{escape_markdown(self.title)}**", ""]
        lines += [f"| {' | '.join(map(escape_markdown, self.columns))} |"]
        lines += [f"|{'|'.join(alignment)}|"]
        lines += [f"| {' | '.join(row)} |" for row in self.format_rows(escape_markdown, "**{}**")]
        for note in self.notes:
            lines += ["", escape_markdown(note)]
        return "\n".join(lines)

    def to_latex(self) -> str:
        """Format as a LaTeX table that uses booktabs."""
        rows = [map(escape_latex, self.columns), *self.format_rows(escape_latex, r"\textbf{{{}}}")]
        columns = range(len(self.columns))
        is_long = [any(len(row[j]) > _LONGEST_LINE for row in self.rows) for j in columns]
        # Columns with long texts are paragraphs that share the width of the page.
        paragraph = rf"p{{{0.9 / max(sum(is_long), 1):.2f}\linewidth}}"
        short = ["l" if self.is_text(j) else "r" for j in columns]
        alignment = "".join(paragraph if is_long[j] else short[j] for j in columns)
        header, *body = (" & ".join(cells) + r" \\" for cells in rows)
        caption = " ".join(map(escape_latex, [f"{self.title}.", *self.notes]))
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}"]
        lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
        lines += [header, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        return "\n".join(lines)

    def to_csv(self) -> str:
        """Format as CSV, without title and notes."""
        rows = [list(map(escape_formula, row)) for row in self.rows]
        table = pd.DataFrame(rows, columns=list(map(escape_formula, self.columns)), dtype=object)
        return frame_to_csv(table)


def write_tables(folder: Path, name: str, tables: Sequence[TextTable]) -> None:
    """Write tables to ``tables/name.md`` and ``.tex``, and each table to its own CSV file."""
    texts = {
        ".md": "\n\n".join(table.to_markdown() for table in tables) + "\n",
        ".tex": "\n\n".join(table.to_latex() for table in tables) + "\n",
    }
    for table in tables:
        suffix = "" if len(tables) == 1 else "-" + re.sub(r"\W+", "-", table.title.lower())
        texts[f"{suffix}.csv"] = table.to_csv()
    for suffix, text in texts.items():
        write_inside(folder, f"tables/{name}{suffix}", text.encode())
