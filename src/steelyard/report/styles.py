"""Style: widths, heights and sizes of text for a page or a slide, used by every display and table."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from steelyard._extras import needed_here
from steelyard._text import did_you_mean

CM_PER_INCH = 2.54
POINTS_PER_CM = 72 / CM_PER_INCH


@dataclass(frozen=True)
class Style:
    """How figures and tables look at their final size, without scaling.

    Parameters
    ----------
    name : str
    width : float
        Width of a figure in cm: that of a column of text.
    max_height : float
        Maximum height of a figure in cm, which leaves room for its caption.
    page_width : float
        Width of a page's text in cm; larger than `width` if the page has two columns.
    text_height : float
        Height of a page's text in cm.
    max_table_lines : int
        Lines of a table that fit on a page; longer tables are split.
    title_size, text_size, tick_size : float
        Sizes of titles, of labels and legends, and of ticks in pt.
    max_panels : int
        Maximum number of panels in a figure of values.
    is_slide : bool
        Whether the page is a slide: figures are wider than high, and panels lie beside each other.
    fonts : tuple of str
        Families of fonts, first choice first. The default comes with matplotlib, so figures are the
        same on every machine.

    Examples
    --------
    >>> from steelyard.report import STYLES
    >>> STYLES["springer"].width, STYLES["ieee"].tick_size
    (12.2, 7.0)
    >>> from dataclasses import replace
    >>> replace(STYLES["ieee"], width=18.2).width  # a figure over both columns
    18.2
    """

    name: str
    width: float
    max_height: float
    page_width: float
    text_height: float
    max_table_lines: int
    title_size: float = 8.0
    text_size: float = 7.5
    tick_size: float = 7.0
    max_panels: int = 8
    is_slide: bool = False
    fonts: tuple[str, ...] = ("DejaVu Sans",)

    @property
    def em(self) -> float:
        """The size of text in cm, as a unit of margins."""
        return self.text_size / POINTS_PER_CM

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of matplotlib: sizes, thin lines, and fonts that a PDF embeds as TrueType."""
        return {
            "font.family": list(self.fonts),
            "font.size": self.text_size,
            "figure.titlesize": self.title_size,
            "axes.titlesize": self.title_size,
            "axes.labelsize": self.text_size,
            "legend.fontsize": self.text_size,
            "xtick.labelsize": self.tick_size,
            "ytick.labelsize": self.tick_size,
            "axes.titlepad": 3.0,
            "axes.labelpad": 2.0,
            "axes.linewidth": 0.6,
            "lines.linewidth": 1.0,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "xtick.major.size": 2.0,
            "ytick.major.size": 2.0,
            "xtick.major.pad": 2.0,
            "ytick.major.pad": 2.0,
            "mathtext.fontset": "dejavusans",
            "pdf.fonttype": 42,
            "ps.fonttype": 42,
            "savefig.dpi": 300,
        }

    def context(self) -> AbstractContextManager[Any]:
        """Use the parameters of matplotlib within a ``with`` block, for drawing and for saving.

        Examples
        --------
        >>> import matplotlib
        >>> with get_style("beamer").context():
        ...     matplotlib.rcParams["pdf.fonttype"], matplotlib.rcParams["font.size"]
        (42, 9.0)
        """
        with needed_here("matplotlib"):
            import matplotlib

        parameters: Any = self.parameters
        return matplotlib.rc_context(parameters)


#: Styles by name. The first one is the default.
STYLES: dict[str, Style] = {
    style.name: style
    for style in (
        # Springer's LNCS: one column. Captions of two or three lines fit below the highest figure.
        Style("springer", 12.2, 17.0, page_width=12.2, text_height=19.3, max_table_lines=40),
        # IEEE's journals and conferences: two columns.
        Style("ieee", 8.89, 20.0, page_width=18.2, text_height=24.0, max_table_lines=50),
        # A slide of LaTeX's beamer, 16 : 9, below its title.
        Style(
            "beamer",
            14.0,
            6.6,
            page_width=14.0,
            text_height=9.0,
            max_table_lines=14,
            title_size=9.0,
            text_size=9.0,
            tick_size=8.0,
            max_panels=6,
            is_slide=True,
        ),
    )
}
DEFAULT_STYLE = "springer"


def get_style(style: Style | str | None = None) -> Style:
    """A style from an object or a name; None is the default.

    Examples
    --------
    >>> from steelyard.report import get_style
    >>> get_style().name
    'springer'
    >>> get_style("springr")
    Traceback (most recent call last):
        ...
    ValueError: unknown style 'springr' (did you mean 'springer'?); choose from springer, ieee, beamer
    """
    if isinstance(style, Style):
        return style
    name = DEFAULT_STYLE if style is None else style
    if name not in STYLES:
        hint = did_you_mean(str(name), STYLES)
        raise ValueError(f"unknown style {name!r}{hint}; choose from {', '.join(STYLES)}")
    return STYLES[name]
