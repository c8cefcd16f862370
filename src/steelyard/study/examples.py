"""Examples of a study for its page: attributes and labels of the shown fold, with counts of its rules.

Knows the data, the theories of a fold and the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from steelyard.model.coverage import unpack
from steelyard.model.path import TheoryPath

from .data import StudyData
from .results import StudyResults
from .store import StudyStore
from .to_use import read_theories_to_use

# Few enough for a page that is sent by mail: about 300 kB once they are compressed.
MOST_VALUES = 150_000


def write_page_examples(
    store: StudyStore, study: StudyResults, data_sets: Iterable[StudyData]
) -> None:
    """Write the examples of every data set, with all attributes that its theories test."""
    for data in data_sets:
        used = {
            condition.feature
            for found in read_theories_to_use(store.folder, data.name)
            for scored in found.theory
            for condition in scored.body
        }
        write_examples(store, data, study.paths[data.name], study.shown_fold, used)


def write_examples(
    store: StudyStore, data: StudyData, path: TheoryPath, fold: int, used: Iterable[str] = ()
) -> None:
    """Write ``examples/<dataset>.json`` for the shown fold of a data set.

    The test examples of the fold come first, then the training examples if all of them fit. `used` are
    attributes that theories test besides those of the path.
    """
    X = data.X.set_axis([str(name) for name in data.X.columns], axis=1)
    _, is_test = data.locate(fold)
    rows = np.concatenate([np.flatnonzero(is_test), np.flatnonzero(~is_test)])
    names = list(X.columns)
    n_test = int(is_test.sum())
    if X.size > MOST_VALUES:
        tested = {feature.name for feature in path.coded.used_features} | set(used)
        names = [name for name in names if name in tested]
        if len(rows) * len(names) > MOST_VALUES:
            n_test = min(n_test, max(1, MOST_VALUES // max(len(names), 1)))
            rows = rows[:n_test]
    table, truth = X.iloc[rows][names], data.Y.iloc[rows]
    content = {
        "fold": fold,
        "n_held_out": n_test,
        "n_test": int(is_test.sum()),
        "features": names,
        "ranges": {name: span for name in names if (span := _find_range(X[name])) is not None},
        "labels": [str(name) for name in truth.columns],
        "counts": count_rules(path, X[is_test], data.Y[is_test].to_numpy().astype(bool)),
        "rows": table.astype(object).where(table.notna(), None).to_numpy().tolist(),
        "truth": truth.to_numpy().astype(int).tolist(),
    }
    store.write(f"examples/{data.name}.json", json.dumps(content, ensure_ascii=False).encode())


def _find_range(column: pd.Series) -> list[float] | None:
    """The smallest and the largest value of a numeric column that has one."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or not column.notna().any():
        return None
    return [float(column.min()), float(column.max())]


def count_rules(path: TheoryPath, X: Any, truth: NDArray[np.bool_]) -> dict[str, list[int]]:
    """TP and FP of every rule of a path on examples with labels."""
    bits, n_rows = path.coded.cover(X)
    fires = unpack(bits, n_rows)
    targets = np.array([label.target_class for label in path.labels], dtype=np.bool_)
    is_target = (truth == targets).T[path.label_of_rule]
    counts = {"tp": fires & is_target, "fp": fires & ~is_target}
    return {name: mask.sum(axis=1).tolist() for name, mask in counts.items()}
