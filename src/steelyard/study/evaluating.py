"""What theories and estimators reach on test rows: measures of labels and of scores, counts per label.

Knows paths, predictions and measures; neither units nor files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard.measures import (
    SCORE_MEASURES,
    RankedScores,
    count_cells,
    find_score_measures,
    get_measure,
)
from steelyard.model.path import TheoryPath

Floats = NDArray[np.float64]

# Arithmetic may put a probability this far outside [0, 1].
_ERROR = 1e-9


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


class LabelScores(NamedTuple):
    """The scores that an estimator gives to labels.

    Parameters
    ----------
    values : (n_examples, n_labels) or None
        None if it gives none.
    are_probabilities : bool, default=False
    failure : str, default=""
        Why a function that it has gave none.
    """

    values: Floats | None
    are_probabilities: bool = False
    failure: str = ""


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


def describe_lack(names: Sequence[str], scores: LabelScores) -> str:
    """Why measures are missing; empty if none are."""
    wanted = find_score_measures(names)
    if wanted and scores.values is None:
        reason = "it has neither predict_proba nor decision_function for its labels"
        return f"no scores: {scores.failure or reason}"
    if any(m.needs_probability for m in wanted) and not scores.are_probabilities:
        reason = "it has decision_function, but not predict_proba"
        return f"no probabilities: {scores.failure or reason}"
    return ""


def find_scores(estimator: Any, X: pd.DataFrame, n_labels: int) -> LabelScores:
    """The scores of a fitted estimator: its probabilities, or else its decision function.

    scikit-learn has several forms of both: one array with a column per label, or one array per label
    with a column per class. A function that fails gives no scores, but the other one may.
    """
    failures = []
    for name in ("predict_proba", "decision_function"):
        function = getattr(estimator, name, None)
        if function is None:
            continue
        try:
            values = _find_columns(function(X), getattr(estimator, "classes_", None), n_labels)
        except Exception as error:  # learners of others fail in many ways, but they have predicted
            reason = " ".join(str(error).split())
            failures.append(f"its {name} failed with {type(error).__name__}: {reason}")
            continue
        if values is not None and values.size == len(X) * n_labels and np.isfinite(values).all():
            is_probability = name == "predict_proba"
            if is_probability:
                values = _clip(values)
                is_probability = bool(((values >= 0) & (values <= 1)).all())
                if not is_probability:
                    failures.append("its predict_proba gives values outside [0, 1]")
            return LabelScores(
                values.reshape(len(X), n_labels), is_probability, "; ".join(failures)
            )
    return LabelScores(None, failure="; ".join(failures))


def _find_columns(found: Any, classes: Any, n_labels: int) -> Floats | None:
    """Scores as an array with a column per label, or None if their form is not known."""
    if isinstance(found, list):
        return _join_labels(found, classes)
    values = np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)
    if n_labels == 1 and values.ndim == 2:
        # A column per class of the only label; those of two columns are 0 and 1 if nobody says so.
        own: Any = [] if classes is None else np.ravel(classes)
        if len(own) == values.shape[1] and np.isin(own, (0, 1)).all():
            return _join_labels([values], [own])
        if values.shape[1] == 2:
            return values[:, 1]
    return values


def _clip(values: Floats) -> Floats:
    """Probabilities without the error of their arithmetic; what is far outside [0, 1] stays."""
    clipped = values.clip(0, 1)
    return np.where(np.abs(values - clipped) <= _ERROR, clipped, values)


def _join_labels(found: list[Any], classes: Any) -> Floats | None:
    """The column of class 1 of each label; a label that has only one class has a single column."""
    if classes is None or len(classes) != len(found):
        return None
    columns = []
    for own, of_label in zip(classes, found, strict=True):
        position = np.flatnonzero(np.asarray(own) == 1)
        part = np.asarray(of_label, dtype=np.float64).reshape(len(of_label), -1)
        columns.append(part[:, position[0]] if position.size else np.zeros(len(part)))
    return np.column_stack(columns)
