"""What a heuristic is: confusion counts → value. Knows counts only, no rules and no data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard._numbers import is_number

FloatArray = NDArray[np.float64]


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
    plain function of that form. A family of heuristics is a dataclass whose first field is its
    parameter; `grid` has the values of this parameter that a study compares.

    Examples
    --------
    >>> from steelyard import Heuristic
    >>> class Jaccard(Heuristic):
    ...     def __call__(self, tp, fp, fn, tn):
    ...         return tp / (tp + fp + fn)
    >>> Jaccard()(2, 1, 1, 6)
    0.5
    """

    name: ClassVar[str] = ""
    #: The sign of the parameter in formulas and figures; empty if there is no parameter.
    symbol: ClassVar[str] = ""
    #: Values of the parameter that a study compares by default.
    grid: ClassVar[tuple[float, ...]] = ()

    def __call__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(tp, fp, fn, tn)")

    @property
    def parameter(self) -> float:
        """The parameter of a family, such as m or β, or NaN if the heuristic has none."""
        return float(next(iter(self.arguments.values()), math.nan))

    @property
    def arguments(self) -> dict[str, float]:
        """The numbers among the fields of a dataclass."""
        names: list[str] = [field.name for field in fields(self)] if is_dataclass(self) else []
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if is_number(value)}

    @property
    def family(self) -> str:
        """The name without the parameter."""
        return self.name or type(self).__name__

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={value:g}" for name, value in self.arguments.items())
        return f"{self.family}({arguments})" if arguments else self.family


@dataclass(frozen=True)
class FunctionHeuristic(Heuristic):
    """A plain function of (tp, fp, fn, tn) in the role of a heuristic."""

    function: Callable[[Any, Any, Any, Any], Any]

    def __call__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Any:
        return self.function(tp, fp, fn, tn)

    @property
    def family(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", repr(self.function)))


@dataclass(frozen=True)
class SavedHeuristic(Heuristic):
    """A user's heuristic that was read from a file, which has its name but not its code."""

    text: str

    @property
    def family(self) -> str:
        """The text without the parameter."""
        return self.text.split("(")[0]

    def __str__(self) -> str:
        return self.text


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


def describe(heuristic: Heuristic) -> str:
    """Short text for people: the name with its parameter.

    Examples
    --------
    >>> from steelyard import WRA, FMeasure, MEstimate
    >>> describe(MEstimate(m=16)), describe(WRA()), describe(FMeasure(beta=0.5))
    ('m-estimate(m=16)', 'wra', 'f-measure(beta=0.5)')
    """
    return str(heuristic)
