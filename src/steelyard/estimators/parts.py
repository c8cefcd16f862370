"""Parts of estimators: parameters of parameters, such as the m of a heuristic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from steelyard.heuristics import HEURISTICS
from steelyard.model.decoders import DECODERS

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
