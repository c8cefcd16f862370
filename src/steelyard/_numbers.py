"""Checks of numbers that users pass. Does not know what the numbers mean."""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import Any, TypeGuard


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number, Python's or numpy's, that a float can hold.

    NaN and booleans are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> [is_number(value) for value in (1, np.float32(0.5), math.inf, math.nan, True, 1j, "1", None)]
    [True, True, True, False, False, False, False, False]
    """
    if isinstance(value, Integral):  # Python has no largest integer
        return not isinstance(value, bool) and abs(int(value)) <= sys.float_info.max
    return isinstance(value, Real) and not math.isnan(value)


def is_integer(value: Any, least: int = 1, most: float = math.inf) -> TypeGuard[int]:
    """Whether a value is an integer within bounds.

    Examples
    --------
    >>> is_integer(3), is_integer(3.0), is_integer(0), is_integer(7, most=5)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and is_number(value) and least <= int(value) <= most
