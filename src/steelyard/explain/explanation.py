"""What an explanation is: plain frozen objects that print themselves. Computes nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.model.decoding import format_points
from steelyard.model.rules import format_body

from .changes import Change, NearRule
from .html import explanation_to_html
from .votes import ChosenSet, LabelPoints, VotingSets

if TYPE_CHECKING:
    from steelyard.model.evidence import Label, ScoredRule

_COLUMNS = [
    "label",
    "predicted",
    "fired",
    "rule",
    "weight",
    "tp",
    "fp",
    "precision",
    "failing",
    "change",
]


@dataclass(frozen=True)
class LabelExplanation:
    """Why a label is predicted as it is.

    Parameters
    ----------
    label : Label
        With its target class and the training examples that no rule covers.
    predicted : {0, 1}
        Whether the label is predicted as present (for a theory of classes: whether it is the class).
    fired : tuple of ScoredRule
        All rules that fire, best first.
    closest : tuple of NearRule
        If none fires, the rules for which the fewest attributes have to change; of those, the most
        precise ones first. None for a class that is predicted because no class has a firing rule.
    points : LabelPoints, optional
        What the votes of the rules come to, if the theory has points.
    """

    label: Label
    predicted: int
    fired: tuple[ScoredRule, ...]
    closest: tuple[NearRule, ...]
    points: LabelPoints | None = None

    @property
    def name(self) -> str:
        """The label's name."""
        return self.label.name

    @property
    def smallest_change(self) -> tuple[Change, ...]:
        """The changes after which a rule fires; empty if one does already, or if there is none."""
        return self.closest[0].changes if self.closest else ()

    @property
    def reason(self) -> str:
        """Why, in one line."""
        about = "" if self.label.target_class else " for its absence"
        n_fired = len(self.fired)
        text = f"{n_fired} rule{'s fire' if n_fired > 1 else ' fires'}{about}"
        if self.points is not None:
            text = text if n_fired else f"no rule{about} fires"
            return text + self.points.say_total(n_fired) + self.points.say_overruled(self.predicted)
        if self.fired:
            is_outvoted = self.predicted != self.label.target_class
            return text + (", but another class is better supported" if is_outvoted else "")
        n_missed, n_right = self.label.uncovered_positives, self.label.uncovered_negatives
        n_silent = n_missed + n_right
        if self.predicted == self.label.target_class:
            return (
                f"no rule of any class fires; of the {n_silent} training examples that its rules "
                f"leave out {n_missed} {'was' if n_missed == 1 else 'were'} of this class"
            )
        return (
            f"no rule{about} fires, which was right for {n_right} of {n_silent} training examples"
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.name}: {'yes' if self.predicted else 'no'}, {self.reason}"
        fired = [f"  ✓ {self._show_rule(scored)}" for scored in self.fired]
        if self.points is not None and self.points.is_sum and fired:
            fired.insert(0, f"    {format_points(self.points.start)}  start")
            fired.append(f"    {format_points(self.points.total)}  total")
        yield from fired
        for near in self.closest:
            yield f"  ✗ {self._show_rule(near.scored)}"
            for failing in near.failing:
                yield f"      {failing}"
            yield f"      → {', '.join(map(str, near.changes))}"

    def _show_rule(self, scored: ScoredRule) -> str:
        vote = "" if self.points is None else f"{format_points(scored.vote)}  "
        # What is right and wrong is meant for the rule's head, which can be the other class.
        is_other = scored.rule.head.target_class != self.label.target_class
        head = f"{scored.rule.head}: " if is_other else ""
        counts = f"TP {scored.tp}, FP {scored.fp}, precision {scored.precision:.2f}"
        return f"{vote}{format_body(scored.rule.body) or 'always'}  ({head}{counts})"


@dataclass(frozen=True)
class Explanation:
    """Why a theory predicts what it predicts for one example.

    A sequence of `LabelExplanation`, one a label; an item can also be had by the label's name.

    Parameters
    ----------
    labels : tuple of LabelExplanation
    predicted : tuple of str, or a class
        The names of the labels that are predicted as present; for a theory of classes the class.
    row : hashable
        The example's index label or position.
    label_set : ChosenSet or VotingSets, optional
        Which known label set fits best, if the theory predicts such sets, or how they vote.

    Examples
    --------
    >>> from steelyard import MEstimate, RuleSetClassifier, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = RuleSetClassifier(MEstimate(m=8), n_candidates=500, random_state=0)
    >>> explanation = clf.fit(data.X, data.Y).explain(data.X.iloc[0])
    >>> [label.name for label in explanation] == data.label_names
    True
    >>> list(explanation.to_frame().columns)
    ['label', 'predicted', 'fired', 'rule', 'tp', 'fp', 'precision', 'failing', 'change']
    """

    labels: tuple[LabelExplanation, ...]
    predicted: Any
    row: Hashable = 0
    label_set: ChosenSet | VotingSets | None = None

    def __iter__(self) -> Iterator[LabelExplanation]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, label: str | int) -> LabelExplanation:
        if isinstance(label, int):
            return self.labels[label]
        for explained in self.labels:
            if explained.name == label:
                return explained
        raise KeyError(label)

    def __str__(self) -> str:
        what = self.predicted
        if isinstance(what, tuple):
            what = ", ".join(what) or "no label"
        found = "" if self.label_set is None else f"\n{self.label_set}"
        return "\n\n".join([f"predicted: {what}{found}", *map(str, self.labels)])

    def __repr__(self) -> str:
        return f"<Explanation: {self.predicted!r} predicted, {len(self.labels)} labels>"

    def to_frame(self) -> pd.DataFrame:
        """One row a rule that fired or is among the closest, and one for a label without rules.

        A theory with points has a weight for each rule: its `ScoredRule.weight`.
        """
        frame = pd.DataFrame(list(self._records()), columns=_COLUMNS)
        has_points = any(label.points is not None for label in self.labels)
        return frame if has_points else frame.drop(columns="weight")

    def _records(self) -> Iterator[tuple[Any, ...]]:
        for label in self.labels:
            about = (label.name, label.predicted)
            for scored in label.fired:
                yield (*about, True, *_rule_record(scored), "", "")
            for near in label.closest:
                failing = "; ".join(str(failing.condition) for failing in near.failing)
                change = "; ".join(map(str, near.changes))
                yield (*about, False, *_rule_record(near.scored), failing, change)
            if not label.fired and not label.closest:
                yield (*about, False, *[None] * 5, "", "")

    def _repr_html_(self) -> str:
        return explanation_to_html(self)


def _rule_record(scored: ScoredRule) -> tuple[Any, ...]:
    return format_body(scored.rule.body), scored.weight, scored.tp, scored.fp, scored.precision
