"""What a combiner is: firing rules → scores of labels. Knows no combiner of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import is_integer

from .coverage import Bits
from .evidence import Label
from .formulas import Formula
from .log_odds import Points, probability_to_points
from .rules import ScoredRule

Indices = NDArray[np.intp]
Scores = NDArray[Any]
RulesByLabel = Sequence[Sequence[ScoredRule]]


class Calibration(NamedTuple):
    """How points of labels become calibrated ones: slope · points + shift, one of each per label."""

    slope: NDArray[np.float64]
    shift: NDArray[np.float64]


# Sums of points of this size are exact even as floating point numbers.
MOST_POINTS = 2**31 - 1
# What counts of labels count, unless a theory was recounted.
EXAMPLES = "training examples"
# Marks a setting that JSON leaves out if it has its default, so that files stay what they were before.
LEFT_OUT = {"is_left_out": True}


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
        values = {
            field.name: getattr(self, field.name)
            for field in fields(self)  # type: ignore[arg-type]
            if field.name != "known"
            and not (field.metadata == LEFT_OUT and getattr(self, field.name) == field.default)
        }
        return {"name": self.name} | values


class Combiner(Part):
    """How firing rules become scores of labels.

    Scores are kept as a tally of shape (n_labels, n_rows) while rules are added, so that a path can
    score one theory after the other. A tally starts as `empty`, and `kernel` adds rules to it.

    Examples
    --------
    >>> from steelyard import AnyRule, Combiner, SumOfVotes
    >>> isinstance(AnyRule(), Combiner), AnyRule.gives_log_odds, SumOfVotes.gives_log_odds
    (True, False, True)
    """

    #: Whether the first firing rule of a label settles it, whatever rules follow.
    first_rule_settles: ClassVar[bool] = False
    #: Whether its scores assert exactly one label per example.
    is_single_label: ClassVar[bool] = False
    #: Whether scores are log-odds, which can be added up over labels.
    gives_log_odds: ClassVar[bool] = False
    #: Whether a label may have rules for its presence and for its absence.
    takes_both_classes: ClassVar[bool] = False
    #: Whether a calibrated theory predicts the same.
    calibrated_alike: ClassVar[bool] = False
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
            if self.gives_log_odds and not is_integer(scored.points, -MOST_POINTS, MOST_POINTS):
                raise ValueError(f"points of rule {i} must be an integer, got {scored.points!r}")

    def check_votes(self, has_votes: bool) -> None:
        """Reject ranked rules with votes, or without them, that do not fit."""
        if has_votes != self.gives_log_odds:
            raise ValueError(f"votes do not fit the combiner {self.name}")

    def votes_against(self, points: int) -> bool:
        """Whether a rule with these points is one for the other class of its label."""
        return self.takes_both_classes and points < 0

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

    def to_points(self, scores: Scores) -> NDArray[np.float64]:
        """The log-odds of presence behind scores in hundredths, to be calibrated."""
        return np.asarray(probability_to_points(self.to_probability(scores)), dtype=np.float64)

    def calibrate(
        self,
        labels: Sequence[Label],
        rules: Sequence[ScoredRule],
        calibration: Calibration,
    ) -> CombinerParts:
        """Combiner, labels and rules whose scores are the calibrated ones."""
        raise ValueError(
            f"the combiner {self.name} cannot be calibrated: leave its scores as they are"
        )

    def adapt(
        self, needs_log_odds: bool, silence: float, labels: Sequence[Label], prior: Any = None
    ) -> Combiner:
        """The combiner that a path uses with a decoder.

        Parameters
        ----------
        needs_log_odds : bool
            Whether the decoder adds up scores of labels.
        silence : float
            Where no rule of a label fires, its probability is this share of its prior.
        labels : sequence of Label
        prior : (n_labels,) float, optional
            Share of each label's target class; None is that of its counts.
        """
        return self

    # -- editing ---------------------------------------------------------------------------------
    # By default a rule decides, so it has no points.

    #: What the points before a rule in a list mean, for the person who edits it.
    points_help: ClassVar[str] = ""

    #: The least that a given rule adds to the score of its label.
    least_given: ClassVar[float] = -np.inf

    def points_of(self, strengths: Scores) -> list[int | None]:
        """The points of rules with these strengths; None if rules decide."""
        return [None] * len(strengths)

    def find_confidence(self, tp: float, fp: float) -> float | None:
        """The confidence of a rule that covers so much by weight; None if its points say it."""
        return None

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
        examples: str = EXAMPLES,
    ) -> str:
        """Why a label has its score, in a clause; `examples` says what the label's counts count."""

    def explain_sum(self, position: int, score: Any) -> tuple[tuple[str, str], ...]:
        """The first and the last line of a sum of votes, each a number and its name; or none."""
        return ()

    # -- writing ---------------------------------------------------------------------------------

    @abstractmethod
    def formulas(self, labels: Sequence[Label], rules_of: RulesByLabel) -> list[Formula]:
        """The score of each label as a formula for exports."""


#: What a calibration changes in a theory.
CombinerParts = tuple[Combiner, tuple[Label, ...], tuple[ScoredRule, ...]]


def target_signs(labels: Sequence[Label]) -> Points:
    """1 for labels whose rules predict presence, -1 for those whose rules predict absence."""
    return np.array([2 * label.target_class - 1 for label in labels], dtype=np.int64)


def about(label: Label) -> str:
    return "" if label.target_class else " for its absence"


def count_fired(label: Label, n_fired: int) -> str:
    return f"{n_fired} rule{'s fire' if n_fired > 1 else ' fires'}{about(label)}"


def read_settings(data: Any, registry: dict[str, Any], what: str) -> dict[str, Any]:
    """The settings of a combiner or decoder that plain data names."""
    name = data.get("name") if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in registry:
        raise ValueError(f"the {what} must be one of {', '.join(registry)}, got {data!r}")
    values = {key: value for key, value in data.items() if key != "name"}
    settings = [field for field in fields(registry[name]) if field.name != "known"]
    expected = [s.name for s in settings if s.metadata != LEFT_OUT or s.name in values]
    if sorted(values) != sorted(expected):
        raise ValueError(f"the {what} {name} must have the fields {expected}, got {sorted(values)}")
    return values
