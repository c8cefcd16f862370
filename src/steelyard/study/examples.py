"""Held-out examples for people to look at: of the first fold, the attributes that its rules test."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from steelyard._files import write_atomically
from steelyard.model.path import TheoryPath

from .config import StudyConfig
from .data import StudyData
from .store import StudyStore

# Enough to find an interesting one, few enough for a page that is mailed.
N_EXAMPLES = 50


def collect_examples(store: StudyStore, data: StudyData, config: StudyConfig) -> None:
    """Write ``examples/<dataset>.json`` for the first fold of the study."""
    fold = config.only_folds[0] if config.only_folds else 1
    text = store.read_theories(data.name, fold)
    if text is None:
        return
    program = TheoryPath.from_json(text).program
    names = [program.features[f].name for f in program.used_idx]
    _, is_test = data.locate(fold)
    rows = np.flatnonzero(is_test)[:N_EXAMPLES]
    X = data.X.iloc[rows].set_axis([str(name) for name in data.X.columns], axis=1)[names]
    Y = data.Y.iloc[rows]
    columns = [[_to_plain(value) for value in X[name]] for name in names]
    content = {
        "fold": fold,
        "features": names,
        "rows": [list(row) for row in zip(*columns, strict=True)] or [[] for _ in rows],
        "labels": [str(name) for name in Y.columns],
        "truth": Y.to_numpy().astype(int).tolist(),
    }
    path = store.folder / "examples" / f"{data.name}.json"
    write_atomically(path, json.dumps(content, ensure_ascii=False).encode())


def _to_plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
