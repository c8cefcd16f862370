"""Paths: chosen rules of every label → rules ranked over all labels → TheoryPath. Knows no learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.row_store import RowStore
from steelyard.heuristics import Heuristic
from steelyard.model.coded_rules import CodedRules, code_rules, drop_unused
from steelyard.model.coding import FeatureCoder
from steelyard.model.combiners import Combiner
from steelyard.model.coverage import order_bits, rows_to_bits
from steelyard.model.label_sets import KnownLabelSets
from steelyard.model.path import Indices, RankedRules, TheoryPath, WeighedCounts
from steelyard.model.rule_table import RuleTable
from steelyard.model.rules import Rule
from steelyard.model.thresholding import count_within

from .category_sets import CategoryCodes, join_conditions
from .limits import GivenRules
from .targets import Targets

# More candidates than a label can have.
_MOST_CANDIDATES = 2**32


class LabelRules(NamedTuple):
    """The rules of one label that at least one heuristic chose.

    Parameters
    ----------
    table : RuleTable
    rows : RowStore
        The training rows that each rule covers.
    tp, fp, n_conditions : (n_rules,)
        Counts are those on all training examples.
    choices : tuple
        What each heuristic chose, with indices into the table.
    held_out : (2, n_rules), optional
        TP and FP on examples that did not make a rule; see `held_out`.
    weighed : (2, n_rules) float, optional
        TP and FP as sums of weights, if the examples have weights.
    categories : CategoryCodes
        The codes of categories with which the conditions have to be read.
    candidate_idx : (n_rules,), optional
        Which candidate of the label each rule was, ascending.
    """

    table: RuleTable
    rows: RowStore
    tp: NDArray[np.int32]
    fp: NDArray[np.int32]
    n_conditions: NDArray[np.int64]
    choices: tuple[Any, ...]
    held_out: NDArray[np.int64] | None = None
    weighed: NDArray[np.float64] | None = None
    categories: CategoryCodes = CategoryCodes({})
    candidate_idx: NDArray[np.int64] | None = None


class Bounds(NamedTuple):
    """Limits on the size of a theory: rules over all labels and per label, conditions of all rules."""

    max_rules: int | None = None
    min_rules_per_label: int = 0
    max_total_conditions: int | None = None

    def check(self, n_labels: int, given: Sequence[Rule] = ()) -> None:
        """Reject bounds that exclude each other or the given rules."""
        n_given, n_protected = len(given), self.min_rules_per_label * n_labels
        if self.max_rules is not None and self.max_rules < n_given:
            raise ValueError(f"max_rules={self.max_rules} is less than the {n_given} given rules")
        n_conditions = sum(map(len, given))
        if self.max_total_conditions is not None and self.max_total_conditions < n_conditions:
            raise ValueError(
                f"max_total_conditions={self.max_total_conditions} is less than the {n_conditions} "
                "conditions of the given rules"
            )
        # A rule has at least one condition.
        for name in ("max_rules", "max_total_conditions"):
            bound = getattr(self, name)
            if bound is not None and bound < n_protected:
                raise ValueError(
                    f"{name}={bound} is less than min_rules_per_label={self.min_rules_per_label} "
                    f"for {n_labels} labels: it must be at least {n_protected}"
                )

    def widen(self, factor: float) -> Bounds:
        """The bounds of a theory that is larger by a factor.

        Examples
        --------
        >>> Bounds(max_rules=10, min_rules_per_label=1).widen(1.5)
        Bounds(max_rules=15, min_rules_per_label=1, max_total_conditions=None)
        """
        bounds = (self.max_rules, self.max_total_conditions)
        rules, conditions = (None if bound is None else round(factor * bound) for bound in bounds)
        return self._replace(max_rules=rules, max_total_conditions=conditions)

    def count_within(self, n_conditions: NDArray[np.int64]) -> int:
        """How many of the rules, best first, a theory may have; see `thresholding.count_within`."""
        return count_within(n_conditions, self.max_rules, self.max_total_conditions)

    def protect(self, label: Indices, n_given: int = 0) -> Indices:
        """The positions of ranked rules with those first that each label keeps, best first.

        The first `n_given` rules are given and stay.

        Examples
        --------
        >>> Bounds(min_rules_per_label=1).protect(np.array([2, 2, 0, 2, 0])).tolist()
        [0, 2, 1, 3, 4]
        """
        n_before: dict[int, int] = {}
        is_protected = np.zeros(len(label), dtype=np.bool_)
        for i, j in enumerate(label.tolist()):
            n_before[j] = n_before.get(j, 0) + 1
            is_protected[i] = i < n_given or n_before[j] <= self.min_rules_per_label
        return np.argsort(~is_protected, kind="stable")


NO_BOUNDS = Bounds()


class RulePool(NamedTuple):
    """The rules of all labels, one label after the other; each label starts at its offset.

    The given rules come after the learned ones, which alone are in the table. For each label `rows` has
    the training rows that its rules cover; a rule is at its `place` there.
    """

    table: RuleTable
    rows: Sequence[RowStore]
    offsets: Indices
    label_of_rule: Indices
    place: Indices
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_conditions: NDArray[np.int64]
    given: GivenRules
    held_out: NDArray[np.int64] | None = None
    weighed: NDArray[np.float64] | None = None
    categories: Sequence[CategoryCodes] = ()
    candidate_idx: NDArray[np.int64] | None = None

    @property
    def given_idx(self) -> Indices:
        """The indices of the given rules."""
        return np.arange(len(self.table), len(self.label_of_rule))

    def count_new(self, ranking: Indices) -> tuple[Indices, Indices]:
        """Positives and negatives that each ranked rule is the first of its label to cover."""
        new = np.zeros((2, len(ranking)), dtype=np.int64)
        label = self.label_of_rule[ranking]
        by_label = np.argsort(label, kind="stable")
        ends = np.searchsorted(label[by_label], np.arange(len(self.rows) + 1))
        for j, store in enumerate(self.rows):
            ranked = by_label[ends[j] : ends[j + 1]]
            new[:, ranked] = store.count_new(self.place[ranking[ranked]])
        return new[0], new[1]

    def code(self, coder: FeatureCoder) -> CodedRules:
        """The rules on codes of the attributes that they test."""
        if not self.given.rules and not any(codes.places for codes in self.categories):
            return drop_unused(self.table, coder)
        # The bounds of given rules are not among the cut points of the learned ones.
        coders = [codes.recode_coder(coder) for codes in self.categories]
        labels = self.label_of_rule[: len(self.table)].tolist()
        bodies = [
            join_conditions(self.table.body(r, coders[label])) for r, label in enumerate(labels)
        ]
        return code_rules(coder.features, bodies + [rule.body for rule in self.given.rules])


class Ranking(NamedTuple):
    """The rules that one heuristic chose over all labels, best first; `votes` if they vote."""

    rule_idx: Indices
    values: NDArray[np.float64]
    votes: NDArray[np.int64] | None = None


def pool_rules(
    rules_of_label: Sequence[LabelRules], given: GivenRules, targets: Targets
) -> RulePool:
    """Join the rules of all labels and the given rules."""
    tables, rows, *columns, _, held_out, weighed, codes, candidate_idx = zip(
        *rules_of_label, strict=True
    )
    is_target = targets.is_target
    for j in set(given.label_idx.tolist()):
        masks = given.masks[given.label_idx == j]
        bits = order_bits(is_target[j])
        rows[j].add_bits(np.array([rows_to_bits(mask, bits) for mask in masks]))
    sizes = np.array([len(table) for table in tables])
    label_of_rule = np.repeat(np.arange(len(sizes)), sizes)
    tp = (given.masks & is_target[given.label_idx]).sum(axis=1)
    fp = given.masks.sum(axis=1) - tp
    # No example made a given rule.
    unseen = None if held_out[0] is None else np.concatenate([*held_out, [tp, fp]], axis=1)
    places = None if candidate_idx[0] is None else np.concatenate(candidate_idx)
    of_given = (tp, fp, [len(rule) for rule in given.rules])
    tp, fp, n_conditions = (
        np.concatenate([*column, np.asarray(more, dtype=np.int64)]).astype(np.int64)
        for column, more in zip(columns, of_given, strict=True)
    )
    offsets = np.cumsum(sizes) - sizes
    # The given rules are sorted by label.
    n_before = np.arange(len(given.rules)) - np.searchsorted(given.label_idx, given.label_idx)
    place = np.arange(len(label_of_rule)) - offsets[label_of_rule]
    place = np.concatenate((place, sizes[given.label_idx] + n_before))
    label_of_rule = np.concatenate((label_of_rule, given.label_idx))
    of_rule = (label_of_rule, place, tp, fp, n_conditions)
    sums = None
    if targets.weights is not None:
        sums = np.concatenate([*weighed, _weigh_given(given, targets)], axis=1)
    about = (given, unseen, sums, codes, places)
    return RulePool(RuleTable.concatenate(tables), rows, offsets, *of_rule, *about)


def _weigh_given(given: GivenRules, targets: Targets) -> NDArray[np.float64]:
    """TP and FP of the given rules as sums of weights, shape (2, n_rules)."""
    sums = np.zeros((2, len(given.rules)))
    for r, (j, mask) in enumerate(zip(given.label_idx.tolist(), given.masks, strict=True)):
        own = targets.label_weights[j]
        if own is not None:
            covered = own.total * mask
            sums[:, r] = covered @ targets.is_target[j], covered @ ~targets.is_target[j]
    return sums


def make_path(
    pool: RulePool,
    rankings: Sequence[Ranking],
    targets: Targets,
    coder: FeatureCoder,
    heuristics: Sequence[Heuristic],
    phis: Sequence[float],
    combiner: Combiner,
    bounds: Bounds = NO_BOUNDS,
) -> TheoryPath:
    """The path of theories, one ranking per heuristic."""
    ranked = [
        RankedRules(rule_idx, values, *pool.count_new(rule_idx), votes)
        for rule_idx, values, votes in rankings
    ]
    weighed = None
    if pool.weighed is not None:
        tp, fp = pool.weighed
        weighed = WeighedCounts(tp, fp, targets.shares, *targets.mean_weights)
    return TheoryPath(
        heuristics=tuple(heuristics),
        phis=tuple(phis),
        coded=pool.code(coder),
        label_of_rule=pool.label_of_rule,
        tp=pool.tp,
        fp=pool.fp,
        held_out=pool.held_out,
        weighed=weighed,
        ranked=tuple(ranked),
        labels=targets.count_labels(),
        combiner=combiner,
        classes=targets.classes,
        label_sets=None if targets.classes else KnownLabelSets.from_labels(targets.is_present.T),
        **bounds._asdict(),
        n_given=len(pool.given.rules),
        origins=pool.given.origins,
        candidate_idx=pool.candidate_idx,
    )


def join_paths(
    paths: Sequence[TheoryPath],
    candidate_idx: Sequence[NDArray[np.int64]],
    picks: Sequence[tuple[int, int]],
) -> TheoryPath:
    """One path of heuristics that several paths have, all learned from the same candidates.

    It is the path that would have been learned for these heuristics together, except that it has no
    counts on unseen examples.

    Parameters
    ----------
    paths : sequence of TheoryPath
    candidate_idx : sequence of (n_learned,) int
        For each path, which candidate of its label each learned rule was.
    picks : sequence of (int, int)
        The path and the position there of each heuristic.

    Examples
    --------
    >>> from steelyard import MEstimate, make_planted_rules, theory_path
    >>> data, ms = make_planted_rules(200, random_state=0), (0, 4, 16)
    >>> whole, odd, even = (
    ...     theory_path(data.X, data.Y, [MEstimate(m) for m in grid], n_candidates=500, random_state=0)
    ...     for grid in (ms, ms[::2], ms[1:2])
    ... )
    >>> keys = [odd.candidate_idx, even.candidate_idx]
    >>> join_paths([odd, even], keys, [(0, 0), (1, 0), (0, 1)]).to_json() == whole.to_json()
    True
    """
    first = paths[0]
    keys = [_sort_keys(*pair) for pair in zip(paths, candidate_idx, strict=True)]
    ranked = [paths[p].ranked[h] for p, h in picks]
    chosen = [keys[p][own.rule_idx] for (p, _), own in zip(picks, ranked, strict=True)]
    used = np.unique(np.concatenate(chosen))
    # The path and the position there of each used rule; paths agree on a rule that several of them have.
    places = np.empty((2, len(used)), dtype=np.intp)
    for p, own_keys in enumerate(keys):
        is_used = np.isin(own_keys, used)
        places[0, np.searchsorted(used, own_keys[is_used])] = p
        places[1, np.searchsorted(used, own_keys[is_used])] = np.flatnonzero(is_used)
    rules = list(zip(*places.tolist(), strict=True))
    label_of_rule, tp, fp = (
        np.array([getattr(paths[p], name)[r] for p, r in rules], dtype=np.int64)
        for name in ("label_of_rule", "tp", "fp")
    )
    return replace(
        first,
        heuristics=tuple(paths[p].heuristics[h] for p, h in picks),
        coded=code_rules(first.coded.features, [paths[p].coded.body(r) for p, r in rules]),
        label_of_rule=label_of_rule,
        tp=tp,
        fp=fp,
        ranked=tuple(
            own._replace(rule_idx=np.searchsorted(used, key))
            for own, key in zip(ranked, chosen, strict=True)
        ),
        held_out=None,
        candidate_idx=used[: len(used) - first.n_given] % _MOST_CANDIDATES,
    )


def _sort_keys(path: TheoryPath, candidate_idx: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers that sort the rules of a path by label and candidate; the given rules are the last."""
    label = np.repeat(len(path.labels), len(path.label_of_rule))
    label[: len(candidate_idx)] = path.label_of_rule[: len(candidate_idx)]
    return label * _MOST_CANDIDATES + np.concatenate((candidate_idx, np.arange(path.n_given)))
