"""Tuning: variants × decodings × heuristics × φ → scores on held-out folds → the choice.

A variant is a setting that needs candidates of its own; everything else is read off one path a fold.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning

from steelyard.heuristics import M_GRID, Heuristic, MEstimate
from steelyard.measures import get_measure, get_scorer
from steelyard.model.decoding import Decoding, EachLabel
from steelyard.model.path import TheoryPath
from steelyard.model.theory import Output

from .rule_set import RuleSetClassifier, fit_path, take_rows

# The paper tunes over the values of m up to 4096.
TUNING_GRID: tuple[MEstimate, ...] = tuple(MEstimate(m) for m in M_GRID if m <= 4096)
# One value: several were not better on average, since a cell more is one more chance to choose by luck.
WEIGHTED_GRID: tuple[MEstimate, ...] = (MEstimate(16),)

# Parameters that need candidates of their own.
VARIANT_PARAMETERS = ("max_features", "prune", "combine")

Splits = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class Grid:
    """What the tuning chooses from.

    Parameters
    ----------
    variants : tuple of dict
        Values of the parameters in `VARIANT_PARAMETERS`.
    decodings : tuple of Decoding
    heuristics : tuple of Heuristic, or None
        None is the grid that goes with a variant's way to combine rules.
    phis : tuple of float
    tolerance : float
        Standard errors by which a smaller theory may be worse than the best.
    """

    variants: tuple[Mapping[str, Any], ...]
    decodings: tuple[Decoding, ...]
    heuristics: tuple[Heuristic, ...] | None
    phis: tuple[float, ...]
    tolerance: float = 0.0

    def heuristics_for(self, variant: Mapping[str, Any]) -> tuple[Heuristic, ...]:
        """The heuristics that a variant is tried with."""
        if self.heuristics is not None:
            return self.heuristics
        return WEIGHTED_GRID if variant["combine"] == "weighted" else TUNING_GRID

    def cells(self) -> Iterator[tuple[Mapping[str, Any], Decoding, Heuristic, float]]:
        """Every choice, in the order of all results."""
        for variant in self.variants:
            yield from (
                (variant, *rest)
                for rest in itertools.product(
                    self.decodings, self.heuristics_for(variant), self.phis
                )
            )


def as_choices(value: Any) -> list[Any]:
    """What a parameter may be: the items of a list or tuple, else the one value."""
    return list(value) if isinstance(value, list | tuple) else [value]


def list_variants(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Every combination of the parameters that need candidates of their own.

    Examples
    --------
    >>> for variant in list_variants(
    ...     {"max_features": 0.3, "prune": [None, "oob"], "combine": ["any", "weighted"]}
    ... ):
    ...     print(variant)
    {'max_features': 0.3, 'prune': None, 'combine': 'any'}
    {'max_features': 0.3, 'prune': None, 'combine': 'weighted'}
    {'max_features': 0.3, 'prune': 'oob', 'combine': 'any'}
    """
    choices = [as_choices(parameters[name]) for name in VARIANT_PARAMETERS]
    has_choice = any(len(values) > 1 for values in choices[1:])
    variants: list[dict[str, Any]] = []
    for values in itertools.product(*choices):
        variant = dict(zip(VARIANT_PARAMETERS, values, strict=True))
        # Rules that vote are not pruned: among other choices pruning is then meant for these.
        if has_choice and variant["combine"] == "weighted":
            variant["prune"] = None
        if variant not in variants:
            variants.append(variant)
    return tuple(variants)


def list_decodings(choices: Sequence[Decoding], output: Output) -> tuple[Decoding, ...]:
    """The decodings that a target allows: one class a row is no set of labels.

    Examples
    --------
    >>> from steelyard import LabelSets
    >>> list_decodings([EachLabel(), LabelSets(), EachLabel(0.3)], "multiclass")
    (EachLabel(min_probability=0.5), EachLabel(min_probability=0.3))
    """
    if output == "multilabel":
        return tuple(choices)
    return tuple(d for d in choices if isinstance(d, EachLabel)) or (EachLabel(),)


def check_splits(splits: Splits, n_examples: int) -> None:
    """Refuse folds that have nothing to learn from or to score, or rows that are not there."""
    if not splits:
        raise ValueError("cv gives no folds")
    for i, fold in enumerate(splits):
        for part, rows in zip(("learn from", "score"), map(np.asarray, fold), strict=True):
            if not rows.size:
                raise ValueError(f"fold {i} of cv has no examples to {part}")
            if rows.dtype.kind not in "iu" or rows.min() < -n_examples or rows.max() >= n_examples:
                raise ValueError(
                    f"fold {i} of cv must have positions of {n_examples} examples to {part}"
                )


class FoldScores(NamedTuple):
    """Results of one fold, flat in the order of `Grid.cells`; scores have a row for each scoring."""

    scores: NDArray[np.float64]
    n_rules: NDArray[np.int64]
    n_conditions: NDArray[np.int64]


def score_folds(
    template: RuleSetClassifier,
    grid: Grid,
    X: Any,
    y: Any,
    splits: Splits,
    scorings: Sequence[Any],
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[FoldScores]:
    """Scores of all cells of the grid on every fold."""
    results = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_score_fold)(template, grid, X, y, train, test, scorings) for train, test in splits
    )
    folds: list[FoldScores] = []
    for result in results:
        folds.append(result)
        if progress is not None:
            progress(len(folds), len(splits))
    return folds


def _score_fold(
    template: RuleSetClassifier,
    grid: Grid,
    X: Any,
    y: Any,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    scorings: Sequence[Any],
) -> FoldScores:
    X_train, y_train = take_rows(X, train), take_rows(y, train)
    X_test, y_test = take_rows(X, test), take_rows(y, test)
    scores, n_rules, n_conditions = [], [], []
    for variant in grid.variants:
        model = clone(template).set_params(**variant)
        with warnings.catch_warnings():
            # The refit says the same of the whole training set; once is enough.
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = fit_path(model, X_train, y_train, grid.heuristics_for(variant), grid.phis)
        for decoding in grid.decodings:
            scores.append(score_cells(path, model, X_test, y_test, scorings, decoding))
            n_rules.append(path.n_rules.ravel())
            n_conditions.append(path.total_conditions.ravel())
    return FoldScores(
        np.concatenate(scores, axis=1), np.concatenate(n_rules), np.concatenate(n_conditions)
    )


class _Cell(ClassifierMixin, BaseEstimator):
    """A theory of the path in the role of a fitted classifier, for scikit-learn's scorers."""

    def __init__(
        self,
        path: TheoryPath,
        h: int,
        j: int,
        decoding: Decoding,
        predicted: NDArray[Any],
        model: Any,
    ) -> None:
        self.path, self.h, self.j, self.decoding = path, h, j, decoding
        self.predicted, self.model = predicted, model
        self.classes_ = model.classes_

    def _fitted(self) -> RuleSetClassifier:
        fitted: RuleSetClassifier = self.model
        fitted.theory_ = self.path.theory(self.h, self.path.phis[self.j], decoding=self.decoding)
        return fitted

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: ARG002
        return self.predicted

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self._fitted().predict_proba(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self._fitted().decision_function(X)


def score_cells(
    path: TheoryPath, model: Any, X: Any, y: Any, scorings: Sequence[Any], decoding: Decoding
) -> NDArray[np.float64]:
    """Scores of every theory of a path on held-out rows, shape (n_scorings, n_theories)."""
    measures = {}
    if path.output == "multilabel":
        for i, scoring in enumerate(scorings):
            # A name that only scikit-learn knows is a scorer.
            with contextlib.suppress(ValueError):
                if isinstance(scoring, str):
                    measures[i] = get_measure(scoring)
    scores = np.empty((len(scorings), *path.shape))
    if measures:
        found = path.evaluate(X, y, list(measures.values()), decoding)
        for i, measure in measures.items():
            scores[i] = found[measure.name]
    scorers = {i: get_scorer(s) for i, s in enumerate(scorings) if i not in measures}
    if scorers:
        for h, j, predicted in path.predict_cells(X, decoding):
            cell = _Cell(path, h, j, decoding, predicted, model)
            for i, scorer in scorers.items():
                scores[i, h, j] = scorer(cell, X, y)
    return scores.reshape(len(scorings), -1)


def choose_cell(
    scores: NDArray[np.float64], n_conditions: NDArray[np.float64], tolerance: float = 0.0
) -> int:
    """The cell with the best mean score over the folds; of equals the one with fewest conditions.

    With a `tolerance` every cell counts as equal whose mean is below the best by at most that many
    standard errors of the difference, fold by fold.

    Parameters
    ----------
    scores : (n_folds, n_cells)
    n_conditions : (n_cells,)
    """
    mean = scores.mean(axis=0)
    mean[np.isnan(mean)] = -np.inf
    best = int(np.lexsort((n_conditions, -mean))[0])
    if not tolerance or len(scores) < 2 or not np.isfinite(mean[best]):
        return best
    with np.errstate(invalid="ignore"):  # a scorer may give -inf
        difference = scores[:, best, None] - scores
        error = difference.std(axis=0, ddof=1) / np.sqrt(len(scores))
    is_close = difference.mean(axis=0) <= tolerance * np.nan_to_num(error)
    close = np.flatnonzero(is_close & np.isfinite(mean))
    return int(close[np.lexsort((-mean[close], n_conditions[close]))[0]])
