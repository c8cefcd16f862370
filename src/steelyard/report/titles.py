"""Words for people: titles of measures, ticks of parameters, numbers in tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steelyard.measures import MEASURES

SYMBOLS = {"m-estimate": "m", "f-measure": "β"}
_SIZE_TITLES = {"n_rules": "Number of rules", "n_conditions": "Conditions per rule"}


def title_of(measure: str) -> str:
    """The name of a measure in figures and tables.

    Examples
    --------
    >>> title_of("f1_micro"), title_of("n_rules")
    ('Micro F1', 'Number of rules')
    """
    return MEASURES[measure].title if measure in MEASURES else _SIZE_TITLES.get(measure, measure)


def is_share(measure: str) -> bool:
    """Whether the values of a measure are shares, to be shown in percent."""
    return measure in MEASURES


def format_parameter(value: float) -> str:
    """A parameter in plain text.

    Examples
    --------
    >>> [format_parameter(v) for v in (0.0, 16.0, 262144.0, 0.4343145750507619, math.inf)]
    ['0', '16', '262144', '0.43', '∞']
    """
    if math.isinf(value):
        return "∞"
    return str(int(value)) if value == int(value) else f"{value:.2g}"


def tick_of(value: float) -> str:
    """A parameter on an axis; large powers of two as powers.

    Examples
    --------
    >>> tick_of(64.0), tick_of(524288.0), tick_of(math.inf)
    ('64', '$2^{19}$', '∞')
    """
    if 64 < value < math.inf and math.log2(value).is_integer():
        return f"$2^{{{int(math.log2(value))}}}$"
    return format_parameter(value)


def thin_ticks(labels: Sequence[str], limit: int) -> list[str]:
    """Every label if there are few, else every other one (the first always stays)."""
    step = max(1, math.ceil(len(labels) / limit))
    return [label if i % step == 0 else "" for i, label in enumerate(labels)]
