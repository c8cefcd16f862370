"""Slopes and shifts: log-odds of unseen examples → log-odds whose probabilities are frequencies.

Knows numbers and label sets. A decoder says which probabilities are to fit; `calibrating` applies it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .combiner import Calibration
from .label_sets import KnownLabelSets
from .log_odds import POINTS_PER_LOG_ODD, points_to_probability

Floats = NDArray[np.float64]

# How much the slope and the shift of a label stick to those of all labels together, as curvatures.
# Of six pairs with slopes of 1 to 20 and shifts of 1 to 5, these had the smallest calibration error
# (1.07 %) and a Brier score of 6.070 % (best: 6.068), on training folds of four data sets that are
# not the paper's.
SLOPE_STRENGTH = 10.0
SHIFT_STRENGTH = 1.0
# Scores that order examples the wrong way round hardly count, but the order stays.
LEAST_SLOPE = 0.1

_MOST_STEPS = 100
_LARGEST_STEP = 1.0
_TOLERANCE = 1e-6


class Unseen(NamedTuple):
    """What rules make of examples that they were not learned from, and the labels of these examples.

    Parameters
    ----------
    points : (n_rows, n_labels)
        Log-odds in hundredths.
    is_present : (n_rows, n_labels) bool
    weights : (n_rows, n_labels), optional
        What each example counts for each label; None: 1.
    label_sets : KnownLabelSets, optional
        Those of the examples that the rules were learned from.
    """

    points: Floats
    is_present: NDArray[np.bool_]
    weights: Floats | None = None
    label_sets: KnownLabelSets | None = None

    @property
    def totals(self) -> Floats:
        """What each example counts for each label."""
        return np.ones(self.points.shape) if self.weights is None else self.weights


def fit_sigmoids(
    points: Any, is_present: Any, *, is_shared: bool = False, weights: Any = None
) -> Calibration:
    r"""A slope a and a shift b per label that make points of unseen examples probabilities.

    .. math:: \min_{a, b} \sum_i \log\left(1 + e^{-z_i (a s_i + b)}\right)
              + \tfrac12 \alpha (a - a_0)^2 + \tfrac12 \beta (b - b_0)^2

    for log-odds s and labels z of ±1 (Platt's sigmoid). The last terms draw labels with few positives
    towards the slope and the shift of all labels together, which are themselves drawn towards 1 and 0.

    Parameters
    ----------
    points : (n_rows, n_labels)
        Log-odds in hundredths, of examples that the rules were not learned from.
    is_present : (n_rows, n_labels) bool
    is_shared : bool, default=False
        Whether all labels have the same slope and shift, so that the best of several classes stays so.
    weights : (n_rows, n_labels), optional
        What each example counts for each label.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(size=(10_000, 1))
    >>> is_present = rng.random((10_000, 1)) < 1 / (1 + np.exp(-log_odds))
    >>> slope, shift = fit_sigmoids(200 * log_odds, is_present)  # twice as sure as it should be
    >>> slope.round(2), bool(abs(shift[0]) < 10)
    (array([0.5]), True)
    """
    x = np.asarray(points, dtype=np.float64) / POINTS_PER_LOG_ODD
    y = np.asarray(is_present, dtype=np.float64)
    w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
    if not x.size:
        return Calibration(np.ones(x.shape[1]), np.zeros(x.shape[1]))
    shared = _find_sigmoids(x.reshape(-1, 1), y.reshape(-1, 1), w.reshape(-1, 1), 1.0, 0.0)
    slope, shift = (np.repeat(part, x.shape[1]) for part in shared)
    if not is_shared:
        slope, shift = _find_sigmoids(x, y, w, float(slope[0]), float(shift[0]))
    return Calibration(slope, POINTS_PER_LOG_ODD * shift)


def _find_sigmoids(
    x: Floats, y: Floats, w: Floats, slope: float, shift: float
) -> tuple[Floats, Floats]:
    """Newton's method for all columns at once, with steps of at most `_LARGEST_STEP`."""
    a, b = np.full(x.shape[1], slope), np.full(x.shape[1], shift)
    for _ in range(_MOST_STEPS):
        p = points_to_probability(POINTS_PER_LOG_ODD * (a * x + b))
        error, bend = w * (p - y), w * p * (1 - p)
        slope_a = (error * x).sum(axis=0) + SLOPE_STRENGTH * (a - slope)
        slope_b = error.sum(axis=0) + SHIFT_STRENGTH * (b - shift)
        bend_ab = (bend * x).sum(axis=0)
        bend_a = (bend * x * x).sum(axis=0) + SLOPE_STRENGTH
        bend_b = bend.sum(axis=0) + SHIFT_STRENGTH
        determinant = bend_a * bend_b - bend_ab**2
        step_a = (bend_b * slope_a - bend_ab * slope_b) / determinant
        # At the least slope, only the shift moves.
        is_least = (a <= LEAST_SLOPE) & (step_a > 0)
        step_b = (bend_a * slope_b - bend_ab * slope_a) / determinant
        step_a, step_b = np.where(is_least, 0, step_a), np.where(is_least, slope_b / bend_b, step_b)
        length = np.maximum(np.abs(step_a), np.abs(step_b))
        scale = np.minimum(1, _LARGEST_STEP / np.maximum(length, _TOLERANCE))
        a, b = np.maximum(a - scale * step_a, LEAST_SLOPE), b - scale * step_b
        if length.max() < _TOLERANCE:
            break
    return a, b


def descend(
    find_loss: Callable[[Floats, Floats], tuple[float, Floats, Floats]],
    n_labels: int,
    *,
    is_shared: bool = False,
) -> Calibration:
    """As `fit_sigmoids`, for any loss: labels are drawn towards the slope and the shift of all together.

    Parameters
    ----------
    find_loss : callable(slopes, shifts) -> loss, by_slope, by_shift
        The loss of the examples and its derivatives, for one slope and one shift in log-odds per label.
    n_labels : int
    is_shared : bool, default=False
        Whether all labels have the same slope and shift.
    """
    slope, shift = _descend(lambda a, b: find_loss(*_repeat(a, b, n_labels)), 1, 1.0, 0.0)
    if not is_shared:
        slope, shift = _descend(find_loss, n_labels, float(slope[0]), float(shift[0]))
    slope, shift = _repeat(slope, shift, n_labels)
    return Calibration(slope, POINTS_PER_LOG_ODD * shift)


def _repeat(slope: Floats, shift: Floats, n_labels: int) -> tuple[Floats, Floats]:
    """One slope and one shift per label."""
    return np.broadcast_to(slope, n_labels), np.broadcast_to(shift, n_labels)


def _descend(
    find_loss: Callable[[Floats, Floats], tuple[float, Floats, Floats]],
    n_pairs: int,
    slope: float,
    shift: float,
) -> tuple[Floats, Floats]:
    """The slopes and shifts with the least loss plus the penalties for other ones than these."""
    from scipy.optimize import minimize  # takes a quarter of a second

    def penalise(pairs: Floats) -> tuple[float, Floats]:
        a, b = pairs[:n_pairs], pairs[n_pairs:]
        loss, by_slope, by_shift = find_loss(a, b)
        loss += SLOPE_STRENGTH / 2 * float(((a - slope) ** 2).sum())
        loss += SHIFT_STRENGTH / 2 * float(((b - shift) ** 2).sum())
        # A pair that all labels share has the sum of their derivatives.
        parts = (
            by_slope.reshape(n_pairs, -1).sum(axis=1),
            by_shift.reshape(n_pairs, -1).sum(axis=1),
        )
        penalty = (SLOPE_STRENGTH * (a - slope), SHIFT_STRENGTH * (b - shift))
        return loss, np.concatenate([p + q for p, q in zip(parts, penalty, strict=True)])

    start = np.repeat([max(slope, LEAST_SLOPE), shift], n_pairs)
    bounds = [(LEAST_SLOPE, None)] * n_pairs + [(None, None)] * n_pairs
    options = {"maxiter": _MOST_STEPS, "ftol": 1e-10}
    found = minimize(penalise, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return found[:n_pairs], found[n_pairs:]
