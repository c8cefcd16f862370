"""Combiners by name. Each class owns all that is special about it: see `deciding` and `voting`.

To add one, write a class there or in a file of its own, and list it in `COMBINERS`.
"""

from __future__ import annotations

from typing import Any

from .combiner import Combiner, read_settings
from .deciding import AnyRule, FirstRule
from .voting import StrongestVote, SumOfVotes

__all__ = ["COMBINERS", "AnyRule", "Combiner", "FirstRule", "StrongestVote", "SumOfVotes"]

COMBINERS: dict[str, type[Combiner]] = {
    combiner.name: combiner for combiner in (AnyRule, FirstRule, StrongestVote, SumOfVotes)
}


def combiner_from_plain(data: Any) -> Combiner:
    """The combiner that `Combiner.to_plain` wrote."""
    values = read_settings(data, COMBINERS, "combiner")
    if not all(isinstance(value, list) for value in values.values()):
        raise ValueError(f"the fields of a combiner must be lists of integers, got {data!r}")
    return COMBINERS[data["name"]](**{name: tuple(value) for name, value in values.items()})
