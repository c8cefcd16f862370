"""What an explanation is: plain frozen objects that print themselves. Computes nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from steelyard.model.conditions import describe_body, format_body
from steelyard.model.evidence import Evidence, Label
from steelyard.model.rules import ScoredRule
from steelyard.model.views import check_by, describe_heads, group_by_body

from .changes import Change, NearRule

_HELD_OUT = ["held_out_tp", "held_out_fp", "held_out_precision"]
_NUMBERS = ["weight", "tp", "fp", "precision", *_HELD_OUT]
_COLUMNS = ["label", "predicted", "fired", "rule", *_NUMBERS, "failing", "change"]


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
        precise ones first.
    reason : str
        Why, in one line.
    sums : tuple of (str, str)
        Where votes are summed, the start and the total, each with its name.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> data = load_patients()
    >>> clf = RipperClassifier(random_state=0).fit(data.X, data.Y)
    >>> explanation = clf.explain(data.X.iloc[[0]], labels=["high cholesterol"])
    >>> label = explanation.labels[0]
    >>> label.name, label.predicted, len(label.fired)
    ('high cholesterol', 0, 0)
    >>> print(label.closest[0].scored.rule.describe())
    high cholesterol ← ...
    """

    label: Label
    predicted: int
    fired: tuple[ScoredRule, ...]
    closest: tuple[NearRule, ...]
    reason: str
    sums: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The name of the label."""
        return self.label.name

    @property
    def smallest_change(self) -> tuple[Change, ...]:
        """The changes after which a rule fires; empty if one does already, or if there is none."""
        return self.closest[0].changes if self.closest else ()

    @property
    def shown(self) -> tuple[NearRule, ...]:
        """The rules that fire, which need no change, or else the closest ones."""
        return tuple(NearRule(scored, ()) for scored in self.fired) or self.closest

    def __str__(self) -> str:
        return "\n".join(self.list_lines(self.shown))

    def list_lines(self, rules: tuple[NearRule, ...]) -> Iterator[str]:
        """The prediction with its reason, and the given rules."""
        yield f"{self.name}: {'yes' if self.predicted else 'no'}, {self.reason}"
        sums = [f"    {number}  {what}" for number, what in self.sums]
        yield from sums[:1]
        for near in rules:
            yield f"  {near.sign} {self._show_rule(near.scored)}"
            for change in near.changes:
                yield f"      {change.failure}"
            if near.changes:
                yield f"      → {', '.join(map(str, near.changes))}"
        yield from sums[1:]

    def _show_rule(self, scored: ScoredRule) -> str:
        weight = "" if scored.points is None else f"{scored.weight:+.2f}  "
        # Counts belong to the head of the rule, which can be the other class.
        is_other = scored.head.target_class != self.label.target_class
        head = f"{scored.head}: " if is_other else ""
        return (
            f"{weight}{describe_body(scored.body) or 'always'}  ({head}{describe_counts(scored)})"
        )


def describe_counts(scored: ScoredRule) -> str:
    """How often a rule was right: first on examples that it was not learned from, if there are any."""
    counts = scored.counts
    if scored.is_counted:
        counts += f", precision {scored.precision:.2f}"
    if scored.held_out is None:
        return counts
    unseen = f"unseen: {scored.held_out.describe()}, precision {scored.held_out.precision:.2f}"
    return f"{unseen}; training: {counts}"


def _list_counts(evidence: Evidence | None) -> tuple[Any, ...]:
    if evidence is None:
        return (None, None, None)
    return evidence.tp, evidence.fp, evidence.precision


@dataclass(frozen=True)
class Explanation:
    """Why a theory predicts what it predicts for one example.

    A sequence of `LabelExplanation`, one per label; the name of a label works as an index as well.

    Parameters
    ----------
    labels : tuple of LabelExplanation
    predicted : tuple of str, or a class
        The names of the labels that are predicted as present; for a theory of classes the class.
    row : hashable
        The index label or position of the example.
    note : str
        A sentence about all labels together, such as which label set fits best; may be empty.
    evidence_note : str
        What the counts of the rules stand for, if it is not the training examples.
    n_hidden : int
        Number of labels of the theory that are not shown.
    has_weights : bool
        Whether the rules vote.

    Examples
    --------
    >>> from steelyard import MEstimate, RuleSetClassifier, make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> clf = RuleSetClassifier(MEstimate(m=8), n_candidates=500, random_state=0)
    >>> explanation = clf.fit(data.X, data.Y).explain(data.X.iloc[0])
    >>> [label.name for label in explanation] == data.label_names
    True
    >>> print(*explanation.to_frame().columns)
    label predicted fired rule tp fp precision held_out_tp held_out_fp held_out_precision failing change
    """

    labels: tuple[LabelExplanation, ...]
    predicted: Any
    row: Hashable = 0
    note: str = ""
    evidence_note: str = ""
    n_hidden: int = 0
    has_weights: bool = False

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

    @property
    def has_held_out(self) -> bool:
        """Whether rules were counted on examples that they were not learned from."""
        shown = (near.scored for label in self.labels for near in label.shown)
        return any(scored.held_out is not None for scored in shown)

    def title_lines(self) -> list[str]:
        """What is predicted, and the notes if there are any."""
        what = self.predicted
        if isinstance(what, tuple):
            what = ", ".join(what) or "no label"
        lines = [f"predicted: {what}", *filter(None, [self.note, self.evidence_note])]
        if self.n_hidden:
            others = f"{self.n_hidden} other label{'s' * (self.n_hidden > 1)}"
            lines.append(f"{others} not shown: labels='all' or names of labels shows them")
        return lines

    def __str__(self) -> str:
        return "\n\n".join(["\n".join(self.title_lines()), *map(str, self.labels)])

    def to_text(self, by: Literal["label", "body"] = "label") -> str:
        """The explanation as it prints itself, or with one line per body that fires.

        A body that votes for several labels then has one line, and each label follows with its reason.

        Examples
        --------
        >>> from steelyard import BoostedRulesClassifier, load_patients
        >>> data = load_patients()
        >>> clf = BoostedRulesClassifier(max_rules=9, max_labels_per_rule=2, random_state=0)
        >>> text = clf.fit(data.X, data.Y).explain(data.X.iloc[[0]]).to_text(by="body")
        >>> print(next(line for line in text.splitlines() if "✓" in line).strip())
        ✓ ... ← ...
        """
        check_by(by)
        if by == "label":
            return f"{self}\n"
        groups = group_by_body(scored for label in self.labels for scored in label.fired)
        bodies = [
            f"  ✓ {describe_heads(rules)} ← {describe_body(body) or 'always'}"
            for body, rules in groups
        ]
        labels = ["\n".join(label.list_lines(label.closest)) for label in self.labels]
        parts = ["\n".join(self.title_lines()), "\n".join(bodies), *labels]
        return "\n\n".join(filter(None, parts)) + "\n"

    def __repr__(self) -> str:
        return f"<Explanation: {self.predicted!r} predicted, {len(self.labels)} labels>"

    def to_frame(self) -> pd.DataFrame:
        """One row per rule that fired or is among the closest, and one per label without such rules.

        With rules that vote, `weight` is their `ScoredRule.weight`. Counts of a rule that was edited and
        not counted since are missing.
        """
        frame = pd.DataFrame(list(self._records()), columns=_COLUMNS)
        unused = [] if self.has_weights else ["weight"]
        unused += [] if self.has_held_out else _HELD_OUT
        return frame.drop(columns=unused)

    def _records(self) -> Iterator[tuple[Any, ...]]:
        for label in self.labels:
            about = (label.name, label.predicted)
            for near in label.shown:
                scored, changes = near.scored, near.changes
                counts = *_list_counts(scored.evidence), *_list_counts(scored.held_out)
                failing = "; ".join(str(change.failing) for change in changes)
                rule = (format_body(scored.body), scored.weight, *counts)
                yield (*about, not changes, *rule, failing, "; ".join(map(str, changes)))
            if not label.shown:
                yield (*about, False, *[None] * (1 + len(_NUMBERS)), "", "")

    def _repr_html_(self) -> str:
        from .notebook import explanation_to_html  # it reads explanations

        return explanation_to_html(self)
