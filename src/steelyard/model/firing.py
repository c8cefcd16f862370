"""Firing: rules that cover rows change the points of their labels. Knows bits and numbers only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.combining import add_points, raise_points

from .coverage import Bits
from .decoding import Combine, Points

# Fewer than the points of any rule, and far from the end of the numbers.
NO_POINTS = -(2**40)


def start_firing(combine: Combine, start: Points, n_rows: int) -> Points:
    """Points of (n_labels, n_rows) before any rule has fired."""
    if combine == "weighted":
        return np.repeat(start[:, None], n_rows, axis=1)
    return np.full((len(start), n_rows), NO_POINTS, dtype=np.int64)


def fire_points(
    bits: Bits,
    rule_idx: NDArray[np.intp],
    label_of_rule: NDArray[np.intp],
    points: Points,
    counted: Points,
    combine: Combine,
) -> Points:
    """Let rules change the points of (n_labels, n_rows); `points` are aligned with `rule_idx`."""
    kernel = add_points if combine == "weighted" else raise_points
    kernel(bits, rule_idx, label_of_rule, points, counted)
    return counted


def finish_points(
    counted: Points, start: Points, is_inverted: NDArray[np.bool_], combine: Combine
) -> Points:
    """Points for presence, shape (n_labels, n_rows): start points where no rule has fired."""
    if combine == "weighted":
        return counted
    for_presence = np.where(is_inverted[:, None], -counted, counted)
    return np.where(counted == NO_POINTS, start[:, None], for_presence)
