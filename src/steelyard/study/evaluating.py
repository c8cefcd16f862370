"""What theories and estimators reach on test rows: measures of labels and of scores, counts per label.

Knows paths, predictions and measures; neither units nor files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard.measures import (
    SCORE_MEASURES,
    LabelScores,
    RankedScores,
    count_cells,
    find_score_measures,
    get_measure,
)
from steelyard.model.path import TheoryPath

Floats = NDArray[np.float64]


def evaluate_path(
    path: TheoryPath, X: pd.DataFrame, Y: pd.DataFrame, names: Sequence[str]
) -> dict[str, Floats]:
    """Measures of all theories of a path, each of shape (n_heuristics, n_phis)."""
    of_labels = [get_measure(name) for name in names if name not in SCORE_MEASURES]
    of_scores = find_score_measures(names)
    found = path.evaluate(X, Y, of_labels)
    found |= {measure.name: np.empty(path.shape) for measure in of_scores}
    if of_scores:
        is_true = Y.to_numpy().astype(np.bool_)
        for h, probability in enumerate(path.predict_proba_cells(X)):
            ranked = RankedScores(is_true, probability)
            for measure in of_scores:
                found[measure.name][h] = measure.of_many(ranked)
    return {name: found[name] for name in names}


def count_path(path: TheoryPath, X: pd.DataFrame, Y: pd.DataFrame) -> NDArray[np.int32]:
    """TP, FP, FN and TN of each label, shape (4, n_heuristics, n_phis, n_labels)."""
    is_true = Y.to_numpy().astype(np.bool_)
    counts = np.empty((4, *path.shape, is_true.shape[1]), dtype=np.int32)
    for h, j, predicted in path.predict_cells(X):
        counts[:, h, j] = count_cells(is_true, predicted.astype(np.bool_), "label")
    return counts


def count_labels(Y: pd.DataFrame, predicted: Any) -> NDArray[np.int32]:
    """TP, FP, FN and TN of each label of one prediction, shape (4, n_labels)."""
    is_true, is_predicted = (np.asarray(labels).astype(np.bool_) for labels in (Y, predicted))
    return np.array(count_cells(is_true, is_predicted, "label"), dtype=np.int32)


def evaluate_prediction(
    names: Sequence[str], Y: pd.DataFrame, predicted: Any, scores: LabelScores
) -> dict[str, float]:
    """Measures of a prediction; those that need scores which are not there are left out."""
    values = {}
    for name in names:
        measure = SCORE_MEASURES.get(name)
        if measure is None:
            values[name] = float(get_measure(name)(Y, predicted))
        elif scores.values is not None and (
            scores.are_probabilities or not measure.needs_probability
        ):
            values[name] = measure(Y, scores.values)
    return values
