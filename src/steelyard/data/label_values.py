"""What counts as a label's value, the same for every file format."""

import warnings
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .errors import DataError

ConstantLabels = Literal["raise", "drop", "keep"]

_PRESENT = ("1", "1.0", "true", "yes", "t", "y")
_ABSENT = ("0", "0.0", "false", "no", "f", "n")
_VALUE_OF_WORD = dict.fromkeys(_ABSENT, 0) | dict.fromkeys(_PRESENT, 1)


def word_to_label(word: str) -> int | None:
    """1 for a word that says a label is present, 0 for absent, None for any other."""
    return _VALUE_OF_WORD.get(word.strip().lower())


def labels_to_frame(
    values: NDArray[np.int8], names: list[str], where: object, constant_labels: ConstantLabels
) -> pd.DataFrame:
    """Name the columns of a label matrix and deal with those that have one value only."""
    if constant_labels not in ("raise", "drop", "keep"):
        raise ValueError(
            f"constant_labels must be 'raise', 'drop' or 'keep', not {constant_labels!r}"
        )
    frame = pd.DataFrame(values, columns=pd.Index(names, dtype=object).astype("str"))
    is_constant = values.min(axis=0) == values.max(axis=0)
    if constant_labels == "keep" or not is_constant.any():
        return frame

    constant = [name for name, single in zip(names, is_constant, strict=True) if single]
    listed = ", ".join(map(repr, constant[:5])) + (", ..." if len(constant) > 5 else "")
    if constant_labels == "raise":
        value = int(values[0, names.index(constant[0])])
        raise DataError(
            f"{where}: label {constant[0]!r} is {value} in every example, so there is nothing to"
            f" learn (constant: {listed}; constant_labels='drop' or 'keep' accepts that)"
        )
    if is_constant.all():
        raise DataError(f"{where}: every label is constant, so no label would be left")
    warnings.warn(f"{where}: left out the constant labels {listed}", UserWarning, stacklevel=4)
    return frame.drop(columns=constant)
