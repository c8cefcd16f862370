"""A theory as formulas, the neutral form that every executable export writes down.

Combiners give the score of each label as a `FirstHit` or a `Sum`; decoders turn scores into answers.
A writer only has to know these few forms, not which combiner or decoder made them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from .rules import ScoredRule

Case = tuple[ScoredRule, Any]
#: What a search among label sets looks for.
SetAim = Literal["set", "share", "f1"]


@dataclass(frozen=True)
class FirstHit:
    """The value of the first case whose rule fires, else the default."""

    cases: tuple[Case, ...]
    default: Any

    def above(self, name: str, cut: int, outcomes: Sequence[Any]) -> Answer:
        """Which of two outcomes holds: the second one if the value is above the cut."""
        cases = tuple((scored, outcomes[value > cut]) for scored, value in self.cases)
        return Choice(name, FirstHit(cases, outcomes[self.default > cut]))


@dataclass(frozen=True)
class Sum:
    """The start plus the values of all cases whose rule fires."""

    start: int
    cases: tuple[Case, ...]

    def above(self, name: str, cut: int, outcomes: Sequence[Any]) -> Answer:
        """Which of two outcomes holds: the second one if the value is above the cut."""
        return Above(name, self, cut, (outcomes[0], outcomes[1]))


Formula = FirstHit | Sum


class LabelFormulas(NamedTuple):
    """The scores of all labels as formulas.

    Parameters
    ----------
    names : names of the answers, one per label
    formulas : one per label
    outcomes : what is written for absence and presence, or one class per label
    """

    names: Sequence[str]
    formulas: Sequence[Formula]
    outcomes: Sequence[Any]


@dataclass(frozen=True)
class Choice:
    """An answer that a first hit gives."""

    name: str
    value: FirstHit


@dataclass(frozen=True)
class Above:
    """An answer that depends on whether a sum is above a cut."""

    name: str
    score: Sum
    cut: int
    outcomes: tuple[Any, Any]


@dataclass(frozen=True)
class Largest:
    """The outcome with the largest score, the first of equals."""

    name: str
    scores: tuple[Formula, ...]
    outcomes: tuple[Any, ...]


@dataclass(frozen=True)
class LabelSetSearch:
    """Presence of several labels, found by comparing label sets.

    The score of a set is the sum of the scores of its labels plus its own points. With `unseen_points`,
    the set of all labels with a positive score takes part as the last one, with these points.

    Parameters
    ----------
    names : tuple of str
    scores : tuple of Formula, one per label
    sets : tuple of (positions of labels, points)
    unseen_points : int or None
    min_share : int or None
    aim : {"set", "share", "f1"}
        The set with the largest score, the first of equals; the labels with more than `min_share`
        thousandths of the votes of all sets; or the labels with the largest expected F1.
    """

    names: tuple[str, ...]
    scores: tuple[Formula, ...]
    sets: tuple[tuple[tuple[int, ...], int], ...]
    unseen_points: int | None
    min_share: int | None = None
    aim: SetAim = "set"


Answer = Choice | Above | Largest | LabelSetSearch


def find_largest(name: str, scores: Sequence[Formula], outcomes: Sequence[Any]) -> Answer:
    """The outcome with the largest score, as one first hit where that says the same.

    If every case outranks every default, the first firing rule of all labels together decides, in the
    order of their values.
    """
    hits = [score for score in scores if isinstance(score, FirstHit)]
    defaults = [hit.default for hit in hits]
    cases = [
        (value, scored, outcome)
        for hit, outcome in zip(hits, outcomes, strict=False)
        for scored, value in hit.cases
    ]
    is_merged = len(hits) == len(scores) and all(value > max(defaults) for value, *_ in cases)
    if not is_merged:
        return Largest(name, tuple(scores), tuple(outcomes))
    # The sort is stable: the first of equals wins, as in the order of the outcomes.
    ranked = sorted(cases, key=lambda case: -case[0])
    default = outcomes[defaults.index(max(defaults))]
    return Choice(name, FirstHit(tuple((s, outcome) for _, s, outcome in ranked), default))
