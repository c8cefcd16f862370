"""A table of text that can be written as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard._files import write_atomically

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "φ": r"$\phi$",
    "β": r"$\beta$",
    "χ": r"$\chi$",
    "²": r"$^2$",
    "≈": r"$\approx$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "<": r"$<$",
    ">": r"$>$",
    "←": r"$\leftarrow$",
    "∧": r"$\wedge$",
    "¬": r"$\neg$",
    "∞": r"$\infty$",
}


# Longer texts are set as paragraphs in LaTeX.
_LONGEST_LINE = 40


def escape_latex(text: str) -> str:
    r"""Text as LaTeX shows it.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b, φ ≥ 0.5"))
    50 \% of a\_b, $\phi$ $\geq$ 0.5
    """
    return "".join(_LATEX.get(character, character) for character in text)


def escape_markdown(text: str) -> str:
    r"""Text as Markdown shows it in a cell of a table.

    Examples
    --------
    >>> print(escape_markdown("a|b <img>"))
    a\|b &lt;img&gt;
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\|*_`\[\]])", r"\\\1", text)


@dataclass(frozen=True)
class TextTable:
    """Rows of text under a header; cells in `bold` are the best of their row.

    Parameters
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequences of str
    bold : frozenset of (row, column), default=empty
    notes : sequence of str, default=()
        Sentences under the table.

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
        """Whether a column holds words, which stand to the left; numbers stand to the right."""
        cells = [row[column] for row in self.rows]
        return column == 0 or any(re.search(r"[^\W\d_]{3}", cell) for cell in cells)

    def _latex_alignment(self) -> str:
        """Long texts are broken into lines; they share the width of the page."""
        is_long = [
            max((len(row[j]) for row in self.rows), default=0) > _LONGEST_LINE
            for j in range(len(self.columns))
        ]
        paragraph = rf"p{{{0.9 / max(sum(is_long), 1):.2f}\linewidth}}"
        return "".join(
            paragraph if long else "l" if self.is_text(j) else "r" for j, long in enumerate(is_long)
        )

    def to_markdown(self) -> str:
        """As a Markdown table."""
        lines = [f"**{escape_markdown(self.title)}**", ""]
        lines.append("| " + " | ".join(map(escape_markdown, self.columns)) + " |")
        rules = ("---" if self.is_text(j) else "---:" for j in range(len(self.columns)))
        lines.append("|" + "|".join(rules) + "|")
        for i, row in enumerate(self.rows):
            cells = [
                f"**{escape_markdown(cell)}**" if (i, j) in self.bold else escape_markdown(cell)
                for j, cell in enumerate(row)
            ]
            lines.append("| " + " | ".join(cells) + " |")
        for note in self.notes:
            lines += ["", escape_markdown(note)]
        return "\n".join(lines)

    def to_latex(self) -> str:
        """As a LaTeX table, for the package booktabs."""
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{' '.join(map(escape_latex, [self.title + '.', *self.notes]))}}}",
            rf"\begin{{tabular}}{{{self._latex_alignment()}}}",
            r"\toprule",
            " & ".join(map(escape_latex, self.columns)) + r" \\",
            r"\midrule",
        ]
        for i, row in enumerate(self.rows):
            cells = [
                rf"\textbf{{{escape_latex(cell)}}}" if (i, j) in self.bold else escape_latex(cell)
                for j, cell in enumerate(row)
            ]
            lines.append(" & ".join(cells) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])

    def to_csv(self) -> str:
        """As CSV, without title and notes."""
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([self.columns, *self.rows])
        return buffer.getvalue()


def write_tables(path: Path, tables: Sequence[TextTable]) -> list[Path]:
    """Write tables to ``path.md`` and ``path.tex``, and each to a CSV file of its own."""
    texts = {
        f"{path.name}.md": "\n\n".join(table.to_markdown() for table in tables) + "\n",
        f"{path.name}.tex": "\n\n".join(table.to_latex() for table in tables) + "\n",
    }
    for table in tables:
        suffix = "" if len(tables) == 1 else "-" + re.sub(r"\W+", "-", table.title.lower())
        texts[f"{path.name}{suffix}.csv"] = table.to_csv()
    for name, text in texts.items():
        write_atomically(path.with_name(name), text.encode())
    return [path.with_name(name) for name in texts]
