"""Condensing: many rules that vote → few of them with new votes that predict as well."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from steelyard.model.coverage import order_bits, unpack
from steelyard.model.log_odds import (
    LEAST_PROBABILITY,
    POINTS_PER_LOG_ODD,
    points_to_probability,
    probability_to_points,
)
from steelyard.model.path import add_votes

from .paths import Bounds, Ranking, RulePool
from .targets import Targets

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Masks = NDArray[np.bool_]


class Pace(NamedTuple):
    """How much work condensing is.

    Parameters
    ----------
    grown_per_kept : int
        How many times as many rules are grown as are kept.
    n_rounds : int
        In how many rounds the others are dropped.
    n_steps : int
        Newton steps per round, which starts from the votes of the round before.
    """

    grown_per_kept: int
    n_rounds: int
    n_steps: int


# The votes of the others change when rules are dropped. Five times as many rules and twenty rounds were
# not better. Bodies that vote for several labels take longer; for them, three times as many, three
# rounds and two steps were not better either.
_PACE, _PACE_OF_BODIES = Pace(3, 8, 2), Pace(2, 2, 1)

# At the end, steps are far below a point, so that no rounding of an earlier step shows in the votes.
_PRECISION = 1e-9
_MOST_STEPS = 100

# Losses that differ by less may be equal: they are sums of many numbers.
_ROUNDING = 1e-12

# Rules whose worth differs by a smaller share are equally good: further digits depend on the order in
# which numbers were added.
_SMALLEST_SHARE = 1e-9

# Added to the curvature, as a share of its largest number, so that it has an inverse with any weights.
_RIDGE = 1e-12

# Numbers in a block of rows × rules.
_BLOCK = 2_000_000


def find_pace(shares_bodies: bool) -> Pace:
    """The pace at which rules for one label, or bodies for several labels, are condensed."""
    return _PACE_OF_BODIES if shares_bodies else _PACE


class _Threads:
    """The limit of threads that several fits of one process share, and how many of them need it."""

    lock = threading.Lock()
    n_fits = 0
    limits: Any = None


@contextmanager
def _use_one_thread() -> Iterator[None]:
    """Limit matrix products to one thread: they are small, and several threads wait for each other.

    The limit holds for the whole process, so the first fit sets it and the last one removes it.
    """
    with _Threads.lock:
        if _Threads.n_fits == 0:
            _Threads.limits = threadpool_limits(1, user_api="blas")
        _Threads.n_fits += 1
    try:
        yield
    finally:
        with _Threads.lock:
            _Threads.n_fits -= 1
            if _Threads.n_fits == 0:
                _Threads.limits.restore_original_limits()


def expect_memory(n_rules: int, n_rows: int, n_labels: int = 1) -> int:
    """Bytes that condensing takes at most.

    Five times where the rules of a label fire, since rows are copied while they are joined, bits of
    where they fire for each label, four blocks of floating point numbers, and four matrices with a row
    and a column per rule.
    """
    n_cells = n_rules * n_rows
    return 5 * n_cells + n_cells * n_labels // 8 + 32 * min(_BLOCK, n_cells) + 32 * n_rules**2


def condense_votes(
    pool: RulePool,
    targets: Targets,
    bounds: Bounds,
    teacher: str,
    shares_bodies: bool,
    ranking: Ranking,
    m: float,
) -> Ranking:
    r"""The ranked rules within bounds that predict nearly what all ranked rules predict, or the labels.

    With the probabilities :math:`q_i` that all rules predict for a label (or with the label itself,
    :math:`q_i \in \{0, 1\}`), the votes :math:`v` of some of them minimise

    .. math:: -\sum_i \big(q_i \log p_i + (1 - q_i) \log (1 - p_i)\big) + \frac{\lambda}{2}
        \lVert v \rVert^2, \quad \lambda = m\,\pi (1 - \pi)

    where the log-odds of :math:`p_i` are the start of the label plus the votes of its firing rules, and
    :math:`\lambda` is the prior of boosting for a label that a share :math:`\pi` of the examples has.
    With the curvature :math:`H` of this loss, the worth of rule r is :math:`v_r^2 / (H^{-1})_{rr}`:
    twice the increase of the loss if the rule is dropped and the other votes are fitted again. Each
    round drops the rules that are worth least. If a body votes for several labels, it is worth what its
    rules are together, and a round drops bodies.

    A rule whose vote would change its sign would contradict its own evidence, and is dropped. Given
    rules, and all rules if each label keeps some, keep at least one point for their head instead.

    Parameters
    ----------
    pool : RulePool
    targets : Targets
        For presence, as for boosting.
    bounds : Bounds
        If all rules are within them, those that are to predict what they predict keep votes and values.
    teacher : {"predictions", "labels"}
    shares_bodies : bool
        Whether a body may vote for several labels; then `bounds` count bodies.
    ranking : Ranking
    m : float
        Strength of the prior.
    """
    if ranking.votes is None:
        raise ValueError("only rules that vote can be condensed")
    rules, _, points = add_votes(ranking.rule_idx, ranking.votes)
    labels = pool.label_of_rule[rules]
    is_given = rules >= len(pool.table)
    must_vote = is_given | (bounds.min_rules_per_label > 0)
    if shares_bodies:
        choose = partial(_choose_bodies, _number_bodies(pool, rules))
    else:
        choose = partial(_choose_rules, labels, pool.n_conditions[rules])
    is_everything_kept = len(choose(is_given, np.zeros(len(rules)), bounds)) == len(rules)
    if teacher == "predictions" and is_everything_kept:
        return ranking
    pace = find_pace(shares_bodies)
    with _use_one_thread():
        tasks = []
        for j in np.unique(labels).tolist():
            rank = np.flatnonzero(labels == j)
            voters = (rank, rules[rank], points[rank], must_vote[rank])
            tasks.append(_Task.make(pool, targets, j, m, teacher, *voters))
        for k in range(1, pace.n_rounds + 1):
            worth = np.full(len(rules), -1.0)
            for i, task in enumerate(tasks):
                tasks[i], worth[task.rank] = task.weigh(pace.n_steps)
            wide = bounds.widen(pace.grown_per_kept ** (1 - k / pace.n_rounds))
            kept = choose(is_given, worth, wide)
            tasks = [task.take(np.isin(task.rank, kept)) for task in tasks]
        points = np.zeros(len(rules), dtype=np.int64)
        worth = np.full(len(rules), -1.0)
        for task in tasks:
            points[task.rank], worth[task.rank] = task.find_points()
    kept = choose(is_given, worth, bounds)
    return Ranking(rules[kept], worth[kept], points[kept])


def _number_bodies(pool: RulePool, rules: Indices) -> Indices:
    """The first rule with the same conditions as each rule; no other rule counts as a given one."""
    ranges = pool.table.list_ranges()
    first: dict[Any, int] = {}
    keys = (ranges[r] if r < len(ranges) else r for r in rules.tolist())
    return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)


def _join_equal(fires: Masks, total: Floats, is_present: Masks) -> tuple[Masks, Floats, Floats]:
    """Join the examples on which the same rules fire, in an order that does not depend on theirs.

    Returns where the rules fire, what the examples count, and the share that has the label.
    """
    codes = np.packbits(fires, axis=0)
    order = np.lexsort((is_present, total, *codes))
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (codes[:, order[1:]] != codes[:, order[:-1]]).any(axis=0)
    starts = np.flatnonzero(is_first)
    totals = np.add.reduceat(total[order], starts)
    present = np.add.reduceat((total * is_present)[order], starts)
    return fires[:, order[starts]], totals, present / np.where(totals > 0, totals, 1)


def _choose_rules(
    labels: Indices, n_conditions: NDArray[np.int64], is_given: Masks, worth: Floats, bounds: Bounds
) -> Indices:
    """The positions of the rules to keep, best first; rules that were dropped are worth -1."""
    order = _sort_rules(is_given, worth)
    order = order[bounds.protect(labels[order], int(is_given.sum()))]
    return order[: bounds.count_within(n_conditions[order])]


def _choose_bodies(body: Indices, is_given: Masks, worth: Floats, bounds: Bounds) -> Indices:
    """The positions of the rules of the bodies to keep; a body is worth what its rules are together."""
    order = _sort_rules(is_given, worth)
    total = np.zeros(len(body))
    np.add.at(total, body[order], worth[order])
    bodies = np.unique(body[order])
    best = bodies[_sort_rules(is_given[bodies], total[bodies])[: bounds.max_rules]]
    return order[np.isin(body[order], best)]


def _sort_rules(is_given: Masks, worth: Floats) -> Indices:
    """The positions of the rules that were not dropped, best first; given ones come before others."""
    # Equally good rules stay in the order of the ranking.
    order = np.lexsort((-_round_digits(worth), ~is_given))
    return order[worth[order] >= 0]


def _round_digits(worth: Floats) -> Floats:
    """Numbers without the digits that do not count, on a logarithmic scale."""
    logs = np.log(np.maximum(worth, 1e-300))
    return np.where(worth > 0, np.rint(logs / _SMALLEST_SHARE), np.where(worth == 0, -1e15, -1e16))


class _Task(NamedTuple):
    """The rules of one label, and what their votes are fitted to.

    `rank` is the position of each rule in the ranking. `fires` has one row per rule and one bit per
    group of equal examples; `wanted` is the probability that their votes are to predict, `total` is
    what they count, and `offset` are their log-odds without these rules. A rule votes for its `sign`;
    if it must vote, it has at least one point.
    """

    rank: Indices
    fires: NDArray[np.uint8]
    sign: NDArray[np.int64]
    must_vote: Masks
    votes: Floats
    wanted: Floats
    total: Floats
    offset: Floats
    l2: float

    @classmethod
    def make(
        cls,
        pool: RulePool,
        targets: Targets,
        label: int,
        m: float,
        teacher: str,
        rank: Indices,
        rules: Indices,
        points: NDArray[np.int64],
        must_vote: Masks,
    ) -> Self:
        is_present, weights = targets.is_target[label], targets.label_weights[label]
        bits = order_bits(is_present)
        packed = pool.rows[label].take(pool.place[rules]).to_bits()
        fires = unpack(packed, 64 * bits.n_words)[:, bits.bit_of_row]
        total = np.ones(len(is_present)) if weights is None else weights.total
        prior = float(total[is_present].sum() / total.sum())
        fires, total, share = _join_equal(fires, total, is_present)
        start = float(probability_to_points(prior)) / POINTS_PER_LOG_ODD
        votes = points / POINTS_PER_LOG_ODD
        log_odds = start + votes @ fires
        wanted = share if teacher == "labels" else _to_probability(log_odds)
        # Votes that separate the classes would have no bound without a prior.
        l2 = max(m, 1.0) * max(prior * (1 - prior), LEAST_PROBABILITY)
        offset = np.full(len(total), start)
        packed = np.packbits(fires, axis=1)
        return cls(rank, packed, np.sign(points), must_vote, votes, wanted, total, offset, l2)

    def take(self, mask: Masks) -> Self:
        """The same task with some of the rules."""
        return self._replace(
            rank=self.rank[mask],
            fires=self.fires[mask],
            sign=self.sign[mask],
            must_vote=self.must_vote[mask],
            votes=self.votes[mask],
        )

    def _unpack(self, begin: int = 0, n_rows: int | None = None) -> NDArray[np.uint8]:
        """Where the rules fire among some groups of examples, from a multiple of eight on; 1 or 0."""
        n_left = len(self.total) - begin
        n_rows = n_left if n_rows is None else min(n_rows, n_left)
        packed = self.fires[:, begin // 8 : (begin + n_rows + 7) // 8]
        return np.unpackbits(packed, axis=1, count=n_rows)

    def weigh(self, n_steps: int) -> tuple[Self, Floats]:
        """The task with votes after a few steps, and what each rule is worth; -1 for those that turn."""
        votes, bend = self._minimise(n_steps)
        turns = votes * self.sign <= 0
        least = np.where(self.must_vote, self.sign, 0) / POINTS_PER_LOG_ODD
        worth = np.where(turns, np.where(self.must_vote, 0.0, -1.0), _find_worth(votes, bend))
        return self._replace(votes=np.where(turns, least, votes)), worth

    def find_points(self) -> tuple[NDArray[np.int64], Floats]:
        """The best votes with the given signs, and what each rule is worth; 0 and -1 without a vote."""
        least = np.where(self.must_vote, self.sign, 0)
        is_turned = np.zeros(len(self.sign), dtype=np.bool_)
        while True:
            # A rule that must vote although its vote would turn has one point.
            turned = self.take(is_turned)
            offset = self.offset + least[is_turned] / POINTS_PER_LOG_ODD @ turned._unpack()
            fitted, bend = self.take(~is_turned)._replace(offset=offset)._minimise(_MOST_STEPS)
            points = least.copy()
            points[~is_turned] = np.rint(POINTS_PER_LOG_ODD * fitted).astype(np.int64)
            turns = ~is_turned & (points * self.sign <= 0)
            if not turns.any():
                worth = np.where(self.must_vote, 0.0, -1.0)
                worth[~is_turned] = _find_worth(fitted, bend)
                return points, worth
            is_turned |= turns

    def _minimise(self, n_steps: int) -> tuple[Floats, Floats]:
        """Votes after Newton's steps and the curvature there; a step that raises the loss is halved."""
        votes = self.votes
        loss, slope, bend = self._measure(votes)
        for _ in range(n_steps):
            step = np.linalg.solve(bend, slope)
            found = self._measure(votes - step)
            while found[0] > loss + _ROUNDING * abs(loss):
                step = step / 2
                found = self._measure(votes - step)
            votes = votes - step
            loss, slope, bend = found
            if np.abs(step).max(initial=0) <= _PRECISION:
                break
        return votes, bend

    def _measure(self, votes: Floats) -> tuple[float, Floats, Floats]:
        """The loss with these votes, its gradient and its curvature, in blocks of rows."""
        loss = self.l2 / 2 * float(votes @ votes)
        slope, bend = self.l2 * votes, self.l2 * np.eye(len(votes))
        n_rows = 8 * max(1, _BLOCK // (8 * max(len(votes), 1)))
        for begin in range(0, len(self.total), n_rows):
            rows = slice(begin, begin + n_rows)
            covers = self._unpack(begin, n_rows).astype(np.float64)
            total, wanted = self.total[rows], self.wanted[rows]
            log_odds = votes @ covers + self.offset[rows]
            p = _to_probability(log_odds)
            loss += float(total @ (np.logaddexp(0, log_odds) - wanted * log_odds))
            slope = slope + covers @ (total * (p - wanted))
            covers *= np.sqrt(total * p * (1 - p))
            bend = bend + covers @ covers.T  # numpy computes half of a matrix times itself
        bend[np.diag_indices(len(bend))] += _RIDGE * bend.max(initial=0)
        return loss, slope, bend


def _find_worth(votes: Floats, bend: Floats) -> Floats:
    """Twice the increase of the loss without each rule, if the loss is quadratic."""
    spread = np.maximum(np.diag(np.linalg.inv(bend)), np.finfo(float).tiny)
    return votes**2 / spread


def _to_probability(log_odds: Floats) -> Floats:
    return points_to_probability(POINTS_PER_LOG_ODD * log_odds)
