"""The map and the page of a tuned rule set: its folds as the rows of a study. Learns nothing."""

from __future__ import annotations

import math
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import gmtime, strftime
from typing import Any

import numpy as np
import pandas as pd

from steelyard._files import compress, write_atomically
from steelyard.estimators.rule_set_cv import VARIANTS, RuleSetClassifierCV
from steelyard.heuristics import HEURISTICS, Heuristic
from steelyard.model.decoders import EachLabel
from steelyard.study import StudyConfig, StudyResults
from steelyard.study.config import SIZE_MEASURES
from steelyard.study.rows import COLUMNS, empty_rows
from steelyard.study.store import StudyStore
from steelyard.study.to_use import Choice, TheoryToUse

from .heatmaps import ValueHeatmapDisplay
from .page.payload import Learned, study_to_payload
from .page.writing import build_page

_NAME = "tuning"


def plot_tuning_map(
    clf: RuleSetClassifierCV, measure: str | None = None, ax: Any = None
) -> ValueHeatmapDisplay:
    """See `RuleSetClassifierCV.plot_map`."""
    rows = list_fold_rows(clf, clf.best_params_["decode"])
    known = list(dict.fromkeys(rows["measure"]))
    measure = known[0] if measure is None else measure
    if measure not in known:
        raise ValueError(f"measure must be one of {', '.join(known)}, got {measure!r}")
    family = clf.best_heuristic_.family
    shown = rows[(rows["heuristic"] == family) & (rows["measure"] == measure)]
    if math.isnan(clf.best_heuristic_.parameter):
        raise ValueError(f"a map needs heuristics with a parameter, such as m; {family} has none")
    display = ValueHeatmapDisplay.from_results(
        shown, measure=measure, heuristic=family, symbol=clf.best_heuristic_.symbol or None
    )
    return display.plot(ax=ax)


def write_tuning_page(
    clf: RuleSetClassifierCV, path: Any, X: Any = None, Y: Any = None, *, is_unseen: bool = False
) -> Path:
    """See `RuleSetClassifierCV.report`."""
    if not clf.theory_.is_multilabel:
        raise ValueError("a page shows theories of several labels; this one has classes")
    families = list(dict.fromkeys(heuristic.family for heuristic in clf.path_.heuristics))
    for family in families:
        if family not in HEURISTICS:
            raise ValueError(f"a page shows heuristics of Steelyard, not {family}")
    rows = list_fold_rows(clf, EachLabel())
    if rows.empty:
        raise ValueError(
            "a page shows theories that predict each label by itself: add 'each-label' to decode"
        )
    if (X is None) != (Y is None):
        raise ValueError("give X and Y together")
    file = Path(path)
    best = clf.best_heuristic_
    tuned_for = next(iter(clf.fold_scores_[0]))
    choice = Choice("use", best.family, tuned_for, _parameter_in_rows(best), clf.best_phi_)
    learned = Learned(TheoryToUse(choice, clf.theory_, None), X, Y, is_unseen)
    with TemporaryDirectory() as folder:
        study = _make_study(clf, Path(folder), families, rows)
        store = StudyStore(study.folder)
        with store.claimed({}):
            store.write_theories(_NAME, study.shown_fold, compress(clf.path_.to_json()))
        page = build_page(*study_to_payload(study, learned))
    write_atomically(file, page.encode("utf-8"))
    return file


def list_fold_rows(clf: RuleSetClassifierCV, decoder: Any) -> pd.DataFrame:
    """Tidy rows of the chosen variant with a decoder: one per fold, cell and measure."""
    cells = pd.DataFrame(clf.list_scored_cells())
    chosen = {name: clf.best_params_[name] for name in VARIANTS} | {"decode": decoder}
    is_chosen = np.logical_and.reduce([[v == w for v in cells[k]] for k, w in chosen.items()])
    columns = np.flatnonzero(is_chosen)
    heuristics = [cells["heuristic"][i] for i in columns]
    grid = {
        "heuristic": [heuristic.family for heuristic in heuristics],
        "parameter": [_parameter_in_rows(heuristic) for heuristic in heuristics],
        "phi": cells["phi"].to_numpy()[columns],
    }
    frames = [empty_rows("results")]
    for fold, scores in enumerate(clf.fold_scores_, start=1):
        for measure, values in scores.items():
            about = {"dataset": _NAME, "fold": fold, **grid, "measure": measure}
            frames.append(pd.DataFrame(about | {"value": values[columns]}))
    frames = [frame for frame in frames if len(frame)] or frames
    return pd.concat(frames, ignore_index=True)


def _parameter_in_rows(heuristic: Heuristic) -> float:
    """The parameter; 0 if there is none, as in the rows of a study."""
    return heuristic.parameter if heuristic.symbol else 0.0


def _make_study(
    clf: RuleSetClassifierCV, folder: Path, families: list[str], rows: pd.DataFrame
) -> StudyResults:
    """The folds of the tuning as a study of one data set."""
    measure = next(iter(clf.fold_scores_[0]))
    tune = (measure,) if measure in clf.page_measures else ()
    parameters = dict.fromkeys(h.parameter for h in clf.path_.heuristics if h.symbol)
    config = StudyConfig(
        (_NAME,),
        heuristics=tuple(families),
        parameters=tuple(parameters) if len(families) == 1 else (),
        phis=clf.path_.phis,
        folds=len(clf.fold_scores_),
        tune=tune,
    )
    best = clf.best_heuristic_
    is_best = (rows["heuristic"] == best.family) & (rows["phi"] == clf.best_phi_)
    tuned = rows[is_best & (rows["parameter"] == _parameter_in_rows(best))].assign(
        tuned_for=measure
    )
    label = clf.path_.labels[0]
    about = {
        "n_examples": label.n_examples,
        "n_features": clf.n_features_in_,
        "n_labels": len(clf.path_.labels),
    }
    run = {
        "versions": {"steelyard": version("steelyard")},
        "finished": strftime("%Y-%m-%d", gmtime()),
        "config": {"n_candidates": clf.n_candidates},
        "seed": clf.random_state if isinstance(clf.random_state, int) else None,
        "data": {_NAME: about},
    }
    known = [*clf.page_measures, *SIZE_MEASURES]
    shown = rows[rows["measure"].isin(known)]
    tuned = (
        tuned[tuned["measure"].isin(known)][list(COLUMNS["tuned"])] if tune else empty_rows("tuned")
    )
    return StudyResults(folder, config, shown, tuned, empty_rows("baselines"), run)
