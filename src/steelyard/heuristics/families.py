"""Families: the heuristics that a study compares, built in or a user's own, by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from steelyard._text import did_you_mean

from .base import Heuristic
from .registry import HEURISTICS, get_heuristic


class Family(NamedTuple):
    """Heuristics that differ in one parameter, or a single one without a parameter.

    Parameters
    ----------
    name : str
    symbol : str
        The sign of the parameter; empty if there is none.
    make : callable
        Parameter → heuristic.
    grid : tuple of float
        The default values of the parameter; a single 0 if there is none.
    """

    name: str
    symbol: str
    make: Callable[[float], Heuristic]
    grid: tuple[float, ...]


@cache
def find_family(reference: str) -> Family:
    """The family with a name, or that of ``module:attribute``: a class, a function or an object.

    Examples
    --------
    >>> find_family("klosgen").symbol, find_family("klosgen").make(0.5)
    ('ω', Klosgen(omega=0.5))
    >>> find_family("steelyard.heuristics:WRA").grid
    (0.0,)
    """
    found: Any = HEURISTICS.get(reference)
    if found is None:
        found = _import(reference)
    if not (isinstance(found, type) and issubclass(found, Heuristic)):
        return _single(get_heuristic(found))
    if not is_dataclass(found) or not fields(found):
        return _single(found())
    name = found.name or found.__name__
    if not found.grid:
        raise ValueError(
            f"the heuristic {name} has a parameter but no values for it: define {found.__name__}.grid"
        )
    symbol = found.symbol or fields(found)[0].name
    return Family(name, symbol, found, tuple(map(float, found.grid)))


def refer_to(heuristic: Any) -> str:
    """The text from which `find_family` finds a heuristic again: its name, or ``module:attribute``.

    Examples
    --------
    >>> from steelyard import Klosgen
    >>> refer_to(Klosgen), refer_to("wra")
    ('klosgen', 'wra')
    """
    if isinstance(heuristic, str):
        return heuristic
    own_name = str(getattr(heuristic, "name", ""))
    if HEURISTICS.get(own_name) is heuristic:
        return own_name
    module, name = (getattr(heuristic, part, "") for part in ("__module__", "__qualname__"))
    if isinstance(heuristic, Heuristic):
        raise ValueError(
            f"a study needs the class of a heuristic, with values in parameters, not {heuristic}"
        )
    if not name or "<" in name:
        raise ValueError(
            f"a study finds its heuristics again by name: define {heuristic!r} at the top of a module"
        )
    return f"{module}:{name}"


def _single(heuristic: Heuristic) -> Family:
    return Family(heuristic.family, "", lambda _: heuristic, (0.0,))


def _import(reference: str) -> Any:
    module, separator, attribute = reference.partition(":")
    if not separator:
        hint = did_you_mean(reference, HEURISTICS)
        known = ", ".join(HEURISTICS)
        raise ValueError(
            f"unknown heuristic {reference!r}{hint}; choose from {known}, or write module:attribute"
        )
    try:
        found = import_module(module)
    except ImportError as error:
        raise ValueError(f"the heuristic {reference!r} cannot be imported: {error}") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"the module {module} has no {attribute!r}")
        found = getattr(found, part)
    if not callable(found):
        raise ValueError(f"{reference!r} is no heuristic: it cannot be called")
    return found
