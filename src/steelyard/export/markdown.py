"""Theory → Markdown: a table of rules for each label, or of labels for each body."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.model.theory import Theory

from .rows import list_columns, list_sections

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~$&])")


def to_markdown(theory: Theory, by: str = "label") -> str:
    """See `Theory.to_markdown`.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.export import to_markdown
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y[["high cholesterol"]]).theory_
    >>> print(to_markdown(theory).splitlines()[0])
    6 rules for 1 label, ...
    """
    return "\n".join(_lines(theory, by)) + "\n"


def _lines(theory: Theory, by: str) -> Iterator[str]:
    yield _escape(theory.summary)
    if theory.evidence_note:
        yield from ("", _escape(theory.evidence_note))
    columns = list_columns(theory)
    for section in list_sections(theory, by):
        yield from ("", f"## {_escape(section.heading)}", "")
        if not section.rows:
            yield f"{section.silence.capitalize()}."
            continue
        yield _row("rule" if by == "label" else "label", *columns)
        yield "|:--|" + "--:|" * len(columns)
        for _, text, numbers in section.rows:
            yield _row(_escape(text), *numbers)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _escape(text: str) -> str:
    """Names are text, not markup; a line break would end the row of the table."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
