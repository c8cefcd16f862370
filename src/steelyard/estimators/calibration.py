"""Calibration inside tuning: what held-out rows say about the probabilities of theories.

Every fold is scored as if it were new: its calibration and the thresholds of its labels come from the
other folds. What is learned on all examples is calibrated on the held-out rows of all folds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learning.tuning import choose_thresholds
from steelyard.measures import (
    Measure,
    RankedScores,
    find_measure,
    find_score_scorer,
    get_scorer,
)
from steelyard.model.calibrating import apply_calibration, find_points
from steelyard.model.combiner import Calibration
from steelyard.model.decoders import Decoder, EachLabel
from steelyard.model.evaluation import labels_to_answer
from steelyard.model.path import TheoryPath
from steelyard.model.recounting import read_labels
from steelyard.model.sigmoids import Unseen
from steelyard.model.theory import Theory

Floats = NDArray[np.float64]


def weight_option(weights: Any) -> dict[str, Any]:
    """The argument of a scorer; without weights it need not take any."""
    return {} if weights is None else {"sample_weight": weights}


class TestFold(NamedTuple):
    """The held-out rows of a fold.

    `weights` says what each row counts in a score, shape (n_rows,), and `totals` what it counts for each
    label, shape (n_rows, n_labels); None: 1. `make_cell` makes a classifier of a function that makes its
    theory and of its predictions.
    """

    X: Any
    y: Any
    weights: Floats | None
    totals: Floats | None
    make_cell: Callable[[Callable[[], Theory], Any], Any]


class HeldOut(NamedTuple):
    """What a theory of a fold makes of the rows that it did not see.

    `target` is what its labels are: a fold can lack a class. `weights` says what each row counts in a
    measure.
    """

    unseen: Unseen
    target: Any
    weights: Floats


def hold_out(theory: Theory, path: TheoryPath, test: TestFold) -> HeldOut | None:
    """What a theory of a path makes of held-out rows; None if it does not know all their classes."""
    try:
        truth = read_labels(theory, test.y)
    except ValueError:
        return None
    weights = np.ones(len(truth)) if test.weights is None else test.weights
    unseen = Unseen(find_points(theory, test.X), truth, test.totals, path.label_sets)
    return HeldOut(unseen, target_of(theory), weights)


def target_of(found: Theory | TheoryPath) -> Any:
    """The labels and classes that a theory predicts."""
    return tuple(label.name for label in found.labels), tuple(found.classes)


def calibrate_chosen(
    theory: Theory,
    paths: Sequence[TheoryPath],
    h: int,
    tests: Sequence[TestFold],
    **cell: Any,
) -> Theory:
    """A theory, calibrated on the held-out rows of the folds in which its cell has the same labels."""
    target = target_of(theory)
    held_out = [
        hold_out(path.theory(h, **cell), path, test)
        for path, test in zip(paths, tests, strict=True)
        if target_of(path) == target
    ]
    return apply_calibration(theory, fit_folds(target, held_out, theory.decoder))


def fit_folds(target: Any, folds: Sequence[HeldOut | None], decoder: Decoder) -> Calibration:
    """The calibration for a decoder that the folds with these labels give together."""
    names, classes = target
    unseen = [fold.unseen for fold in folds if fold is not None and fold.target == target]
    if not unseen:
        return Calibration(np.ones(len(names)), np.zeros(len(names)))
    return decoder.fit_calibration(unseen, is_shared=bool(classes) and len(names) > 1)


def _shift(points: Floats, calibration: Calibration) -> NDArray[np.int64]:
    """Calibrated points; those of the calibrated theory differ from them by roundings of its votes."""
    return np.rint(calibration.slope * points + calibration.shift).astype(np.int64)


def _find_thresholds(
    folds: Sequence[HeldOut | None], calibration: Calibration, measure: Measure
) -> EachLabel | None:
    """Each label by itself with the thresholds that are best for a measure per label."""
    known = [fold for fold in folds if fold is not None]
    if not known:
        return None
    points = np.concatenate([_shift(fold.unseen.points, calibration) for fold in known])
    truth = np.concatenate([fold.unseen.is_present for fold in known])
    weights = np.concatenate([fold.weights for fold in known])
    return EachLabel(choose_thresholds(points, truth, measure.formula, weights))


def score_theories(
    paths: Sequence[TheoryPath],
    tests: Sequence[TestFold],
    decoders: Sequence[Decoder],
    scorings: Sequence[Any],
    per_label: Measure | None = None,
    *,
    calibrate: bool = True,
) -> tuple[list[Floats], EachLabel | None]:
    """Scores of one theory per fold, the whole of its path, calibrated or not, for every way to decode.

    With a measure per label, one threshold per label is one more way to decode: on a fold with the
    thresholds of the other folds. The second answer has those of all folds.

    Returns
    -------
    scores : list of (n_scorings, n_decoders), one per fold
    decoder : EachLabel or None
    """
    theories = [path.theory() for path in paths]
    held_out = list(map(hold_out, theories, paths, tests)) if calibrate else []
    scores = []
    for k, (path, test) in enumerate(zip(paths, tests, strict=True)):
        others = held_out[:k] + held_out[k + 1 :]
        scores.append(_score_fold(path, theories[k], test, others, decoders, scorings, per_label))
    if per_label is None:
        return scores, None
    calibration = fit_folds(target_of(paths[0]), held_out, EachLabel())
    return scores, _find_thresholds(held_out, calibration, per_label) or EachLabel()


def _score_fold(
    path: TheoryPath,
    theory: Theory,
    test: TestFold,
    others: Sequence[HeldOut | None],
    decoders: Sequence[Decoder],
    scorings: Sequence[Any],
    per_label: Measure | None,
) -> Floats:
    """Scores of the theory of a fold with each decoder, shape (n_scorings, n_decoders)."""
    target = target_of(theory)
    if per_label is not None:
        own = _find_thresholds(others, fit_folds(target, others, EachLabel()), per_label)
        decoders = [*decoders, own or EachLabel()]
    scores = np.empty((len(scorings), len(decoders)))
    known: dict[Hashable, tuple[Calibration, NDArray[np.int64]]] = {}
    for j, decoder in enumerate(decoders):
        if decoder.calibration_key not in known:
            calibration = fit_folds(target, others, decoder)
            points = find_points(apply_calibration(theory, calibration), test.X).astype(np.int64)
            known[decoder.calibration_key] = calibration, points
        calibration, points = known[decoder.calibration_key]
        combiner, fitted = path.combine_and_decode(decoder)
        decoded = fitted.decode(points, combiner)
        make_theory = partial(_make_theory, path, decoder, calibration)
        cell = test.make_cell(make_theory, labels_to_answer(decoded.is_present, path.classes))
        for i, scoring in enumerate(scorings):
            measure = None if path.classes else find_measure(scoring)
            of_scores = find_score_scorer(scoring)
            if measure is not None:
                scores[i, j] = measure(test.y, decoded.is_present, sample_weight=test.weights)
            elif of_scores is not None:
                probability = fitted.to_probability(decoded, combiner)
                scores[i, j] = of_scores.of_many(RankedScores(test.y, probability))
            else:
                weights = weight_option(test.weights)
                scores[i, j] = get_scorer(scoring)(cell, test.X, test.y, **weights)
    return scores


def _make_theory(path: TheoryPath, decoder: Decoder, calibration: Calibration) -> Theory:
    return apply_calibration(path.theory(decoder=decoder), calibration)
