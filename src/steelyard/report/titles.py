"""Names and numbers as people read them: titles of measures, parameters and ticks. Knows no study."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from steelyard.heuristics import HEURISTICS, Family
from steelyard.measures import MEASURES, SCORE_MEASURES

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# The paper's methods: M_F, M_H, M_S, and R1 to R3; several families are told apart in brackets.
_PAPER_NAME = re.compile(r"(M(?=_)|R(?=[123]))_?([FHS123])((?: \(.*\))?)")
_STEPS = (1, 2, 4, 5, 10, 20)
_SIZE_TITLES = {"n_rules": "Number of rules", "n_conditions": "Conditions per rule"}


def symbol_of(family: str, families: Iterable[Family] = ()) -> str:
    """The sign of a heuristic's parameter; empty if it has none.

    Parameters
    ----------
    family : str
        The name of the family.
    families : iterable of Family
        Families to look in first, such as those of a study: a family of your own has its own sign.

    Examples
    --------
    >>> symbol_of("f-measure"), symbol_of("wra"), symbol_of("a family of yours")
    ('β', '', 'parameter')
    """
    own = {known.name: known.symbol for known in families}
    if family in own:
        return own[family]
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


def short_title_of(measure: str) -> str:
    """The name of a measure where there is little room.

    Examples
    --------
    >>> short_title_of("hamming"), short_title_of("n_conditions"), short_title_of("recall_micro")
    ('Hamming', 'Conditions', 'Recall')
    """
    short = {"n_rules": "Rules", "n_conditions": "Conditions"}
    # As in the paper, what is not said to be averaged otherwise is micro-averaged.
    title = title_of(measure).removesuffix(" accuracy").removeprefix("Micro ")
    return short.get(measure, title[:1].upper() + title[1:])


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
    """Positions of the ticks that have a label: all of them, or every second, fourth, fifth, ...

    Other steps would label φ with 1, 0.85, 0.7, ... instead of 1, 0.8, 0.6, ...

    Examples
    --------
    >>> list(thin_ticks(5, 20)), list(thin_ticks(20, 10)), list(thin_ticks(20, 7))
    ([0, 1, 2, 3, 4], [0, 2, 4, 6, 8, 10, 12, 14, 16, 18], [0, 4, 8, 12, 16])
    """
    needed = math.ceil(n_ticks / limit)
    return range(0, n_ticks, next((step for step in _STEPS if step >= needed), max(needed, 1)))


def name_to_math(name: str) -> str:
    r"""The name of a method as matplotlib and LaTeX's formulas read it: the paper's have an index.

    Examples
    --------
    >>> print(name_to_math("M_F (m-estimate)"), name_to_math("R1"), name_to_math("costs $ 5"))
    $M_F$ (m-estimate) $R_1$ costs \$ 5
    """
    match = _PAPER_NAME.fullmatch(name)
    if match is None:
        return name.replace("$", r"\$")
    letter, index, rest = match.groups()
    return f"${letter}_{index}$" + rest.replace("$", r"\$")


def plain_text(text: str) -> str:
    """The text without characters that no font can draw, which are replaced."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def write_plain(write: Callable[..., Any], *arguments: Any, **style: Any) -> Any:
    """Call a function of matplotlib that writes a text, which may hold any name.

    A dollar sign starts no formula, and characters that no font can draw are replaced.
    """
    *place, text = arguments
    return write(*place, plain_text(text), parse_math=False, **style)
