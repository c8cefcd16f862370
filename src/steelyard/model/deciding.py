"""Combiners of rules that decide by themselves: any firing rule, or the first one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.combining import raise_points

from .combiner import (
    EXAMPLES,
    Calibration,
    Combiner,
    CombinerParts,
    RulesByLabel,
    Scores,
    about,
    count_fired,
    target_signs,
)
from .evidence import Label, smoothed_precision
from .formulas import FirstHit, Formula
from .log_odds import Points, points_to_probability, probability_to_points
from .rules import ScoredRule
from .voting import StrongestVote

# A calibrated rule that is right less than half the time still decides: its score is above 0, if only by
# so much, and the more the more often it is right.
_NEXT_TO_NOTHING = 0.001


@dataclass(frozen=True)
class AnyRule(Combiner):
    """Any firing rule decides for its label: the paper's DNF.

    The score is the best smoothed precision among the firing rules of a label; without a firing rule it
    is negative. Its sign is the prediction.

    Examples
    --------
    >>> from steelyard import AnyRule, RuleSetClassifier, load_patients
    >>> data = load_patients()
    >>> clf = RuleSetClassifier(preset="paper", n_candidates=200, random_state=0).fit(data.X, data.Y)
    >>> clf.theory_.combiner == AnyRule()
    True
    >>> fires = clf.theory_.evaluate(data.X).fires
    >>> of_label = [scored.head.label == "low HDL" for scored in clf.theory_]
    >>> bool((fires[:, of_label].any(axis=1) == clf.predict(data.X)[:, 1]).all())
    True
    """

    name: ClassVar[str] = "any-rule"
    calibrated_alike: ClassVar[bool] = True
    first_rule_settles: ClassVar[bool] = True
    empty: ClassVar[Any] = -np.inf
    kernel: ClassVar[Any] = staticmethod(raise_points)  # to the best firing rule

    def strengths(self, tp: Any, fp: Any, prior: Any) -> Scores:
        """Smoothed precision."""
        return np.asarray(smoothed_precision(tp, fp), dtype=np.float64)

    def strength(self, scored: ScoredRule) -> Any:
        """Smoothed precision."""
        return scored.smoothed_precision

    def find_confidence(self, tp: float, fp: float) -> float | None:
        """Smoothed precision."""
        return float(smoothed_precision(tp, fp))

    def finish_tally(self, tally: Scores, silent: Scores, sign: Points) -> Scores:
        """The silent score where no rule has fired; the sign of labels for absence is reversed."""
        scores = np.where(tally > self.empty, tally, silent[:, None])
        is_absence = sign < 0
        scores[is_absence] = -scores[is_absence]
        return scores

    def to_probability(self, scores: Scores) -> NDArray[np.float64]:
        """(1 + score)/2."""
        return np.asarray((1 + scores) / 2)

    def from_probability(self, probability: float) -> Any:
        """2p - 1, which has to be 0: a firing rule decides whatever its precision."""
        if probability != 0.5:
            raise ValueError(
                f"a threshold of {probability:g} needs rules that vote, but here a firing rule "
                "decides: use boosted rules or LabelSetVotes"
            )
        return 0.0

    def to_points(self, scores: Scores) -> NDArray[np.float64]:
        """Log-odds of the smoothed precision of a firing rule, or of what silence leaves."""
        presence = np.where(scores > 0, scores, 1 + scores)
        return np.asarray(probability_to_points(presence), dtype=np.float64)

    def calibrate(
        self, labels: Sequence[Label], rules: Sequence[ScoredRule], calibration: Calibration
    ) -> CombinerParts:
        """Other confidences, on the same side of ½, so that predictions stay the same."""
        position = {label.name: j for j, label in enumerate(labels)}
        of_rule = [position[scored.head.label] for scored in rules]
        signs = target_signs(labels)
        fired = self.strengths_of(rules) * signs[of_rule]
        silent = np.array([label.silent_score for label in labels]) * signs
        confidences, silences = (
            _calibrate_scores(self.to_points(scores), calibration, where) * signs[where]
            for scores, where in ((fired, of_rule), (silent, list(range(len(labels)))))
        )
        return (
            self,
            tuple(
                replace(label, silent=-_keep_positive(-score))
                for label, score in zip(labels, silences, strict=True)
            ),
            tuple(
                replace(scored, confidence=_keep_positive(score))
                for scored, score in zip(rules, confidences, strict=True)
            ),
        )

    def adapt(
        self, needs_log_odds: bool, silence: float, labels: Sequence[Label], prior: Any = None
    ) -> Combiner:
        """Label sets need log-odds: those of the strongest firing rule."""
        if not needs_log_odds:
            return self
        shares = np.array([label.prior for label in labels]) if prior is None else prior
        start = probability_to_points(silence * shares) * target_signs(labels)
        return StrongestVote(tuple(start.tolist()))

    def explain_label(
        self,
        label: Label,
        n_fired: int,
        score: Any,
        predicted: int,
        examples: str = EXAMPLES,
    ) -> str:
        """Which rules fire, or how often silence was right."""
        if n_fired:
            return count_fired(label, n_fired)
        n_missed, n_right = label.uncovered_positives, label.uncovered_negatives
        if n_missed is None or n_right is None:
            of_any = " of any class" if predicted == label.target_class else about(label)
            return f"no rule{of_any} fires"
        if predicted == label.target_class:
            return (
                f"no rule of any class fires; of the {n_missed + n_right} {examples} that "
                f"its rules leave uncovered {n_missed} {'was' if n_missed == 1 else 'were'} of "
                "this class"
            )
        return (
            f"no rule{about(label)} fires, which was right for {n_right} of {n_missed + n_right} "
            f"{examples}"
        )

    def formulas(self, labels: Sequence[Label], rules_of: RulesByLabel) -> list[Formula]:
        """The most precise rule first."""
        formulas: list[Formula] = []
        for label, sign, rules in zip(labels, target_signs(labels).tolist(), rules_of, strict=True):
            ranked = sorted(rules, key=self.strength, reverse=True)
            cases = tuple((s, sign * self.strength(s)) for s in ranked)
            formulas.append(FirstHit(cases, sign * label.silent_score))
        return formulas


def _keep_positive(score: float) -> float:
    """A score from -1 to 1 as one from 0 to 1 in the same order, which is the same unless too small."""
    return float(max(score, _NEXT_TO_NOTHING * (1 + score) / 2))


def _calibrate_scores(
    points: NDArray[np.float64], calibration: Calibration, where: Sequence[int]
) -> NDArray[np.float64]:
    """Scores 2p - 1 for presence, for the calibrated probability p of points of some labels."""
    slope, shift = (part[list(where)] for part in calibration)
    return 2 * points_to_probability(slope * points + shift) - 1


@dataclass(frozen=True)
class FirstRule(AnyRule):
    """Labels are asked in turn; the first one with a firing rule is right: Ripper's decision list.

    Parameters
    ----------
    order : tuple of int
        Positions of the labels in the order in which they are asked. The last one is right if no rule
        of the others fires.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steelyard import FirstRule, RipperClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> theory = RipperClassifier(random_state=0).fit(X, y).theory_
    >>> theory.combiner
    FirstRule(order=(0, 1, 2))
    """

    name: ClassVar[str] = "first-rule"
    first_rule_settles: ClassVar[bool] = False
    is_single_label: ClassVar[bool] = True

    order: tuple[int, ...]

    def check(self, labels: Sequence[Label], rules: Sequence[ScoredRule]) -> None:
        """Reject labels and rules that do not fit."""
        super().check(labels, rules)
        if sorted(self.order) != list(range(len(labels))):
            raise ValueError(
                f"order must list the positions of the {len(labels)} labels, got {self.order!r}"
            )

    def finish_tally(self, tally: Scores, silent: Scores, sign: Points) -> Scores:
        """Deny the labels after the first firing one; assert the last if none fires."""
        scores = super().finish_tally(tally, silent, sign)
        undecided = np.ones(scores.shape[1], dtype=np.bool_)
        for j in self.order:
            fires = scores[j] > 0
            scores[j, fires & ~undecided] *= -1
            undecided &= ~fires
        scores[self.order[-1], undecided] += 1
        return scores

    def calibrate(
        self, labels: Sequence[Label], rules: Sequence[ScoredRule], calibration: Calibration
    ) -> CombinerParts:
        """Reject: the score of a class depends on the classes before it."""
        return Combiner.calibrate(self, labels, rules, calibration)

    def list_order(self, labels: Sequence[Label]) -> list[int]:
        """The order in which labels are asked."""
        return list(self.order)

    def describe_label(self, position: int) -> str:
        """What the last label is."""
        return "predicted where no rule fires" if position == self.order[-1] else ""

    def explain_label(
        self,
        label: Label,
        n_fired: int,
        score: Any,
        predicted: int,
        examples: str = EXAMPLES,
    ) -> str:
        """Which rules fire, and that an earlier class wins."""
        reason = super().explain_label(label, n_fired, score, predicted, examples)
        is_late = n_fired and not predicted
        return f"{reason}, but a rule of an earlier class fires" if is_late else reason

    def formulas(self, labels: Sequence[Label], rules_of: RulesByLabel) -> list[Formula]:
        """A rule of an earlier label outranks every rule of a later one."""
        n_labels = len(labels)
        rank = {j: n_labels - turn for turn, j in enumerate(self.order)}
        return [
            FirstHit(tuple((s, rank[j]) for s in rules), 0 if j == self.order[-1] else -1)
            for j, rules in enumerate(rules_of)
        ]
