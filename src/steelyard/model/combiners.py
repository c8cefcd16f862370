"""Combiners: firing rules → scores of labels. Each class owns all that is special about it.

A combiner scores labels, explains scores, writes itself to JSON and gives its formulas for exports.
To add one, write a class here and list it in `COMBINERS`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.combining import add_points, raise_points
from steelyard._numbers import is_integer

from .coverage import Bits
from .evidence import Label, smoothed_precision
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

Indices = NDArray[np.intp]
Scores = NDArray[Any]
RulesByLabel = Sequence[Sequence[ScoredRule]]

# Sums of points of this size are exact even as floating point numbers.
_MOST_POINTS = 2**31 - 1
# What counts of labels count, unless a theory was recounted.
_EXAMPLES = "training examples"
# Below the points of every rule.
_NO_POINTS = -(2**40)
# The weight of a rule in a list, such as [+1.20].
_WEIGHT = re.compile(r"\s*\[\s*([+-]?\d{1,9}(?:\.\d+)?)\s*\]\s*")


class Part(ABC):
    """A combiner or a decoder: a small dataclass that describes and writes itself."""

    name: ClassVar[str]
    #: The formats that cannot express it, each with the reason in one sentence.
    declines: ClassVar[dict[str, str]] = {}

    def __str__(self) -> str:
        return self.name

    def describe(self) -> str:
        """A clause for the summary of a theory; empty if there is nothing to say."""
        return ""

    def to_plain(self) -> dict[str, Any]:
        """The settings as plain data for JSON, without label sets."""
        names = [field.name for field in fields(self) if field.name != "known"]  # type: ignore[arg-type]
        return {"name": self.name} | {name: getattr(self, name) for name in names}


class Combiner(Part):
    """How firing rules become scores of labels.

    Scores are kept as a tally of shape (n_labels, n_rows) while rules are added, so that a path can
    score one theory after the other. A tally starts as `empty`, and `kernel` adds rules to it.
    """

    #: Whether the first firing rule of a label settles it, whatever rules follow.
    first_rule_settles: ClassVar[bool] = False
    #: Whether its scores assert exactly one label per example.
    is_single_label: ClassVar[bool] = False
    #: Whether scores are log-odds, which can be added up over labels.
    gives_log_odds: ClassVar[bool] = False
    #: Whether a label may have rules for its presence and for its absence.
    takes_both_classes: ClassVar[bool] = False
    #: The tally of a label without a firing rule, and the kernel that adds the strength of a rule.
    empty: ClassVar[Any]
    kernel: ClassVar[Any]

    def check(self, labels: Sequence[Label], rules: Sequence[ScoredRule]) -> None:
        """Reject labels and rules that do not fit."""
        targets = {label.name: label.target_class for label in labels}
        for i, scored in enumerate(rules, start=1):
            label, target_class = scored.head.label, scored.head.target_class
            if target_class != targets[label] and not self.takes_both_classes:
                raise ValueError(
                    f"rule {i} predicts class {target_class} of {label!r}, whose target class is "
                    f"{targets[label]}"
                )
            if not self.gives_log_odds and scored.points is not None:
                raise ValueError(f"rule {i} has points, but a firing rule decides by itself")
            if self.gives_log_odds and not is_integer(scored.points, -_MOST_POINTS, _MOST_POINTS):
                raise ValueError(f"points of rule {i} must be an integer, got {scored.points!r}")

    # -- scoring ---------------------------------------------------------------------------------

    @abstractmethod
    def strengths(self, tp: Any, fp: Any, prior: Any) -> Scores:
        """The strength of learned rules, from counts and the prior of their target class."""

    @abstractmethod
    def strength(self, scored: ScoredRule) -> Any:
        """The strength of a rule of a theory."""

    def strengths_of(self, rules: Sequence[ScoredRule]) -> Scores:
        """The strength of the rules of a theory."""
        return np.array([self.strength(scored) for scored in rules], dtype=type(self.empty))

    @abstractmethod
    def finish_tally(self, tally: Scores, silent: Scores, sign: Points) -> Scores:
        """Scores for presence, shape (n_labels, n_rows).

        `silent` holds the labels' scores without a firing rule, `sign` is -1 for labels whose rules
        predict absence.
        """

    def score(
        self,
        bits: Bits,
        n_rows: int,
        label_of_rule: Indices,
        strength: Scores,
        labels: Sequence[Label],
    ) -> Scores:
        """Scores of all labels of a theory, shape (n_rows, n_labels)."""
        tally = np.full((len(labels), n_rows), self.empty)
        self.kernel(bits, np.arange(len(label_of_rule)), label_of_rule, strength, tally)
        silent = np.array([label.silent_score for label in labels])
        return self.finish_tally(tally, silent, target_signs(labels)).T

    @abstractmethod
    def to_probability(self, scores: Scores) -> NDArray[np.float64]:
        """Scores as probabilities of presence."""

    @abstractmethod
    def from_probability(self, probability: float) -> Any:
        """The score that stands for a probability."""

    def adapt(self, needs_log_odds: bool, silence: float, labels: Sequence[Label]) -> Combiner:
        """The combiner that a path uses with a decoder.

        Parameters
        ----------
        needs_log_odds : bool
            Whether the decoder adds up scores of labels.
        silence : float
            Where no rule of a label fires, its probability is this share of its prior.
        labels : sequence of Label
        """
        return self

    # -- editing ---------------------------------------------------------------------------------
    # By default a rule decides, so it has no points.

    #: What the points before a rule in a list mean, for the person who edits it.
    points_help: ClassVar[str] = ""

    def write_points(self, scored: ScoredRule) -> str:
        """The points of a rule as text before it in a list."""
        return ""

    def read_points(self, text: str) -> tuple[int | None, str]:
        """The points for presence before a rule in a list, if there are any, and the rest."""
        return None, text

    def check_points(self, points: int | None) -> None:
        """Reject points for a rule that has none."""
        if points is not None:
            raise ValueError(
                "points are for rules that vote; a rule of this theory decides by itself"
            )

    def keep_strength(
        self, points: int | None, before: ScoredRule | None
    ) -> tuple[int | None, float | None]:
        """Points and confidence of a rule that is not counted; `before` is the one that it replaces."""
        return None, None if before is None else before.smoothed_precision

    def fit_points(
        self,
        find_scores: Callable[[], Scores],
        is_present: NDArray[np.bool_],
        head_class: int,
        prior: float,
    ) -> int | None:
        """Points of a new rule for its head, fitted on the rows that it covers; None if it decides.

        Parameters
        ----------
        find_scores : function
            Returns the scores of the label without the rule, shape (n_covered,).
        is_present : (n_covered,) bool
            Whether the label is present.
        head_class : {0, 1}
            What the rule predicts.
        prior : float
            Share of all rows with this class.
        """
        return None

    # -- words -----------------------------------------------------------------------------------

    def describe_label(self, position: int) -> str:
        """A note beside a label; empty if there is nothing to say."""
        return ""

    def rule_columns(self, rules: Sequence[ScoredRule]) -> dict[str, list[float]]:
        """Further numbers to show beside rules."""
        return {}

    def list_order(self, labels: Sequence[Label]) -> list[int]:
        """The order in which labels are listed."""
        return list(range(len(labels)))

    @abstractmethod
    def explain_label(
        self,
        label: Label,
        n_fired: int,
        score: Any,
        predicted: int,
        examples: str = _EXAMPLES,
    ) -> str:
        """Why a label has its score, in a clause; `examples` says what the label's counts count."""

    def explain_sum(self, position: int, score: Any) -> tuple[tuple[str, str], ...]:
        """The first and the last line of a sum of votes, each a number and its name; or none."""
        return ()

    # -- writing ---------------------------------------------------------------------------------

    @abstractmethod
    def formulas(self, labels: Sequence[Label], rules_of: RulesByLabel) -> list[Formula]:
        """The score of each label as a formula for exports."""


@dataclass(frozen=True)
class AnyRule(Combiner):
    """Any firing rule decides for its label: the paper's DNF.

    The score is the best smoothed precision among the firing rules of a label; without a firing rule it
    is negative. Its sign is the prediction.
    """

    name: ClassVar[str] = "any-rule"
    first_rule_settles: ClassVar[bool] = True
    empty: ClassVar[Any] = -np.inf
    kernel: ClassVar[Any] = staticmethod(raise_points)  # to the best firing rule

    def strengths(self, tp: Any, fp: Any, prior: Any) -> Scores:
        """Smoothed precision."""
        return np.asarray(smoothed_precision(tp, fp), dtype=np.float64)

    def strength(self, scored: ScoredRule) -> Any:
        """Smoothed precision."""
        return scored.smoothed_precision

    def finish_tally(self, tally: Scores, silent: Scores, sign: Points) -> Scores:
        """The silent score where no rule has fired; the sign of labels for absence is reversed."""
        return np.where(np.isinf(tally), silent[:, None], tally) * sign[:, None]

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

    def adapt(self, needs_log_odds: bool, silence: float, labels: Sequence[Label]) -> Combiner:
        """Label sets need log-odds: those of the strongest firing rule."""
        if not needs_log_odds:
            return self
        prior = np.array([label.prior for label in labels])
        start = probability_to_points(silence * prior) * target_signs(labels)
        return StrongestVote(tuple(start.tolist()))

    def explain_label(
        self,
        label: Label,
        n_fired: int,
        score: Any,
        predicted: int,
        examples: str = _EXAMPLES,
    ) -> str:
        """Which rules fire, or how often silence was right."""
        if n_fired:
            return _count_fired(label, n_fired)
        n_missed, n_right = label.uncovered_positives, label.uncovered_negatives
        if n_missed is None or n_right is None:
            of_any = " of any class" if predicted == label.target_class else _about(label)
            return f"no rule{of_any} fires"
        if predicted == label.target_class:
            return (
                f"no rule of any class fires; of the {n_missed + n_right} {examples} that "
                f"its rules leave uncovered {n_missed} {'was' if n_missed == 1 else 'were'} of "
                "this class"
            )
        return (
            f"no rule{_about(label)} fires, which was right for {n_right} of {n_missed + n_right} "
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


@dataclass(frozen=True)
class FirstRule(AnyRule):
    """Labels are asked in turn; the first one with a firing rule is right: Ripper's decision list.

    Parameters
    ----------
    order : tuple of int
        Positions of the labels in the order in which they are asked. The last one is right if no rule
        of the others fires.
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
        examples: str = _EXAMPLES,
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


@dataclass(frozen=True)
class _Votes(Combiner):
    """What combiners of rules that vote have in common: scores are log-odds in points.

    Parameters
    ----------
    start : tuple of int
        Points for the presence of each label where no rule fires.
    """

    gives_log_odds: ClassVar[bool] = True
    declines: ClassVar[dict[str, str]] = {
        "pmml": "PMML's RuleSetModel cannot express votes: export this theory as SQL, Python or JSON"
    }

    points_help: ClassVar[str] = """\
# [+1.20] is the weight of a rule for its label, [-1.20] counts against it. A new or changed rule without
# a weight gets one that is fitted to the data, if there are any.
"""

    start: tuple[int, ...]

    def check(self, labels: Sequence[Label], rules: Sequence[ScoredRule]) -> None:
        """Reject labels and rules that do not fit."""
        # Kernels write beyond the end of their arrays if there are too few.
        if len(self.start) != len(labels):
            raise ValueError(f"{len(self.start)} start points for {len(labels)} labels")
        for value in self.start:
            if not is_integer(value, -_MOST_POINTS, _MOST_POINTS):
                raise ValueError(f"start points must be integers, got {value!r}")
        super().check(labels, rules)

    def to_probability(self, scores: Scores) -> NDArray[np.float64]:
        """The logistic function of the log-odds."""
        return points_to_probability(scores)

    def from_probability(self, probability: float) -> Any:
        """Log-odds in points."""
        return int(probability_to_points(probability))

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
        examples: str = _EXAMPLES,
    ) -> str:
        """What the votes come to."""
        if not n_fired:
            return f"no rule{_about(label)} fires, which leaves the start of {format_points(score)}"
        return (
            f"{_count_fired(label, n_fired)}{self._describe_total(n_fired, format_points(score))}"
        )

    @abstractmethod
    def _describe_total(self, n_fired: int, total: str) -> str:
        """How the votes of firing rules give the total."""


@dataclass(frozen=True)
class StrongestVote(_Votes):
    """The strongest firing rule of a label replaces its start: any rule decides, with log-odds."""

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
    """The votes of all firing rules are added to the start: boosted rules.

    A rule for the absence of its label counts against it.
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

    def finish_tally(self, tally: Scores, silent: Scores, sign: Points) -> Scores:
        """The sums."""
        return tally + np.array(self.start, dtype=np.int64)[:, None]

    def adapt(self, needs_log_odds: bool, silence: float, labels: Sequence[Label]) -> Combiner:
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


def target_signs(labels: Sequence[Label]) -> Points:
    """1 for labels whose rules predict presence, -1 for those whose rules predict absence."""
    return np.array([2 * label.target_class - 1 for label in labels], dtype=np.int64)


def _about(label: Label) -> str:
    return "" if label.target_class else " for its absence"


def _count_fired(label: Label, n_fired: int) -> str:
    return f"{n_fired} rule{'s fire' if n_fired > 1 else ' fires'}{_about(label)}"


COMBINERS: dict[str, type[Combiner]] = {
    combiner.name: combiner for combiner in (AnyRule, FirstRule, StrongestVote, SumOfVotes)
}


def combiner_from_plain(data: Any) -> Combiner:
    """The combiner that `Combiner.to_plain` wrote."""
    values = read_settings(data, COMBINERS, "combiner")
    if not all(isinstance(value, list) for value in values.values()):
        raise ValueError(f"the fields of a combiner must be lists of integers, got {data!r}")
    return COMBINERS[data["name"]](**{name: tuple(value) for name, value in values.items()})


def read_settings(data: Any, registry: dict[str, Any], what: str) -> dict[str, Any]:
    """The settings of a combiner or decoder that plain data names."""
    name = data.get("name") if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in registry:
        raise ValueError(f"the {what} must be one of {', '.join(registry)}, got {data!r}")
    values = {key: value for key, value in data.items() if key != "name"}
    expected = [field.name for field in fields(registry[name]) if field.name != "known"]
    if sorted(values) != sorted(expected):
        raise ValueError(f"the {what} {name} must have the fields {expected}, got {sorted(values)}")
    return values
