"""Combiners of rules that vote: scores are log-odds in points."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.combining import add_points, raise_points
from steelyard._numbers import is_integer

from .combiner import (
    EXAMPLES,
    MOST_POINTS,
    Calibration,
    Combiner,
    CombinerParts,
    RulesByLabel,
    Scores,
    about,
    count_fired,
)
from .evidence import Label
from .formulas import FirstHit, Formula, Sum
from .log_odds import (
    POINTS_PER_LOG_ODD,
    Points,
    confidence_to_points,
    fit_vote,
    format_points,
    points_to_probability,
    probability_to_points,
)
from .rules import ScoredRule

# Below the points of every rule.
_NO_POINTS = -(2**40)
# The weight of a rule in a list, such as [+1.20].
_WEIGHT = re.compile(r"\s*\[\s*([+-]?\d{1,9}(?:\.\d+)?)\s*\]\s*")


@dataclass(frozen=True)
class _Votes(Combiner):
    """What combiners of rules that vote have in common: scores are log-odds in points.

    Parameters
    ----------
    start : tuple of int
        Points for the presence of each label where no rule fires.
    """

    gives_log_odds: ClassVar[bool] = True
    # A given rule votes for its head, by one point at least.
    least_given: ClassVar[float] = 1
    declines: ClassVar[dict[str, str]] = {
        "pmml": "PMML's RuleSetModel cannot express votes: export this theory as Python or JSON"
    }

    points_help: ClassVar[str] = """\
# [+1.20] is the weight of a rule for its label, [-1.20] counts against it. A new or changed rule without
# a weight gets one that is fitted to the data, if there are any.
"""

    start: tuple[int, ...]

    def points_of(self, strengths: Scores) -> list[int | None]:
        """The strengths."""
        return list(strengths.tolist())

    def check(self, labels: Sequence[Label], rules: Sequence[ScoredRule]) -> None:
        """Reject labels and rules that do not fit."""
        # Kernels write beyond the end of their arrays if there are too few.
        if len(self.start) != len(labels):
            raise ValueError(f"{len(self.start)} start points for {len(labels)} labels")
        for value in self.start:
            if not is_integer(value, -MOST_POINTS, MOST_POINTS):
                raise ValueError(f"start points must be integers, got {value!r}")
        super().check(labels, rules)

    def to_probability(self, scores: Scores) -> NDArray[np.float64]:
        """The logistic function of the log-odds."""
        return points_to_probability(scores)

    def from_probability(self, probability: float) -> Any:
        """Log-odds in points."""
        return int(probability_to_points(probability))

    def to_points(self, scores: Scores) -> NDArray[np.float64]:
        """The scores, which are points."""
        return np.asarray(scores, dtype=np.float64)

    def calibrate(
        self, labels: Sequence[Label], rules: Sequence[ScoredRule], calibration: Calibration
    ) -> CombinerParts:
        """Other votes and another start; a given rule still votes for its head."""
        slope, shift = (dict(zip([y.name for y in labels], v, strict=True)) for v in calibration)
        renewed = [
            replace(
                scored,
                points=self._calibrate_points(
                    scored, slope[scored.head.label], shift[scored.head.label]
                ),
            )
            for scored in rules
        ]
        start = _to_integers(calibration.slope * np.array(self.start) + calibration.shift)
        return replace(self, start=tuple(start)), tuple(labels), tuple(renewed)

    @abstractmethod
    def _calibrate_points(self, scored: ScoredRule, slope: float, shift: float) -> int:
        """The points of a rule, given what becomes of its label's scores."""

    def write_points(self, scored: ScoredRule) -> str:
        """The weight for presence in brackets."""
        return f"[{format_points(scored.vote)}] "

    def read_points(self, text: str) -> tuple[int | None, str]:
        """Points for presence from a weight in brackets."""
        weight = _WEIGHT.match(text)
        if weight is None:
            return None, text
        return round(POINTS_PER_LOG_ODD * float(weight[1])), text[weight.end() :]

    def check_points(self, points: int | None) -> None:
        """Every rule has points."""

    def keep_strength(
        self, points: int | None, before: ScoredRule | None
    ) -> tuple[int | None, float | None]:
        """The given points; without examples nothing else gives them."""
        if points is None:
            keep = "" if before is None else f" ({before.points} to keep that of the old rule)"
            raise ValueError(f"a rule that votes needs points={keep}, or X and Y to fit them")
        return points, None

    def fit_points(
        self,
        find_scores: Callable[[], Scores],
        is_present: NDArray[np.bool_],
        head_class: int,
        prior: float,
    ) -> int | None:
        """Points from at least one row."""
        if not len(is_present):
            raise ValueError(
                "the rule covers none of the rows, so no vote can be fitted: give points="
            )
        return self._fit_points(find_scores, is_present, head_class, prior)

    @abstractmethod
    def _fit_points(
        self,
        find_scores: Callable[[], Scores],
        is_present: NDArray[np.bool_],
        head_class: int,
        prior: float,
    ) -> int:
        """Points of a new rule, as in `fit_points`."""

    def describe_label(self, position: int) -> str:
        """What the label starts with."""
        return f"start {format_points(self.start[position])}"

    def rule_columns(self, rules: Sequence[ScoredRule]) -> dict[str, list[float]]:
        """The weight of each rule: log-odds for the presence of its label."""
        return {"weight": [scored.weight for scored in rules]}

    def explain_label(
        self,
        label: Label,
        n_fired: int,
        score: Any,
        predicted: int,
        examples: str = EXAMPLES,
    ) -> str:
        """What the votes come to."""
        if not n_fired:
            return f"no rule{about(label)} fires, which leaves the start of {format_points(score)}"
        return f"{count_fired(label, n_fired)}{self._describe_total(n_fired, format_points(score))}"

    @abstractmethod
    def _describe_total(self, n_fired: int, total: str) -> str:
        """How the votes of firing rules give the total."""


def _to_integers(points: Any) -> list[int]:
    """Points rounded to integers, within those that a theory may have."""
    rounded = np.clip(np.rint(np.atleast_1d(points)), -MOST_POINTS, MOST_POINTS)
    return [int(value) for value in rounded]


@dataclass(frozen=True)
class StrongestVote(_Votes):
    r"""The strongest firing rule of a label replaces its start: any rule decides, with log-odds.

    .. math:: s_\ell(x) = \pm \max_{r \text{ fires}} v_r, \quad
        P(\ell \mid x) = \frac{1}{1 + e^{-s_\ell(x)}}

    The sign is that of the class which all rules of the label predict.

    Examples
    --------
    >>> from steelyard import RuleSetClassifier, StrongestVote, load_patients
    >>> data = load_patients()
    >>> clf = RuleSetClassifier(preset="short", n_candidates=200, random_state=0).fit(data.X, data.Y)
    >>> isinstance(clf.theory_.combiner, StrongestVote)
    True
    """

    name: ClassVar[str] = "strongest-vote"
    empty: ClassVar[Any] = _NO_POINTS
    kernel: ClassVar[Any] = staticmethod(raise_points)  # to the strongest firing rule

    def strengths(self, tp: Any, fp: Any, prior: Any) -> Scores:
        """Points of a firing rule for its head."""
        return confidence_to_points(tp, fp, prior)

    def _fit_points(
        self,
        find_scores: Callable[[], Scores],
        is_present: NDArray[np.bool_],
        head_class: int,
        prior: float,
    ) -> int:
        """Log-odds of the rule being right, as in learning."""
        tp = int((is_present == head_class).sum())
        return int(confidence_to_points(tp, len(is_present) - tp, prior))

    def strength(self, scored: ScoredRule) -> Any:
        """Points of a firing rule for its head."""
        return scored.points

    def _calibrate_points(self, scored: ScoredRule, slope: float, shift: float) -> int:
        """The vote takes the place of the start, so it is shifted, too."""
        sign = 1 if scored.head.target_class else -1
        (points,) = _to_integers(slope * (scored.points or 0) + sign * shift)
        return points if scored.provenance.is_learned else max(points, int(self.least_given))

    def finish_tally(self, tally: Scores, silent: Scores, sign: Points) -> Scores:
        """Points for presence; the start where no rule has fired."""
        start = np.array(self.start, dtype=np.int64)
        return np.where(tally == _NO_POINTS, start[:, None], tally * sign[:, None])

    def describe(self) -> str:
        """How votes are combined."""
        return "the strongest vote counts"

    def _describe_total(self, n_fired: int, total: str) -> str:
        return f", the strongest says {total}" if n_fired > 1 else f" and says {total}"

    def formulas(self, labels: Sequence[Label], rules_of: RulesByLabel) -> list[Formula]:
        """The strongest rule first."""
        ranked = [sorted(rules, key=self.strength, reverse=True) for rules in rules_of]
        return [
            FirstHit(tuple((s, s.vote) for s in rules), start)
            for rules, start in zip(ranked, self.start, strict=True)
        ]


@dataclass(frozen=True)
class SumOfVotes(_Votes):
    r"""The votes of all firing rules are added to the start: boosted rules.

    .. math:: s_\ell(x) = \text{start}_\ell + \sum_{r \text{ fires}} v_r, \quad
        P(\ell \mid x) = \frac{1}{1 + e^{-s_\ell(x)}}

    The vote of a rule for the absence of its label is negative.

    Examples
    --------
    >>> from steelyard import BoostedRulesClassifier, SumOfVotes, load_patients
    >>> data = load_patients()
    >>> clf = BoostedRulesClassifier(max_rules=10, random_state=0).fit(data.X, data.Y)
    >>> isinstance(clf.theory_.combiner, SumOfVotes)
    True
    >>> sorted({scored.head.target_class for scored in clf.theory_})  # against labels and for them
    [0, 1]
    """

    name: ClassVar[str] = "sum-of-votes"
    takes_both_classes: ClassVar[bool] = True
    empty: ClassVar[Any] = 0
    kernel: ClassVar[Any] = staticmethod(add_points)  # adds up the votes of the firing rules

    def strengths(self, tp: Any, fp: Any, prior: Any) -> Scores:
        """Votes are learned; counts do not give them."""
        raise ValueError("the votes of boosted rules cannot be computed from counts")

    def _fit_points(
        self,
        find_scores: Callable[[], Scores],
        is_present: NDArray[np.bool_],
        head_class: int,
        prior: float,
    ) -> int:
        """The vote with the smallest logistic loss beside the other votes, shrunk a little."""
        vote = fit_vote(find_scores(), is_present)
        points = vote if head_class else -vote
        if points <= 0:
            raise ValueError(
                f"the {len(is_present)} examples that the rule covers give it a vote of "
                f"{format_points(points)}, against its head: give points= to add it all the same"
            )
        return points

    def strength(self, scored: ScoredRule) -> Any:
        """The vote for presence."""
        return scored.vote

    def _calibrate_points(self, scored: ScoredRule, slope: float, shift: float) -> int:
        """The vote times the slope, but not nothing: the shift is that of the start."""
        before = scored.points or 0
        (points,) = _to_integers(slope * before)
        return points or (before > 0) - (before < 0)

    def finish_tally(self, tally: Scores, silent: Scores, sign: Points) -> Scores:
        """The sums."""
        return tally + np.array(self.start, dtype=np.int64)[:, None]

    def adapt(
        self, needs_log_odds: bool, silence: float, labels: Sequence[Label], prior: Any = None
    ) -> Combiner:
        """The same combiner; a decoder cannot change the start of boosted rules."""
        if silence != 1.0:
            raise ValueError(f"silence={silence:g} does not apply to boosted rules: leave it at 1")
        return self

    def describe(self) -> str:
        """How votes are combined."""
        return "votes are summed"

    def _describe_total(self, n_fired: int, total: str) -> str:
        return f", votes sum to {total}"

    def explain_sum(self, position: int, score: Any) -> tuple[tuple[str, str], ...]:
        """The start and the total."""
        return (format_points(self.start[position]), "start"), (format_points(score), "total")

    def formulas(self, labels: Sequence[Label], rules_of: RulesByLabel) -> list[Formula]:
        """The start plus all votes."""
        return [
            Sum(start, tuple((s, s.vote) for s in rules))
            for rules, start in zip(rules_of, self.start, strict=True)
        ]
