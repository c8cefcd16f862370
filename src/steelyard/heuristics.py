"""Rule learning heuristics: confusion counts → value. Knows counts only, no rules and no data.

Every heuristic of the paper is a fraction that is linear in TP and FP once P and N are known, so each
is six numbers per (P, N); the covering kernel receives these numbers and needs no code per heuristic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard._numbers import divide, is_number

FloatArray = NDArray[np.float64]

# Each of the six coefficients is a combination of these terms, one per column of the matrix.
ONE, N_POSITIVES, N_NEGATIVES, N_TOTAL, N_TOTAL_SQUARED = np.eye(5)
NONE = np.zeros(5)


class ConfusionMatrix(NamedTuple):
    """Counts of a rule's predictions; each may be an array with one entry per rule.

    Examples
    --------
    >>> ConfusionMatrix(tp=3, fp=1, fn=2, tn=4).tp
    3
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any


class Heuristic:
    """δ: maps confusion counts to a value, larger is better.

    A heuristic of your own is a subclass that defines ``__call__(tp, fp, fn, tn)`` over arrays, or any
    plain function of that form.

    Examples
    --------
    >>> class Jaccard(Heuristic):
    ...     def __call__(self, tp, fp, fn, tn):
    ...         return tp / (tp + fp + fn)
    >>> Jaccard()(2, 1, 1, 6)
    0.5
    """

    name: ClassVar[str] = "heuristic"

    def __call__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(tp, fp, fn, tn)")

    @property
    def parameter(self) -> float:
        """The one parameter of the heuristic (m or β), or NaN where it has none."""
        return math.nan


class FractionHeuristic(Heuristic):
    """A fraction that is linear in TP and FP for given P and N, described by its coefficients."""

    def coefficients(self) -> FloatArray:
        """Matrix of shape (6, 5) that the kernels evaluate.

        Row i holds the coefficient of the i-th of (tp, fp, 1) in the numerator, then in the
        denominator; its columns multiply 1, P, N, P + N and (P + N)².
        """
        raise NotImplementedError

    @property
    def parameter(self) -> float:
        return float(next(iter(vars(self).values()), math.nan))

    def __call__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Any:
        """Value of the fraction; 0/0 counts as 0.

        The operations and their order are those of the kernel, so both give the same bits.
        """
        tp, fp, fn, tn = (np.asarray(count, dtype=np.float64) for count in (tp, fp, fn, tn))
        positives, negatives = tp + fn, fp + tn
        total = positives + negatives
        terms = (np.ones_like(total), positives, negatives, total, total * total)
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
    >>> round(FMeasure(beta=1)(3, 1, 2, 4), 4)
    0.6667
    >>> FMeasure(beta=float("inf"))(3, 1, 2, 4) == Recall()(3, 1, 2, 4)
    True
    """

    name: ClassVar[str] = "f-measure"
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
    >>> MEstimate(m=2)(3, 1, 2, 4)
    0.6666666666666666
    >>> MEstimate(m=0)(3, 1, 2, 4) == Precision()(3, 1, 2, 4)
    True
    """

    name: ClassVar[str] = "m-estimate"
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
class WRA(FractionHeuristic):
    """Weighted relative accuracy: (TP + FP)/(P + N) · (TP/(TP + FP) - P/(P + N)).

    Equal to (N·TP - P·FP) / (P + N)².

    Examples
    --------
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
    >>> Laplace()(3, 1, 2, 4)
    0.6666666666666666
    """

    name: ClassVar[str] = "laplace"

    def coefficients(self) -> FloatArray:
        return np.array([ONE, NONE, ONE, ONE, ONE, 2 * ONE])


@dataclass(frozen=True)
class FunctionHeuristic(Heuristic):
    """A plain function of (tp, fp, fn, tn) in the role of a heuristic."""

    function: Callable[[Any, Any, Any, Any], Any]

    def __call__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Any:
        return self.function(tp, fp, fn, tn)

    def __str__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))


@dataclass(frozen=True)
class SavedHeuristic(Heuristic):
    """A user's heuristic that was read from a file, which has its name but not its code."""

    text: str

    def __str__(self) -> str:
        return self.text


HEURISTICS: dict[str, type[Heuristic]] = {
    cls.name: cls for cls in (MEstimate, FMeasure, Precision, Recall, WRA, Accuracy, Laplace)
}

# The paper's grids of parameters: 20 values each.
M_GRID: tuple[float, ...] = (0.0, *(2.0**k for k in range(1, 20)))
BETA_GRID: tuple[float, ...] = (
    0.0,
    *(1 - 2 ** (k / 2) / 10 for k in range(6, -1, -1)),
    *(2.0**k for k in range(11)),
    math.inf,
)


def get_heuristic(heuristic: Heuristic | str | Callable[..., Any]) -> Heuristic:
    """A heuristic from an instance, a name or a function of (tp, fp, fn, tn).

    Examples
    --------
    >>> get_heuristic("wra")
    WRA()
    >>> get_heuristic(MEstimate(m=4))
    MEstimate(m=4)
    """
    if isinstance(heuristic, Heuristic):
        return heuristic
    if isinstance(heuristic, str):
        if heuristic not in HEURISTICS:
            raise ValueError(
                f"unknown heuristic {heuristic!r}; known heuristics: {', '.join(HEURISTICS)}"
            )
        return HEURISTICS[heuristic]()
    if isinstance(heuristic, type) and issubclass(heuristic, Heuristic):
        raise TypeError(f"heuristic must be an instance: write {heuristic.__name__}()")
    if callable(heuristic):
        return FunctionHeuristic(heuristic)
    raise TypeError(
        f"heuristic must be a Heuristic, a name or a function of (tp, fp, fn, tn), got {heuristic!r}"
    )


def heuristic_values(heuristic: Heuristic, counts: ConfusionMatrix) -> FloatArray:
    """Values of a heuristic over arrays of counts, checked: one finite-or-infinite number each."""
    floats = [np.asarray(count, dtype=np.float64) for count in counts]
    # A user's formula may divide 0 by 0, which counts as 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        values = heuristic(*floats)
    try:
        values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"heuristic {describe(heuristic)} must return numbers, got {values!r}"
        ) from None
    if values.shape != floats[0].shape:
        raise ValueError(
            f"heuristic {describe(heuristic)} must return one value for each rule: "
            f"expected shape {floats[0].shape}, got {values.shape}"
        )
    return np.where(np.isnan(values), 0.0, values)


def kernel_coefficients(heuristic: Heuristic) -> FloatArray | None:
    """The coefficients of a heuristic, or None if it must be called.

    A subclass that gives a built-in heuristic another ``__call__`` means that formula, not the
    coefficients it inherits.
    """
    is_fraction = type(heuristic).__call__ is FractionHeuristic.__call__
    return heuristic.coefficients() if is_fraction else None  # type: ignore[attr-defined]


def describe(heuristic: Heuristic) -> str:
    """Short text for people: the name with its parameter.

    Examples
    --------
    >>> describe(MEstimate(m=16)), describe(WRA()), describe(FMeasure(beta=0.5))
    ('m-estimate(m=16)', 'wra', 'f-measure(beta=0.5)')
    """
    if not isinstance(heuristic, FractionHeuristic):
        return str(heuristic)
    arguments = ", ".join(f"{name}={value:g}" for name, value in vars(heuristic).items())
    return f"{heuristic.name}({arguments})" if arguments else heuristic.name


def heuristic_to_dict(heuristic: Heuristic) -> dict[str, Any]:
    """The heuristic as plain data.

    Examples
    --------
    >>> heuristic_to_dict(FMeasure(beta=float("inf")))
    {'name': 'f-measure', 'beta': 'inf'}
    """
    if not isinstance(heuristic, FractionHeuristic):
        return {"text": describe(heuristic)}
    # JSON has no infinity, so β = ∞ is written as text.
    parameters = {
        key: "inf" if value == math.inf else float(value) for key, value in vars(heuristic).items()
    }
    return {"name": heuristic.name, **parameters}


def heuristic_from_dict(data: dict[str, Any]) -> Heuristic:
    """The heuristic that `heuristic_to_dict` described.

    Examples
    --------
    >>> heuristic_from_dict({"name": "m-estimate", "m": 4})
    MEstimate(m=4.0)
    """
    if data.get("name") not in HEURISTICS:
        return SavedHeuristic(str(data.get("text", data.get("name"))))
    parameters = {key: float(value) for key, value in data.items() if key != "name"}
    return HEURISTICS[data["name"]](**parameters)
