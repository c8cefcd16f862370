"""The vocabulary of planted data: an orchard that sorts its fruit by use."""

from typing import NamedTuple

import numpy as np
import pandas as pd


class NumericAttribute(NamedTuple):
    """An attribute measured in steps between two bounds."""

    name: str
    lowest: float
    highest: float
    decimals: int


class NominalAttribute(NamedTuple):
    """An attribute with a few named values."""

    name: str
    values: tuple[str, ...]


Attribute = NumericAttribute | NominalAttribute

_NUMERIC = (
    NumericAttribute("weight", 40, 400, 0),
    NumericAttribute("sweetness", 0, 10, 1),
    NumericAttribute("acidity", 2.5, 5.0, 2),
    NumericAttribute("firmness", 0, 12, 1),
    NumericAttribute("diameter", 3, 12, 1),
    NumericAttribute("days since harvest", 0, 60, 0),
    NumericAttribute("juice content", 20, 90, 0),
    NumericAttribute("sugar", 5, 25, 1),
)
_NOMINAL = (
    NominalAttribute("colour", ("green", "yellow", "red", "purple")),
    NominalAttribute("skin", ("smooth", "fuzzy", "rough")),
    NominalAttribute("bruised", ("no", "yes")),
    NominalAttribute("orchard", ("north", "east", "south", "west", "hill")),
    NominalAttribute("shape", ("round", "oval", "flat")),
    NominalAttribute("season", ("early", "middle", "late")),
)
_LABELS = (
    "for juice",
    "for jam",
    "for baking",
    "for drying",
    "for storage",
    "for market",
    "for cider",
    "for export",
)


def choose_attributes(n_numeric: int, n_nominal: int) -> list[Attribute]:
    """The first of each kind; what goes beyond the vocabulary is numbered."""
    numeric = [
        _NUMERIC[i] if i < len(_NUMERIC) else NumericAttribute(f"measurement {i + 1}", 0, 100, 1)
        for i in range(n_numeric)
    ]
    nominal = [
        _NOMINAL[i] if i < len(_NOMINAL) else NominalAttribute(f"mark {i + 1}", ("a", "b", "c"))
        for i in range(n_nominal)
    ]
    return [*numeric, *nominal]


def choose_labels(n_labels: int) -> list[str]:
    """The first uses of fruit; what goes beyond the vocabulary is numbered."""
    return [_LABELS[i] if i < len(_LABELS) else f"for use {i + 1}" for i in range(n_labels)]


def draw_examples(
    attributes: list[Attribute], n_examples: int, missing: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw every value independently and uniformly, and leave out a share of them."""
    columns: dict[str, object] = {}
    for attribute in attributes:
        is_missing = rng.random(n_examples) < missing
        if isinstance(attribute, NumericAttribute):
            drawn = rng.uniform(attribute.lowest, attribute.highest, n_examples)
            numbers = np.round(drawn, attribute.decimals)
            columns[attribute.name] = np.where(is_missing, np.nan, numbers)
        else:
            codes = rng.integers(len(attribute.values), size=n_examples)
            dtype = pd.CategoricalDtype(list(attribute.values))
            columns[attribute.name] = pd.Categorical.from_codes(
                np.where(is_missing, -1, codes).tolist(), dtype=dtype
            )
    return pd.DataFrame(columns, index=pd.RangeIndex(n_examples))
