"""Refitting: a path of rules that vote → the same rules with votes that are fitted together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from steelyard.model.coverage import Bits, unpack
from steelyard.model.log_odds import POINTS_PER_LOG_ODD, probability_to_points
from steelyard.model.path import RankedRules, TheoryPath

from .targets import Targets

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]

# Steps are far below a point, so that no rounding of an earlier step shows in the votes.
_PRECISION = 1e-9
_MOST_STEPS = 100

# Losses that differ by less may be equal: they are sums of many numbers.
_ROUNDING = 1e-12

# Numbers in a block of rows × rules.
_BLOCK = 2_000_000


def refit_votes(
    path: TheoryPath, X: Any, targets: Targets, ms: Sequence[float], *, keeps_rules: bool = False
) -> TheoryPath:
    """The same rules with votes that are fitted together.

    Boosting gives one rule after the other a part of the weight that is best for it at that moment, and
    never looks back. Here the votes of all rules of a label become those of a logistic regression on
    the rules: they minimise the logistic loss plus l2/2 times the sum of their squares. As in boosting,
    l2 = m·p·(1 - p) is the curvature of m further examples with the label's prior p.

    A rule whose vote would change its sign would contradict its own evidence: it is left out, and the
    others are fitted again. A given rule keeps at least one point, and with `keeps_rules` every rule
    does.

    Parameters
    ----------
    path : TheoryPath
        From `learn_boosted_rules`.
    X, targets, ms
        What it was learned from: the training set, and the strengths of the prior.
    keeps_rules : bool
    """
    targets = targets.for_presence()
    bits, _ = path.coded.cover(X)
    n_learned = len(path.label_of_rule) - path.n_given
    may_drop = (np.arange(len(path.label_of_rule)) < n_learned) & (not keeps_rules)
    # The matrices are small: several threads of a product wait for each other most of the time.
    with threadpool_limits(1, user_api="blas"):
        ranked = tuple(
            _refit_ranking(path, ranked, m, bits, targets, may_drop)
            for ranked, m in zip(path.ranked, ms, strict=True)
        )
    return replace(path, ranked=ranked)


def _refit_ranking(
    path: TheoryPath, ranked: RankedRules, m: float, bits: Bits, targets: Targets, may_drop: Masks
) -> RankedRules:
    """The ranking of one m with each rule once, and the new votes."""
    rules, first, votes = ranked.take(len(ranked.rule_idx))
    if votes is None:
        raise ValueError("only rules that vote have votes to fit")
    label_of_rule = path.label_of_rule[rules]
    points = np.zeros(len(rules), dtype=np.int64)
    new = np.zeros((2, len(rules)), dtype=np.int64)
    for j in np.unique(label_of_rule):
        own = np.flatnonzero(label_of_rule == j)
        fires = unpack(bits[rules[own]], targets.is_target.shape[1])
        task = _Task.make(fires, targets, j, m)
        points[own] = votes[own]
        if task.l2 > 0:  # the label is present in some examples and absent in others
            points[own] = _fit_label(task, np.sign(votes[own]), may_drop[rules[own]])
        is_kept = points[own] != 0
        new[:, own[is_kept]] = _count_new(fires[is_kept], task.is_present)
    kept = np.flatnonzero(points)
    new_tp, new_fp = new[:, kept]
    return RankedRules(rules[kept], ranked.values[first[kept]], new_tp, new_fp, points[kept])


class _Task(NamedTuple):
    """What the votes of one label are fitted to.

    `fires` has one row per rule, `total` is what each example counts, and `offset` is its log-odds
    without the rules.
    """

    fires: Masks
    is_present: Masks
    total: Floats
    offset: Floats
    l2: float

    @classmethod
    def make(cls, fires: Masks, targets: Targets, label: int, m: float) -> _Task:
        weights, is_present = targets.label_weights[label], targets.is_target[label]
        total = np.ones(len(is_present)) if weights is None else weights.total
        prior = float(total[is_present].sum() / total.sum())
        # Votes that separate the classes would have no bound without a prior.
        l2 = max(m, 1.0) * prior * (1 - prior)
        start = float(probability_to_points(prior)) / POINTS_PER_LOG_ODD
        return cls(fires, is_present, total, np.full(len(is_present), start), l2)

    def measure(self, votes: Floats) -> tuple[float, Floats, Floats]:
        """The loss with these votes, its gradient and its curvature, in blocks of rows."""
        loss = self.l2 / 2 * float(votes @ votes)
        slope, bend = self.l2 * votes, self.l2 * np.eye(len(votes))
        n_rows = max(1, _BLOCK // max(len(votes), 1))
        for begin in range(0, len(self.total), n_rows):
            rows = slice(begin, begin + n_rows)
            covers = self.fires[:, rows].astype(np.float64)
            sign = np.where(self.is_present[rows], 1.0, -1.0)
            margin = sign * (votes @ covers + self.offset[rows])
            wrong = 1 / (1 + np.exp(np.minimum(margin, 500.0)))  # probability of the other class
            total = self.total[rows]
            loss += float(total @ np.logaddexp(0, -margin))
            slope = slope - covers @ (total * sign * wrong)
            bend = bend + (covers * (total * wrong * (1 - wrong))) @ covers.T
        return loss, slope, bend

    def without(self, is_fixed: Masks, votes: Floats) -> _Task:
        """The task of the other rules, given the votes of some."""
        offset = self.offset + votes[is_fixed] @ self.fires[is_fixed]
        return self._replace(fires=self.fires[~is_fixed], offset=offset)


def _fit_label(task: _Task, sign: NDArray[np.int64], may_drop: Masks) -> NDArray[np.int64]:
    """The points of all rules of a label, with the given signs; 0 for those to leave out."""
    # A rule that stays although its vote would turn has one point.
    least = np.where(may_drop, 0, sign)
    is_turned = np.zeros(len(sign), dtype=np.bool_)
    while True:
        rest = task.without(is_turned, least / POINTS_PER_LOG_ODD)
        fitted = _minimise(rest)
        points = least.copy()
        points[~is_turned] = np.rint(POINTS_PER_LOG_ODD * fitted).astype(np.int64)
        turns = ~is_turned & (points * sign <= 0)
        if not turns.any():
            return points
        is_turned |= turns


def _minimise(task: _Task) -> Floats:
    """The votes with the smallest loss, by Newton's method; a step that raises the loss is halved."""
    votes = np.zeros(len(task.fires))
    loss, slope, bend = task.measure(votes)
    for _ in range(_MOST_STEPS):
        step = np.linalg.solve(bend, slope)
        found = task.measure(votes - step)
        while found[0] > loss * (1 + _ROUNDING):
            step = step / 2
            found = task.measure(votes - step)
        votes = votes - step
        loss, slope, bend = found
        if np.abs(step).max(initial=0) <= _PRECISION:
            break
    return votes


def _count_new(fires: Masks, is_present: Masks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positives and negatives that each rule is the first to cover."""
    is_first = fires & ~np.logical_or.accumulate(np.vstack((np.zeros_like(fires[:1]), fires[:-1])))
    return (is_first & is_present).sum(axis=1), (is_first & ~is_present).sum(axis=1)
