"""Evidence: labels and rules with what the training examples say about them. Knows counts only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .decoding import POINTS_PER_LOG_ODD, format_points
from .rules import Rule, format_number


def smoothed_precision(tp: Any, fp: Any) -> Any:
    """(TP + 1)/(TP + FP + 2): precision that trusts few examples less.

    Examples
    --------
    >>> smoothed_precision(9, 1), smoothed_precision(0, 0)
    (0.8333333333333334, 0.5)
    """
    return (tp + 1) / (tp + fp + 2)


@dataclass(frozen=True)
class Label:
    """A label with its target class and what the training examples say about it.

    Parameters
    ----------
    name : str
    target_class : {0, 1}
        What the label's rules predict; without a firing rule the label gets the other class.
    n_positives, n_negatives : int
        Training examples with and without the target class.
    uncovered_positives, uncovered_negatives : int
        Those of them that no rule of the theory covers.
    """

    name: str
    target_class: int
    n_positives: int
    n_negatives: int
    uncovered_positives: int
    uncovered_negatives: int

    @property
    def silent_score(self) -> float:
        """How strongly the target class is denied where no rule fires: between -1 and 0."""
        return float(smoothed_precision(self.uncovered_positives, self.uncovered_negatives) - 1)


@dataclass(frozen=True)
class ScoredRule:
    """A rule of a theory with its evidence: counts and heuristic value on the training examples.

    The `value` of a rule of a weighted theory is what its vote lowers the loss by. `points` is how much
    a firing rule speaks for its head, in hundredths of log-odds; None in a theory whose firing rules
    decide by themselves.
    """

    rule: Rule
    tp: int
    fp: int
    value: float
    points: int | None = None

    @property
    def vote(self) -> int:
        """The points as the label's presence counts them: a rule for its absence counts against it."""
        return (self.points or 0) * (1 if self.rule.head.target_class else -1)

    @property
    def weight(self) -> float:
        """The vote as log-odds, 0 without points."""
        return self.vote / POINTS_PER_LOG_ODD

    @property
    def precision(self) -> float:
        """TP/(TP + FP), 0 if the rule covers nothing."""
        return self.tp / max(self.tp + self.fp, 1)

    @property
    def smoothed_precision(self) -> float:
        """(TP + 1)/(TP + FP + 2), which trusts few examples less."""
        return float(smoothed_precision(self.tp, self.fp))

    def __str__(self) -> str:
        weight = "" if self.points is None else f", weight {format_points(self.vote)}"
        value = format_number(self.value)
        return f"{self.rule}  (TP {self.tp}, FP {self.fp}, value {value}{weight})"
