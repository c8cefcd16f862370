"""Heuristics that are fractions, linear in TP and FP once P and N are known.

All heuristics of the paper are. Each is six numbers per (P, N); the covering kernel receives these
numbers and needs no code per heuristic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard._numbers import divide, is_number

from .base import FloatArray, Heuristic

# Each of the six coefficients is a combination of these terms, one per column of the matrix.
ONE, N_POSITIVES, N_NEGATIVES, N_TOTAL, N_TOTAL_SQUARED, PRODUCT = np.eye(6)
NONE = np.zeros(6)

# The paper's grids of parameters: 20 values each.
M_GRID: tuple[float, ...] = (0.0, *(2.0**k for k in range(1, 20)))
BETA_GRID: tuple[float, ...] = (
    0.0,
    # Rounded, because 1 - 0.8 is 0.19999999999999996.
    *(round(1 - 2 ** (k / 2) / 10, 15) for k in range(6, -1, -1)),
    *(2.0**k for k in range(11)),
    math.inf,
)
# Without c = 0, with which all rules without false positives are equal.
COST_GRID: tuple[float, ...] = tuple(k / 20 for k in range(1, 21))


class FractionHeuristic(Heuristic):
    """A fraction that is linear in TP and FP for given P and N, described by its coefficients."""

    def coefficients(self) -> FloatArray:
        """Matrix of shape (6, 6) that the kernels evaluate.

        Row i holds the coefficient of the i-th of (tp, fp, 1) in the numerator, then in the
        denominator; its columns multiply 1, P, N, P + N, (P + N)² and P·N.
        """
        raise NotImplementedError

    def __call__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Any:
        """Value of the fraction; 0/0 counts as 0.

        The operations and their order are those of the kernel, so both give the same bits.
        """
        tp, fp, fn, tn = (np.asarray(count, dtype=np.float64) for count in (tp, fp, fn, tn))
        positives, negatives = tp + fn, fp + tn
        total = positives + negatives
        product = positives * negatives
        terms = (np.ones_like(total), positives, negatives, total, total * total, product)
        weights = (
            sum(w * t for w, t in zip(row, terms, strict=True)) for row in self.coefficients()
        )
        a, b, c, d, e, f = weights
        value = divide(a * tp + b * fp + c, d * tp + e * fp + f)
        return value if value.ndim else float(value)


@dataclass(frozen=True)
class Precision(FractionHeuristic):
    """TP / (TP + FP): consistency alone.

    Examples
    --------
    >>> from steelyard import Precision
    >>> Precision()(3, 1, 2, 4)
    0.75
    """

    name: ClassVar[str] = "precision"

    def coefficients(self) -> FloatArray:
        return np.array([ONE, NONE, NONE, ONE, ONE, NONE])


@dataclass(frozen=True)
class Recall(FractionHeuristic):
    """TP / P: coverage alone.

    Examples
    --------
    >>> from steelyard import Recall
    >>> Recall()(3, 1, 2, 4)
    0.6
    """

    name: ClassVar[str] = "recall"

    def coefficients(self) -> FloatArray:
        return np.array([ONE, NONE, NONE, NONE, NONE, N_POSITIVES])


@dataclass(frozen=True)
class FMeasure(FractionHeuristic):
    """(β² + 1) / (β²/recall + 1/precision) = (β² + 1)·TP / (TP + FP + β²·P), β ∈ [0, ∞].

    β = 0 is precision, β = ∞ is recall.

    Examples
    --------
    >>> from steelyard import FMeasure, Recall
    >>> round(FMeasure(beta=1)(3, 1, 2, 4), 4)
    0.6667
    >>> FMeasure(beta=float("inf"))(3, 1, 2, 4) == Recall()(3, 1, 2, 4)
    True
    """

    name: ClassVar[str] = "f-measure"
    symbol: ClassVar[str] = "β"
    grid: ClassVar[tuple[float, ...]] = BETA_GRID
    beta: float = 1.0

    def __post_init__(self) -> None:
        if not is_number(self.beta) or self.beta < 0:
            raise ValueError(f"beta must be a number from 0 to infinity, got {self.beta!r}")

    def coefficients(self) -> FloatArray:
        if math.isinf(self.beta):
            return Recall().coefficients()
        square = float(self.beta) ** 2
        return np.array([(square + 1) * ONE, NONE, NONE, ONE, ONE, square * N_POSITIVES])


@dataclass(frozen=True)
class MEstimate(FractionHeuristic):
    """(TP + m·P/(P + N)) / (TP + FP + m), m ≥ 0.

    m = 0 is precision; as m grows the order of the rules becomes that of `WRA`.

    Examples
    --------
    >>> from steelyard import MEstimate, Precision
    >>> MEstimate(m=2)(3, 1, 2, 4)
    0.6666666666666666
    >>> MEstimate(m=0)(3, 1, 2, 4) == Precision()(3, 1, 2, 4)
    True
    """

    name: ClassVar[str] = "m-estimate"
    symbol: ClassVar[str] = "m"
    grid: ClassVar[tuple[float, ...]] = M_GRID
    m: float = 16.0

    def __post_init__(self) -> None:
        if not is_number(self.m) or not 0 <= self.m < math.inf:
            raise ValueError(
                f"m must be a finite number of at least 0, got {self.m!r}; "
                "for the limit of an infinite m use WRA()"
            )

    def coefficients(self) -> FloatArray:
        # Multiplied by P + N: for an integer m, numerator and denominator are integers, only the
        # division rounds, and rules with exactly equal values compare as equal.
        m = float(self.m)
        return np.array([N_TOTAL, NONE, m * N_POSITIVES, N_TOTAL, N_TOTAL, m * N_TOTAL])


@dataclass(frozen=True)
class GeneralizedMEstimate(FractionHeuristic):
    """(TP + m·c) / (TP + FP + m), m ≥ 0, c ∈ [0, 1]: an m-estimate that does not know the prior.

    c takes the place of P/(P + N). With m = 2 and c = ½ it is `Laplace`.

    Examples
    --------
    >>> from steelyard import GeneralizedMEstimate, Laplace
    >>> GeneralizedMEstimate(m=2)(3, 1, 2, 4) == Laplace()(3, 1, 2, 4)
    True
    """

    name: ClassVar[str] = "generalized-m-estimate"
    symbol: ClassVar[str] = "m"
    grid: ClassVar[tuple[float, ...]] = M_GRID
    m: float = 16.0
    c: float = 0.5

    def __post_init__(self) -> None:
        if not is_number(self.m) or not 0 <= self.m < math.inf:
            raise ValueError(f"m must be a finite number of at least 0, got {self.m!r}")
        _check_share("c", self.c)

    def coefficients(self) -> FloatArray:
        m, c = float(self.m), float(self.c)
        return np.array([ONE, NONE, m * c * ONE, ONE, ONE, m * ONE])


@dataclass(frozen=True)
class Cost(FractionHeuristic):
    """c·TP - (1 - c)·FP, c ∈ [0, 1]: linear cost, the same for all P and N.

    c = ½ orders rules as `Accuracy` does, c = 1 as `Recall`.

    Examples
    --------
    >>> from steelyard import Cost
    >>> Cost(c=0.25)(3, 1, 2, 4)
    0.0
    """

    name: ClassVar[str] = "cost"
    symbol: ClassVar[str] = "c"
    grid: ClassVar[tuple[float, ...]] = COST_GRID
    c: float = 0.5

    def __post_init__(self) -> None:
        _check_share("c", self.c)

    def coefficients(self) -> FloatArray:
        c = float(self.c)
        return np.array([c * ONE, (c - 1) * ONE, NONE, NONE, NONE, ONE])


@dataclass(frozen=True)
class RelativeCost(FractionHeuristic):
    """c·TP/P - (1 - c)·FP/N, c ∈ [0, 1]: linear cost of rates, so that rare labels count as much.

    c = ½ orders rules as `WRA` does, c = 1 as `Recall`. Without any negative the value is 0.

    Examples
    --------
    >>> from steelyard import RelativeCost
    >>> RelativeCost(c=0.5)(3, 1, 2, 4)
    0.2
    """

    name: ClassVar[str] = "relative-cost"
    symbol: ClassVar[str] = "c"
    grid: ClassVar[tuple[float, ...]] = COST_GRID
    c: float = 0.5

    def __post_init__(self) -> None:
        _check_share("c", self.c)

    def coefficients(self) -> FloatArray:
        c = float(self.c)
        return np.array([c * N_NEGATIVES, (c - 1) * N_POSITIVES, NONE, NONE, NONE, PRODUCT])


@dataclass(frozen=True)
class WRA(FractionHeuristic):
    """Weighted relative accuracy: (TP + FP)/(P + N) · (TP/(TP + FP) - P/(P + N)).

    Equal to (N·TP - P·FP) / (P + N)².

    Examples
    --------
    >>> from steelyard import WRA
    >>> WRA()(3, 1, 2, 3)
    0.08641975308641975
    """

    name: ClassVar[str] = "wra"

    def coefficients(self) -> FloatArray:
        return np.array([N_NEGATIVES, NONE - N_POSITIVES, NONE, NONE, NONE, N_TOTAL_SQUARED])


@dataclass(frozen=True)
class Accuracy(FractionHeuristic):
    """(TP + TN) / (P + N).

    Examples
    --------
    >>> from steelyard import Accuracy
    >>> Accuracy()(3, 1, 2, 4)
    0.7
    """

    name: ClassVar[str] = "accuracy"

    def coefficients(self) -> FloatArray:
        return np.array([ONE, NONE - ONE, N_NEGATIVES, NONE, NONE, N_TOTAL])


@dataclass(frozen=True)
class Laplace(FractionHeuristic):
    """(TP + 1) / (TP + FP + 2).

    Examples
    --------
    >>> from steelyard import Laplace
    >>> Laplace()(3, 1, 2, 4)
    0.6666666666666666
    """

    name: ClassVar[str] = "laplace"

    def coefficients(self) -> FloatArray:
        return np.array([ONE, NONE, ONE, ONE, ONE, 2 * ONE])


def kernel_coefficients(heuristic: Heuristic) -> FloatArray | None:
    """The coefficients of a heuristic, or None if it must be called.

    A subclass that gives a built-in heuristic another ``__call__`` means that formula, not the
    coefficients it inherits.
    """
    is_fraction = type(heuristic).__call__ is FractionHeuristic.__call__
    return heuristic.coefficients() if is_fraction else None  # type: ignore[attr-defined]


def _check_share(name: str, value: float) -> None:
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")
