"""Theory → LaTeX: one tabular with the rules of all labels, needing only booktabs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..rules import format_body

if TYPE_CHECKING:
    from ..theory import Label, Theory

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
    yield r"\begin{tabular}{lrrr}"
    yield r"\toprule"
    yield r"rule & TP & FP & precision \\"
    for label in theory.labels:
        yield r"\midrule"
        yield rf"\multicolumn{{4}}{{l}}{{{_title(label)}}} \\"
        rules = theory.rules_of(label.name)
        if not rules:
            yield r"\quad no rule & & & \\"
        for scored in rules:
            body = _escape(format_body(scored.rule.body)) or "always"
            yield rf"\quad {body} & {scored.tp} & {scored.fp} & {scored.precision:.2f} \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _title(label: Label) -> str:
    sign = "" if label.target_class else r"$\neg$"
    n_examples = label.n_positives + label.n_negatives
    return rf"{sign}\textbf{{{_escape(label.name)}}} ({label.n_positives} of {n_examples})"


def _escape(text: str) -> str:
    """Names are text, not commands; an empty line would end the paragraph."""
    return "".join(_REPLACEMENTS.get(character, character) for character in " ".join(text.split()))
