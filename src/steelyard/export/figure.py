"""A figure that shows itself in notebooks. Imports matplotlib, so it is imported when needed."""

from __future__ import annotations

import io

from steelyard._extras import needed_here

with needed_here("matplotlib"):
    from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that needs no pyplot: a notebook shows it, and it leaves no window open elsewhere.

    A notebook draws plain figures only after pyplot was set up, which a first cell may not have done.
    """

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", bbox_inches="tight")
        return buffer.getvalue()
