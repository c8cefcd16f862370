"""Calibration: scores on unseen examples → a slope and a shift per label → a theory with other votes.

The calibrated theory is an ordinary one, so whatever can be done with a theory can be done with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .combiner import Calibration
from .recounting import read_labels
from .sigmoids import Unseen
from .theory import Theory

Floats = NDArray[np.float64]


def find_points(theory: Theory, X: Any) -> Floats:
    """Log-odds for the presence of each label in hundredths, shape (n_rows, n_labels)."""
    return theory._by_block(
        X, lambda *block: theory.combiner.to_points(theory._decode(*block).scores)
    )


def apply_calibration(theory: Theory, calibration: Calibration) -> Theory:
    """The theory with the votes or confidences that a calibration gives."""
    parts = theory.combiner.calibrate(theory.labels, theory.rules, calibration)
    combiner, labels, rules = parts
    calibrated = replace(theory, combiner=combiner, labels=labels, rules=rules)
    calibrated.take_code(theory)
    return calibrated


def calibrate(theory: Theory, X: Any, Y: Any) -> Theory:
    """See `Theory.calibrate`."""
    truth = read_labels(theory, Y)
    points = find_points(theory, X)
    if len(points) != len(truth):
        raise ValueError(f"X has {len(points)} rows, but Y has {len(truth)}")
    decoder = theory.decoder
    unseen = [Unseen(points, truth, label_sets=decoder.known)]
    calibration = decoder.fit_calibration(unseen, is_shared=decoder.is_single_label)
    return apply_calibration(theory, calibration)
