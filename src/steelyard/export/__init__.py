"""Theories for other places: SQL, Python, PMML, LaTeX, Markdown, pages, notebooks and pictures.

One file per format. A writer reads theories through `Theory.answers` or their rules; it knows nothing
of learning, and nothing of which combiner or decoder a theory has.
"""

from .html import to_html, to_page
from .latex import to_latex
from .markdown import to_markdown
from .picture import plot_theory
from .pmml import to_pmml
from .python import to_python
from .sql import to_sql

__all__ = [
    "plot_theory",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_page",
    "to_pmml",
    "to_python",
    "to_sql",
]
