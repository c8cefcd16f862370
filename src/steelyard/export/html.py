"""Theory → an HTML table for notebooks, or a page of its own. Names are untrusted: all is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from steelyard._text import format_count
from steelyard.model.evidence import Label
from steelyard.model.rules import ScoredRule
from steelyard.model.theory import Theory

from .rows import list_columns, list_sections

# A notebook with tens of thousands of table rows stops responding.
_MAX_RULES = 300

_LEFT = "text-align:left"
_RIGHT_COLOUR = "#009E73"  # bluish green and vermillion of Okabe and Ito: distinct for all eyes
_WRONG_COLOUR = "#D55E00"


# A page loads nothing and runs nothing; bars and alignment are styles of elements.
_HEAD = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; width: 100%; }}
caption {{ padding-bottom: 1em; }}
td, th {{ padding: 3px 8px; text-align: right; border-bottom: 1px solid #ddd; }}
tbody th {{ padding-top: 1.2em; }}
small {{ color: #666; font-weight: normal; }}
</style></head><body>
"""


def to_html(theory: Theory) -> str:
    """The rules of a theory as a table for notebooks, grouped by label.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.export import to_html
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y[["high cholesterol"]]).theory_
    >>> to_html(theory).count("<tr>") > len(theory)
    True
    """
    return "".join(_parts(theory, _MAX_RULES, "label"))


def to_page(theory: Theory, by: str = "label") -> str:
    """The rules of a theory as a page of its own, with all rules and with who made them.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.export import to_page
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y[["high cholesterol"]]).theory_
    >>> to_page(theory).rstrip().endswith("</html>")
    True
    """
    title = escape(f"{format_count(len(theory), 'rule')} for {', '.join(theory.label_names[:5])}")
    table = "".join(_parts(theory, len(theory), by))
    return f"{_HEAD.format(title=title)}{table}\n</body></html>\n"


def _parts(theory: Theory, max_rules: int, by: str) -> Iterator[str]:
    columns = list_columns(theory)
    labels = {label.name: label for label in theory.labels}
    caption = "<br>".join(map(escape, filter(None, [theory.summary, theory.evidence_note])))
    titles = "".join(f"<th>{title}</th>" for title in columns)
    yield f'<table class="steelyard-theory"><caption style="{_LEFT}">{caption}'
    yield f'</caption><thead><tr><th style="{_LEFT}">rule</th><th></th>{titles}</tr></thead>'
    n_left = max_rules
    for section in list_sections(theory, by):
        share = f"{section.share} examples, " if section.share else ""
        count = f"{share}{section.silence or format_count(len(section.rows), 'rule')}"
        yield f'<tbody><tr><th colspan="{2 + len(columns)}" style="{_LEFT}">{escape(section.title)} '
        yield f"<small>{count}{section.note}</small></th></tr>"
        for scored, text, numbers in section.rows[:n_left]:
            cells = "".join(f"<td>{number}</td>" for number in numbers)
            origin = escape(scored.provenance.describe())
            origin = f" <small>{origin}</small>" if origin else ""
            yield f'<tr><td style="{_LEFT};white-space:normal">{escape(text)}{origin}</td>'
            yield f"<td>{_bar(scored, labels[scored.head.label])}</td>{cells}</tr>"
        n_left = max(n_left - len(section.rows), 0)
        yield "</tbody>"
    yield "</table>"
    if len(theory) > max_rules:
        n_hidden = len(theory) - max_rules
        yield f"<p>… and {n_hidden} more rules; print the theory to see all of them.</p>"


def _bar(scored: ScoredRule, label: Label) -> str:
    """TP and FP side by side, relative to the number of examples with the head of the rule."""
    is_for_target = scored.head.target_class == label.target_class
    unit = 60 / max(label.n_positives if is_for_target else label.n_negatives, 1)
    right, wrong = scored.tp * unit, min(scored.fp * unit, 60)
    return (
        f'<svg width="120" height="8" aria-hidden="true"><rect width="{right:.1f}" height="8" '
        f'fill="{_RIGHT_COLOUR}"/><rect x="{right:.1f}" width="{wrong:.1f}" height="8" '
        f'fill="{_WRONG_COLOUR}"/></svg>'
    )
