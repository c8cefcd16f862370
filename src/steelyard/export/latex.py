"""Theory → LaTeX: one longtable with the rules of all labels; it breaks over lines and pages."""

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

# Width of a column of numbers, with the space between columns, in em.
_NUMBER_WIDTH = 5


def to_latex(theory: Theory) -> str:
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
    return "\n".join(_lines(theory)) + "\n"


def _lines(theory: Theory) -> Iterator[str]:
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
    yield _row("rule", *columns)
    yield r"\midrule"
    yield r"\endhead"
    yield r"\bottomrule"
    yield r"\endlastfoot"
    for i, (label, note, rows, silence) in enumerate(list_rows(theory)):
        if i:
            yield r"\midrule"
        sign = "" if label.target_class else r"$\neg$"
        share = f"{label.n_positives} of {label.n_examples}" if label.n_examples else ""
        about = f"{share}{_escape(note)}".removeprefix(", ")
        title = rf"{sign}\textbf{{{_escape(label.name)}}}{f' ({about})' if about else ''}"
        # A label stays on the page of its first rule.
        yield rf"\multicolumn{{{n_columns}}}{{@{{}}p{{\linewidth}}@{{}}}}{{{title}}} \\*"
        if silence:
            yield _row(rf"\quad {silence}", *[""] * len(columns))
        for _, body, numbers in rows:
            # A minus is one only in mathematics.
            cells = [f"${number}$" if number[0] in "+-" else number for number in numbers]
            yield _row(rf"\quad {_escape(body)}", *cells)
    yield r"\end{longtable}"


def _row(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def _escape(text: str) -> str:
    """Names are text, not commands; an empty line would end the paragraph."""
    return " ".join(text.split()).translate(_REPLACEMENTS)
