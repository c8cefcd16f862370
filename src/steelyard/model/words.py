"""Conditions on things that are present, absent or counted, in words. Knows names and counts only."""

from __future__ import annotations

import math

#: Kinds of attributes that read like words: 0/1 attributes, and the columns of a sparse table.
WORD_KINDS = ("presence", "word")


def count_range(low: float, cut: float) -> tuple[int, float]:
    """The smallest and the largest count n with ``low ≤ n < cut``.

    Examples
    --------
    >>> count_range(0.5, math.inf), count_range(-math.inf, 2.5)
    ((1, inf), (0, 2))
    """
    first = max(math.ceil(low), 0) if low > -math.inf else 0
    return first, cut if math.isinf(cut) else math.ceil(cut) - 1


def describe_counts(name: str, first: int, last: float) -> str:
    """What it means that a count is between two numbers.

    Examples
    --------
    >>> describe_counts("gpl", 1, math.inf), describe_counts("fever", 0, 0)
    ('has gpl', 'no fever')
    >>> describe_counts("gpl", 3, math.inf), describe_counts("gpl", 0, 1)
    ('gpl at least 3 times', 'gpl at most once')
    """
    if last == 0:
        return f"no {name}"
    if last == math.inf:
        return f"has {name}" if first == 1 else f"{name} at least {_times(first)}"
    if first == 0:
        return f"{name} at most {_times(last)}"
    if first == last:
        return f"{name} exactly {_times(first)}"
    return f"{name} {first} to {_times(last)}"


def describe_count_change(name: str, kind: str, value: float, first: int, last: float) -> str:
    """What to do so that a count comes between two numbers.

    Examples
    --------
    >>> describe_count_change("gpl", "word", 0, 1, math.inf)
    'add the word gpl'
    >>> describe_count_change("fever", "presence", 1, 0, 0)
    'remove fever'
    >>> describe_count_change("gpl", "word", 1, 3, math.inf)
    'use the word gpl at least 3 times instead of once'
    """
    thing = f"the word {name}" if kind == "word" else name
    if value <= 0 and first == 1:
        return f"add {thing}"
    if last == 0:
        return f"remove {thing}"
    wanted = describe_counts("", first, last).removeprefix("has ").strip() or "once"
    return f"use {thing} {wanted} instead of {_times(value)}"


def _times(n: float) -> str:
    return "once" if n == 1 else f"{n:g} times"
