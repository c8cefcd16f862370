"""The map and the page of a tuned rule set show what the folds gave."""

from __future__ import annotations

import json
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from steelyard import WRA, MEstimate, RuleSetClassifier, RuleSetClassifierCV, make_planted_rules

matplotlib.use("Agg")

DATA = make_planted_rules(150, random_state=0)
GRID = {"heuristics": [MEstimate(1), MEstimate(16)], "phis": [1.0, 0.5, 0.1]}
FOREST = {"n_candidates": 300, "cv": 2, "random_state": 0}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module", params=["paper", "short"])
def tuned(request):
    options = GRID | FOREST | {"calibrate": False}
    clf = RuleSetClassifierCV("hamming", preset=request.param, **options)
    return clf.fit(DATA.X, DATA.Y)


def test_the_map_shows_the_mean_scores_of_the_chosen_source_and_decoder(tuned):
    display = tuned.plot_map()
    results, best = tuned.cv_results_, tuned.best_params_
    pairs = zip(results["source"], results["decode"], strict=True)
    is_chosen = [pair == (best["source"], best["decode"]) for pair in pairs]
    scores = results["mean_test_score"][is_chosen].reshape(2, 3)
    assert np.allclose(display.ax_.collections[0].get_array().reshape(3, 2), 100 * scores.T)
    assert display.ax_.get_xlabel() == "m"


def test_other_measures_can_be_shown(tuned):
    _, ax = plt.subplots()
    display = tuned.plot_map("n_rules", ax=ax)
    assert display.ax_ is ax
    assert display.ax_.get_title() == "Number of rules"
    with pytest.raises(ValueError, match="measure must be one of hamming, f1_micro"):
        tuned.plot_map("f2")


def test_the_page_has_the_map_of_the_folds_and_the_rules_of_all_examples(tuned, tmp_path):
    file = tuned.report(tmp_path / "page.html")
    assert file == tmp_path / "page.html"
    text = file.read_text(encoding="utf-8")
    blocks = dict(re.findall(r'<script type="application/json" id="([\w-]+)">(.*?)</script>', text))
    study, theories = json.loads(blocks["study"]), json.loads(blocks["theories-0"])
    (dataset,) = study["datasets"]
    assert dataset["n_folds"] == 2
    assert dataset["about"] == {"n_examples": 150, "n_features": 10, "n_labels": 4}
    (column,) = {len(values) for values in dataset["mean"]["m-estimate"].values()}
    assert column == 6
    assert len(json.loads(blocks["cells-0"])["rules"]) == len(tuned.path_.coded)
    # All rules are learned on all examples: no fold is left out.
    assert theories["fold"] is None
    (used,) = theories["use"]
    assert (used["tuned_for"], used["phi"]) == ("hamming", tuned.best_phi_)
    assert len(used["plain"]["rules"]) == len(tuned.theory_)
    assert theories["examples"] is None


def test_the_page_can_have_the_training_examples(tuned, tmp_path):
    file = tuned.report(tmp_path / "page.html", DATA.X, DATA.Y)
    text = file.read_text(encoding="utf-8")
    blocks = dict(re.findall(r'<script type="application/json" id="([\w-]+)">(.*?)</script>', text))
    examples = json.loads(blocks["theories-0"])["examples"]
    assert (examples["n_rows"], examples["n_held_out"]) == (150, 0)
    assert [len(row) for row in examples["truth"]] == DATA.Y.sum(axis=1).tolist()
    with pytest.raises(ValueError, match="X and Y together"):
        tuned.report(tmp_path / "page.html", DATA.X)


def test_the_theory_is_the_chosen_one_of_the_path(tuned):
    alone = RuleSetClassifier(
        **tuned.best_params_, preset=tuned.preset, n_candidates=300, random_state=0
    )
    assert alone.fit(DATA.X, DATA.Y).theory_ == tuned.theory_
    assert tuned.path_.shape == (2, 3)


def test_a_map_of_classes_shows_the_score():
    clf = RuleSetClassifierCV("accuracy", **GRID, **FOREST).fit(DATA.X, DATA.Y.iloc[:, 0])
    assert np.allclose(
        np.sort(clf.plot_map().ax_.collections[0].get_array().ravel()),
        np.sort(clf.cv_results_["mean_test_score"]),
    )
    with pytest.raises(ValueError, match="several labels"):
        clf.report("page.html")


def test_what_cannot_be_shown_is_rejected_in_one_sentence(tmp_path):
    clf = RuleSetClassifierCV("hamming", heuristics=[WRA()], phis=[1.0], **FOREST)
    clf.fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="a map needs heuristics with a parameter"):
        clf.plot_map()
    assert clf.report(tmp_path / "page.html").exists()  # a page can do without a parameter
