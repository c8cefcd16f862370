"""Theory → LaTeX: one tabular with the rules of all labels, needing only booktabs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from steelyard.model.decoding import format_points
from steelyard.model.rules import format_body

from .points import format_starts

if TYPE_CHECKING:
    from steelyard.model.evidence import Label
    from steelyard.model.theory import Theory

_REPLACEMENTS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
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


def to_latex(theory: Theory) -> str:
    """See `Theory.to_latex`."""
    return "\n".join(_lines(theory)) + "\n"


def _lines(theory: Theory) -> Iterator[str]:
    yield "% needs \\usepackage{booktabs}"
    n_numbers = 3 + theory.has_points
    starts = format_starts(theory)
    yield rf"\begin{{tabular}}{{l{'r' * n_numbers}}}"
    yield r"\toprule"
    yield "rule &" + " weight &" * theory.has_points + r" TP & FP & precision \\"
    for label in theory.labels:
        yield r"\midrule"
        title = _title(label, starts.get(label.name))
        yield rf"\multicolumn{{{n_numbers + 1}}}{{l}}{{{title}}} \\"
        rules = theory.rules_of(label.name)
        if not rules:
            yield r"\quad no rule" + " &" * n_numbers + r" \\"
        for scored in rules:
            body = _escape(format_body(scored.rule.body)) or "always"
            weight = f" ${format_points(scored.vote)}$ &" * theory.has_points
            counts = f"{scored.tp} & {scored.fp} & {scored.precision:.2f}"
            yield rf"\quad {body} &{weight} {counts} \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _title(label: Label, start: str | None) -> str:
    sign = "" if label.target_class else r"$\neg$"
    n_examples = label.n_positives + label.n_negatives
    start = "" if start is None else f", start ${start}$"
    return rf"{sign}\textbf{{{_escape(label.name)}}} ({label.n_positives} of {n_examples}{start})"


def _escape(text: str) -> str:
    """Names are text, not commands; an empty line would end the paragraph."""
    return "".join(_REPLACEMENTS.get(character, character) for character in " ".join(text.split()))
