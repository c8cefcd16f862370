"""What points add to an explanation: where a label's total is from, and which label set fits best.

Plain frozen objects that say themselves in words. Computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..decoding import format_points

DecidedBy = Literal["label", "class", "label set"]


@dataclass(frozen=True)
class LabelPoints:
    """The points for a label's presence, in hundredths of log-odds.

    Parameters
    ----------
    start : int
        Where no rule fires.
    total : int
        With the rules that fire: those of more than 0 speak for the label.
    is_sum : bool
        Whether the votes of all firing rules are added to the start; otherwise the strongest one
        takes its place.
    decided_by : {"label", "class", "label set"}
        What is compared: each label with 0, all classes, or all label sets.
    """

    start: int
    total: int
    is_sum: bool
    decided_by: DecidedBy = "label"

    def say_total(self, n_fired: int) -> str:
        """What the points are, after the number of rules that fire.

        Examples
        --------
        >>> LabelPoints(-120, 32, is_sum=True).say_total(2)
        ', votes sum to +0.32'
        """
        total = format_points(self.total)
        if not n_fired:
            return f", which leaves the start of {total}"
        if self.is_sum:
            return f", votes sum to {total}"
        return f", the strongest says {total}" if n_fired > 1 else f" and says {total}"

    def say_overruled(self, predicted: int) -> str:
        """Why the prediction is not what the points of the label alone would give, if so.

        Examples
        --------
        >>> LabelPoints(-120, 32, is_sum=True, decided_by="label set").say_overruled(0)
        ', but the label set that fits best is without it'
        """
        if predicted == (self.total > 0):
            return ""
        if self.decided_by == "class":
            return ", but no class has more" if predicted else ", but another class has no less"
        return f", but the label set that fits best is {'with' if predicted else 'without'} it"


@dataclass(frozen=True)
class ChosenSet:
    """The label set that fits the points of all labels best.

    Parameters
    ----------
    labels : tuple of str
    by_itself : tuple of str
        The labels that would be predicted if each was decided by itself.
    count : int
        How many training examples have exactly this set: 0 for a new combination.
    n_examples, n_known : int
        How many examples were seen in training, and how many different sets.

    Examples
    --------
    >>> print(ChosenSet(("a", "b"), ("a",), count=12, n_examples=391, n_known=94))
    of the 94 label sets seen in training, {a, b} (12 of 391 examples) fits the rules best; each label
    by itself would give {a}
    """

    labels: tuple[str, ...]
    by_itself: tuple[str, ...]
    count: int
    n_examples: int
    n_known: int

    def __str__(self) -> str:
        known = f"the {self.n_known} label set{'s' * (self.n_known != 1)} seen in training"
        if not self.count:
            labels = _braces(self.labels)
            return f"{labels}, each label by itself, is new and fits the rules better than {known}"
        alone = "the same" if self.by_itself == self.labels else _braces(self.by_itself)
        return (
            f"of {known}, {_braces(self.labels)} "
            f"({self.count} of {self.n_examples} examples) fits the rules best; "
            f"each label by itself would give {alone}"
        )


def _braces(labels: tuple[str, ...]) -> str:
    return "{" + ", ".join(labels) + "}" if labels else "the empty set"
