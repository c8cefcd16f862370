"""Boosting of all labels together: a body that is grown for one label also votes for others.

Knows losses and bodies as masks of rows; how a body is grown is the caller's affair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from steelyard._kernels.coding import hash_rows
from steelyard.model.coding import CodedFeatures
from steelyard.model.log_odds import POINTS_PER_LOG_ODD

# The gain of a body that has no effect on a label is distributed like χ² with one degree of freedom. A
# body votes for a further label if such a gain has at most this probability, divided by the number of
# labels.
SIGNIFICANCE = 0.05

# Rounds per body: bodies are chosen again, and some round to no vote.
_MOST_ROUNDS = 10

# As in the kernel: sums of integers do not depend on the order of the rows.
_UNIT = 2.0**30


class Candidate(NamedTuple):
    """A rule of one label that waits for its votes, the rows it covers, and its gain."""

    rule: Any
    covered: NDArray[np.bool_]
    gain: float


class Body(NamedTuple):
    """A body that votes, the rows it covers, and the labels it votes for."""

    rule: Any
    covered: NDArray[np.bool_]
    labels: set[int]

    def may_vote(self, j: int, max_labels: int) -> bool:
        """Whether a vote for a label would not be one label too many."""
        return j in self.labels or len(self.labels) < max_labels


class Vote(NamedTuple):
    """The points of a rule for the presence of a label, and how much its whole weight would gain."""

    rule: Any
    points: int
    gain: float


def draw_common_order(coded: CodedFeatures, is_target: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows in the order of their content, attributes and all labels; bags are drawn in this order."""
    return np.lexsort((*is_target, hash_rows(coded))).astype(np.int64)


class Losses:
    """The logistic losses of all labels.

    Parameters
    ----------
    is_present : (n_labels, n_rows) bool
    log_odds : (n_labels, n_rows) float
        Those to start from; they change.
    l2 : (n_labels,) float
        What the prior adds to the curvature of a rule.
    step, max_weight : float
        The share of its best weight that a rule gets, and the largest such weight.
    totals : (n_labels, n_rows) float, optional
        What each row counts for each label; None: 1.
    """

    def __init__(
        self,
        is_present: NDArray[np.bool_],
        log_odds: NDArray[np.float64],
        l2: NDArray[np.float64],
        step: float,
        max_weight: float,
        totals: NDArray[np.float64] | None = None,
    ) -> None:
        self.is_present = is_present
        self.log_odds = log_odds
        self.l2 = l2
        self.step = step
        self.max_weight = max_weight
        self.totals = np.ones(log_odds.shape) if totals is None else totals
        # Sums are below 2⁵³, so they are exact as floating point numbers, too.
        _, exponent = np.frexp(self.totals.sum(axis=1) / log_odds.shape[1])
        self.unit = np.ldexp(_UNIT, -np.maximum(exponent - 1, 0))
        self.loss = np.empty((2, *log_odds.shape), dtype=np.int64)  # gradients and curvatures
        for j in range(len(log_odds)):
            self._update(j)

    def _update(self, j: int) -> None:
        p = 1 / (1 + np.exp(-self.log_odds[j]))
        unit = self.totals[j] * self.unit[j]
        self.loss[0, j] = np.rint((self.is_present[j] - p) * unit)
        self.loss[1, j] = np.rint(p * (1 - p) * unit)

    def vote(self, j: int, covered: NDArray[np.bool_], weight: float) -> int:
        """Give a body its share of the weight for a label; return the points."""
        points = round(POINTS_PER_LOG_ODD * self.step * weight)
        if points:
            self.log_odds[j, covered] += points / POINTS_PER_LOG_ODD
            self._update(j)
        return points

    def weigh(
        self, covered: NDArray[np.bool_], labels: Any = slice(None)
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gain and weight of a body for each of the labels, as in the kernel."""
        sums = (part[labels][:, covered].sum(axis=1) for part in self.loss)
        slope, bend = (part / self.unit[labels] for part in sums)
        return self._weigh(slope, bend + self.l2[labels])

    def _weigh(
        self, slope: NDArray[np.float64], bend: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        weight = np.clip(slope / bend, -self.max_weight, self.max_weight)
        return weight * (2 * slope - bend * weight), weight

    def find_known(self, j: int, known: Sequence[Body], least: float) -> Body | None:
        """The body with the largest gain for a label, if that is at least `least`."""
        if math.isinf(least) or not known:
            return None
        covered = np.array([body.covered for body in known])
        # Sums of integers below 2⁵³ are exact, and those of floats are faster.
        slope, bend = (covered @ part[j].astype(float) / self.unit[j] for part in self.loss)
        gain, _ = self._weigh(slope, bend + self.l2[j])
        best = int(np.argmax(gain))
        return known[best] if gain[best] >= least else None

    def find_helped(
        self, covered: NDArray[np.bool_], j: int, least: float, may_share: NDArray[np.bool_]
    ) -> list[tuple[int, float, float]]:
        """Label j and those that a body lowers the loss of by at least `least`, the best first."""
        gain, weight = self.weigh(covered)
        is_helped = (gain >= least) & may_share
        is_helped[j] = False
        best_first = np.argsort(-gain, kind="stable")
        labels = [j, *best_first[is_helped[best_first]].tolist()]
        return [(k, float(gain[k]), float(weight[k])) for k in labels]


def grow_together(
    find: Callable[[int, NDArray[np.float64]], Candidate | None],
    losses: Losses,
    may_share: NDArray[np.bool_],
    max_bodies: int,
    max_labels: int,
    reuse: float,
) -> list[list[Vote]]:
    """The votes of each label, one body at a time.

    Each label has a candidate. The one with the largest gain gets its vote, and its body votes for the
    further labels whose loss it lowers significantly, best first, up to `max_labels` in all. Then its
    label looks for another candidate.

    Parameters
    ----------
    find : callable(label, log_odds) -> Candidate or None
        The next candidate of a label.
    losses : Losses
    may_share : (n_labels,) bool
        Whether bodies of other labels may vote for a label.
    max_bodies, max_labels : int
    reuse : float
        A known body is taken again if its gain is at least `reuse` times the gain of the candidate.
    """
    least = chi2.isf(SIGNIFICANCE / len(may_share), 1)
    votes: list[list[Vote]] = [[] for _ in may_share]
    waiting: dict[int, Any] = {j: find(j, losses.log_odds[j]) for j in range(len(may_share))}
    bodies: dict[bytes, Body] = {}  # those that cover the same rows are one
    for _ in range(_MOST_ROUNDS * max_bodies):
        waits = [(candidate.gain, -j) for j, candidate in waiting.items() if candidate]
        if not waits or len(bodies) == max_bodies:
            break
        j = -max(waits)[1]
        usable = [body for body in bodies.values() if body.may_vote(j, max_labels)]
        known = losses.find_known(j, usable, reuse * waiting[j].gain)
        body = known or Body(waiting[j].rule, waiting[j].covered, set())
        body = bodies.get(body.covered.tobytes(), body)
        for k, gain, weight in losses.find_helped(body.covered, j, least, may_share):
            points = losses.vote(k, body.covered, weight) if body.may_vote(k, max_labels) else 0
            if points == 0:
                continue
            bodies[body.covered.tobytes()] = body
            body.labels.add(k)
            votes[k].append(Vote(body.rule, points, gain))
            if waiting[k] is not None:
                left = losses.weigh(waiting[k].covered, [k])[0]
                waiting[k] = waiting[k]._replace(gain=float(left[0]))
        waiting[j] = find(j, losses.log_odds[j])
    return votes
