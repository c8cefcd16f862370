"""Checks of numbers, flags and labels that users pass. Does not know what they mean."""

from __future__ import annotations

import math
import reprlib
import sys
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def check_flag(name: str, value: Any) -> None:
    """Reject a parameter that is neither True nor False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number, Python's or numpy's, that a float can hold.

    NaN and booleans are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> [is_number(value) for value in (1, np.float32(0.5), math.inf, math.nan, True, 1j, "1", None)]
    [True, True, True, False, False, False, False, False]
    """
    if type(value) is float:  # asking for its abstract class takes ten times as long
        return not math.isnan(value)
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
    if type(value) is int:
        return least <= value <= most and abs(value) <= sys.float_info.max
    return isinstance(value, Integral) and is_number(value) and least <= int(value) <= most


def read_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """The weights of examples as an array; one number is the weight of all of them.

    Examples
    --------
    >>> read_weights([0.5, 2], 2)
    array([0.5, 2. ])
    >>> read_weights([1, -1], 2)
    Traceback (most recent call last):
    ValueError: sample_weight must be at least 0, got -1 for row 1
    """
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"sample_weight must be numbers, one per example, got {reprlib.repr(weights)}"
        ) from None
    if found.ndim == 0:
        found = np.full(n_rows, found)
    if found.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number per example: its shape is {found.shape}, expected "
            f"({n_rows},)"
        )
    is_wrong = ~np.isfinite(found) | (found < 0)
    if is_wrong.any():
        row = int(is_wrong.argmax())
        what = "at least 0" if found[row] < 0 else "finite"
        raise ValueError(f"sample_weight must be {what}, got {found[row]:g} for row {row}")
    if not found.any():
        raise ValueError("sample_weight is zero for every example")
    return found


def divide(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide elementwise, where 0/0 is 0.

    Examples
    --------
    >>> divide(np.array([3.0, 0.0]), np.array([4.0, 0.0]))
    array([0.75, 0.  ])
    """
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    quotient = np.zeros(numerator.shape)
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    value: NDArray[np.float64] = quotient[()]  # a scalar for scalars
    return value


def to_booleans(Y: Any, name: str) -> Any:
    """Convert labels 0 and 1 to booleans: an array, or CSR without duplicates for sparse input.

    Examples
    --------
    >>> to_booleans(np.array([[1, 0]]), "Y")
    array([[ True, False]])
    """
    if sparse.issparse(Y):
        Y = sparse.csr_array(Y, copy=True)  # the next line works in place
        Y.sum_duplicates()
        Y.data = to_booleans(Y.data, name)
        return Y
    if Y.dtype.kind == "O":  # such as a DataFrame with columns of bool and of int
        try:
            Y = Y.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold only 0 and 1, and no missing values") from None
    is_one = Y == 1
    is_other = ~(is_one | (Y == 0))
    if np.any(is_other):
        raise ValueError(f"{name} must hold only 0 and 1, but holds {Y[is_other][0]}")
    return is_one
