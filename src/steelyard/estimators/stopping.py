"""Early stopping: theories of folds and their held-out rows → the share of boosted rules to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.model.log_odds import POINTS_PER_LOG_ODD
from steelyard.model.path import TheoryPath
from steelyard.model.recounting import read_labels
from steelyard.model.sigmoids import fit_sigmoids

from .calibration import TestFold, target_of

# Shares of the rules to choose from. With a thousand rules, the smallest share is fifty.
STOPPING_SHARES = (1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)


def find_share(
    paths: Sequence[TheoryPath],
    tests: Sequence[TestFold],
    shares: Sequence[float],
    *,
    calibrate: bool = True,
) -> float:
    """The share of the rules with which the labels of held-out rows are most likely.

    The likelihood tells sooner than the measure to tune for whether further rules fit noise: it looks at
    every probability, not only at those around a threshold. If theories are calibrated afterwards, a
    slope and a shift for all labels are fitted first: that votes are too large does not matter then.
    Of equal shares it is the smallest.
    """
    ascending = tuple(sorted(shares))
    if len(ascending) == 1:
        return ascending[0]
    folds = _read_folds(paths, tests)
    truth = np.concatenate([fold.is_present for fold in folds] or [np.empty(0, dtype=np.bool_)])
    weights = None
    if tests[0].totals is not None:
        weights = np.concatenate([fold.totals for fold in folds] or [np.empty(0)])
    if not truth.size or (weights is not None and not weights.any()):
        return ascending[-1]
    cells = [replace(fold.path, phis=ascending).score_cells(fold.X) for fold in folds]
    likelihood = np.empty(len(ascending))
    for found in zip(*cells, strict=True):
        _, j, _ = found[0]
        points = np.concatenate([of_fold for *_, of_fold in found])
        likelihood[j] = _rate(points, truth, weights, calibrate)
    return ascending[int(likelihood.argmax())]


class _Fold(NamedTuple):
    """A path of a fold, and the held-out rows with their labels and what they count for them."""

    path: TheoryPath
    X: Any
    is_present: NDArray[np.bool_]
    totals: Any


def _read_folds(paths: Sequence[TheoryPath], tests: Sequence[TestFold]) -> list[_Fold]:
    """The folds that have learned all classes; the others do not tell about all labels."""
    targets = [target_of(path) for path in paths]
    whole = max(targets, key=lambda target: (len(target[0]), len(target[1])))
    folds = []
    for path, test, target in zip(paths, tests, targets, strict=True):
        is_whole = test.totals is None or test.totals.shape[1] == len(path.labels)
        if target == whole and is_whole:
            try:
                is_present = read_labels(path.theory(), test.y)
            except ValueError:  # a class that no fold has learned
                continue
            folds.append(_Fold(path, test.X, is_present, test.totals))
    return folds


def _rate(
    points: NDArray[np.float64],
    is_present: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    calibrate: bool,
) -> float:
    """Mean log-likelihood of labels, given their log-odds in hundredths."""
    if calibrate:
        slope, shift = fit_sigmoids(points, is_present, is_shared=True, weights=weights)
        points = slope * points + shift
    log_odds = points / POINTS_PER_LOG_ODD
    logs = is_present * log_odds - np.logaddexp(0, log_odds)
    return float(np.average(logs, weights=weights))
