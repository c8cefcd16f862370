"""The heuristics that have a name, by name; heuristics as plain data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from steelyard._text import did_you_mean

from .base import FunctionHeuristic, Heuristic, SavedHeuristic, describe
from .curves import Correlation, FoilGain, Klosgen, OddsRatio
from .fractions import (
    WRA,
    Accuracy,
    Cost,
    FMeasure,
    GeneralizedMEstimate,
    Laplace,
    MEstimate,
    Precision,
    Recall,
    RelativeCost,
)

#: Heuristics by name: families with a parameter first.
HEURISTICS: dict[str, type[Heuristic]] = {
    cls.name: cls
    for cls in (
        MEstimate,
        FMeasure,
        Klosgen,
        Cost,
        RelativeCost,
        GeneralizedMEstimate,
        Precision,
        Recall,
        Laplace,
        WRA,
        Accuracy,
        Correlation,
        FoilGain,
        OddsRatio,
    )
}


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
            hint = did_you_mean(heuristic, HEURISTICS)
            known = ", ".join(HEURISTICS)
            raise ValueError(f"unknown heuristic {heuristic!r}{hint}; known heuristics: {known}")
        return HEURISTICS[heuristic]()
    if isinstance(heuristic, type) and issubclass(heuristic, Heuristic):
        raise TypeError(f"heuristic must be an instance: write {heuristic.__name__}()")
    if callable(heuristic):
        return FunctionHeuristic(heuristic)
    raise TypeError(
        f"heuristic must be a Heuristic, a name or a function of (tp, fp, fn, tn), got {heuristic!r}"
    )


def heuristic_to_dict(heuristic: Heuristic) -> dict[str, Any]:
    """The heuristic as plain data.

    Examples
    --------
    >>> heuristic_to_dict(FMeasure(beta=float("inf")))
    {'name': 'f-measure', 'beta': 'inf'}
    """
    if HEURISTICS.get(heuristic.name) is not type(heuristic):
        return {"text": describe(heuristic)}
    # JSON has no infinity, so β = ∞ is written as text.
    parameters = {
        key: "inf" if value == math.inf else float(value)
        for key, value in heuristic.arguments.items()
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
