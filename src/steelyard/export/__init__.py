"""Theories for other places: text, Markdown, LaTeX, SQL, Python, PMML, notebooks and pictures.

One file a format. A format knows the rules of a theory and their counts, nothing of learning; it is
given any object with the attributes of a `Theory`, whose methods call these functions.
"""

from .html import to_html
from .latex import to_latex
from .markdown import to_markdown
from .picture import plot_theory
from .pmml import to_pmml
from .points import align_weights, describe_points, format_starts
from .python import to_python
from .sql import to_sql

__all__ = [
    "align_weights",
    "describe_points",
    "format_starts",
    "plot_theory",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_pmml",
    "to_python",
    "to_sql",
]
