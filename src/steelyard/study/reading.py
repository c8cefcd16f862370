"""Files of a results folder → checked rows and descriptions. An error names the file and the line.

A folder may come from anywhere, so that nothing is taken as it is. Knows the config, not the analysis.
"""

from __future__ import annotations

import csv
import io
import math
import reprlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from steelyard._files import read_text
from steelyard._numbers import is_integer, is_number
from steelyard.model.features import Feature

from .config import SIZE_MEASURES, StudyConfig, StudyError
from .data import clean_name
from .rows import COLUMNS, empty_rows
from .store import read_json
from .units import RIPPER_VARIANTS

Row = dict[str, Any]
_MAX_FOLD = 2**31 - 1


def read_rows(path: Path, config: StudyConfig) -> pd.DataFrame:
    """Read results.csv, tuned.csv or baselines.csv of a study; no rows if the file is missing."""
    if not path.exists():
        return empty_rows(path.stem)
    check, seen = _RowCheck(path.stem, config), set()
    rows: list[Row] = []
    for line, texts in _read_cells(path):
        try:
            row = check(texts)
        except ValueError as error:
            raise StudyError(f"{path}, line {line}: {error}") from None
        key = tuple(row[name] for name in check.key)
        if key in seen:
            raise StudyError(f"{path}, line {line}: the row is there twice")
        seen.add(key)
        rows.append(row)
    sizes = Counter((row["dataset"], row["fold"]) for row in rows)
    for (dataset, fold), n_rows in sizes.items():
        if n_rows != check.n_rows:
            counts = f"{n_rows} rows instead of {check.n_rows}"
            raise StudyError(f"{path}: fold {fold} of {dataset!r} has {counts}")
    if not rows:
        raise StudyError(f"{path} has no rows")
    return pd.DataFrame(rows, columns=list(COLUMNS[path.stem]))


def _read_cells(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a CSV file below its header: number of the line and column → text."""
    columns = COLUMNS[path.stem]
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        header = next(reader, [])
        missing = [name for name in columns if header.count(name) != 1]
        if missing:
            raise StudyError(f"{path}, line 1: expected one column {missing[0]!r}")
        for cells in reader:
            if len(cells) != len(header):
                counts = f"{len(cells)} values instead of {len(header)}"
                raise StudyError(f"{path}, line {reader.line_num}: the row has {counts}")
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise StudyError(f"{path}, line {reader.line_num}: {error}") from None


class _RowCheck:
    """Texts of a row of a kind of file → its values; raises an error if the study has no such row."""

    def __init__(self, kind: str, config: StudyConfig) -> None:
        measures = {*config.measures, *SIZE_MEASURES}
        self.known: dict[str, set[str]] = {
            "heuristic": set(config.heuristics),
            "measure": measures,
            "tuned_for": set(config.tune),
            "baseline": set(RIPPER_VARIANTS),
        }
        self.cells = {(h.name, h.parameter, phi) for h in config.grid for phi in config.phis}
        self.columns = COLUMNS[kind]
        # A tuned row has the cell that was chosen for its measure.
        n_tuned = len(config.tune) * len({h.name for h in config.tuning_grid})
        sizes = {"results": len(self.cells), "tuned": n_tuned, "baselines": len(RIPPER_VARIANTS)}
        self.n_rows = sizes[kind] * len(measures)
        free = {"value", "parameter", "phi"} if kind == "tuned" else {"value"}
        self.key = [name for name in self.columns if name not in free]
        self.chosen: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def __call__(self, texts: dict[str, str]) -> Row:
        row = {name: self._read(name, texts[name]) for name in self.columns}
        if "phi" in row:
            cell = row["heuristic"], row["parameter"], row["phi"]
            if cell not in self.cells:
                raise ValueError(f"the study has no cell {cell[1]:g}:{cell[2]:g} of {cell[0]}")
            choice = row["dataset"], row["fold"], row.get("tuned_for"), row["heuristic"]
            if "tuned_for" in row and self.chosen.setdefault(choice, cell) != cell:
                raise ValueError("the rows above have another cell for the same choice")
        return row

    def _read(self, name: str, text: str) -> Any:
        if name in _NUMBERS:
            read, is_valid, kind = _NUMBERS[name]
            try:
                value = read(text)
            except ValueError:
                value = math.nan
            if not is_valid(value):
                raise ValueError(f"{name} must be {kind}, got {reprlib.repr(text)}")
            return value
        if name == "dataset":
            if text != clean_name(text):
                raise ValueError(f"{reprlib.repr(text)} is not a name of a data set of a study")
        elif text not in self.known[name]:
            raise ValueError(f"the study has no {name} {reprlib.repr(text)}")
        return text


# How to read a number, whether it is valid, and what is valid.
_NUMBERS: dict[str, tuple[Callable[[str], Any], Callable[[Any], bool], str]] = {
    "fold": (int, lambda value: is_integer(value, most=_MAX_FOLD), "a positive integer"),
    "parameter": (float, is_number, "a number"),
    "phi": (float, lambda value: 0 < value <= 1, "a number above 0 and at most 1"),
    "value": (float, math.isfinite, "a finite number"),
}


def read_run(path: Path) -> dict[str, Any]:
    """Read run.json: versions, hashes and seconds."""
    run = read_json(path)
    for name in ("versions", "config", "data"):
        if not isinstance(run.setdefault(name, {}), dict):
            raise StudyError(f"{path} is damaged: {name} must be an object")
    about = run["data"]
    for dataset, entry in about.items():
        if not isinstance(entry, dict):
            raise StudyError(f"{path} is damaged: data {dataset!r} must be an object")
        for name in ("n_examples", "n_features", "n_labels"):
            if name in entry and not is_integer(entry[name], 0):
                raise StudyError(f"{path} is damaged: {name} of {dataset!r} must be an integer")
    for name, value in {
        "seed": run.get("seed"),
        "n_candidates": run["config"].get("n_candidates"),
    }.items():
        if value is not None and not is_integer(value, 0):
            raise StudyError(f"{path} is damaged: {name} must be an integer")
    return run


def read_examples(path: Path, features: tuple[Feature, ...]) -> dict[str, Any]:
    """Read the examples of a data set, whose values must fit the attributes of its theories."""
    examples = read_json(path)
    try:
        names, labels = (_list_texts(examples, name) for name in ("features", "labels"))
        rows = _list_rows(examples, "rows", len(names))
        truth = _list_rows(examples, "truth", len(labels))
        if len(rows) != len(truth):
            raise ValueError(f"there are {len(rows)} rows, but {len(truth)} rows of labels")
        if any(value not in (0, 1) for row in truth for value in row):
            raise ValueError("truth must hold only 0 and 1")
        numeric = {feature.name for feature in features if feature.categories is None}
        for name, column in zip(names, zip(*rows, strict=True), strict=bool(rows)):
            for value in column:
                _check_value(value, name, name in numeric)
    except ValueError as error:
        raise StudyError(f"{path} is damaged: {error}") from None
    return examples


def _list_texts(examples: dict[str, Any], name: str) -> list[str]:
    texts = examples.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must be a list of texts")
    if len(set(texts)) < len(texts):
        raise ValueError(f"{name} contains a name twice")
    return texts


def _list_rows(examples: dict[str, Any], name: str, n_columns: int) -> list[list[Any]]:
    rows = examples.get(name)
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and len(row) == n_columns for row in rows
    ):
        raise ValueError(f"{name} must be lists of {n_columns} values")
    return rows


def _check_value(value: Any, name: str, is_numeric: bool) -> None:
    is_known = (
        value is None or isinstance(value, bool) or (is_number(value) and abs(value) < math.inf)
    )
    if not is_known and (is_numeric or not isinstance(value, str)):
        raise ValueError(f"{reprlib.repr(value)} is not a value of {name!r}")
