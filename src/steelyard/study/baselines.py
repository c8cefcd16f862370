"""The baseline: Ripper for each label, in the paper's three variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard.measures import get_measure

from .config import StudyError

# Neither pruning nor optimisation; pruning only; Ripper as it is.
RIPPER_VARIANTS: dict[str, dict[str, Any]] = {
    "R1": {"prune": False, "optimizations": 0},
    "R2": {"optimizations": 0},
    "R3": {},
}


def check_baselines(baselines: Sequence[str]) -> None:
    """Say at once, not after hours, that a baseline cannot be run."""
    if "ripper" in baselines:
        _import_ripper()


def _import_ripper() -> Any:
    try:
        from steelyard.estimators.ripper import RipperClassifier
    except ImportError as error:
        raise StudyError(f"the baseline 'ripper' is not available ({error})") from None
    return RipperClassifier


def evaluate_ripper(
    X_train: pd.DataFrame,
    Y_train: pd.DataFrame,
    X_test: pd.DataFrame,
    Y_test: pd.DataFrame,
    measures: Sequence[str],
    seed: int,
) -> NDArray[np.float64]:
    """Values of R1, R2 and R3, shape (n_measures + 2, 3); the last two are the theory's sizes.

    Examples
    --------
    >>> from steelyard import make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> evaluate_ripper(data.X, data.Y, data.X, data.Y, ["hamming"], seed=0).shape
    (3, 3)
    """
    ripper = _import_ripper()
    columns = []
    for parameters in RIPPER_VARIANTS.values():
        theory = ripper(**parameters, random_state=seed, n_jobs=1).fit(X_train, Y_train).theory_
        predicted = theory.predict(X_test)
        values = [get_measure(name)(Y_test, predicted) for name in measures]
        columns.append([*values, len(theory), theory.n_conditions / max(len(theory), 1)])
    return np.array(columns).T
