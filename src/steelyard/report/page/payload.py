"""Study results → plain data that the page always shows. Knows no files and no HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from steelyard.report.titles import SYMBOLS, format_parameter, is_share, title_of
from steelyard.study import StudyResults
from steelyard.study.analysis.comparison import MethodMeans
from steelyard.study.config import SIZE_MEASURES

from .theories import path_to_payload

# The scripts use these measures by name, so they come first.
FIRST_MEASURES = ("f1_micro", "hamming", "subset", "precision_micro", "recall_micro")


def study_to_payload(study: StudyResults) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The data that the page always needs, and the theories of each data set that has them."""
    measures, families = order_measures(study.results["measure"]), study.config.heuristics
    paths = {name: study.path(name) for name in study.datasets}
    config = study.run.get("config", {})
    payload = {
        "measures": [
            {"id": name, "title": title_of(name), "share": share, "better": 1 if share else -1}
            for name, share in ((name, is_share(name)) for name in measures)
        ],
        "families": [_describe_family(study, name) for name in families],
        "phis": study.cells(measures[0], families[0]).phis.tolist(),
        "datasets": [
            _describe_dataset(study, name, measures) | {"has_theories": paths[name] is not None}
            for name in study.datasets
        ],
        "run": {
            "version": study.run.get("versions", {}).get("steelyard", ""),
            "finished": str(study.run.get("finished", ""))[:10],
            "n_candidates": config.get("n_candidates"),
            "seed": study.run.get("seed"),
        },
    }
    theories = {
        name: path_to_payload(path, study.examples(name), study.shown_fold)
        for name, path in paths.items()
        if path is not None
    }
    return payload, theories


def order_measures(present: Iterable[str]) -> list[str]:
    """The measures of a study: the most common ones first, the sizes last.

    Examples
    --------
    >>> order_measures(["n_rules", "hamming", "f1_macro", "f1_micro"])
    ['f1_micro', 'hamming', 'f1_macro', 'n_rules']
    """
    found = list(dict.fromkeys(present))
    others = [name for name in found if name not in (*FIRST_MEASURES, *SIZE_MEASURES)]
    return [name for name in (*FIRST_MEASURES, *others, *SIZE_MEASURES) if name in found]


def _describe_family(study: StudyResults, family: str) -> dict[str, Any]:
    parameters = study.cells("n_rules", family).parameters.tolist()
    return {
        "id": family,
        "symbol": SYMBOLS.get(family, "parameter"),
        # As text, because JSON has no infinity.
        "parameters": [format_parameter(value) for value in parameters],
        "values": [None if math.isinf(value) else value for value in parameters],
    }


def _describe_dataset(study: StudyResults, name: str, measures: list[str]) -> dict[str, Any]:
    about = study.run.get("data", {}).get(name, {})
    methods = [method for method in study.method_means if method.dataset == name]
    rows = study.results
    return {
        "name": name,
        "n_folds": int(rows.loc[rows["dataset"] == name, "fold"].nunique()),
        "about": {
            key: about[key] for key in ("n_examples", "n_features", "n_labels") if key in about
        },
        "differences": study.describe_differences([name]),
        "mean": _list_cells(study, name, measures, "values", 4),
        "sd": _list_cells(study, name, measures, "sd", 3),
        "tuned": [
            {
                "for": method.tuned_for,
                "family": method.method,
                "folds": [
                    [int(fold), format_parameter(parameter), float(phi)]
                    for fold, parameter, phi in method.choices
                ],
                "values": _round_means(method),
            }
            for method in methods
            if method.tuned_for
        ],
        "baselines": [
            {"name": method.method, "values": _round_means(method)}
            for method in methods
            if not method.tuned_for
        ],
    }


def _list_cells(
    study: StudyResults, dataset: str, measures: list[str], statistic: str, digits: int
) -> dict[str, dict[str, list[float | None]]]:
    """Family → measure → one number per cell; all φ of the first parameter come first."""

    def list_values(measure: str, family: str) -> list[float | None]:
        values = getattr(study.cells(measure, family).of(dataset), statistic)[0]
        # Few digits keep the page small; a tenth of a percent is shown.
        n_digits = digits if is_share(measure) else 2
        return [_round(value, n_digits) for value in values.T.ravel().tolist()]

    return {
        family: {measure: list_values(measure, family) for measure in measures}
        for family in study.config.heuristics
    }


def _round(value: float, digits: int) -> float | None:
    return round(value, digits) if math.isfinite(value) else None


def _round_means(method: MethodMeans) -> dict[str, float | None]:
    return {measure: _round(value, 4) for measure, value in method.means.items()}
