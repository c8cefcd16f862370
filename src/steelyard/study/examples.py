"""Held-out examples that the page shows: rows of one test fold, with the attributes that rules test."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from steelyard._files import write_atomically
from steelyard.model.features import Feature
from steelyard.model.path import TheoryPath

from .results import StudyResults
from .sources import StudyData

# Enough to find an interesting example, few enough for a page that is sent by mail.
N_EXAMPLES = 50


def list_tested_features(path: TheoryPath) -> list[Feature]:
    """The features that the rules of a path test."""
    return [path.program.features[f] for f in path.program.used_idx]


def write_examples(study: StudyResults, data: StudyData) -> None:
    """Write ``examples/<dataset>.json`` for the shown fold of a data set."""
    path = study.path(data.name)
    if path is None:
        return
    names = [feature.name for feature in list_tested_features(path)]
    _, is_test = data.locate(study.shown_fold)
    rows = np.flatnonzero(is_test)[:N_EXAMPLES]
    X = data.X.iloc[rows].set_axis([str(name) for name in data.X.columns], axis=1)[names]
    Y = data.Y.iloc[rows]
    columns = [[_to_plain(value) for value in X[name]] for name in names]
    content = {
        "fold": study.shown_fold,
        "features": names,
        "rows": [list(row) for row in zip(*columns, strict=True)] or [[] for _ in rows],
        "labels": [str(name) for name in Y.columns],
        "truth": Y.to_numpy().astype(int).tolist(),
    }
    file = study.folder / "examples" / f"{data.name}.json"
    write_atomically(file, json.dumps(content, ensure_ascii=False).encode())


def _to_plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
