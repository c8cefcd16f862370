"""Checks of the values that people pass. Knows nothing of what they mean."""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import Any, TypeGuard


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number, Python's or numpy's, that a float can hold.

    NaN and truth values are no numbers.

    Examples
    --------
    >>> import numpy as np
    >>> [is_number(value) for value in (1, np.float32(0.5), math.inf, math.nan, True, 1j, "1", None)]
    [True, True, True, False, False, False, False, False]
    """
    if isinstance(value, Integral):  # of any number of digits, in Python
        return not isinstance(value, bool) and abs(int(value)) <= sys.float_info.max
    return isinstance(value, Real) and not math.isnan(value)


def is_whole(value: Any, least: int = 1, most: float = math.inf) -> TypeGuard[int]:
    """Whether a value is a whole number within bounds.

    Examples
    --------
    >>> is_whole(3), is_whole(3.0), is_whole(0), is_whole(7, most=5)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and is_number(value) and least <= int(value) <= most
