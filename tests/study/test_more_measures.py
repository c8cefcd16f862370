"""Measures of scores, rows per label and settings of the candidates in a study."""

import dataclasses
import json

import numpy as np
import pytest

from steelyard import RuleSetClassifier
from steelyard.heuristics import MEstimate
from steelyard.measures import MEASURES, SCORE_MEASURES, describe_lack, find_scores
from steelyard.report.tables import list_tables
from steelyard.study import StudyConfig, StudyError, load_study, run_study
from steelyard.study.data import load_study_data

SMALL = StudyConfig(
    data=("planted",), parameters=(0.0, 16.0), phis=(1.0, 0.5), folds=2, n_candidates=200, seed=1
)
CONFIG = dataclasses.replace(
    SMALL,
    baselines=("ripper",),
    methods=(
        "sklearn.tree:DecisionTreeClassifier(max_depth=4)",
        "sklearn.svm:LinearSVC",
    ),
    more_measures=("ranking", "calibration"),
    per_label=True,
    n_trees=5,
    max_depths=(None, 3),
    max_features=0.5,
    sample_fraction=0.7,
    prune="oob",
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return run_study(CONFIG, tmp_path_factory.mktemp("scores") / "out", n_jobs=1)


def test_a_cell_is_the_classifier_with_these_forests_and_its_scores(study):
    (data,) = load_study_data(CONFIG)
    _, is_test = data.locate(2)
    forest = {"n_trees": 5, "max_depths": (None, 3), "max_features": 0.5, "sample_fraction": 0.7}
    clf = RuleSetClassifier(
        MEstimate(16), 0.5, preset="paper", n_candidates=200, prune="oob", random_state=1, **forest
    )
    probability = clf.fit(data.X[~is_test], data.Y[~is_test]).predict_proba(data.X[is_test])
    cell = study.results.query("fold == 2 and parameter == 16 and phi == 0.5")
    found = cell.set_index("measure")["value"]
    assert found["n_rules"] == len(clf.theory_)
    for name, measure in SCORE_MEASURES.items():
        assert found[name] == measure(data.Y[is_test], probability), name


def test_a_method_has_the_measures_that_its_scores_allow(study):
    rows = study.baselines
    measures = rows.groupby("baseline")["measure"].agg(set)
    ranking = {name for name, m in SCORE_MEASURES.items() if not m.needs_probability}
    assert set(SCORE_MEASURES) <= measures["DecisionTreeClassifier(max_depth=4)"]
    assert set(SCORE_MEASURES) <= measures["R1"]
    assert measures["LinearSVC"] & set(SCORE_MEASURES) == ranking
    about = study.run["data"]["planted"]["methods"]
    assert about["LinearSVC"]["lacks"].startswith("no probabilities: it has decision_function")
    assert "lacks" not in about["DecisionTreeClassifier(max_depth=4)"]


def test_probabilities_per_label_become_one_column_each():
    class TwoForms:
        classes_ = (np.array([0, 1]), np.array([0]), np.array([1]))

        def predict_proba(self, X):
            return [np.array([[0.2, 0.8]] * 3), np.ones((3, 1)), np.ones((3, 1))]

    scores = find_scores(TwoForms(), np.zeros((3, 1)), 3)
    assert scores.are_probabilities
    assert scores.values.tolist() == [[0.8, 0, 1]] * 3
    nothing = find_scores(object(), np.zeros((3, 1)), 3)
    assert nothing.values is None
    assert describe_lack(["lrap"], nothing).startswith("no scores: it has neither predict_proba")
    assert describe_lack(["hamming"], nothing) == describe_lack(["brier"], scores) == ""


class Scores:
    """Gives some scores; those that are an error are raised."""

    def __init__(self, probability, decision, classes=None):
        self.probability, self.decision, self.classes_ = probability, decision, classes

    def predict_proba(self, X):
        if isinstance(self.probability, Exception):
            raise self.probability
        return np.array(self.probability)

    def decision_function(self, X):
        if isinstance(self.decision, Exception):
            raise self.decision
        return np.array(self.decision)


def test_a_function_that_fails_leaves_the_other_one():
    X, error = np.zeros((2, 1)), AttributeError("not\nfitted so")
    scores = find_scores(Scores(error, [[1, 2, 3]] * 2), X, 3)
    assert scores.values.tolist() == [[1, 2, 3]] * 2
    assert describe_lack(["lrap"], scores) == ""
    reason = "its predict_proba failed with AttributeError: not fitted so"
    assert describe_lack(["brier"], scores) == f"no probabilities: {reason}"
    nothing = find_scores(Scores(error, ValueError("no")), X, 3)
    reason += "; its decision_function failed with ValueError: no"
    assert describe_lack(["lrap"], nothing) == f"no scores: {reason}"


def test_probabilities_lie_between_0_and_1():
    X = np.zeros((1, 1))
    scores = find_scores(Scores([[1 + 1e-12, -1e-12, 0.3]], None), X, 3)
    assert scores.are_probabilities
    assert scores.values.tolist() == [[1, 0, 0.3]]
    far = find_scores(Scores([[1.5, 0, 0.3]], None), X, 3)
    assert far.values.tolist() == [[1.5, 0, 0.3]]
    assert describe_lack(["lrap"], far) == ""
    assert describe_lack(["brier"], far).endswith("its predict_proba gives values outside [0, 1]")


@pytest.mark.parametrize(
    ("probability", "classes", "expected"),
    [
        ([[0.2, 0.8], [0.9, 0.1]], None, [[0.8], [0.1]]),
        ([[0.2, 0.8], [0.9, 0.1]], np.array([1, 0]), [[0.2], [0.9]]),
        ([[0.2, 0.8], [0.9, 0.1]], [np.array([0, 1])], [[0.8], [0.1]]),
        ([[1.0], [1.0]], np.array([0]), [[0], [0]]),
        ([[0.2], [0.9]], None, [[0.2], [0.9]]),
        ([[0.2], [0.9]], np.array(["flu"]), [[0.2], [0.9]]),
    ],
)
def test_the_only_label_has_the_column_of_class_1(probability, classes, expected):
    scores = find_scores(Scores(probability, None, classes), np.zeros((2, 1)), 1)
    assert scores.are_probabilities
    assert scores.values.tolist() == expected


def test_rows_per_label_add_up_to_the_measures(study):
    rows = study.per_label
    keys = {"dataset": "planted", "fold": 1, "method": "m-estimate", "parameter": 0.0, "phi": 1.0}
    cell = rows[(rows[list(keys)] == list(keys.values())).all(axis=1)]
    assert len(cell) == 4
    found = study.results.query("fold == 1 and parameter == 0 and phi == 1").set_index("measure")
    totals = cell[["tp", "fp", "fn", "tn"]].sum()
    assert MEASURES["f1_micro"].from_counts(*totals) == found["value"]["f1_micro"]
    assert cell["f1"].mean() == pytest.approx(found["value"]["f1_macro"])
    ripper = rows[(rows["method"] == "R3") & (rows["fold"] == 2)]
    value = study.baselines.query("baseline == 'R3' and fold == 2 and measure == 'f1_macro'")
    assert ripper["f1"].mean() == pytest.approx(value["value"].item())
    assert ripper["phi"].isna().all()
    assert set(rows["method"]) == {"m-estimate", *study.baselines["baseline"]}


def test_the_results_are_read_again_and_shown(study):
    again = load_study(study.folder, trust=True)
    assert again.config == study.config
    assert again.results.equals(study.results.reset_index(drop=True))
    (table,) = list_tables(again, [])["scores"]
    assert [row[1] for row in table.rows][:4] == [
        "R1",
        "R2",
        "R3",
        list(again.method_means["method"])[3],
    ]
    svm = next(row for row in table.rows if row[1] == "LinearSVC")
    assert svm[-2:] == ["–", "–"]


def test_a_damaged_file_of_labels_is_rejected_with_the_line(study, tmp_path):
    (tmp_path / "per_label.csv").write_text(
        (study.folder / "per_label.csv")
        .read_text()
        .replace(",1.0,for juice,", ",one,for juice,", 1)
    )
    with pytest.raises(StudyError, match="line 2: phi must be a number, got 'one'"):
        _ = dataclasses.replace(study, folder=tmp_path).per_label


def test_measures_are_added_to_a_folder_of_before_and_not_taken_away(tmp_path):
    small = dataclasses.replace(SMALL, only_folds=(1,))
    more = dataclasses.replace(small, more_measures=("auc_macro",), per_label=True)
    run_study(small, tmp_path / "grown", n_jobs=1)
    identity = json.loads((tmp_path / "grown/units/identity.json").read_text())
    assert not {"forest", "measures", "per label"} & {*identity, *identity["covers"]}
    run_study(more, tmp_path / "grown", n_jobs=1)
    run_study(more, tmp_path / "new", n_jobs=1)
    for name in ("results.csv", "per_label.csv", "study.toml", "units/identity.json"):
        grown, new = ((tmp_path / folder / name).read_bytes() for folder in ("grown", "new"))
        assert grown == new, name
    with pytest.raises(StudyError, match="measures without auc_macro, which it has"):
        run_study(small, tmp_path / "grown", n_jobs=1)
    with pytest.raises(StudyError, match=r"forest was None, now {'n_trees': 3}"):
        run_study(dataclasses.replace(more, n_trees=3), tmp_path / "grown", n_jobs=1)
