"""Examples → columns of plain data: numbers, category codes, and None where a value is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from steelyard.model.features import Feature, category_text
from steelyard.model.recounting import read_labels
from steelyard.model.tables import (
    MISSING,
    NumericColumn,
    column_to_values,
    select_columns,
    table_to_columns,
)
from steelyard.model.theory import Theory

from .theories import shorten_number

# As many values as a page has room for.
MOST_VALUES = 150_000


def saved_examples_to_payload(
    examples: dict[str, Any], features: Sequence[Feature], labels: Sequence[str], n_training: int
) -> dict[str, Any]:
    """The examples of a study's folder; see `study.examples`."""
    position = {feature.name: i for i, feature in enumerate(features)}
    names = [name for name in examples["features"] if name in position]
    values = dict(zip(examples["features"], zip(*examples["rows"], strict=True), strict=False))
    columns = [
        _read_column(values.get(name, [None] * len(examples["rows"])), features[position[name]])
        for name in names
    ]
    order = {name: i for i, name in enumerate(examples["labels"])}
    labels_idx = [order.get(name) for name in labels]
    truth = [[None if i is None else row[i] for i in labels_idx] for row in examples["truth"]]
    return {
        "n_rows": len(examples["rows"]),
        "n_held_out": examples["n_held_out"],
        "n_test": examples["n_test"],
        "n_training": n_training,
        "columns": [[position[n], *_pack(c)] for n, c in zip(names, columns, strict=True)],
        "truth": _pack_truth(truth),
    }


def table_to_payload(
    theory: Theory, X: Any, Y: Any, *, is_unseen: bool
) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Examples for a theory, and the range of each numeric attribute.

    Parameters
    ----------
    theory : Theory
    X : table with all attributes that the theory tests
    Y : labels, as for `Theory.recount`
    is_unseen : bool
        Whether the theory was not learned from these examples.
    """
    truth = read_labels(theory, Y)
    if len(truth) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but Y has {len(truth)}")
    columns: list[list[Any]] = []
    ranges: dict[str, list[float]] = {}
    kept = _find_columns(theory, X)
    n_rows = min(len(truth), max(1, MOST_VALUES // max(len(kept), 1)))
    chosen = np.array(kept, dtype=np.intp)
    table = select_columns(X, theory.features, chosen)
    of_features = [theory.features[f] for f in kept]
    for f, column in zip(kept, table_to_columns(table, of_features), strict=True):
        feature = theory.features[f]
        values = column_to_values(column, len(truth))
        if isinstance(column, NumericColumn):
            known = column.values[~np.isnan(column.values)]
            if len(known):
                ranges[feature.name] = [float(known.min()), float(known.max())]
        columns.append([f, *_pack(_read_column(values[:n_rows], feature))])
    return {
        "n_rows": n_rows,
        "n_held_out": n_rows if is_unseen else 0,
        "n_test": len(truth) if is_unseen else 0,
        "n_training": 0 if is_unseen else len(truth),
        "columns": columns,
        "truth": _pack_truth(truth[:n_rows].astype(int).tolist()),
    }, ranges


def _find_columns(theory: Theory, X: Any) -> list[int]:
    """Positions of the attributes to keep: all if they fit and the table has them, else the tested."""
    tested = {condition.feature for scored in theory for condition in scored.body}
    names = set(map(str, X.columns)) if isinstance(X, pd.DataFrame) else None
    is_small = X.shape[0] * len(theory.features) <= MOST_VALUES
    return [
        f
        for f, feature in enumerate(theory.features)
        if feature.name in tested or (is_small and (names is None or feature.name in names))
    ]


def _read_column(values: Iterable[Any], feature: Feature) -> list[Any]:
    """Numbers or category codes of the examples; None is missing, -1 an unknown category."""
    if feature.categories is None:
        return [None if value is None else shorten_number(float(value)) for value in values]
    codes = {text: code for code, text in enumerate(feature.categories)}
    texts = (None if value is None else category_text(value) for value in values)
    return [
        None if text is None else codes.get(feature.read_category(text), MISSING) for text in texts
    ]


def _pack(column: list[Any]) -> list[Any]:
    """[values], or [usual value, rows, other values] if most values are equal."""
    usual, n_usual = Counter(column).most_common(1)[0] if column else (None, 0)
    if 2 * (len(column) - n_usual) >= len(column):
        return [column]
    rows = [row for row, value in enumerate(column) if value != usual]
    return [usual, rows, [column[row] for row in rows]]


def _pack_truth(truth: list[list[int | None]]) -> list[list[int]]:
    """The positions of the labels that each example has."""
    return [[j for j, value in enumerate(row) if value] for row in truth]
