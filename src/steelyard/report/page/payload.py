"""Study results → plain data that the page always shows. Knows no files and no HTML."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
from typing import Any

from steelyard.report.titles import format_parameter, is_share, symbol_of, title_of
from steelyard.study import StudyResults
from steelyard.study.config import SIZE_MEASURES

from .theories import path_to_payload

# The scripts use these measures by name, so they come first.
FIRST_MEASURES = ("f1_micro", "hamming", "subset", "precision_micro", "recall_micro")


def study_to_payload(study: StudyResults) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The data that the page always needs, and the theories of each data set that has them."""
    measures, families = order_measures(study.results["measure"]), study.config.family_names
    run = study.run
    payload = {
        "measures": [_describe_measure(name) for name in measures],
        "families": [_describe_family(study, name) for name in families],
        "phis": study.cells(measures[0], families[0]).phis.tolist(),
        "datasets": [_describe_dataset(study, name, measures) for name in study.datasets],
        "run": {
            "version": run.get("versions", {}).get("steelyard", ""),
            "finished": str(run.get("finished", ""))[:10],
            "n_candidates": run.get("config", {}).get("n_candidates"),
            "seed": run.get("seed"),
        },
    }
    theories = {
        name: path_to_payload(path, study.examples(name), study.shown_fold)
        for name, path in study.paths.items()
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


def _describe_measure(name: str) -> dict[str, Any]:
    share = is_share(name)
    return {"id": name, "title": title_of(name), "share": share, "better": 1 if share else -1}


def _describe_family(study: StudyResults, family: str) -> dict[str, Any]:
    parameters = study.cells("n_rules", family).parameters.tolist()
    symbol = symbol_of(family)
    return {
        "id": family,
        "symbol": symbol,
        # As text, because JSON has no infinity.
        "parameters": [format_parameter(value) if symbol else "–" for value in parameters],
        "values": [None if math.isinf(value) else value for value in parameters],
    }


def _describe_dataset(study: StudyResults, name: str, measures: list[str]) -> dict[str, Any]:
    about = study.run.get("data", {}).get(name, {})
    sizes = ("n_examples", "n_features", "n_labels")
    means, rows = study.method_means, study.results
    methods = means[means["dataset"] == name].to_dict("records")
    tuned = [method for method in methods if method["tuned_for"]]
    baselines = [method for method in methods if not method["tuned_for"]]
    return {
        "name": name,
        "n_folds": int(rows.loc[rows["dataset"] == name, "fold"].nunique()),
        "about": {size: about[size] for size in sizes if size in about},
        "differences": study.describe_differences([name]),
        "mean": _list_cells(study, name, measures, "values", 4),
        "sd": _list_cells(study, name, measures, "sd", 3),
        "tuned": [_describe_tuned(study, method) for method in tuned],
        "baselines": [{"name": m["method"], "values": _round_means(m)} for m in baselines],
        "has_theories": name in study.paths,
    }


def _describe_tuned(study: StudyResults, means: dict[Hashable, Any]) -> dict[str, Any]:
    keys = ["dataset", "heuristic", "tuned_for"]
    key = [means["dataset"], means["method"], means["tuned_for"]]
    chosen = study.tuned[(study.tuned[keys] == key).all(axis=1)].drop_duplicates("fold")
    cells = chosen[["fold", "parameter", "phi"]].itertuples(index=False)
    folds = [[int(k), format_parameter(p), float(phi)] for k, p, phi in cells]
    return {"for": key[2], "family": key[1], "folds": folds, "values": _round_means(means)}


def _list_cells(
    study: StudyResults, dataset: str, measures: list[str], statistic: str, digits: int
) -> dict[str, dict[str, list[float | None]]]:
    """Family → measure → one number per cell; all φ of the first parameter come first."""
    found: dict[str, dict[str, list[float | None]]] = {}
    for family, measure in itertools.product(study.config.family_names, measures):
        values = getattr(study.cells(measure, family).of(dataset), statistic)[0]
        # Few digits keep the page small; a tenth of a percent is shown.
        n_digits = digits if is_share(measure) else 2
        numbers = [_round(value, n_digits) for value in values.T.ravel().tolist()]
        found.setdefault(family, {})[measure] = numbers
    return found


def _round(value: float, digits: int) -> float | None:
    return round(value, digits) if math.isfinite(value) else None


def _round_means(means: dict[Hashable, Any]) -> dict[Hashable, float | None]:
    return {name: _round(x, 4) for name, x in means.items() if isinstance(x, float)}
