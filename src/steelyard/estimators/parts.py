"""Parts of estimators and theories in numbers: parameters of parameters, weights of attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.heuristics import HEURISTICS
from steelyard.model.decoders import DECODERS
from steelyard.model.theory import Theory

# Parameters that have parameters of their own, with the objects that a name stands for.
_NAMED: dict[str, dict[str, Any]] = {
    "heuristic": HEURISTICS,
    "threshold_heuristic": HEURISTICS,
    "decode": DECODERS,
}


def nested_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of heuristics and decoders among the parameters, under names such as heuristic__m.

    Examples
    --------
    >>> from steelyard import MEstimate
    >>> nested_parameters({"heuristic": MEstimate(m=4), "decode": "each-label", "phi": 0.5})
    {'heuristic__m': 4, 'decode__threshold': 0.5}
    """
    return {
        f"{name}__{field}": value
        for name in _NAMED
        if name in parameters
        for field, value in _fields_of(_find_part(name, parameters[name])).items()
    }


def replace_fields(name: str, parameter: Any, values: Mapping[str, Any]) -> Any:
    """A copy of a heuristic or decoder with other values: both are immutable.

    Examples
    --------
    >>> replace_fields("heuristic", "m-estimate", {"m": 2})
    MEstimate(m=2)
    >>> replace_fields("heuristic", "wra", {"m": 2})
    Traceback (most recent call last):
    ...
    ValueError: heuristic='wra' has no parameter 'm'
    """
    part = _find_part(name, parameter)
    known = _fields_of(part)
    for field in values:
        if field not in known:
            raise ValueError(f"{name}={parameter!r} has no parameter {field!r}")
    return replace(part, **values)


def _find_part(name: str, parameter: Any) -> Any:
    """A heuristic or decoder, also by its name."""
    known = _NAMED.get(name, {})
    return known[parameter]() if isinstance(parameter, str) and parameter in known else parameter


def _fields_of(part: Any) -> dict[str, Any]:
    if not is_dataclass(part):
        return {}
    # The label sets that a decoder knows are learned, so they are no parameter.
    return {f.name: getattr(part, f.name) for f in fields(part) if f.name != "known"}


def weigh_features(theory: Theory) -> NDArray[np.float64]:
    """The share of each attribute in what the rules cover beyond chance."""
    position = {feature.name: i for i, feature in enumerate(theory.features)}
    prior = {label.name: (1 - label.prior, label.prior) for label in theory.labels}
    target = {label.name: label.target_class for label in theory.labels}
    weights = np.zeros(len(theory.features))
    for scored in theory:
        tested = sorted({position[condition.feature] for condition in scored.body})
        name = scored.head.label
        chance = prior[name][int(scored.head.target_class == target[name])]
        excess = abs(scored.tp - (scored.tp + scored.fp) * chance)
        weights[tested] += excess / max(len(tested), 1)
    total = weights.sum()
    return weights / total if total else weights
