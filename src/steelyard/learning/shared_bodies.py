"""Boosting of all labels together: a body votes for several of them.

A body is grown for one label, and others join, or for all labels that it votes for. How it is grown for
one label is the caller's affair: this file knows losses, and bodies as masks of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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

# The gain of a body that has no effect on a label is distributed like χ² with one degree of freedom. A
# body that is grown for one label votes for a further one if such a gain has at most this probability,
# divided by the number of labels.
SIGNIFICANCE = 0.05

# A body is grown for this many labels at most, drawn from all of them, which bounds its time.
MOST_GROWN_FOR = 20

# Most votes of a body for so many labels or more would hardly differ from zero. The whole weight of each
# has to lower the deviance by this much: by Akaike's criterion, what a fitted number is worth. Of many
# classes each has few examples, so that votes against it gain less, but together they decide: with 40
# normally distributed ones, the bound lowered the accuracy by up to 14 points.
_MANY_LABELS, LEAST_OF_MANY = 31, 2.0

# The step of bodies that are condensed: there are more of them, and smaller votes fit less noise.
STEP_OF_MANY = 0.2

# Rounds per body: bodies are chosen again, and some round to no vote.
_MOST_ROUNDS = 10

# No body for all labels follows where they gain less than this times the mean weight of a row.
_LEAST_GAIN = 0.01

# The place of the candidate for all labels, beside those of single labels.
_COMMON = -1

# As in the kernel: sums of integers do not depend on the order of the rows, nor do those of floating
# point numbers that are integers of up to 53 bits.
_BITS_OF_SUM = 53

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

    def may_vote(self, j: int, max_labels: int) -> bool:
        """Whether a vote for a label would not be one label too many."""
        return j in self.labels or len(self.labels) < max_labels


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
    step : float, default=STEP
        The share of its best weight that a body gets.
    """

    def __init__(
        self,
        is_present: Masks,
        log_odds: Floats,
        l2: Floats,
        weights: Sequence[LabelWeights] | None = None,
        bag_size: int = 1,
        step: float = STEP,
    ) -> None:
        self.is_present = is_present
        self.step = step
        self.log_odds = log_odds
        self.l2 = l2
        counts = weights or [LabelWeights(np.ones(log_odds.shape[1]))] * len(l2)
        self.unit = np.array([count.find_unit(bag_size, _BITS_OF_SUM) for count in counts])
        self.total: Any = np.ones((len(l2), 1))
        self.loss = np.empty((2, *log_odds.shape), dtype=np.int64)  # gradients and curvatures ...
        self.drawn, self.drawn_loss = self.total, self.loss  # ... and those of a single draw
        if weights is not None:
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
        points = round(POINTS_PER_LOG_ODD * self.step * weight)
        if points:
            self.log_odds[j, covered] += points / POINTS_PER_LOG_ODD
            self._update(j)
        return points

    def weigh(self, covered: Masks, labels: Any = slice(None)) -> tuple[Floats, Floats]:
        """Gain and weight of a body for each of the labels, as in the kernel."""
        sums = (part[labels][:, covered].sum(axis=1) for part in self.loss)
        slope, bend = (part / self.unit[labels] for part in sums)
        return self._weigh(slope, bend + self.l2[labels])

    def _weigh(self, slope: Floats, bend: Floats) -> tuple[Floats, Floats]:
        weight = np.clip(slope / bend, -MAX_WEIGHT, MAX_WEIGHT)
        return weight * (2 * slope - bend * weight), weight

    def find_known(
        self, j: int, known: Mapping[tuple[int, bytes], Body], least: float
    ) -> tuple[int, bytes] | None:
        """The key of the body with the largest gain for a label, if that is at least `least`."""
        if math.isinf(least) or not known:
            return None
        covered = np.array([body.covered for body in known.values()])
        slope, bend = (covered @ part[j].astype(float) / self.unit[j] for part in self.loss)
        gain, _ = self._weigh(slope, bend + self.l2[j])
        best = int(np.argmax(gain))
        return list(known)[best] if gain[best] >= least else None

    def find_helped(
        self, covered: Masks, j: int | None, least: float, may_share: Masks
    ) -> list[tuple[int, float, float]]:
        """Label j and those that a body lowers the loss of by at least `least`, the best first.

        Without a label j, the one that it helps most is first.
        """
        gain, weight = self.weigh(covered)
        is_helped = (gain >= least) & may_share
        if j is None:
            j = int(np.argmax(np.where(may_share, gain, -1.0)))
        is_helped[j] = False
        best_first = np.argsort(-gain, kind="stable")
        labels = [j, *best_first[is_helped[best_first]].tolist()]
        return [(k, float(gain[k]), float(weight[k])) for k in labels]


class CommonBodies:
    """Where the bodies that are grown for several labels at once come from.

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
    labels : (n_labels,) bool
        Those to grow for, at least one.
    """

    def __init__(
        self,
        coded: CodedFeatures,
        settings: BoostingSettings,
        order: NDArray[np.int64],
        draw_ends: NDArray[np.uint64] | None,
        empty: Grown,
        labels: Masks,
    ) -> None:
        self.coded, self.order, self.draw_ends = coded, order, draw_ends
        self.window, self.seed, self.empty = empty.window.copy(), empty.seed, empty
        self.labels = np.flatnonzero(labels)
        n_drawn = settings.n_drawn_features(len(self.window))
        self.sizes = (settings.bag_size(len(order)), n_drawn, settings.n_tries, MOST_GROWN_FOR)

    def find(self, losses: Losses) -> Candidate | None:
        """The next body, for the losses as they are now; None if no body lowers them."""
        body = np.empty(self.empty.bodies.shape[1:], dtype=np.int32)
        covered = np.empty(len(self.order), dtype=np.uint8)
        length, gain, bag_seed, self.seed = grow_body(
            self.coded,
            losses.loss,
            losses.drawn_loss,
            losses.l2,
            losses.unit,
            self.labels,
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


def find_needed_gain(n_labels: int, are_classes: bool) -> float:
    """What a body that is grown for all of so many labels has to gain for each further label.

    Examples
    --------
    >>> find_needed_gain(30, are_classes=False), find_needed_gain(31, are_classes=False)
    (0.0, 2.0)
    """
    return LEAST_OF_MANY if n_labels >= _MANY_LABELS and not are_classes else 0.0


def grow_together(
    find: Callable[[int], Candidate | None],
    losses: Losses,
    may_share: Masks,
    max_bodies: int,
    max_labels: int | None,
    reuse: float,
    common: CommonBodies | None = None,
    least_gain: float = 0.0,
) -> list[list[Vote]]:
    """The votes of each label, one body at a time.

    Each label has a candidate, or those that may share have a common one. The candidate with the largest
    gain gets its votes: for its label, or the one that it helps most, and then for further labels whose
    loss it lowers, best first. If it was grown for one label, it has to help them significantly.

    Parameters
    ----------
    find : callable(label) -> Candidate or None
        The next candidate of a label.
    losses : Losses
    may_share : (n_labels,) bool
        Whether bodies of other labels may vote for a label.
    max_bodies : int
    max_labels : int or None
    reuse : float
        A known body is taken again if its gain for a label is at least `reuse` times the gain of the
        label's candidate.
    common : CommonBodies, optional
        The candidates of the labels that may share.
    least_gain : float, default=0.0
        What such a candidate has to gain for each further label.
    """
    n_labels = len(may_share)
    most = max_labels or n_labels
    significant = float(chi2.isf(SIGNIFICANCE / n_labels, 1))
    votes: list[list[Vote]] = [[] for _ in may_share]

    def look(j: int) -> Candidate | None:
        return common.find(losses) if common and j == _COMMON else find(j)

    own = [j for j in range(n_labels) if common is None or not may_share[j]]
    waiting = {j: look(j) for j in own + [_COMMON] * (common is not None)}
    # Bodies that cover the same rows are one, but a label that may not share has only those of its own.
    bodies: dict[tuple[int, bytes], Body] = {}
    for _ in range(_MOST_ROUNDS * max_bodies):
        waits = [(candidate.gain, -j) for j, candidate in waiting.items() if candidate]
        if not waits or len(bodies) == max_bodies:
            break
        gain, place = max(waits)
        j, candidate = -place, waiting[-place]
        assert candidate is not None
        owner = _COMMON if j == _COMMON or may_share[j] else j
        key = owner, candidate.covered.tobytes()
        if j != _COMMON:
            usable = {
                known: body
                for known, body in bodies.items()
                if body.may_vote(j, most) and (may_share[j] or known[0] == j)
            }
            key = losses.find_known(j, usable, reuse * gain) or key
        body = bodies.get(key) or Body(candidate.rule, candidate.covered, set())
        first, least = (None, least_gain) if j == _COMMON else (j, significant)
        for k, gain, weight in losses.find_helped(body.covered, first, least, may_share):
            points = losses.vote(k, body.covered, weight) if body.may_vote(k, most) else 0
            if points == 0:
                continue
            bodies[key] = body
            body.labels.add(k)
            votes[k].append(Vote(body.rule, points, gain))
            if j != _COMMON:
                _weigh_again(waiting, k, losses, may_share)
        waiting[j] = look(j)
    return votes


def _weigh_again(
    waiting: dict[int, Candidate | None], voted: int, losses: Losses, may_share: Masks
) -> None:
    """What the candidate of a label, or the common one, gains after a vote for the label."""
    place = voted if voted in waiting else _COMMON
    candidate = waiting[place]
    if candidate is not None:
        labels = [voted] if place == voted else np.flatnonzero(may_share)
        gain = float(losses.weigh(candidate.covered, labels)[0].sum())
        waiting[place] = candidate._replace(gain=gain)
