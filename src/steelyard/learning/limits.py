"""Limits: constraints of each label on codes, for kernels, and the rules that are given."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._text import list_names
from steelyard.model.coded_rules import code_rules
from steelyard.model.coding import FeatureCoder
from steelyard.model.conditions import Condition
from steelyard.model.coverage import unpack
from steelyard.model.evidence import Provenance
from steelyard.model.features import Feature
from steelyard.model.log_odds import confidence_to_points
from steelyard.model.rule_table import RuleTable
from steelyard.model.rules import Rule

from .constraints import Constraints, ConstraintWarning
from .targets import Targets

Mask = NDArray[np.bool_]

# Classes as bits, as in the kernels: presence and absence of a label.
PRESENCE, ABSENCE = 1, 2
_BOTH = PRESENCE | ABSENCE


class Limits(NamedTuple):
    """The constraints on the rules of one label, on codes.

    Parameters
    ----------
    lower, upper : (n_features,) uint8
        The classes, as bits, whose rules may bound a feature from below and from above. A nominal
        feature has the same in both.
    banned_indptr, banned_low, banned_high : arrays
        Ranges of codes by feature (a CSR): no condition may lie within one.
    apart_indptr, apart : arrays
        Features that must not be tested together with a feature (a CSR).
    share : (n_features,) float
        Share of its gain that a condition on a feature counts with.
    min_covered, min_tp : int
    max_conditions : int or None
    """

    lower: NDArray[np.uint8]
    upper: NDArray[np.uint8]
    banned_indptr: NDArray[np.int64]
    banned_low: NDArray[np.int32]
    banned_high: NDArray[np.int32]
    apart_indptr: NDArray[np.int64]
    apart: NDArray[np.int32]
    share: NDArray[np.float64]
    min_covered: int
    min_tp: int
    max_conditions: int | None

    @property
    def is_usable(self) -> Mask:
        """Which features a rule may test."""
        return (self.lower | self.upper) > 0

    @property
    def excludes_nothing(self) -> bool:
        """Whether every rule satisfies them and none is preferred: the label has no constraints."""
        bounds = (self.banned_low.size, self.apart.size, self.min_covered, self.min_tp)
        is_free = bool((self.lower & self.upper == _BOTH).all()) and self.max_conditions is None
        return is_free and not any(bounds) and not self.has_preference

    @property
    def has_preference(self) -> bool:
        """Whether some features are preferred to others."""
        return bool((self.share < 1).any())

    def least_conditions(self, max_conditions: int | None) -> int | None:
        """The smaller of two maximum numbers of conditions; None is no limit."""
        most = [m for m in (self.max_conditions, max_conditions) if m is not None]
        return min(most, default=None)

    def share_of_rules(self, table: RuleTable) -> NDArray[np.float64]:
        """Share of its value that each rule counts with: the mean over the features it tests."""
        total = np.concatenate(([0.0], np.cumsum(self.share[table.feature])))
        sums = total[table.indptr[1:]] - total[table.indptr[:-1]]
        return np.asarray(sums / np.maximum(np.diff(table.indptr), 1))

    def allows(self, table: RuleTable, tp: Any, fp: Any, prior: float) -> Mask:
        """Which rules cover enough examples.

        A rule that tests a feature with a direction also has to be right more often than not: if rules
        vote, it would otherwise speak for the other class, which has the other direction.
        """
        is_allowed = (tp >= self.min_tp) & (tp + fp >= self.min_covered)
        is_against = confidence_to_points(tp, fp, prior) < 0
        is_directed = ((self.lower != _BOTH) | (self.upper != _BOTH))[table.feature]
        rule_of_condition = np.repeat(np.arange(len(table)), np.diff(table.indptr))
        tests_directed = np.zeros(len(table), dtype=np.bool_)
        tests_directed[rule_of_condition[is_directed]] = True
        is_allowed &= ~is_against | (~tests_directed & (fp >= self.min_tp))
        return np.asarray(is_allowed)


def make_limits(
    constraints: Constraints, coder: FeatureCoder, labels: Iterable[str]
) -> list[Limits]:
    """The limits of each label."""
    position = {feature.name: f for f, feature in enumerate(coder.features)}
    return [_limit_label(constraints.of(label), coder, position) for label in labels]


def _limit_label(own: Constraints, coder: FeatureCoder, position: dict[str, int]) -> Limits:
    n_features = len(coder.features)
    lower, upper = np.full((2, n_features), _BOTH, dtype=np.uint8)
    for names, below, above in (
        (own.increasing, PRESENCE, ABSENCE),
        (own.decreasing, ABSENCE, PRESENCE),
        (own.forbidden, 0, 0),
    ):
        idx = [position[name] for name in names]
        lower[idx] = below
        upper[idx] = above
    share = np.ones(n_features)
    if own.preferred:
        share[:] = 1 - own.preference
        share[[position[name] for name in own.preferred]] = 1
    banned = [
        (position[condition.feature], low, high)
        for condition in own.forbidden_conditions
        for low, high in _ban_codes(condition, coder, position[condition.feature])
    ]
    banned_indptr, ranges = _group_by_feature(banned, 2, n_features)
    groups = [[position[name] for name in group] for group in own.apart]
    pairs = {(f, g) for group in groups for f in group for g in group if f != g}
    apart_indptr, partners = _group_by_feature(sorted(pairs), 1, n_features)
    return Limits(
        lower=lower,
        upper=upper,
        banned_indptr=banned_indptr,
        banned_low=ranges[0],
        banned_high=ranges[1],
        apart_indptr=apart_indptr,
        apart=partners[0],
        share=share,
        min_covered=own.min_covered,
        min_tp=own.min_tp,
        max_conditions=own.max_conditions,
    )


def _ban_codes(condition: Condition, coder: FeatureCoder, f: int) -> list[tuple[int, int]]:
    """The ranges of codes such that a range of codes implies the condition if it lies within one.

    Learned conditions test one category, so each forbidden category is a range of its own.
    """
    if condition.categories is not None:
        categories = coder.features[f].categories or ()
        codes = [categories.index(text) for text in condition.categories if text in categories]
        return [(code, code + 1) for code in codes]
    cuts = coder.cuts[f]
    low, high = 0, coder.n_codes(f)
    if condition.low > -math.inf:
        low = int(np.searchsorted(cuts, condition.low)) + 1
    if condition.cut < math.inf:
        high = int(np.searchsorted(cuts, condition.cut, side="right"))
    return [(low, high)] if low < high else []


def _group_by_feature(
    rows: Sequence[tuple[int, ...]], width: int, n_features: int
) -> tuple[NDArray[np.int64], list[NDArray[np.int32]]]:
    """Rows (feature, ...) as a CSR over the features: its indptr, and the other columns."""
    array = np.array(sorted(rows), dtype=np.int64).reshape(len(rows), width + 1)
    sizes = np.bincount(array[:, 0], minlength=n_features)
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return indptr, [column.astype(np.int32) for column in array[:, 1:].T]


class GivenRules(NamedTuple):
    """The given rules of a theory, label by label, and the training rows that they cover.

    Parameters
    ----------
    rules : tuple of Rule
    label_idx : (n_rules,) int
    masks : (n_rules, n_rows) bool
    origins : tuple of Provenance
    """

    rules: tuple[Rule, ...]
    label_idx: NDArray[np.intp]
    masks: Mask
    origins: tuple[Provenance, ...] = ()

    def of_label(self, label: int) -> tuple[tuple[Rule, ...], Mask]:
        """The rules of one label with their masks."""
        idx = np.flatnonzero(self.label_idx == label)
        return tuple(self.rules[i] for i in idx), self.masks[idx]


def read_given(
    constraints: Constraints | None, features: Sequence[Feature], targets: Targets, X: Any
) -> GivenRules:
    """The given rules on a training table."""
    rules: Sequence[Rule] = () if constraints is None else constraints.given
    position = {name: i for i, name in enumerate(targets.names)}
    rules = tuple(sorted(rules, key=lambda rule: position[rule.head.label]))
    label_idx = np.array([position[rule.head.label] for rule in rules], dtype=np.intp)
    if not rules:
        return GivenRules((), label_idx, np.empty((0, targets.is_target.shape[1]), np.bool_))
    bits, n_rows = code_rules(tuple(features), [rule.body for rule in rules]).cover(X)
    origins = () if constraints is None else map(constraints.origin_of, rules)
    return GivenRules(rules, label_idx, unpack(bits, n_rows), tuple(origins))


def align_targets(targets: Targets, constraints: Constraints) -> Targets:
    """The targets with the class that the given rules of a label predict as its target class."""
    wanted = _wanted_classes(constraints.given)
    target_class = targets.target_class.copy()
    for i, name in enumerate(targets.names):
        target_class[i] = wanted.get(name, target_class[i])
        if target_class[i] != 1 and targets.classes:
            raise ValueError(
                f"a given rule for the class {name!r} must predict it, not its absence"
            )
    if (target_class == targets.target_class).all():
        return targets
    is_target = targets.is_present == (target_class == 1)[:, None]
    return replace(targets, target_class=target_class, is_target=is_target)


def _wanted_classes(rules: Iterable[Rule]) -> dict[str, int]:
    """The class that the given rules of each label predict."""
    wanted: dict[str, int] = {}
    for rule in rules:
        label, target_class = rule.head.label, rule.head.target_class
        if wanted.setdefault(label, target_class) != target_class:
            raise ValueError(
                f"given rules predict both presence and absence of {label!r}, which only rules "
                "that vote (BoostedRulesClassifier) can do"
            )
    return wanted


class Demands(NamedTuple):
    """The constraints on a training set: targets, limits of each label, given rules.

    Without constraints `limits` is None, and learners work as if there were none.
    """

    targets: Targets
    limits: list[Limits] | None
    given: GivenRules

    def by_label(self) -> tuple[Sequence[Limits | None], Sequence[Mask | None]]:
        """The limits of each label, and the rows that its given rules cover, if it has any."""
        n_labels = len(self.targets.names)
        covered: list[Mask | None] = [None] * n_labels
        for label in np.unique(self.given.label_idx):
            covered[label] = np.logical_or.reduce(self.given.of_label(label)[1])
        return self.limits or [None] * n_labels, covered

    def warn_of_empty(self, n_rules: Sequence[int]) -> None:
        """Say which labels the constraints leave without a rule, given the numbers of learned rules."""
        if self.limits is None:
            return
        varies = np.array([0 < mask.sum() < len(mask) for mask in self.targets.is_target])
        is_left = varies & (np.asarray(n_rules) == 0)
        is_left[self.given.label_idx] = False
        warn_of_empty_labels([self.targets.names[i] for i in np.flatnonzero(is_left)])


def read_demands(
    constraints: Constraints | None,
    coder: FeatureCoder,
    targets: Targets,
    X: Any,
    *,
    takes_both_classes: bool = False,
) -> Demands:
    """Check constraints against a training set and prepare them for a learner.

    Unless the rules of a label can predict both classes, the given ones determine its target class.
    """
    if not constraints:
        return Demands(targets, None, read_given(None, coder.features, targets, X))
    are_classes = targets.output != "multilabel"
    constraints = constraints.fit_to(coder.features, targets.names, are_classes=are_classes)
    if not takes_both_classes:
        targets = align_targets(targets, constraints)
    limits = make_limits(constraints, coder, targets.names)
    given = read_given(constraints, coder.features, targets, X)
    warn_of_weak_given(given, limits, targets.is_present)
    return Demands(targets, limits, given)


def warn_of_empty_labels(names: Sequence[str]) -> None:
    """Say which labels the constraints leave without any rule."""
    if names:
        plural = "labels" if len(names) > 1 else "label"
        warnings.warn(
            f"the constraints leave no rule for the {plural} {list_names(names, most=10)}",
            ConstraintWarning,
            stacklevel=2,
        )


def warn_of_weak_given(given: GivenRules, limits: Sequence[Limits], is_present: Mask) -> None:
    """Say which given rules cover fewer examples than other rules have to."""
    weak = []
    for rule, label, mask in zip(given.rules, given.label_idx, given.masks, strict=True):
        n_covered = int(mask.sum())
        tp = int((mask & (is_present[label] == rule.head.target_class)).sum())
        if n_covered < max(limits[label].min_covered, 1) or tp < limits[label].min_tp:
            weak.append(f"{str(rule)!r} (TP {tp}, FP {n_covered - tp})")
    if weak:
        warnings.warn(
            f"given rules cover no examples or fewer than min_covered or min_tp: {', '.join(weak)}",
            ConstraintWarning,
            stacklevel=2,
        )
