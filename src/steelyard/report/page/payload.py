"""Study results, or one theory with examples → plain data of the page. Knows no files and no HTML."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from steelyard.measures import MEASURES, SCORE_MEASURES
from steelyard.model.theory import Theory
from steelyard.report.titles import format_parameter, is_share, symbol_of, title_of
from steelyard.study import StudyResults
from steelyard.study.config import SIZE_MEASURES
from steelyard.study.to_use import TheoryToUse, read_theories_to_use

from .tables import saved_examples_to_payload, table_to_payload
from .theories import (
    features_to_plain,
    merge_features,
    path_to_payload,
    theory_to_exports,
    theory_to_payload,
)

# The scripts use these measures by name, so they come first.
FIRST_MEASURES = ("f1_micro", "hamming", "subset", "precision_micro", "recall_micro")

#: Parts of a data set in their order of importance: the page omits the last ones if it gets too large.
PARTS = ("theories", "cells", "exports")

#: Data set → part → plain data.
Blocks = dict[str, dict[str, dict[str, Any]]]


# -- a study ---------------------------------------------------------------------------------------


class Learned(NamedTuple):
    """What was learned on all examples: the theory to use and, if they are known, these examples.

    X and Y may also be examples that it has not seen.
    """

    to_use: TheoryToUse
    X: Any = None
    Y: Any = None
    is_unseen: bool = False


def study_to_payload(
    study: StudyResults, learned: Learned | None = None
) -> tuple[dict[str, Any], Blocks]:
    """The data that the page always needs, and the parts of each data set that has theories.

    With `learned`, all theories of the grid were learned on all examples, not without a fold.
    """
    measures, families = order_measures(study.results["measure"]), study.config.family_names
    run = study.run
    payload: dict[str, Any] = {
        "kind": "study",
        "measures": [_describe_measure(name) for name in measures],
        "all_measures": _list_measures(),
        "families": [_describe_family(study, name) for name in families],
        "phis": study.cells(measures[0], families[0]).phis.tolist(),
        "ranks": _list_ranks(study, measures),
        "datasets": [_describe_dataset(study, name, measures) for name in study.datasets],
        "findings": [finding._asdict() for finding in study.findings] if learned is None else [],
        "run": {
            "version": run.get("versions", {}).get("steelyard", ""),
            "finished": str(run.get("finished", ""))[:10],
            "n_candidates": run.get("config", {}).get("n_candidates"),
            "seed": run.get("seed"),
        },
    }
    blocks = {name: _list_parts(study, name, learned) for name in study.paths}
    for dataset in payload["datasets"]:
        used = blocks.get(dataset["name"], {}).get("theories", {"use": []})["use"]
        dataset["use"] = [_summarize_used(one) for one in used]
    return payload, blocks


def _list_parts(
    study: StudyResults, name: str, learned: Learned | None
) -> dict[str, dict[str, Any]]:
    """The parts of a data set."""
    path, saved = study.paths[name], None
    n_training = path.labels[0].n_examples
    examples: dict[str, Any] | None = None
    ranges: dict[str, list[float]] = {}
    if learned is None:
        saved = study.examples(name)
        to_use = read_theories_to_use(study.folder, name)
    else:
        to_use = [learned.to_use]
        if learned.X is not None:
            theory = learned.to_use.theory
            examples, ranges = table_to_payload(
                theory, learned.X, learned.Y, is_unseen=learned.is_unseen
            )
    features = merge_features([*(found.theory.features for found in to_use), path.coded.features])
    if saved is not None:
        labels = [label.name for label in path.labels]
        ranges = saved["ranges"]
        examples = saved_examples_to_payload(saved, features, labels, n_training)
    about = study.run.get("data", {}).get(name, {})
    core = {
        "fold": study.shown_fold if learned is None else None,
        "n_examples": about.get("n_examples", n_training),
        "features": features_to_plain(features, ranges),
        "labels": [label.name for label in path.labels],
        "use": [describe_to_use(found) | theory_to_payload(found.theory) for found in to_use],
        "examples": examples,
    }
    cells = path_to_payload(path, features, saved and saved["counts"])
    exports = {found.choice.name: theory_to_exports(found.theory) for found in to_use}
    return {"theories": core, "cells": cells, "exports": exports}


def _summarize_used(used: dict[str, Any]) -> dict[str, Any]:
    """What the page has to know of a theory before it unpacks the theory."""
    return {key: used[key] for key in ("id", "method", "tuned_for", "parameter", "phi")}


def describe_to_use(found: TheoryToUse) -> dict[str, Any]:
    """What a theory to use is."""
    choice = found.choice
    return {
        "id": choice.name,
        "method": choice.method,
        "tuned_for": choice.tuned_for,
        "parameter": None
        if choice.parameter is None
        else _write_parameter(choice.method, choice.parameter),
        "phi": choice.phi,
        "confusion": found.confusion,
    }


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
    is_size = name in SIZE_MEASURES
    is_loss = name in SCORE_MEASURES and SCORE_MEASURES[name].is_loss
    return {
        "id": name,
        "title": title_of(name),
        "share": is_share(name),
        "size": is_size,
        "better": -1 if is_size or is_loss else 1,
    }


def _list_measures() -> list[dict[str, Any]]:
    """Every measure that scripts/measures.js computes from predictions."""
    return [_describe_measure(name) for name in order_measures(MEASURES)]


def _describe_family(study: StudyResults, family: str) -> dict[str, Any]:
    parameters = study.cells("n_rules", family).parameters.tolist()
    return {
        "id": family,
        "symbol": symbol_of(family, study.config.families),
        "parameters": [_write_parameter(family, value) for value in parameters],
        "values": [None if math.isinf(value) else value for value in parameters],
    }


def _write_parameter(family: str, value: float) -> str:
    """As text, because JSON has no infinity; a dash if the family has no parameter."""
    return format_parameter(value) if symbol_of(family) else "–"


def _list_ranks(
    study: StudyResults, measures: list[str]
) -> dict[str, dict[str, list[float | None]]]:
    """Average ranks over the data sets, in the order of `_list_cells`; none of a single data set."""
    if len(study.datasets) < 2:
        return {}
    found: dict[str, dict[str, list[float | None]]] = {}
    for family, measure in itertools.product(study.config.family_names, measures):
        ranks = study.cells(measure, family).mean_rank.T.ravel().tolist()
        found.setdefault(family, {})[measure] = [_round(rank, 2) for rank in ranks]
    return found


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
    rows = study.tuned[(study.tuned[keys] == key).all(axis=1)]
    cells = rows.drop_duplicates("fold")[["fold", "parameter", "phi"]].itertuples(index=False)
    folds = [[int(k), _write_parameter(key[1], p), float(phi)] for k, p, phi in cells]
    deviations = rows.groupby("measure")["value"].std().to_dict()
    sd = {name: _round(value, 3) for name, value in deviations.items()}
    values = _round_means(means)
    return {"for": key[2], "family": key[1], "folds": folds, "values": values, "sd": sd}


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


# -- one theory ------------------------------------------------------------------------------------


def theory_to_page_payload(
    theory: Theory,
    X: Any,
    Y: Any,
    *,
    name: str,
    is_unseen: bool,
    run: dict[str, Any],
) -> tuple[dict[str, Any], Blocks]:
    """The page of a single theory with examples; it has no map."""
    examples, ranges = table_to_payload(theory, X, Y, is_unseen=is_unseen)
    used = describe_single(theory) | theory_to_payload(theory)
    core = {
        "fold": None,
        "n_examples": len(Y),
        "features": features_to_plain(theory.features, ranges),
        "labels": list(theory.label_names),
        "use": [used],
        "examples": examples,
    }
    about = {
        "n_examples": len(Y),
        "n_features": len(theory.features),
        "n_labels": len(theory.labels),
    }
    dataset = {
        "name": name,
        "n_folds": 0,
        "about": about,
        "differences": None,
        "mean": {},
        "sd": {},
        "tuned": [],
        "baselines": [],
        "has_theories": True,
        "use": [_summarize_used(used)],
    }
    payload = {
        "kind": "theory",
        "measures": _list_measures(),
        "all_measures": _list_measures(),
        "families": [],
        "phis": [],
        "ranks": {},
        "datasets": [dataset],
        "findings": [],
        "run": run,
    }
    exports = {used["id"]: theory_to_exports(theory)}
    return payload, {name: {"theories": core, "exports": exports}}


def describe_single(theory: Theory) -> dict[str, Any]:
    """What the page says of a theory that is not from a study."""
    return {
        "id": "theory",
        "method": theory.heuristic or theory.combiner.name,
        "tuned_for": "",
        "parameter": None,
        "phi": None,
        "confusion": None,
    }
