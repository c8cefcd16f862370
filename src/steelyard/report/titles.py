"""Names and numbers as people read them: titles of measures, parameters and ticks. Knows no study."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from steelyard.heuristics import HEURISTICS
from steelyard.measures import MEASURES, SCORE_MEASURES

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SIZE_TITLES = {"n_rules": "Number of rules", "n_conditions": "Conditions per rule"}


def symbol_of(family: str) -> str:
    """The sign of a heuristic's parameter; empty if it has none.

    Examples
    --------
    >>> symbol_of("f-measure"), symbol_of("wra"), symbol_of("a family of yours")
    ('β', '', 'parameter')
    """
    return HEURISTICS[family].symbol if family in HEURISTICS else "parameter"


def title_of(measure: str) -> str:
    """The name of a measure in figures and tables.

    Examples
    --------
    >>> title_of("f1_micro"), title_of("n_rules")
    ('Micro F1', 'Number of rules')
    """
    known = MEASURES.get(measure) or SCORE_MEASURES.get(measure)
    return known.title if known is not None else _SIZE_TITLES.get(measure, measure)


def is_share(measure: str) -> bool:
    """Whether the values of a measure are shares, which are shown in percent."""
    return measure in MEASURES


def format_parameter(value: float) -> str:
    """Format a parameter; NaN, which is none, is a dash.

    Examples
    --------
    >>> [format_parameter(v) for v in (0.0, 16.0, 262144.0, 0.4343145750507619, math.inf, math.nan)]
    ['0', '16', '262144', '0.43', '∞', '–']
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    return str(int(value)) if value == int(value) else f"{value:.2g}"


def tick_of(value: float) -> str:
    """Format a parameter on an axis; large powers of two are written as powers.

    Examples
    --------
    >>> tick_of(64.0), tick_of(524288.0), tick_of(math.inf)
    ('64', '2¹⁹', '∞')
    """
    if 64 < value < math.inf and math.log2(value).is_integer():
        return "2" + str(int(math.log2(value))).translate(_SUPERSCRIPTS)
    return format_parameter(value)


def thin_ticks(n_ticks: int, limit: int) -> range:
    """Positions of the ticks that have a label: all of them, or every second, third, ...

    Examples
    --------
    >>> list(thin_ticks(5, 20)), list(thin_ticks(20, 10))
    ([0, 1, 2, 3, 4], [0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
    """
    return range(0, n_ticks, max(1, math.ceil(n_ticks / limit)))


def write_plain(write: Callable[..., Any], *arguments: Any, **style: Any) -> Any:
    """Call a function of matplotlib that writes a text, which may hold any name.

    A dollar sign starts no formula, and characters that no font can draw are replaced.
    """
    *place, text = arguments
    shown = "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
    return write(*place, shown, parse_math=False, **style)
