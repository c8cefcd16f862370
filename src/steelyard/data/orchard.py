"""The vocabulary of planted data: an orchard that sorts its fruit by use."""

from typing import Any

import numpy as np
import pandas as pd

# The lowest value, the highest value and the number of decimals.
_NUMERIC = {
    "weight": (40, 400, 0),
    "sweetness": (0, 10, 1),
    "acidity": (2.5, 5.0, 2),
    "firmness": (0, 12, 1),
    "diameter": (3, 12, 1),
    "days since harvest": (0, 60, 0),
    "juice content": (20, 90, 0),
    "sugar": (5, 25, 1),
}
_NOMINAL = {
    "colour": ("green", "yellow", "red", "purple"),
    "skin": ("smooth", "fuzzy", "rough"),
    "bruised": ("no", "yes"),
    "orchard": ("north", "east", "south", "west", "hill"),
    "shape": ("round", "oval", "flat"),
    "season": ("early", "middle", "late"),
}
_USES = ("juice", "jam", "baking", "drying", "storage", "market", "cider", "export")


def _take(vocabulary: dict[str, Any], n: int, noun: str, values: Any = None) -> dict[str, Any]:
    """Take the first n names with their values; those beyond the vocabulary are numbered."""
    numbered = {f"{noun} {i + 1}": values for i in range(len(vocabulary), n)}
    return dict([*vocabulary.items(), *numbered.items()][:n])


def choose_labels(n_labels: int) -> list[str]:
    """Take the first uses of fruit."""
    return [f"for {use}" for use in _take(dict.fromkeys(_USES), n_labels, "use")]


def draw_examples(
    n_examples: int, n_numeric: int, n_nominal: int, missing: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw every value independently and uniformly, and make a fraction of them missing."""
    columns: dict[str, object] = {}
    numeric = _take(_NUMERIC, n_numeric, "measurement", (0, 100, 1))
    for name, (lowest, highest, decimals) in numeric.items():
        is_missing = rng.random(n_examples) < missing
        drawn = rng.uniform(lowest, highest, n_examples).round(decimals)
        columns[name] = np.where(is_missing, np.nan, drawn)
    for name, values in _take(_NOMINAL, n_nominal, "mark", ("a", "b", "c")).items():
        is_missing = rng.random(n_examples) < missing
        codes = np.where(is_missing, -1, rng.integers(len(values), size=n_examples))
        columns[name] = pd.Categorical.from_codes(codes, pd.Index(values))
    return pd.DataFrame(columns, index=pd.RangeIndex(n_examples))
