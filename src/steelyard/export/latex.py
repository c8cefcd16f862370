"""Theory → LaTeX: one tabular with the rules of all labels, needing only booktabs."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.theory import Theory

from .rows import list_columns, list_rows

_REPLACEMENTS = str.maketrans(
    {character: f"\\{character}" for character in "{}$&#%_"}
    | {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "∧": r"$\wedge$",
        "¬": r"$\neg$",
        # Brackets at the start of a table's row would be read as an argument of the line before.
        "[": "{[}",
        "]": "{]}",
    }
)


def to_latex(theory: Theory) -> str:
    """See `Theory.to_latex`."""
    return "\n".join(_lines(theory)) + "\n"


def _lines(theory: Theory) -> Iterator[str]:
    columns = list_columns(theory)
    yield "% needs \\usepackage{booktabs}"
    if theory.evidence_note:
        yield f"% {theory.evidence_note}"
    yield rf"\begin{{tabular}}{{l{'r' * len(columns)}}}"
    yield r"\toprule"
    yield _row("rule", *columns)
    for label, note, rows in list_rows(theory):
        yield r"\midrule"
        sign = "" if label.target_class else r"$\neg$"
        counts = f"({label.n_positives} of {label.n_examples}{_escape(note)})"
        title = rf"{sign}\textbf{{{_escape(label.name)}}} {counts}"
        yield rf"\multicolumn{{{len(columns) + 1}}}{{l}}{{{title}}} \\"
        if not rows:
            yield r"\quad no rule" + " &" * len(columns) + r" \\"
        for _, body, numbers in rows:
            # A minus is one only in mathematics.
            cells = [f"${number}$" if number[0] in "+-" else number for number in numbers]
            yield _row(rf"\quad {_escape(body)}", *cells)
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _row(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def _escape(text: str) -> str:
    """Names are text, not commands; an empty line would end the paragraph."""
    return " ".join(text.split()).translate(_REPLACEMENTS)
