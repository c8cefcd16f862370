"""Sampling: the order in which rows are drawn into bags. Knows codes and masks only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard._kernels.coding import hash_rows
from steelyard.model.coding import CodedFeatures


def draw_orders(coded: CodedFeatures, is_target: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows in the order of their content, shape (n_labels, n_rows): attributes and that label.

    Bags are drawn in this order. The rules of a label therefore depend neither on the order of the
    rows nor on the other labels.
    """
    row_keys = hash_rows(coded)
    orders = np.empty(is_target.shape, dtype=np.int64)
    for order, mask in zip(orders, is_target, strict=True):  # the keys of all labels are as large
        order[:] = np.argsort(np.where(mask, ~row_keys, row_keys), kind="stable")
    return orders
