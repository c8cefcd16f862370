"""Files of a results folder → checked rows and descriptions. An error names the file and the line.

A folder may come from anywhere, so everything is checked. Knows the config, not the analysis.
"""

from __future__ import annotations

import csv
import io
import math
import reprlib
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from steelyard._files import read_text
from steelyard._numbers import is_integer, is_number
from steelyard._text import find_repeated
from steelyard.model.features import Feature

from .config import SIZE_MEASURES, StudyConfig, StudyError
from .data import clean_name
from .methods import find_method
from .rows import CELL, COLUMNS, LABEL_COLUMNS, empty_rows
from .store import read_json
from .units import RIPPER_VARIANTS

_MAX_FOLD = 2**31 - 1


def read_rows(path: Path, config: StudyConfig) -> pd.DataFrame:
    """Read results.csv, tuned.csv or baselines.csv of a study; no rows if the file is missing."""
    if not path.exists():
        return empty_rows(path.stem)
    lines, texts = _read_columns(path, COLUMNS[path.stem])
    if not lines:
        raise StudyError(f"{path} has no rows")

    def read(name: str, items: Sequence[Hashable], check: Callable[[Any], Any]) -> list[Any]:
        """Check every distinct item of a column once; return what the check returns."""
        found = {}
        for item in dict.fromkeys(items):
            try:
                found[item] = check(item)
            except ValueError as error:
                where = f"{path}, line {lines[items.index(item)]}"
                raise StudyError(f"{where}: {name}{error}") from None
        return [found[item] for item in items]

    checks = _list_checks(config)
    values = {name: read(f"{name} ", column, checks[name]) for name, column in texts.items()}
    cells = {(*column, phi) for column in config.columns for phi in config.phis}
    if "phi" in values:
        read("", list(zip(*(values[n] for n in CELL), strict=True)), partial(_check_cell, cells))
    _check_order(path, lines, values)
    sizes = Counter(zip(values["dataset"], values["fold"], strict=True))
    n_expected = _count_rows(path.stem, config)
    for (dataset, fold), n_rows in sizes.items():
        if n_rows != n_expected and not (path.stem == "baselines" and config.methods):
            counts = f"{n_rows} rows instead of {n_expected}"
            raise StudyError(f"{path}: fold {fold} of {dataset!r} has {counts}")
    return pd.DataFrame(values)


def read_label_rows(path: Path) -> pd.DataFrame:
    """Read per_label.csv; no rows if the file is missing."""
    if not path.exists():
        return pd.DataFrame(columns=list(LABEL_COLUMNS))
    lines, texts = _read_columns(path, LABEL_COLUMNS)
    values: dict[str, Any] = {}
    for name, column in texts.items():
        is_text = name in ("dataset", "method", "label")
        # Only cells of the grid have a parameter and φ.
        found = column if is_text else pd.to_numeric(pd.Series(column), errors="coerce").to_numpy()
        is_wrong = np.zeros(len(lines), dtype=np.bool_) if is_text else np.isnan(found)
        if name in ("parameter", "phi"):
            is_wrong &= np.array(column) != ""
        if is_wrong.any():
            i = int(np.argmax(is_wrong))
            got = f"{name} must be a number, got {reprlib.repr(column[i])}"
            raise StudyError(f"{path}, line {lines[i]}: {got}")
        values[name] = found
    return pd.DataFrame(values)


def _read_columns(path: Path, columns: Sequence[str]) -> tuple[list[int], dict[str, Sequence[str]]]:
    """The numbers of the lines of a CSV file below its header, and the texts of some columns."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    lines, rows = [], []
    try:
        header = next(reader, [])
        for cells in reader:
            if len(cells) != len(header):
                counts = f"{len(cells)} values instead of {len(header)}"
                raise StudyError(f"{path}, line {reader.line_num}: the row has {counts}")
            lines.append(reader.line_num)
            rows.append(cells)
    except csv.Error as error:
        raise StudyError(f"{path}, line {reader.line_num}: {error}") from None
    missing = [name for name in columns if header.count(name) != 1]
    if missing:
        raise StudyError(f"{path}, line 1: expected one column {missing[0]!r}")
    table = dict(zip(header, zip(*rows, strict=True), strict=bool(rows)))
    return lines, {name: table[name] for name in columns if rows}


def _list_checks(config: StudyConfig) -> dict[str, Callable[[str], Any]]:
    """Column → function that turns its texts into values and raises an error for a wrong text."""
    known = {
        "heuristic": config.family_names,
        "measure": (*config.measures, *SIZE_MEASURES),
        "tuned_for": config.tune,
        "baseline": (*RIPPER_VARIANTS, *(find_method(text).name for text in config.methods)),
    }
    return {
        "dataset": _check_name,
        **{name: partial(_check_known, names) for name, names in known.items()},
        **{name: partial(_read_number, *kind) for name, kind in _NUMBERS.items()},
    }


def _check_name(text: str) -> str:
    if text != clean_name(text):
        raise ValueError(f"{reprlib.repr(text)} is not a name that a study gives")
    return text


def _check_known(known: tuple[str, ...], text: str) -> str:
    if text not in known:
        raise ValueError(f"{reprlib.repr(text)} is not in study.toml")
    return text


def _read_number(
    read: Callable[[str], Any], is_valid: Callable[[Any], bool], kind: str, text: str
) -> Any:
    try:
        value = read(text)
    except ValueError:
        value = math.nan
    if not is_valid(value):
        raise ValueError(f"must be {kind}, got {reprlib.repr(text)}")
    return value


# How to read a number, whether it is valid, and what is valid.
_NUMBERS: dict[str, tuple[Callable[[str], Any], Callable[[Any], bool], str]] = {
    "fold": (int, lambda value: is_integer(value, most=_MAX_FOLD), "a positive integer"),
    "parameter": (float, is_number, "a number"),
    "phi": (float, lambda value: 0 < value <= 1, "a number above 0 and at most 1"),
    "value": (float, math.isfinite, "a finite number"),
}


def _check_cell(cells: set[tuple[str, float, float]], cell: tuple[str, float, float]) -> None:
    if cell not in cells:
        raise ValueError(f"the study has no cell {cell[1]:g}:{cell[2]:g} of {cell[0]}")


def _check_order(path: Path, lines: list[int], values: dict[str, list[Any]]) -> None:
    """Raise an error for a row that is there twice, or for two cells where one was chosen."""
    is_tuned = "tuned_for" in values
    free = {"value", "parameter", "phi"} if is_tuned else {"value"}
    key = [column for name, column in values.items() if name not in free]
    found = find_repeated(zip(*key, strict=True))
    if found is not None:
        line = [line for line, k in zip(lines, zip(*key, strict=True), strict=True) if k == found][
            1
        ]
        raise StudyError(f"{path}, line {line}: the row is there twice")
    if is_tuned:
        chosen: dict[Any, Any] = {}
        choice = ("dataset", "fold", "tuned_for", "heuristic", "parameter", "phi")
        for line, row in zip(lines, zip(*(values[n] for n in choice), strict=True), strict=True):
            if chosen.setdefault(row[:4], row[4:]) != row[4:]:
                raise StudyError(f"{path}, line {line}: the rows above chose another cell")


def _count_rows(kind: str, config: StudyConfig) -> int:
    """The number of rows of a fold in a kind of file."""
    n_tuned = len(config.tune) * len(config.family_names)
    n_cells = len(config.grid) * len(config.phis)
    sizes = {"results": n_cells, "tuned": n_tuned, "baselines": len(RIPPER_VARIANTS)}
    return sizes[kind] * len({*config.measures, *SIZE_MEASURES})


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
        _check_extent(examples, len(rows))
        numeric = {feature.name for feature in features if feature.categories is None}
        for name, column in zip(names, zip(*rows, strict=True), strict=bool(rows)):
            for value in column:
                _check_value(value, name, name in numeric)
    except ValueError as error:
        raise StudyError(f"{path} is damaged: {error}") from None
    return examples


def _check_extent(examples: dict[str, Any], n_rows: int) -> None:
    """Check how many examples are held out, the ranges of attributes and the counts of rules."""
    for name in ("n_held_out", "n_test"):
        if not is_integer(examples.setdefault(name, n_rows), 0):
            raise ValueError(f"{name} must be a non-negative integer")
    if examples["n_held_out"] > n_rows:
        raise ValueError(f"{examples['n_held_out']} of {n_rows} rows are held out")
    ranges, counts = examples.setdefault("ranges", {}), examples.setdefault("counts", None)
    if not isinstance(ranges, dict) or not all(
        isinstance(span, list) and len(span) == 2 and all(map(is_number, span))
        for span in ranges.values()
    ):
        raise ValueError("ranges must be two numbers per attribute")
    if counts is not None:
        parts = [counts.get(name) for name in ("tp", "fp")] if isinstance(counts, dict) else [None]
        if not all(isinstance(p, list) and all(is_integer(n, 0) for n in p) for p in parts):
            raise ValueError("counts must be lists of integers")


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
