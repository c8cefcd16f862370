"""Heuristics with roots, powers or logarithms, which are not fractions and are called as functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard._numbers import divide, is_number

from .base import ConfusionMatrix, Heuristic


class CurveHeuristic(Heuristic):
    """A heuristic that is defined over arrays of counts; numbers give a number."""

    def __call__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Any:
        """Value of the heuristic; 0/0 counts as 0."""
        arrays = [np.asarray(count, dtype=np.float64) for count in (tp, fp, fn, tn)]
        # NumPy computes powers and logarithms of arrays by other functions than those of single numbers,
        # which can differ in the last digit. So numbers are arrays of one number.
        value = self.evaluate(ConfusionMatrix(*map(np.atleast_1d, arrays)))
        return value if any(count.ndim for count in arrays) else float(value[0])

    def evaluate(self, counts: ConfusionMatrix) -> Any:
        """Values for arrays of counts."""
        raise NotImplementedError


@dataclass(frozen=True)
class Klosgen(CurveHeuristic):
    """((TP + FP)/(P + N))^ω · (TP/(TP + FP) - P/(P + N)), ω ≥ 0.

    ω = 0 orders rules as `Precision` does, ω = 1 is `WRA`, and a larger ω prefers more coverage.

    Examples
    --------
    >>> from steelyard import Klosgen
    >>> from steelyard import WRA
    >>> abs(Klosgen(omega=1)(3, 1, 2, 3) - WRA()(3, 1, 2, 3)) < 1e-12
    True
    """

    name: ClassVar[str] = "klosgen"
    symbol: ClassVar[str] = "ω"
    grid: ClassVar[tuple[float, ...]] = tuple(k / 10 for k in range(20))
    omega: float = 0.5

    def __post_init__(self) -> None:
        if not is_number(self.omega) or not 0 <= self.omega < math.inf:
            raise ValueError(f"omega must be a finite number of at least 0, got {self.omega!r}")

    def evaluate(self, counts: ConfusionMatrix) -> Any:
        """Values for arrays of counts."""
        tp, fp, fn, tn = counts
        covered, total = tp + fp, tp + fp + fn + tn
        gain = divide(tp, covered) - divide(tp + fn, total)
        return np.where(covered == 0, 0.0, divide(covered, total) ** self.omega * gain)


@dataclass(frozen=True)
class Correlation(CurveHeuristic):
    """(TP·N - FP·P) / √(P·N·(TP + FP)·(FN + TN)): correlation of rule and label, between -1 and 1.

    Its square is χ²/(P + N).

    Examples
    --------
    >>> from steelyard import Correlation
    >>> Correlation()(4, 0, 0, 5)
    1.0
    """

    name: ClassVar[str] = "correlation"

    def evaluate(self, counts: ConfusionMatrix) -> Any:
        """Values for arrays of counts."""
        tp, fp, fn, tn = counts
        positives, negatives = tp + fn, fp + tn
        product = positives * negatives * (tp + fp) * (fn + tn)
        return divide(tp * negatives - fp * positives, np.sqrt(product))


@dataclass(frozen=True)
class FoilGain(CurveHeuristic):
    """TP · (log₂(TP/(TP + FP)) - log₂(P/(P + N))): bits that the rule saves for its positives.

    The gain is over the rule without conditions. It is 0 for a rule without positives.

    Examples
    --------
    >>> from steelyard import FoilGain
    >>> FoilGain()(3, 0, 1, 4)
    3.0
    """

    name: ClassVar[str] = "foil-gain"

    def evaluate(self, counts: ConfusionMatrix) -> Any:
        """Values for arrays of counts."""
        tp, fp, fn, tn = counts
        # Rules without positives take the logarithm of 1, which is 0 as their gain is.
        precision = np.where(tp == 0, 1.0, divide(tp, tp + fp))
        prior = np.where(tp == 0, 1.0, divide(tp + fn, tp + fp + fn + tn))
        return tp * (np.log2(precision) - np.log2(prior))


@dataclass(frozen=True)
class OddsRatio(CurveHeuristic):
    """(TP + ½)·(TN + ½) / ((FP + ½)·(FN + ½)): odds ratio, with ½ added so that 0 does no harm.

    Examples
    --------
    >>> from steelyard import OddsRatio
    >>> OddsRatio()(1, 0, 0, 1)
    9.0
    """

    name: ClassVar[str] = "odds-ratio"

    def evaluate(self, counts: ConfusionMatrix) -> Any:
        """Values for arrays of counts."""
        tp, fp, fn, tn = counts
        return (tp + 0.5) * (tn + 0.5) / ((fp + 0.5) * (fn + 0.5))
