"""What a method does on the test folds: right and wrong for each label, and for each of its rules.

Knows estimators and masks of examples; no files.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from steelyard.measures import count_cells
from steelyard.model.evidence import Evidence
from steelyard.model.theory import Theory

Mask = NDArray[np.bool_]


def count_unseen(
    estimator: Any, theory: Theory, X: pd.DataFrame, Y: pd.DataFrame, tests: Sequence[Mask]
) -> tuple[Theory, list[list[int]]]:
    """Learn without each fold and count on the fold.

    Parameters
    ----------
    estimator : TheoryClassifier
        What learned the theory.
    theory : Theory
        Learned on all examples.
    X, Y : DataFrame
        All examples.
    tests : sequence of masks
        The test examples of each fold.

    Returns
    -------
    theory : Theory
        With `held_out` counts of rules that have none: of the rules that take their place without the
        fold, those for the same class that cover most nearly the same of the other examples.
    confusion : list
        TP, FP, FN and TN of each label, summed over the folds.
    """
    truth = Y.to_numpy().astype(np.bool_)
    covered = theory.covers(X)
    total = np.zeros((4, truth.shape[1]), dtype=np.int64)
    counts = np.zeros((2, len(theory.rules)), dtype=np.int64)
    for is_test in tests:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the folds gave the same warnings
            other = clone(estimator).fit(X[~is_test], Y[~is_test]).theory_
        predicted = np.asarray(other.predict(X[is_test]), dtype=np.bool_)
        total += np.array(count_cells(truth[is_test], predicted, "label"))
        counts += _count_in_place(theory, covered, other, other.covers(X), truth, is_test)
    rules = tuple(
        replace(scored, held_out=Evidence(int(tp), int(fp)))
        if scored.held_out is None and tp + fp > 0
        else scored
        for scored, (tp, fp) in zip(theory.rules, counts.T, strict=True)
    )
    return replace(theory, rules=rules), total.T.tolist()


def _count_in_place(
    theory: Theory, covered: Mask, other: Theory, covered_by_other: Mask, truth: Mask, is_test: Mask
) -> NDArray[np.int64]:
    """TP and FP on the test examples, of the rules of another theory that are most like the own ones.

    A rule that shares no example with any rule for its class there has 0 of both.
    """
    counts = np.zeros((2, len(theory.rules)), dtype=np.int64)
    for head in {scored.rule.head for scored in theory.rules}:
        mine, others = (
            np.flatnonzero([scored.rule.head == head for scored in t.rules])
            for t in (theory, other)
        )
        if not len(others):
            continue
        # Counts below 2²⁴ are exact in single precision, whose products are fast.
        a = covered[~is_test][:, mine].astype(np.float32)
        b = covered_by_other[~is_test][:, others].astype(np.float32)
        shared = a.T @ b
        either = a.sum(axis=0)[:, None] + b.sum(axis=0) - shared
        similarity = shared / np.maximum(either, 1)
        like = others[similarity.argmax(axis=1)]
        has_like = similarity.max(axis=1) > 0
        is_right = truth[is_test, theory.label_names.index(head.label)] == head.target_class
        fires = covered_by_other[is_test][:, like] & has_like
        counts[0, mine] = (fires & is_right[:, None]).sum(axis=0)
        counts[1, mine] = (fires & ~is_right[:, None]).sum(axis=0)
    return counts
