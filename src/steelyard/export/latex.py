"""Theory → LaTeX: one tabular with the rules of all labels, needing only booktabs."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.conditions import format_body
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
    columns = list(theory.combiner.rule_columns(()))
    n_numbers = 3 + len(columns)
    yield rf"\begin{{tabular}}{{l{'r' * n_numbers}}}"
    yield r"\toprule"
    yield " & ".join(["rule", *columns, "TP", "FP", "precision"]) + r" \\"
    for j, label in enumerate(theory.labels):
        yield r"\midrule"
        title = _title(label, theory.combiner.describe_label(j))
        yield rf"\multicolumn{{{n_numbers + 1}}}{{l}}{{{title}}} \\"
        rules = theory.rules_of(label.name)
        if not rules:
            yield r"\quad no rule" + " &" * n_numbers + r" \\"
        numbers = theory.combiner.rule_columns(rules).values()
        for scored, *more in zip(rules, *numbers, strict=True):
            body = _escape(format_body(scored.body)) or "always"
            cells = [f"${number:+.2f}$" for number in more]
            cells += [str(scored.tp), str(scored.fp), f"{scored.precision:.2f}"]
            yield rf"\quad {body} & {' & '.join(cells)} \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _title(label: Label, note: str) -> str:
    sign = "" if label.target_class else r"$\neg$"
    note = f", {_escape(note)}" if note else ""
    name = rf"{sign}\textbf{{{_escape(label.name)}}}"
    return f"{name} ({label.n_positives} of {label.n_examples}{note})"


def _escape(text: str) -> str:
    """Names are text, not commands; an empty line would end the paragraph."""
    return "".join(_REPLACEMENTS.get(character, character) for character in " ".join(text.split()))
