"""Scorers: a fitted estimator, X and the true labels → float; greater is better.

Owns which names there are, and what an estimator says about labels: predictions, probabilities, scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard._text import did_you_mean

from .counting import MEASURES, Measure, find_measure
from .scores import SCORE_MEASURES, RankedScores, ScoreMeasure, find_score_measures

Floats = NDArray[np.float64]

# Arithmetic may put a probability this far outside [0, 1].
_ERROR = 1e-9

# The scorers of scikit-learn that average nothing, so they cannot measure several labels.
_OF_ONE_LABEL = ("f1", "jaccard", "precision", "recall")


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


def find_scores(estimator: Any, X: Any, n_labels: int) -> LabelScores:
    """The scores of a fitted estimator: its probabilities, or else its decision function.

    scikit-learn has several forms of both: one array with a column per label, or one array per label
    with a column per class. A function that fails gives no scores, but the other one may.
    """
    failures = []
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)  # a sparse matrix has no length
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
        if values is not None and values.size == n_rows * n_labels and np.isfinite(values).all():
            is_probability = name == "predict_proba"
            if is_probability:
                values = _clip(values)
                is_probability = bool(((values >= 0) & (values <= 1)).all())
                if not is_probability:
                    failures.append("its predict_proba gives values outside [0, 1]")
            values = values.reshape(n_rows, n_labels)
            return LabelScores(values, is_probability, "; ".join(failures))
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


def describe_lack(names: Sequence[str], scores: LabelScores) -> str:
    """Why measures are missing; empty if none are."""
    wanted = find_score_measures(names)
    if wanted and scores.values is None:
        reason = "it has neither predict_proba nor decision_function for these labels"
        return f"no scores: {scores.failure or reason}"
    if any(m.needs_probability for m in wanted) and not scores.are_probabilities:
        reason = "it has decision_function, but not predict_proba"
        return f"no probabilities: {scores.failure or reason}"
    return ""


@dataclass(frozen=True)
class ScoreScorer:
    """A scorer for a measure of scores: its value, negated if it is a loss.

    Parameters
    ----------
    measure : ScoreMeasure
    """

    measure: ScoreMeasure

    def __call__(self, estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """The measure of the scores that a fitted estimator gives to labels, or of its probabilities."""
        truth = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
        is_weighted = sample_weight is not None
        check_target_of_scoring(
            self.measure, is_multilabel=truth.ndim == 2, is_weighted=is_weighted
        )
        scores = find_scores(estimator, X, truth.shape[1])
        lack = describe_lack([self.measure.name], scores)
        if lack:
            estimated = f"{self.measure.name} cannot be computed for {type(estimator).__name__}"
            raise ValueError(f"{estimated}: {lack}")
        return float(self.of_many(RankedScores(truth, scores.values)))

    def of_many(self, ranked: RankedScores) -> Floats:
        """The measure of many predictions at once, of the shape of the leading axes of their scores."""
        values = self.measure.of_many(ranked)
        return -values if self.measure.is_loss else values


def find_score_scorer(scoring: object) -> ScoreScorer | None:
    """The scorer for the name of a measure of scores, or for such a measure; None for others."""
    if isinstance(scoring, ScoreScorer):
        return scoring
    if isinstance(scoring, ScoreMeasure):
        return ScoreScorer(scoring)
    if isinstance(scoring, str) and scoring in SCORE_MEASURES:
        return ScoreScorer(SCORE_MEASURES[scoring])
    return None


def get_scorer(
    scoring: str | Measure | ScoreMeasure | Callable[..., float],
) -> Callable[..., float]:
    """Turn the name of a measure into a scorer for scikit-learn.

    A scorer is called with a fitted estimator, X and the true labels; greater is better, so losses such
    as the Brier score are negated.

    Parameters
    ----------
    scoring : str, Measure, ScoreMeasure or callable
        A name of ours, of a measure of labels (see :func:`get_measure`) or of scores
        (:data:`SCORE_MEASURES`); failing that, any name that ``sklearn.metrics.get_scorer`` knows; or a
        scorer, which is returned unchanged.

    Returns
    -------
    callable
        ``scorer(estimator, X, Y)`` → float.

    Examples
    --------
    >>> from steelyard.measures import get_scorer
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> cross_val_score(tree, X, Y, scoring=get_scorer("hamming")).shape
    (5,)
    >>> get_scorer("brier")(tree.fit(X, Y), X, Y) > -0.01
    True
    """
    # Imported here because it takes about a second and the formulas do not need it.
    from sklearn import metrics

    measure = find_measure(scoring)
    scorer: Callable[..., float] | None = find_score_scorer(scoring)
    if measure is not None:
        scorer = metrics.make_scorer(measure)
    elif scorer is None and isinstance(scoring, str):
        if scoring not in metrics.get_scorer_names():
            known = [*MEASURES, *SCORE_MEASURES]
            raise ValueError(
                f"unknown scoring {scoring!r}{did_you_mean(scoring, known)}; known are "
                f"{', '.join(known)}, and the names that sklearn.metrics.get_scorer_names() returns"
            )
        scorer = metrics.get_scorer(scoring)
    elif scorer is None and callable(scoring):
        scorer = scoring
    if scorer is None:
        raise TypeError(f"scoring must be a name, a measure or a callable, got {scoring!r}")
    return scorer


def check_target_of_scoring(
    scoring: object, *, is_multilabel: bool, is_weighted: bool = False
) -> None:
    """Reject what cannot measure this target, or not with sample weights.

    Examples
    --------
    >>> check_target_of_scoring("f1", is_multilabel=True)
    Traceback (most recent call last):
    ...
    ValueError: 'f1' measures one label, but there are several: choose f1_micro, f1_macro or f1_examples
    >>> check_target_of_scoring("brier", is_multilabel=True, is_weighted=True)
    Traceback (most recent call last):
    ...
    ValueError: 'brier' takes no fractional sample weights: choose a measure of labels, such as f1_micro
    """
    if is_multilabel and scoring in _OF_ONE_LABEL:
        *names, last = [name for name in MEASURES if name.startswith(f"{scoring}_")]
        choices = f"{', '.join(names)} or {last}"
        raise ValueError(f"{scoring!r} measures one label, but there are several: choose {choices}")
    scorer = find_score_scorer(scoring)
    if scorer is None:
        return
    name = scorer.measure.name
    if not is_multilabel:
        raise ValueError(
            f"{name!r} measures several labels, but this target is one column: choose a scorer of "
            "scikit-learn, such as neg_log_loss or roc_auc_ovr"
        )
    if is_weighted:
        raise ValueError(
            f"{name!r} takes no fractional sample weights: choose a measure of labels, such as f1_micro"
        )
