"""Weights of examples and of classes in the estimators: 0 is absent, rare labels are found."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, recall_score

from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    MEstimate,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    TheoryPath,
    theory_path,
)
from steelyard.measures import MEASURES

pytestmark = pytest.mark.filterwarnings("ignore:no rule for", "ignore:the data yields only")

FOREST = {"n_candidates": 300, "n_trees": 5, "max_depths": (2, 4), "random_state": 0}
ESTIMATORS = {
    "paper": RuleSetClassifier(phi=1.0, preset="paper", **FOREST),
    "short": RuleSetClassifier(phi=1.0, preset="short", **FOREST),
    "boosted": BoostedRulesClassifier(max_rules=20, n_tries=3, random_state=0),
}
# Covering goes on until all positives are covered, so the paper's rules find some of them anyway.
GAIN = {"paper": 0.0, "short": 0.1, "boosted": 0.3}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture(scope="module")
def rare():
    """A frequent label, and a rare one that three quarters of the examples with a large x0 lack."""
    return make_rare(0)


def make_rare(seed, n_rows=400):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((n_rows, 4)).round(1), columns=[f"x{j}" for j in range(4)])
    is_rare = (X["x0"] > 0.75) & (rng.random(n_rows) < 0.25)
    return X, pd.DataFrame({"usual": X["x1"] > 0.55, "rare": is_rare}).astype(int)


@pytest.fixture(scope="module")
def weights():
    weights = np.random.default_rng(1).random(400)
    weights[::3] = 0
    return weights


def fit(name, *data, **parameters):
    import sklearn

    return sklearn.clone(ESTIMATORS[name]).set_params(**parameters).fit(*data)


@every_estimator
class TestWeightsOfExamples:
    def test_a_weight_of_0_is_an_example_that_is_absent(self, name, rare, weights):
        X, Y = rare
        kept = weights > 0
        found = fit(name, X, Y, weights)
        assert found.theory_ == fit(name, X[kept], Y[kept], weights[kept]).theory_
        assert found.theory_ != fit(name, X[kept], Y[kept]).theory_

    def test_the_order_of_the_rows_does_not_matter(self, name, rare, weights):
        X, Y = rare
        rows = np.random.default_rng(2).permutation(len(X))
        shuffled = fit(name, X.iloc[rows], Y.iloc[rows], weights[rows])
        assert shuffled.theory_ == fit(name, X, Y, weights).theory_

    def test_the_majority_by_weight_wins(self, name):
        X = pd.DataFrame({"x": [0.0, 1.0] * 50})
        y = np.array([0, 0] * 25 + [1, 1] * 25)  # no attribute tells them apart
        heavy = np.where(y == 1, 2.5, 0.5)
        assert (fit(name, X, y, heavy).predict(X) == 1).all()
        assert (fit(name, X, y, 3 - heavy).predict(X) == 0).all()

    def test_evidence_counts_examples(self, name, rare, weights):
        X, Y = rare
        theory = fit(name, X, Y, weights).theory_
        again = theory.recount(X[weights > 0], Y[weights > 0])
        assert [(s.tp, s.fp) for s in theory] == [(s.tp, s.fp) for s in again]


@every_estimator
@pytest.mark.parametrize(
    "class_weight", ["balanced", {"rare": {1: 12}}, [None, "balanced"]], ids=str
)
def test_a_label_that_weighs_more_is_found(name, rare, class_weight):
    plain, weighed = fit(name, *rare), fit(name, *rare, class_weight=class_weight)
    X, Y = make_rare(1, 4000)
    recalls = [recall_score(Y["rare"], clf.predict(X)[:, 1]) for clf in (plain, weighed)]
    assert recalls[1] > recalls[0] + GAIN[name]
    assert f1_score(Y["usual"], weighed.predict(X)[:, 0]) > 0.95


@every_estimator
def test_classes_of_one_y(name, rare):
    (X, Y), (X_test, Y_test) = rare, make_rare(1, 4000)
    y, y_test = (np.where(Z["rare"], "c", np.where(Z["usual"], "b", "a")) for Z in (Y, Y_test))
    plain, weighed = fit(name, X, y), fit(name, X, y, class_weight="balanced")
    recalls = [recall_score(y_test, c.predict(X_test), average=None)[2] for c in (plain, weighed)]
    assert recalls[1] > recalls[0] + GAIN[name]
    pair = (fit(name, X, Y["rare"], class_weight=weight) for weight in (None, {1: 10}))
    recalls = [recall_score(Y_test["rare"], clf.predict(X_test)) for clf in pair]
    assert recalls[1] > recalls[0] + GAIN[name]


@every_estimator
@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("equal", "class_weight must be None, 'balanced'"),
        ({"rarest": "balanced"}, "'rarest', which is not a label: there are 'usual', 'rare'"),
        ({1: -1}, "must be finite and at least 0, got -1 for 1"),
        (["balanced"], "1 entries for 2 labels"),
        ({"rare": {2: 1}}, "class_weight of 'rare' names the class 2"),
    ],
    ids=str,
)
def test_wrong_class_weights_are_rejected_in_one_sentence(name, rare, class_weight, message):
    with pytest.raises(ValueError, match=message):
        fit(name, *rare, class_weight=class_weight)


@every_estimator
@pytest.mark.parametrize(("n_classes", "heavy"), [(2, "a"), (2, "b"), (3, "a"), (3, "c")])
def test_a_class_that_weighs_next_to_nothing_is_never_predicted(name, n_classes, heavy):
    rng = np.random.default_rng(2)
    X, y = rng.random((90, 3)), np.repeat(["a", "b", "c"][:n_classes], 90 // n_classes)
    clf = fit(name, X, y, class_weight={c: 1e6 if c == heavy else 1e-3 for c in np.unique(y)})
    assert (clf.predict(X) == heavy).all()
    assert (clf.classes_ == np.unique(y)).all()
    likely = clf.classes_[clf.predict_proba(X).argmax(axis=1)]
    assert (likely == heavy).all()


@every_estimator
@pytest.mark.parametrize("heavy", [0, 1])
def test_nor_is_such_a_value_of_a_label(name, rare, heavy):
    X, Y = rare
    clf = fit(name, X, Y, class_weight={heavy: 1e6, 1 - heavy: 1e-3})
    assert (clf.predict(X) == heavy).all()


@pytest.mark.parametrize("name", ["paper", "short"])
def test_a_rule_covers_at_least_half_an_average_example(name, rare):
    X, Y = rare
    share = Y["rare"].mean()
    # A positive weighs w, so that k of them weigh half of the mean share * w + (1 - share).
    k = 4
    w = 0.5 * (1 - share) / (k - 0.5 * share)
    clf = fit(name, X, Y[["rare"]], class_weight={1: w})
    free = fit(name, X, Y[["rare"]])
    assert min(scored.tp for scored in free.theory_) < k
    assert all(scored.tp >= k for scored in clf.theory_)


def test_silence_counts_weights(rare):
    X, Y = rare
    clf = fit("paper", X, Y, phi=0.3, class_weight="balanced")
    for label in clf.theory_.labels:
        both = label.n_positives + label.n_negatives
        missed = label.uncovered_positives * both / (2 * label.n_positives)
        right = label.uncovered_negatives * both / (2 * label.n_negatives)
        assert label.silent_score == pytest.approx((missed + 1) / (missed + right + 2) - 1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["old"] * 400, r"must be numbers, one per example, got \['old', "),
        ([1.5] * 399 + [np.nan], "must be finite, got nan for row 399"),
        ([1.5, -2.5] * 200, "must be at least 0, got -2.5 for row 1"),
        ([0] * 400, "zero for every example"),
        ([1, 2], r"its shape is \(2,\), expected \(400,\)"),
    ],
    ids=str,
)
def test_wrong_weights_of_examples_are_rejected_wherever_they_are_given(rare, weights, message):
    X, Y = rare
    fitted = RipperClassifier(random_state=0).fit(X[:50], Y[:50])
    for use in (
        lambda: RipperClassifier().fit(X, Y, weights),
        lambda: fitted.score(X, Y, weights),
        lambda: MEASURES["hamming"](Y, Y, sample_weight=weights),
    ):
        with pytest.raises(ValueError, match=f"sample_weight .*{message}"):
            use()


def test_too_many_copies_are_rejected_before_they_are_made(rare):
    with pytest.raises(ValueError, match="sum of 4e[+]14, and integers are numbers of copies"):
        RipperClassifier().fit(*rare, [10**12] * 400)


@pytest.mark.parametrize("kind", [BoostedRulesClassifier, RuleSetClassifier])
@pytest.mark.parametrize("of_classes", [False, True])
def test_weights_too_small_to_count_with_are_rejected(rare, kind, of_classes):
    weights = None if of_classes else np.full(400, 1e-300)
    clf = kind(class_weight={0: 1e-300, 1: 1e-300} if of_classes else None)
    with pytest.raises(ValueError, match="sum of 4e-298, which is too small to count with"):
        clf.fit(*rare, weights)


def test_ripper_takes_integers_only(rare, weights):
    with pytest.raises(ValueError, match="sample_weight must be integers: a weight of k"):
        RipperClassifier().fit(*rare, weights)


class TestTuning:
    def test_folds_and_scores_are_weighted(self, rare, weights):
        X, Y = rare
        halves = [(np.arange(200), np.arange(200, 400)), (np.arange(200, 400), np.arange(200))]
        options = {"heuristics": [MEstimate(4)], "phis": [1.0, 0.5], "cv": halves, **FOREST}
        found = RuleSetClassifierCV("subset", preset="paper", **options).fit(X, Y, weights)
        for fold, (train, test) in enumerate(halves):
            for cell, phi in enumerate([1.0, 0.5]):
                clf = RuleSetClassifier(MEstimate(4), phi, preset="paper", **FOREST)
                clf.fit(X.iloc[train], Y.iloc[train], weights[train])
                score = clf.score(X.iloc[test], Y.iloc[test], weights[test])
                assert found.cv_results_[f"split{fold}_test_score"][cell] == pytest.approx(score)
        assert found.score(X, Y, weights) != found.score(X, Y)

    @pytest.mark.parametrize("scoring", ["f1_micro", "average_precision"])
    def test_boosted_rules_too(self, rare, weights, scoring):
        X, Y = rare
        clf = BoostedRulesClassifierCV(scoring, cv=2, max_rules=10, n_tries=2, random_state=0)
        clf.set_params(class_weight="balanced").fit(X, Y, weights)
        assert 0 < clf.best_score_ < 1

    def test_calibration_keeps_what_class_weights_gain(self, rare):
        X, Y = make_rare(1, 4000)
        options = {
            "cv": 2,
            "max_rules": 10,
            "n_tries": 2,
            "random_state": 0,
            "decode": "each-label",
        }
        fits = [
            BoostedRulesClassifierCV("hamming", class_weight=weight, **options).fit(*rare)
            for weight in (None, "balanced")
        ]
        recalls = [recall_score(Y["rare"], clf.predict(X)[:, 1]) for clf in fits]
        assert recalls[1] > recalls[0] + 0.1

    def test_a_path_keeps_its_weights_in_a_file(self, rare, weights, tmp_path):
        path = theory_path(*rare, sample_weight=weights, preset="short", **FOREST)
        path.to_json(tmp_path / "path.json")
        saved = TheoryPath.from_json(tmp_path / "path.json")
        decoder = ESTIMATORS["short"].fit(*rare).theory_.decoder
        assert saved.theory(3, 0.5, decoder=decoder) == path.theory(3, 0.5, decoder=decoder)
        assert saved.theory(3, 0.5) == path.theory(3, 0.5)

    def test_a_file_from_before_silence_counted_weights_still_loads(self, rare, weights, tmp_path):
        path = theory_path(*rare, sample_weight=weights, preset="paper", **FOREST)
        plain = json.loads(path.to_json())
        for name in ("per_positive", "per_negative"):
            del plain["weighed"][name]
        (tmp_path / "path.json").write_text(json.dumps(plain), encoding="utf-8")
        before = TheoryPath.from_json(tmp_path / "path.json").theory(3, 0.5)
        assert before.rules == path.theory(3, 0.5).rules
        for label in before.labels:
            missed, right = label.uncovered_positives, label.uncovered_negatives
            assert label.silent_score == pytest.approx((missed + 1) / (missed + right + 2) - 1)


@pytest.mark.parametrize("name", MEASURES)
def test_weighted_measures_are_those_of_copies(name):
    rng = np.random.default_rng(0)
    Y_true, Y_pred = rng.random((2, 30, 4)) < 0.4
    Y_true[:3] = Y_pred[:3] = False
    weights = rng.integers(0, 4, 30)
    rows = np.repeat(np.arange(30), weights)
    found = MEASURES[name](Y_true, Y_pred, sample_weight=weights / 2)
    assert found == pytest.approx(MEASURES[name](Y_true[rows], Y_pred[rows]))
