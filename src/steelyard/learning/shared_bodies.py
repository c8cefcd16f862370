"""Boosting of all labels together: a body is grown for all of them, and votes for several.

Knows losses and bodies as masks of rows. Labels with limits of their own have bodies that are grown for
each of them alone; how is the caller's affair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from steelyard._kernels.boosting_together import grow_body
from steelyard._kernels.coding import hash_rows
from steelyard.model.coding import CodedFeatures
from steelyard.model.log_odds import POINTS_PER_LOG_ODD

from .boosting import MAX_WEIGHT, STEP, Grown
from .settings import BoostingSettings
from .weights import LabelWeights

# The gain of a body that has no effect on a label is distributed like χ² with one degree of freedom. If
# the labels of a body are limited, it votes for a further one if such a gain has at most this
# probability, divided by the number of labels.
SIGNIFICANCE = 0.05

# With more labels, each body is grown for some of them, which bounds the time of a body.
MOST_GROWN_FOR = 20

# Rounds per body: bodies are chosen again, and some round to no vote.
_MOST_ROUNDS = 10

# No body is grown where all labels together gain less than this times the mean weight of a row.
_LEAST_GAIN = 0.01

# As in the kernel: sums of integers do not depend on the order of the rows.
_UNIT = 2.0**30

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]


class Candidate(NamedTuple):
    """A body that waits for its votes, the rows it covers, and its gain."""

    rule: Any
    covered: Masks
    gain: float


class Body(NamedTuple):
    """A body that votes, the rows it covers, and the labels it votes for."""

    rule: Any
    covered: Masks
    labels: set[int]


class Vote(NamedTuple):
    """The points of a rule for the presence of a label, and how much its whole weight would gain."""

    rule: Any
    points: int
    gain: float


def draw_common_order(coded: CodedFeatures, is_target: Masks) -> NDArray[np.int64]:
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
    weights : sequence of LabelWeights, optional
        What each row counts for each label; None: 1.
    bag_size : int, default=1
        Number of draws of a bag, whose sums must not overflow either.
    """

    def __init__(
        self,
        is_present: Masks,
        log_odds: Floats,
        l2: Floats,
        weights: Sequence[LabelWeights] | None = None,
        bag_size: int = 1,
    ) -> None:
        self.is_present = is_present
        self.log_odds = log_odds
        self.l2 = l2
        self.unit = np.full(len(l2), _UNIT)
        self.total: Any = np.ones((len(l2), 1))
        self.loss = np.empty((2, *log_odds.shape), dtype=np.int64)  # gradients and curvatures ...
        self.drawn, self.drawn_loss = self.total, self.loss  # ... and those of a single draw
        if weights is not None:
            self.unit = np.array([of_label.find_unit(bag_size) for of_label in weights])
            self.total = np.array([of_label.total for of_label in weights])
            self.drawn = np.array([of_label.drawn_weights() for of_label in weights])
            self.drawn_loss = np.empty_like(self.loss)
        for j in range(len(log_odds)):
            self._update(j)

    @property
    def mean_weight(self) -> float:
        """What a row counts on average, for the label for which that is least."""
        return float(self.total.mean(axis=1).min())

    def _update(self, j: int) -> None:
        p = 1 / (1 + np.exp(-self.log_odds[j]))
        gradient, curvature = (self.is_present[j] - p) * self.unit[j], p * (1 - p) * self.unit[j]
        self.loss[:, j] = np.rint((self.total[j] * gradient, self.total[j] * curvature))
        if self.drawn_loss is not self.loss:
            self.drawn_loss[:, j] = np.rint((self.drawn[j] * gradient, self.drawn[j] * curvature))

    def vote(self, j: int, covered: Masks, weight: float) -> int:
        """Give a body its share of the weight for a label; return the points."""
        points = round(POINTS_PER_LOG_ODD * STEP * weight)
        if points:
            self.log_odds[j, covered] += points / POINTS_PER_LOG_ODD
            self._update(j)
        return points

    def weigh(self, covered: Masks, labels: Any = slice(None)) -> tuple[Floats, Floats]:
        """Gain and weight of a body for each of the labels, as in the kernel."""
        sums = (part[labels][:, covered].sum(axis=1) for part in self.loss)
        slope, bend = (part / self.unit[labels] for part in sums)
        bend = bend + self.l2[labels]
        weight = np.clip(slope / bend, -MAX_WEIGHT, MAX_WEIGHT)
        return weight * (2 * slope - bend * weight), weight


class CommonBodies:
    """Where the bodies that are grown for all free labels come from.

    Parameters
    ----------
    coded : CodedFeatures
    settings : BoostingSettings
    order : (n_rows,) int
        In which bags draw the rows.
    draw_ends : (n_rows,) uint64 or None
        By which rows with weights are drawn.
    empty : Grown
        A label without rules: the attributes to use, and the randomness.
    is_free : (n_labels,) bool
        The labels to grow for.
    """

    def __init__(
        self,
        coded: CodedFeatures,
        settings: BoostingSettings,
        order: NDArray[np.int64],
        draw_ends: NDArray[np.uint64] | None,
        empty: Grown,
        is_free: Masks,
    ) -> None:
        self.coded, self.order, self.draw_ends = coded, order, draw_ends
        self.window, self.seed, self.empty = empty.window.copy(), empty.seed, empty
        self.free = np.flatnonzero(is_free)
        n_drawn = settings.n_drawn_features(len(self.window))
        self.sizes = (settings.bag_size(len(order)), n_drawn, settings.n_tries, MOST_GROWN_FOR)

    def find(self, losses: Losses) -> Candidate | None:
        """The next body, for the losses as they are now; None if no body lowers them."""
        if not self.free.size:
            return None
        body = np.empty(self.empty.bodies.shape[1:], dtype=np.int32)
        covered = np.empty(len(self.order), dtype=np.uint8)
        loss, drawn = losses.loss, losses.drawn_loss
        if len(self.free) < len(losses.l2):
            loss, drawn = loss[:, self.free], drawn[:, self.free]
        length, gain, bag_seed, self.seed = grow_body(
            self.coded,
            loss,
            drawn,
            losses.l2[self.free],
            losses.unit[self.free],
            self.order,
            *self.sizes,
            MAX_WEIGHT,
            np.uint64(self.seed),
            self.window,
            body,
            covered,
            self.draw_ends,
        )
        if length == 0 or gain < _LEAST_GAIN * losses.mean_weight:
            return None
        rule = self.empty._replace(
            lengths=np.array([length]),
            bodies=body[None],
            bag_seeds=np.array([bag_seed], dtype=np.uint64),
            classes=np.array([3], dtype=np.uint8),  # both
        )
        return Candidate(rule, covered.view(np.bool_), gain)


def grow_together(
    find: Callable[[int], Candidate | None],
    find_common: Callable[[], Candidate | None],
    losses: Losses,
    is_free: Masks,
    max_bodies: int,
    max_labels: int | None,
) -> list[list[Vote]]:
    """The votes of each label, one body at a time.

    There is a candidate for all free labels together, and one for each of the others. The one with the
    largest gain gets its votes: for its own label, or for the free label that it helps most, and for
    further free labels whose loss it lowers, best first. Without a maximum of labels all of them follow,
    otherwise those that it helps significantly.

    Parameters
    ----------
    find : callable(label) -> Candidate or None
        The next candidate of a label that is not free.
    find_common : callable() -> Candidate or None
        The next candidate of the free labels.
    losses : Losses
    is_free : (n_labels,) bool
        Labels that bodies may vote for, whatever they were grown for.
    max_bodies : int
    max_labels : int or None
    """
    most_labels = len(is_free) if max_labels is None else max_labels
    least = 0.0 if max_labels is None else float(chi2.isf(SIGNIFICANCE / len(is_free), 1))
    votes: list[list[Vote]] = [[] for _ in is_free]
    common = -1
    waiting: dict[int, Candidate | None] = {common: find_common()}
    waiting |= {j: find(j) for j in np.flatnonzero(~is_free).tolist()}
    bodies: dict[bytes, Body] = {}  # those that cover the same rows are one
    for _ in range(_MOST_ROUNDS * max_bodies):
        waits = [(candidate.gain, -j) for j, candidate in waiting.items() if candidate]
        if not waits or len(bodies) == max_bodies:
            break
        own = -max(waits)[1]
        candidate = waiting[own]
        assert candidate is not None
        body = bodies.get(candidate.covered.tobytes())
        if body is None:
            body = Body(candidate.rule, candidate.covered, set())
        gain, weight = losses.weigh(body.covered)
        ranked = sorted(np.flatnonzero(is_free).tolist(), key=lambda k: -gain[k])
        first = [ranked.pop(0) if own == common else own]
        for k in first + [k for k in ranked if gain[k] >= least]:
            if k not in body.labels and len(body.labels) == most_labels:
                continue
            points = losses.vote(k, body.covered, float(weight[k]))
            if points == 0:
                continue
            bodies[body.covered.tobytes()] = body
            body.labels.add(k)
            votes[k].append(Vote(body.rule, points, float(gain[k])))
        waiting[own] = find_common() if own == common else find(own)
        _weigh_again(waiting, losses, is_free, own)
    return votes


def _weigh_again(
    waiting: dict[int, Candidate | None], losses: Losses, is_free: Masks, own: int
) -> None:
    """What the candidates gain after the votes of another one."""
    for j, candidate in waiting.items():
        if candidate is not None and j != own:
            labels = np.flatnonzero(is_free) if j < 0 else [j]
            gain = float(losses.weigh(candidate.covered, labels)[0].sum())
            waiting[j] = candidate._replace(gain=gain)
