"""Statistics of the labels of a data set, by which the field describes its data sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd


class LabelStatistics(NamedTuple):
    """How many labels a data set has, and how they are spread.

    Parameters
    ----------
    n_labels : int
    cardinality : float
        Mean number of labels per example.
    density : float
        Cardinality divided by the number of labels.
    n_label_sets : int
        Number of distinct label sets.
    mean_imbalance : float
        MeanIR: the examples of the most frequent label divided by those of each label, mean over the
        labels that occur; 0 if none occurs.
    """

    n_labels: int
    cardinality: float
    density: float
    n_label_sets: int
    mean_imbalance: float


def describe_labels(Y: pd.DataFrame) -> LabelStatistics:
    """The statistics of labels as 0 and 1.

    Examples
    --------
    >>> Y = pd.DataFrame({"a": [1, 1, 1, 1], "b": [1, 0, 0, 1], "c": [0, 0, 0, 0]})
    >>> describe_labels(Y)
    LabelStatistics(n_labels=3, cardinality=1.5, density=0.5, n_label_sets=2, mean_imbalance=1.5)
    """
    labels = np.ascontiguousarray(Y.to_numpy(), dtype=np.bool_)
    counts = labels.sum(axis=0)
    counts = counts[counts > 0]
    imbalance = float((counts.max() / counts).mean()) if len(counts) else 0.0
    n_sets = len({row.tobytes() for row in labels})
    cardinality = float(labels.sum(axis=1).mean())
    return LabelStatistics(
        labels.shape[1], cardinality, cardinality / max(labels.shape[1], 1), n_sets, imbalance
    )
