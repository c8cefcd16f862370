"""The vocabulary of planted data: an orchard that sorts its fruit by use."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd


class Attribute(NamedTuple):
    """A numeric attribute has bounds and a number of decimals; a nominal one has values."""

    name: str
    lowest: float = 0
    highest: float = 0
    decimals: int = 0
    values: tuple[str, ...] = ()


_NUMERIC = (
    Attribute("weight", 40, 400, 0),
    Attribute("sweetness", 0, 10, 1),
    Attribute("acidity", 2.5, 5.0, 2),
    Attribute("firmness", 0, 12, 1),
    Attribute("diameter", 3, 12, 1),
    Attribute("days since harvest", 0, 60, 0),
    Attribute("juice content", 20, 90, 0),
    Attribute("sugar", 5, 25, 1),
)
_NOMINAL = (
    Attribute("colour", values=("green", "yellow", "red", "purple")),
    Attribute("skin", values=("smooth", "fuzzy", "rough")),
    Attribute("bruised", values=("no", "yes")),
    Attribute("orchard", values=("north", "east", "south", "west", "hill")),
    Attribute("shape", values=("round", "oval", "flat")),
    Attribute("season", values=("early", "middle", "late")),
)
_USES = ("juice", "jam", "baking", "drying", "storage", "market", "cider", "export")


def choose_attributes(n_numeric: int, n_nominal: int) -> list[Attribute]:
    """Take the first attributes of each kind; those beyond the vocabulary are numbered."""
    numeric = [Attribute(f"measurement {i + 1}", 0, 100, 1) for i in range(n_numeric)]
    nominal = [Attribute(f"mark {i + 1}", values=("a", "b", "c")) for i in range(n_nominal)]
    numeric[: len(_NUMERIC)] = _NUMERIC[:n_numeric]
    nominal[: len(_NOMINAL)] = _NOMINAL[:n_nominal]
    return numeric + nominal


def choose_labels(n_labels: int) -> list[str]:
    """Take the first uses of fruit; those beyond the vocabulary are numbered."""
    uses = [*_USES, *(f"use {i + 1}" for i in range(len(_USES), n_labels))]
    return [f"for {use}" for use in uses[:n_labels]]


def draw_examples(
    attributes: Sequence[Attribute], n_examples: int, missing: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw every value independently and uniformly, and make a fraction of them missing."""
    columns: dict[str, object] = {}
    for attribute in attributes:
        is_missing = rng.random(n_examples) < missing
        if attribute.values:
            codes = rng.integers(len(attribute.values), size=n_examples)
            codes[is_missing] = -1
            columns[attribute.name] = pd.Categorical.from_codes(codes, pd.Index(attribute.values))
        else:
            drawn = rng.uniform(attribute.lowest, attribute.highest, n_examples)
            drawn[is_missing] = np.nan
            columns[attribute.name] = drawn.round(attribute.decimals)
    return pd.DataFrame(columns, index=pd.RangeIndex(n_examples))
