"""Families: the heuristics that a study compares, built in or a user's own, by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple

from steelyard._references import find_reference, hash_source
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
    source : str, default=""
        The reference to a user's own code, with a hash of its file.
    """

    name: str
    symbol: str
    make: Callable[[float], Heuristic]
    grid: tuple[float, ...]
    source: str = ""


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
    source = ""
    if found is None:
        found = _import(reference)
        source = f"{reference} {hash_source(found)}"
    if not (isinstance(found, type) and issubclass(found, Heuristic)):
        return _single(get_heuristic(found), source)
    if not is_dataclass(found) or not fields(found):
        return _single(found(), source)
    name = found.name or found.__name__
    if not found.grid:
        raise ValueError(
            f"the heuristic {name} has a parameter but no values for it: define {found.__name__}.grid"
        )
    symbol = found.symbol or fields(found)[0].name
    return Family(name, symbol, found, tuple(map(float, found.grid)), source)


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


def _single(heuristic: Heuristic, source: str) -> Family:
    return Family(heuristic.family, "", lambda _: heuristic, (0.0,), source)


def _import(reference: str) -> Any:
    if ":" not in reference:
        hint = did_you_mean(reference, HEURISTICS)
        known = ", ".join(HEURISTICS)
        raise ValueError(
            f"unknown heuristic {reference!r}{hint}; choose from {known}, or write module:attribute"
        )
    found = find_reference(reference)
    if not callable(found):
        raise ValueError(f"{reference!r} is not a heuristic: it cannot be called")
    return found
