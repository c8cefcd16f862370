"""Theory → LaTeX: one longtable with all rules, by label or by body; it breaks over lines and pages."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.theory import Theory

from .rows import list_columns, list_sections

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

# Width of a column of numbers, with the space between columns, in em.
_NUMBER_WIDTH = 5


def to_latex(theory: Theory, by: str = "label") -> str:
    r"""See `Theory.to_latex`.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.export import to_latex
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y[["high cholesterol"]]).theory_
    >>> r"\begin{longtable}" in to_latex(theory)
    True
    """
    return "\n".join(_lines(theory, by)) + "\n"


def _lines(theory: Theory, by: str) -> Iterator[str]:
    columns = list_columns(theory)
    n_columns = len(columns) + 1
    yield "% needs \\usepackage{array,booktabs,longtable}"
    if theory.evidence_note:
        yield f"% {theory.evidence_note}"
    # Long rules are broken into lines, and a long table into pages, with the titles on each of them.
    width = rf"\dimexpr\linewidth-{_NUMBER_WIDTH * len(columns):g}em\relax"
    body = rf"@{{}}>{{\raggedright\arraybackslash\hangindent=2em\hangafter=1}}p{{{width}}}"
    yield rf"\begin{{longtable}}{{{body}{'r' * len(columns)}@{{}}}}"
    yield r"\toprule"
    yield _row("rule" if by == "label" else "rule, labels", *columns)
    yield r"\midrule"
    yield r"\endhead"
    yield r"\bottomrule"
    yield r"\endlastfoot"
    for i, section in enumerate(list_sections(theory, by)):
        if i:
            yield r"\midrule"
        about = _escape(f"{section.share}{section.note}".removeprefix(", "))
        title = rf"\textbf{{{_escape(section.title)}}}{f' ({about})' if about else ''}"
        # A title stays on the page of its first row.
        yield rf"\multicolumn{{{n_columns}}}{{@{{}}p{{\linewidth}}@{{}}}}{{{title}}} \\*"
        if section.silence:
            yield _row(rf"\quad {section.silence}", *[""] * len(columns))
        for _, text, numbers in section.rows:
            # A minus is one only in mathematics.
            cells = [f"${number}$" if number[0] in "+-" else number for number in numbers]
            yield _row(rf"\quad {_escape(text)}", *cells)
    yield r"\end{longtable}"


def _row(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def _escape(text: str) -> str:
    """Names are text, not commands; an empty line would end the paragraph."""
    return " ".join(text.split()).translate(_REPLACEMENTS)
