"""Theory × example → explanation: which rules fire, which come closest, what would have to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from steelyard._numbers import is_whole
from steelyard.model.coded_rules import select_columns
from steelyard.model.decoding import SHARES
from steelyard.model.features import (
    Feature,
    NumericColumn,
    category_text,
    shorten_repr,
    table_to_columns,
)
from steelyard.model.rules import Condition

from .changes import Change, FailingCondition, NearRule, Value
from .explanation import Explanation, LabelExplanation
from .votes import ChosenSet, DecidedBy, LabelPoints, LabelShare, VotingSets

if TYPE_CHECKING:
    from steelyard.model.decoding import KnownLabelSets, Points
    from steelyard.model.evidence import ScoredRule
    from steelyard.model.features import NominalColumn
    from steelyard.model.theory import Theory


def as_table(X: Any) -> Any:
    """One example (Series, dict, 1-D array or list) as a table with one row; tables as they are.

    Examples
    --------
    >>> as_table({"size": 3.0, "colour": "red"})
       size colour
    0   3.0    red
    >>> as_table([1.0, 2.0]).shape
    (1, 2)
    """
    if isinstance(X, pd.DataFrame) or sparse.issparse(X):
        return X
    if isinstance(X, pd.Series):
        if isinstance(X.dtype, pd.SparseDtype):
            X = pd.Series(X.to_numpy(), index=X.index, name=X.name)
        # A row of mixed columns has the type object; its values still know what they are.
        return X.astype(object).to_frame().T.infer_objects()
    if isinstance(X, Mapping):
        return pd.DataFrame([X])
    array = X if hasattr(X, "dtype") else np.asarray(X, dtype=object)
    if array.ndim == 0:
        raise TypeError(
            "explain needs an example (a Series, a dict, a list or a 1-D array) or a table, "
            f"got {shorten_repr(X)}"
        )
    if array is not X:
        array = np.where(pd.isna(array), np.nan, array)
    return array.reshape(1, -1) if array.ndim == 1 else array


def explain_theory(theory: Theory, X: Any, n_closest: int = 3) -> Explanation | list[Explanation]:
    """See `Theory.explain`."""
    if not is_whole(n_closest, least=0):
        raise ValueError(f"n_closest must be a whole number of at least 0, got {n_closest!r}")
    table = as_table(X)
    fires = theory.covers(table)
    n_rows = fires.shape[0]
    names = list(table.index) if isinstance(table, pd.DataFrame) else list(range(n_rows))
    values = _read_values(theory, table)
    predicted = np.asarray(theory.predict(table))
    points, sets = _count_points(theory, table, n_rows)
    explanations = [
        Explanation(
            _explain_labels(
                theory,
                fires[i],
                {name: column[i] for name, column in values.items()},
                _present_labels(theory, predicted[i]),
                points[i],
                n_closest,
            ),
            _answer(theory, predicted[i]),
            names[i],
            sets[i],
        )
        for i in range(n_rows)
    ]
    return explanations[0] if n_rows == 1 else explanations


def _count_points(
    theory: Theory, table: Any, n_rows: int
) -> tuple[Sequence[Sequence[LabelPoints | None]], Sequence[ChosenSet | VotingSets | None]]:
    """The points of the labels and the label set of each row, as far as the theory has any."""
    no_sets = [None] * n_rows
    if theory.start_points is None:
        return [[None] * len(theory.labels)] * n_rows, no_sets
    counted = theory.count_points(table)
    decided_by: DecidedBy = "label"
    if theory.output in ("multiclass", "ordered"):
        decided_by = "class"
    elif theory.label_sets is not None:
        decided_by = "label set"
    is_sum = theory.combine == "weighted"
    points = [
        [
            LabelPoints(start, int(total), is_sum, decided_by)
            for start, total in zip(theory.start_points, row, strict=True)
        ]
        for row in counted
    ]
    if theory.label_sets is None:
        return points, no_sets
    if theory.label_sets.min_share is not None:
        shares = _share_votes(theory.label_sets, counted)
        return (
            [
                [replace(label, share=share) for label, share in zip(*pair, strict=True)]
                for pair in zip(points, shares, strict=True)
            ],
            [
                _name_votes(theory, theory.label_sets, of_labels, row > 0)
                for of_labels, row in zip(shares, counted, strict=True)
            ],
        )
    best = theory.label_sets.find_best(counted)
    return points, [
        _name_set(theory, theory.label_sets, int(k), row > 0)
        for k, row in zip(best, counted, strict=True)
    ]


def _name_set(
    theory: Theory, known: KnownLabelSets, k: int, is_positive: NDArray[np.bool_]
) -> ChosenSet:
    names = theory.label_names
    by_itself = _name_positive(theory, is_positive)
    if k < 0:
        # What counts as new can be known, and rarer than chance would have it.
        positive = tuple(np.flatnonzero(is_positive).tolist())
        k = known.sets.index(positive) if positive in known.sets else -1
    return ChosenSet(
        tuple(names[j] for j in known.sets[k]) if k >= 0 else by_itself,
        by_itself,
        known.counts[k] if k >= 0 else 0,
        known.n_examples,
        len(known.sets),
    )


def _name_positive(theory: Theory, is_positive: NDArray[np.bool_]) -> tuple[str, ...]:
    """The labels that would be predicted if each was decided by itself."""
    return tuple(np.array(theory.label_names, dtype=object)[is_positive])


def _share_votes(known: KnownLabelSets, points: Points) -> list[list[LabelShare]]:
    """What each label has of the votes, a list of labels for each row."""
    needed = Fraction(known.min_share_in_thousandths, SHARES)
    for_label, of_all = (votes.tolist() for votes in known.share_votes(points))
    return [
        [LabelShare(Fraction(votes, n_votes), needed) for votes in row]
        for row, n_votes in zip(for_label, of_all, strict=True)
    ]


def _name_votes(
    theory: Theory,
    known: KnownLabelSets,
    of_labels: list[LabelShare],
    is_positive: NDArray[np.bool_],
) -> VotingSets:
    shares = list(zip(theory.label_names, of_labels, strict=True))
    return VotingSets(
        tuple(name for name, share in shares if share.is_enough),
        _name_positive(theory, is_positive),
        tuple(sorted(shares, key=lambda pair: -pair[1].share)),
        len(known.sets),
        known.unseen_points is not None,
    )


def _explain_labels(
    theory: Theory,
    fires: NDArray[np.bool_],
    values: dict[str, Value],
    is_present: Any,
    points: Sequence[LabelPoints | None],
    n_closest: int,
) -> tuple[LabelExplanation, ...]:
    labels = []
    rules_of: dict[str, list[tuple[ScoredRule, bool]]] = {name: [] for name in theory.label_names}
    for scored, fired in zip(theory.scored_rules, fires, strict=True):
        rules_of[scored.rule.head.label].append((scored, bool(fired)))
    for label, present, count in zip(theory.labels, is_present, points, strict=True):
        rules = rules_of[label.name]
        fired_rules = tuple(scored for scored, fired in rules if fired)
        # Where no class has a firing rule one of them is predicted all the same.
        is_given = bool(fired_rules) or (count is None and present == label.target_class)
        closest = () if is_given else _find_closest([s for s, _ in rules], values, n_closest)
        labels.append(LabelExplanation(label, int(present), fired_rules, closest, count))
    return tuple(labels)


def _answer(theory: Theory, predicted: Any) -> Any:
    """The names of the predicted labels, or the class."""
    if theory.output == "multilabel":
        return tuple(
            name for name, present in zip(theory.label_names, predicted, strict=True) if present
        )
    return predicted.item() if isinstance(predicted, np.generic) else predicted


def _present_labels(theory: Theory, predicted: Any) -> Any:
    """0/1 for each label, from 0/1 themselves or from the predicted class."""
    if theory.output == "multilabel":
        return predicted
    if theory.output == "binary":  # one label, the class whose rules are learned
        return [predicted == theory.classes[1]]
    return [predicted == value for value in theory.classes]


def _find_closest(
    rules: list[ScoredRule], values: dict[str, Value], n_closest: int
) -> tuple[NearRule, ...]:
    """The rules that need the fewest attributes changed, of those the most precise ones.

    The size of a numeric change does not count: a theory knows no scale on which a degree of fever
    compares with a year of age.
    """
    near = [rule for scored in rules if (rule := _compare(scored, values)) is not None]
    near.sort(key=lambda rule: (len(rule.changes), -rule.scored.smoothed_precision))
    return tuple(near[:n_closest])


def _compare(scored: ScoredRule, values: dict[str, Value]) -> NearRule | None:
    """What an example lacks for a rule; None if the rule asks for what no example can have."""
    failing = tuple(
        FailingCondition(condition, values[condition.feature])
        for condition in scored.rule.body
        if not _is_met(condition, values[condition.feature])
    )
    by_feature: dict[str, list[Condition]] = {}
    for condition in (f.condition for f in failing):
        by_feature.setdefault(condition.feature, []).append(condition)
    changes = []
    for feature, needed in by_feature.items():
        nearest = _nearest_value(needed)
        body = (c for c in scored.rule.body if c.feature == feature)
        if not all(_is_met(condition, nearest) for condition in body):
            return None
        changes.append(Change(feature, values[feature], tuple(needed), nearest))
    return NearRule(scored, failing, tuple(changes)) if changes else None


def _is_met(condition: Condition, value: Value) -> bool:
    if value is None or isinstance(condition.value, str) or isinstance(value, str):
        return value == condition.value
    return value >= condition.cut if condition.operator == "≥" else value < condition.cut


def _nearest_value(needed: list[Condition]) -> float | str:
    """The bound that is not met: exactly if it is allowed, else the next smaller float.

    Only a missing value misses both ends of an interval; it is given the lower one.
    """
    lower = [float(c.value) for c in needed if c.operator == "≥"]
    if lower:
        return max(lower)
    if needed[0].operator == "=":
        return needed[0].value
    return float(np.nextafter(min(c.cut for c in needed), -np.inf))


def _read_values(theory: Theory, table: Any) -> dict[str, list[Value]]:
    """Values of the tested attributes as the rules see them, a list of rows each."""
    tested = {condition.feature for rule in theory for condition in rule.body}
    used_idx = np.array(
        [i for i, feature in enumerate(theory.features) if feature.name in tested], dtype=np.intp
    )
    columns = select_columns(table, theory.features, used_idx)
    features = [theory.features[i] for i in used_idx]
    return {
        feature.name: _column_to_values(feature, column, columns.shape[0])
        for feature, column in zip(features, table_to_columns(columns, features), strict=True)
    }


def _column_to_values(
    feature: Feature, column: NumericColumn | NominalColumn, n_rows: int
) -> list[Value]:
    if not isinstance(column, NumericColumn):
        texts = [None if code < 0 else column.categories[code] for code in column.codes]
        if feature.is_nominal:
            return [None if text is None else feature.read_category(text) for text in texts]
        return [None if text is None else _not_nan(float(text)) for text in texts]
    numbers = column.values
    if column.rows is not None:
        numbers = np.zeros(n_rows)
        numbers[column.rows] = column.values
    values = [_not_nan(float(number)) for number in numbers]
    if feature.is_nominal:
        return [
            None if value is None else feature.read_category(category_text(value))
            for value in values
        ]
    return list(values)


def _not_nan(number: float) -> float | None:
    return None if np.isnan(number) else number
