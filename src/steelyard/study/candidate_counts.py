"""True and false positives of candidate rules, for the figure of coverage space."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.learning.candidates import generate_candidates
from steelyard.learning.covering import prepare_candidates
from steelyard.learning.settings import ForestSettings
from steelyard.learning.targets import encode_targets
from steelyard.learning.training_table import code_training_table
from steelyard.model.coverage import index_rows

# The first candidates of a study: enough for the figure, counted in a second or two.
N_SHOWN_CANDIDATES = 20_000


class CandidateCounts(NamedTuple):
    """What candidates cover; candidates with equal coverage count once.

    Parameters
    ----------
    label : (n_candidates,) int
        Index of each candidate's label.
    tp, fp : (n_candidates,) int
    n_positives, n_negatives : (n_labels,) int
    """

    label: NDArray[np.int64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    n_positives: NDArray[np.int64]
    n_negatives: NDArray[np.int64]


def count_candidates(
    X: Any, Y: Any, n_candidates: int = N_SHOWN_CANDIDATES, seed: int = 0
) -> CandidateCounts:
    """Grow candidates and count what they cover.

    Parameters
    ----------
    X : DataFrame
    Y : DataFrame of 0 and 1
    n_candidates : int
    seed : int
        The seed of a classifier gives the first candidates of this classifier.

    Returns
    -------
    CandidateCounts

    Examples
    --------
    >>> from steelyard import make_planted_rules
    >>> data = make_planted_rules(200, random_state=0)
    >>> counts = count_candidates(data.X, data.Y, 500)
    >>> bool((counts.tp <= counts.n_positives[counts.label]).all())
    True
    """
    targets = encode_targets(Y)
    training = code_training_table(X, [str(name) for name in X.columns])
    tables = generate_candidates(training, targets.is_target, ForestSettings(n_candidates), seed)
    index = index_rows(training.coded)
    pairs = zip(tables, targets.is_target, strict=True)
    prepared = [prepare_candidates(table, index, is_target) for table, is_target in pairs]
    return CandidateCounts(
        label=np.repeat(np.arange(len(prepared)), [len(p.tp) for p in prepared]),
        tp=np.concatenate([p.tp for p in prepared]).astype(np.int64),
        fp=np.concatenate([p.fp for p in prepared]).astype(np.int64),
        n_positives=np.array([p.n_positives for p in prepared], dtype=np.int64),
        n_negatives=np.array([p.n_negatives for p in prepared], dtype=np.int64),
    )
