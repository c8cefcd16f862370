"""A theory with points as plain tallies: what each label starts with and what its rules change.

Points are for a label's presence here, so that a rule for its absence has a negative vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.model.decoding import (
    SHARES,
    format_points,
    points_to_probability,
    probability_to_points,
)

if TYPE_CHECKING:
    from steelyard.model.decoding import KnownLabelSets
    from steelyard.model.evidence import ScoredRule
    from steelyard.model.theory import Theory


@dataclass(frozen=True)
class Tally:
    """The points for the presence of one label.

    Parameters
    ----------
    name : str
    start : int
        The points where no rule fires.
    rules : tuple of ScoredRule
        The strongest one first.
    is_sum : bool
        Whether the votes of all firing rules are added to the start; otherwise the vote of the first
        one that fires takes its place.
    """

    name: str
    start: int
    rules: tuple[ScoredRule, ...]
    is_sum: bool


def theory_to_tallies(theory: Theory) -> list[Tally]:
    """One tally a label."""
    is_sum = theory.combine == "weighted"
    return [
        Tally(
            label.name,
            start,
            tuple(sorted(theory.rules_of(label.name), key=lambda scored: -(scored.points or 0))),
            is_sum,
        )
        for label, start in zip(theory.labels, theory.start_points or (), strict=True)
    ]


def align_weights(rules: Sequence[ScoredRule]) -> list[str]:
    """Values and votes of rules in columns: in a theory with points both can have many digits."""
    values = [f"{scored.value:.3f}" for scored in rules]
    votes = [format_points(scored.vote) for scored in rules]
    widths = [max(map(len, texts), default=0) for texts in (values, votes)]
    return [
        f"{value:>{widths[0]}}  {vote:>{widths[1]}}"
        for value, vote in zip(values, votes, strict=True)
    ]


def format_starts(theory: Theory) -> dict[str, str]:
    """The log-odds that each label starts with; no labels for a theory without points."""
    starts = map(format_points, theory.start_points or ())
    return dict(zip(theory.label_names, starts, strict=False))


def describe_points(theory: Theory) -> str:
    """How the points decide, to be added to a summary; nothing for a theory without points."""
    if not theory.has_points:
        return ""
    votes = "weighted votes" if theory.combine == "weighted" else "the strongest vote counts"
    if theory.label_sets is None:
        return f"; {votes}{_describe_threshold(theory)}"
    return f"; {votes}{_describe_sets(theory.label_sets)}"


def _describe_threshold(theory: Theory) -> str:
    """From which probability on a label is predicted, if not from ½: all starts are shifted by it."""
    shares = [
        label.n_positives / max(label.n_positives + label.n_negatives, 1) for label in theory.labels
    ]
    shifts = set((probability_to_points(shares) - np.array(theory.start_points)).tolist())
    if len(shifts) != 1 or shifts == {0}:
        return ""
    return f"; a label needs a probability of more than {points_to_probability(shifts.pop()):.0%}"


def _describe_sets(known: KnownLabelSets) -> str:
    text = f"; label sets: {len(known.sets)} known, frequency weight {known.frequency_weight:g}"
    if known.min_share is None:
        return text
    needed = f"{100 * known.min_share_in_thousandths / SHARES:g} %"
    return f"{text}, a label needs more than {needed} of the votes"
