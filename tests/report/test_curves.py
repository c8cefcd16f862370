"""Quality against size and learning curves, measured on examples that had no part in a choice."""

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier

from steelyard import RuleSetClassifier, make_planted_rules
from steelyard.report import LearningCurveDisplay, SizeCurveDisplay, get_style, learning_curve_rows
from steelyard.report.figures import list_figures
from steelyard.study import StudyError

DATA = make_planted_rules(90, random_state=0)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def noise(n_folds=4):
    """Rows of 200 cells whose values are noise around 0.5, with sizes from 1 to 200."""
    random = np.random.default_rng(0)
    cells = pd.DataFrame({"parameter": np.arange(200.0), "phi": 1.0})
    parts = []
    for fold in range(1, n_folds + 1):
        about = {"dataset": "a", "fold": fold, "heuristic": "m-estimate"}
        values = {"hamming": random.normal(0.5, 0.1, 200), "n_rules": np.arange(1.0, 201.0)}
        parts += [cells.assign(**about, measure=name, value=v) for name, v in values.items()]
    return pd.concat(parts, ignore_index=True)


def test_the_size_of_a_theory_can_be_its_conditions():
    budget = {"parameter": "max_total_conditions", "values": [3, 9], "cv": 2}
    estimator = RuleSetClassifier(n_candidates=200, random_state=0)
    display = SizeCurveDisplay.from_estimator(
        estimator, DATA.X, DATA.Y, size="conditions", **budget
    )
    (curve,) = display.curves
    assert (curve.x <= [3, 9]).all()
    assert display.plot().ax_.get_xlabel() == "number of conditions of all rules"
    with pytest.raises(ValueError, match="size must be one of 'rules', 'conditions', got 'words'"):
        SizeCurveDisplay([], measure="hamming", size="words")
    with pytest.raises(ValueError, match="values must have at least one value of max_total_cond"):
        SizeCurveDisplay.from_estimator(estimator, DATA.X, DATA.Y, **budget | {"values": []})


def test_cells_are_not_chosen_on_the_fold_that_they_are_shown_on():
    (curve,) = SizeCurveDisplay.from_results(noise(), measure="hamming").curves
    # The best of 200 cells of noise seems to reach 0.6 and more in the mean of four folds.
    best = noise().query("measure == 'hamming'").groupby("parameter")["value"].mean().max()
    assert best > 0.6
    assert abs(curve.mean[-5:].mean() - 0.5) < 0.07


def test_cells_are_not_chosen_on_other_repetitions_of_the_same_examples():
    first = noise()
    # The worst case: the second repetition has the folds of the first one.
    again = pd.concat([first, first.assign(fold=first["fold"] + 4)], ignore_index=True)
    (once,) = SizeCurveDisplay.from_results(first, measure="hamming").curves
    display = SizeCurveDisplay.from_results(again, measure="hamming", folds_per_repeat=4)
    (curve,) = display.curves
    np.testing.assert_allclose(curve.x, once.x)
    np.testing.assert_allclose(curve.mean, once.mean)
    alone = again[again["fold"] <= 5]
    with pytest.raises(StudyError, match="two folds of each repetition"):
        SizeCurveDisplay.from_results(alone, measure="hamming", folds_per_repeat=4)


def test_the_figure_of_a_study_knows_its_repetitions(two_studies, monkeypatch):
    assert two_studies.folds_per_repeat("other") == 2
    config = dataclasses.replace(two_studies.config, repeats=2)
    about = {"other": two_studies.run["data"]["other"] | {"n_folds": 4}}
    rows = two_studies.results.query("dataset == 'other'")
    again = pd.concat([rows, rows.assign(fold=rows["fold"] + 2)], ignore_index=True)
    study = dataclasses.replace(two_studies, config=config, results=again, run={"data": about})
    found = []
    method = SizeCurveDisplay.from_results

    def spy(*args, **options):
        found.append(options)
        return method(*args, **options)

    monkeypatch.setattr(SizeCurveDisplay, "from_results", spy)
    style = get_style("springer")
    figure = list_figures(study, [], style)["size-other"]
    assert "chosen on the other folds of its repetition" in figure.caption
    figure.draw(style)
    assert {options["folds_per_repeat"] for options in found} == {2}


def test_more_rules_are_allowed_from_left_to_right(two_studies):
    display = SizeCurveDisplay.from_results(
        two_studies.results, measure="f1_micro", dataset="planted", methods=two_studies.method_means
    )
    (curve,) = display.curves
    assert (np.diff(curve.x) >= 0).all()
    assert display.names == ["m-estimate", "$R_1$", "$R_2$", "$R_3$", "tuned"]
    display.plot()
    assert display.ax_.get_xlabel() == "number of rules"
    assert display.ax_.get_ylabel() == "Micro F1 (%)"
    assert (
        not display.ax_.get_legend().get_window_extent().overlaps(display.ax_.get_window_extent())
    )
    with pytest.raises(ValueError, match="dataset must be one of planted, other"):
        SizeCurveDisplay.from_results(two_studies.results, measure="f1_micro")
    one = two_studies.results.query("dataset == 'other' and fold == 1")
    with pytest.raises(StudyError, match="requires two folds"):
        SizeCurveDisplay.from_results(one, measure="f1_micro")


def test_sizes_of_an_estimator_are_those_of_its_theories():
    clf = RuleSetClassifier(preset="paper", n_candidates=200, random_state=0)
    display = SizeCurveDisplay.from_estimator(
        clf, DATA.X, DATA.Y, parameter="phi", values=[0.2, 1.0], cv=2
    )
    (curve,) = display.curves
    assert curve.name == "RuleSetClassifier"
    assert curve.x[0] < curve.x[1]
    with pytest.raises(ValueError, match="tree has no theory_"):
        SizeCurveDisplay.from_estimator(
            {"tree": DecisionTreeClassifier()},
            DATA.X.select_dtypes("number"),
            DATA.Y,
            parameter="max_depth",
            values=[1],
            cv=2,
        )


class Spy(BaseEstimator):
    """Remembers the rows that it was fitted on, and fails if it has to predict one of them."""

    fits: list = []

    def fit(self, X, Y):
        self.seen_, self.n_labels_ = frozenset(X.index), Y.shape[1]
        Spy.fits.append(self.seen_)
        return self

    def predict(self, X):
        assert not self.seen_ & set(X.index)
        return np.zeros((len(X), self.n_labels_), dtype=int)


def test_learning_curves_use_unseen_examples_and_growing_parts():
    Spy.fits.clear()
    shares = (0.25, 0.5, 1.0)
    rows = learning_curve_rows(
        {"spy": Spy()}, DATA.X, DATA.Y, measure="hamming", train_sizes=shares, cv=3
    )
    assert len(rows) == 9
    for fold in range(3):
        small, middle, whole = Spy.fits[3 * fold : 3 * fold + 3]
        assert small < middle < whole
        assert len(small) == round(0.25 * len(whole))
    display = LearningCurveDisplay.from_results(rows, measure="hamming").plot(style="ieee")
    assert display.curves[0].x.tolist() == [15.0, 30.0, 60.0]
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["spy"]
    with pytest.raises(ValueError, match="no rows of 'subset'; measures: hamming"):
        LearningCurveDisplay.from_results(rows, measure="subset")
    with pytest.raises(ValueError, match="no column fold"):
        LearningCurveDisplay.from_results(rows.drop(columns="fold"), measure="hamming")
    with pytest.raises(ValueError, match="train_sizes must be above 0"):
        learning_curve_rows(Spy(), DATA.X, DATA.Y, train_sizes=(0.0, 1.0))


def test_lists_and_numbers_of_numpy_are_welcome():
    X, Y = DATA.X.select_dtypes("number").to_numpy(), DATA.Y.to_numpy()
    how = {"measure": "hamming", "cv": np.int64(2)}
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    rows = learning_curve_rows(tree, X, Y, train_sizes=[0.5, 1.0], **how)
    shares = np.array([0.5, 1.0])
    lists = learning_curve_rows(tree, X.tolist(), Y.tolist(), train_sizes=shares, **how)
    pd.testing.assert_frame_equal(lists, rows)
    for wrong in (np.array([]), np.array([0.5, 2.0])):
        with pytest.raises(ValueError, match="train_sizes must be above 0"):
            learning_curve_rows(tree, X, Y, train_sizes=wrong, **how)
    clf = RuleSetClassifier(preset="paper", n_candidates=100, random_state=0)
    sizes = [
        SizeCurveDisplay.from_estimator(clf, *data, parameter="phi", values=[0.2, 1.0], **how)
        for data in [(X, Y), (X.tolist(), Y.tolist())]
    ]
    np.testing.assert_array_equal(sizes[0].curves[0].mean, sizes[1].curves[0].mean)


def test_the_size_of_theories_has_a_learning_curve_too():
    clf = RuleSetClassifier(preset="paper", n_candidates=200, random_state=0)
    display = LearningCurveDisplay.from_estimator(
        clf, DATA.X, DATA.Y, measure="n_rules", train_sizes=(0.2, 1.0), cv=2
    )
    assert display.curves[0].mean[0] <= display.curves[0].mean[-1]
    assert (display.curves[0].mean >= 1).all()
    assert display.plot().ax_.get_ylabel() == "Number of rules"
