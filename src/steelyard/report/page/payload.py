"""Results folder → what the page shows, as plain data. Knows rows and files, no HTML."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from steelyard.measures import MEASURES
from steelyard.report.titles import SYMBOLS, format_parameter, title_of
from steelyard.study.analysis.published import describe_differences

from .theories import find_theories, read_theories

# The measures that the page asks for by name come first; a study may have more.
FIRST_MEASURES = ("f1_micro", "hamming", "subset", "precision_micro", "recall_micro")
SIZE_MEASURES = ("n_rules", "n_conditions")


@dataclass(frozen=True)
class Study:
    """The rows of a results folder; tuned choices and baselines may be absent."""

    folder: Path
    results: pd.DataFrame
    tuned: pd.DataFrame | None
    baselines: pd.DataFrame | None
    run: dict[str, Any]


def read_study(folder: Path) -> Study:
    """Read the files that a study wrote."""
    path = folder / "results.csv"
    if not path.exists():
        raise FileNotFoundError(f"{folder} holds no study: it has no results.csv")
    text = {"dataset": str, "heuristic": str, "measure": str}

    def read_rows(name: str) -> pd.DataFrame | None:
        file = folder / name
        # Data sets may be called "NA" or "null".
        return (
            pd.read_csv(file, dtype=text, keep_default_na=False, na_values={"value": ["", "nan"]})
            if file.exists()
            else None
        )

    results = read_rows("results.csv")
    assert results is not None
    run = folder / "run.json"
    return Study(
        folder,
        results,
        read_rows("tuned.csv"),
        read_rows("baselines.csv"),
        json.loads(run.read_text(encoding="utf-8")) if run.exists() else {},
    )


def study_to_payload(study: Study) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What the page always needs, and the theories of each data set that has them."""
    results = study.results
    names = list(dict.fromkeys(results["dataset"]))
    measures = order_measures(results["measure"])
    families = [_describe_family(results, name) for name in dict.fromkeys(results["heuristic"])]
    phis = sorted(results["phi"].unique(), reverse=True)
    files = {name: find_theories(study.folder, name) for name in names}
    payload = {
        "measures": [_describe_measure(name) for name in measures],
        "families": families,
        "phis": [float(phi) for phi in phis],
        "datasets": [
            _describe_dataset(study, name, measures, families, phis, files[name] is not None)
            for name in names
        ],
        "run": _describe_run(study),
    }
    theories = {
        name: read_theories(file, study.folder, name)
        for name, file in files.items()
        if file is not None
    }
    return payload, theories


def order_measures(present: pd.Series) -> list[str]:
    """The measures of a study, best known first, sizes last.

    Examples
    --------
    >>> order_measures(pd.Series(["n_rules", "hamming", "f1_macro", "f1_micro"]))
    ['f1_micro', 'hamming', 'f1_macro', 'n_rules']
    """
    found = list(dict.fromkeys(present))
    middle = [name for name in found if name not in (*FIRST_MEASURES, *SIZE_MEASURES)]
    order = (*FIRST_MEASURES, *middle, *SIZE_MEASURES)
    return [name for name in order if name in found]


def _describe_measure(name: str) -> dict[str, Any]:
    is_share = name in MEASURES
    return {"id": name, "title": title_of(name), "share": is_share, "better": 1 if is_share else -1}


def _describe_family(results: pd.DataFrame, name: str) -> dict[str, Any]:
    values = sorted(results.loc[results["heuristic"] == name, "parameter"].unique())
    return {
        "id": name,
        "symbol": SYMBOLS.get(name, "parameter"),
        # Text, since JSON has no infinity.
        "parameters": [format_parameter(float(value)) for value in values],
        "values": [None if math.isinf(value) else float(value) for value in values],
    }


def _describe_dataset(
    study: Study,
    name: str,
    measures: list[str],
    families: list[dict[str, Any]],
    phis: list[float],
    has_theories: bool,
) -> dict[str, Any]:
    rows = study.results[study.results["dataset"] == name]
    about = study.run.get("data", {}).get(name, {})
    return {
        "name": name,
        "n_folds": int(rows["fold"].nunique()),
        "about": {
            key: about[key] for key in ("n_examples", "n_features", "n_labels") if key in about
        },
        "has_theories": has_theories,
        "differences": describe_differences(study.run, [name]),
        "mean": {f["id"]: _cells(rows, f["id"], measures, phis, "mean") for f in families},
        "sd": {f["id"]: _cells(rows, f["id"], measures, phis, "std") for f in families},
        "tuned": list(_describe_tuned(study, name)),
        "baselines": list(_describe_baselines(study, name)),
    }


def _cells(
    rows: pd.DataFrame, family: str, measures: list[str], phis: list[float], statistic: str
) -> dict[str, list[float | None]]:
    """Per measure one number a cell, the φ of the first parameter first; of folds the mean or spread."""
    rows = rows[rows["heuristic"] == family]
    by_cell = rows.groupby(["measure", "parameter", "phi"])["value"].agg(statistic)
    parameters = sorted(rows["parameter"].unique())
    cells = {}
    for measure in measures:
        index = pd.MultiIndex.from_product([[measure], parameters, phis])
        values = by_cell.reindex(index).to_numpy(dtype=np.float64)
        # Enough for a tenth of a percent; every digit counts where nine data sets share a page.
        digits = (4 if statistic == "mean" else 3) if measure in MEASURES else 2
        cells[measure] = [_round(value, digits) for value in values]
    return cells


def _round(value: float, digits: int) -> float | None:
    return None if not math.isfinite(value) else round(float(value), digits)


def _describe_tuned(study: Study, name: str) -> Iterator[dict[str, Any]]:
    """For each measure tuned for: the cell chosen in each fold, and the mean values."""
    if study.tuned is None:
        return
    rows = study.tuned[study.tuned["dataset"] == name]
    for (family, tuned_for), group in rows.groupby(["heuristic", "tuned_for"], sort=False):
        cells = group.drop_duplicates("fold")
        yield {
            "for": str(tuned_for),
            "family": str(family),
            "folds": [
                [int(fold), format_parameter(float(parameter)), float(phi)]
                for fold, parameter, phi in zip(
                    cells["fold"], cells["parameter"], cells["phi"], strict=True
                )
            ],
            "values": _mean_values(group),
        }


def _describe_baselines(study: Study, name: str) -> Iterator[dict[str, Any]]:
    if study.baselines is None:
        return
    rows = study.baselines[study.baselines["dataset"] == name]
    for baseline, group in rows.groupby("baseline", sort=False):
        yield {"name": str(baseline), "values": _mean_values(group)}


def _mean_values(rows: pd.DataFrame) -> dict[str, float | None]:
    means = rows.groupby("measure", sort=False)["value"].mean()
    return {str(measure): _round(value, 4) for measure, value in means.items()}


def _describe_run(study: Study) -> dict[str, Any]:
    config, versions = study.run.get("config", {}), study.run.get("versions", {})
    return {
        "version": versions.get("steelyard", ""),
        "finished": str(study.run.get("finished", ""))[:10],
        "n_candidates": config.get("n_candidates"),
        "seed": study.run.get("seed"),
    }
