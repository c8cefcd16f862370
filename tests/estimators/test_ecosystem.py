"""What of scikit-learn works with the estimators: each tool once, on labels and on classes.

Bagging, voting, calibration and threshold tuning take one class per example from any estimator; for
several labels they go around ours, one label at a time, by `MultiOutputClassifier`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from steelyard import (
    BoostedRulesClassifier,
    EachLabel,
    MEstimate,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    RuleTransformer,
    make_planted_rules,
)

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")

FOREST = {"n_candidates": 200, "n_trees": 5, "max_depths": (2, 4), "random_state": 0}
DATA = make_planted_rules(120, random_state=0)
X = DATA.X.select_dtypes("number")
LABELS = DATA.Y
CLASSES = pd.Series(np.where(LABELS.iloc[:, 0], "juice", np.where(LABELS.iloc[:, 1], "jam", "-")))
PAIR = LABELS.iloc[:, 1]

ESTIMATORS = {
    "rule-set": RuleSetClassifier(**FOREST),
    "boosted": BoostedRulesClassifier(max_rules=20, n_tries=3, random_state=0),
    "ripper": RipperClassifier(random_state=0),
}
every_estimator = pytest.mark.parametrize("clf", ESTIMATORS.values(), ids=ESTIMATORS)
every_target = pytest.mark.parametrize(
    "y", [LABELS, CLASSES, PAIR], ids=["labels", "classes", "pair"]
)
one_dimension = pytest.mark.parametrize("y", [CLASSES, PAIR], ids=["classes", "pair"])


@every_estimator
class TestModelSelection:
    @every_target
    @pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
    def test_cross_val_predict_gives_what_the_method_gives(self, clf, y, method):
        found = cross_val_predict(clf, X, y, cv=3, method=method)
        expected = getattr(clf.fit(X, y), method)(X)
        assert np.shape(found) == np.shape(expected)
        assert isinstance(found, np.ndarray)

    def test_out_of_fold_probabilities_order_the_labels(self, clf):
        probability = cross_val_predict(clf, X, LABELS, cv=3, method="predict_proba")
        assert probability.shape == LABELS.shape
        assert ((probability >= 0) & (probability <= 1)).all()

    @every_target
    def test_cross_validate_takes_scorers_of_probabilities(self, clf, y):
        n_labels = y.shape[1] if y.ndim == 2 else y.nunique()
        name = "roc_auc" if y.ndim == 2 or n_labels == 2 else "roc_auc_ovr"
        result = cross_validate(clf, X, y, cv=3, scoring=[name, "accuracy"], error_score="raise")
        assert np.isfinite(result[f"test_{name}"]).all()

    def test_two_labels_are_not_taken_for_two_classes(self, clf):
        scores = cross_val_score(clf, X, LABELS.iloc[:, :2], cv=3, scoring="average_precision")
        assert np.isfinite(scores).all()

    @every_target
    def test_curves(self, clf, y):
        sizes, *_ = learning_curve(clf, X, y, cv=2, train_sizes=[0.5, 1.0])
        assert len(sizes) == 2
        score, *_ = permutation_test_score(clf, X, y, cv=2, n_permutations=1, random_state=0)
        assert 0 <= score <= 1


class TestSearch:
    @every_target
    def test_parameters_of_heuristics_can_be_searched(self, y):
        search = GridSearchCV(RuleSetClassifier(**FOREST), {"heuristic__m": [1, 16]}, cv=2)
        assert search.fit(X, y).best_params_["heuristic__m"] in (1, 16)
        assert search.best_estimator_.heuristic == MEstimate(search.best_params_["heuristic__m"])

    def test_parameters_of_decoders_can_be_searched_in_a_pipeline(self):
        clf = BoostedRulesClassifier(max_rules=20, decode=EachLabel(), random_state=0)
        grid = {"boostedrulesclassifier__decode__threshold": [0.5, 0.3]}
        search = RandomizedSearchCV(make_pipeline(clf), grid, n_iter=2, cv=2, random_state=0)
        assert search.fit(X, LABELS).best_score_ > 0

    def test_a_heuristic_by_its_name_has_parameters_too(self):
        clf = RuleSetClassifier("m-estimate").set_params(heuristic__m=3)
        assert clf.heuristic == MEstimate(m=3)
        assert clf.get_params()["heuristic__m"] == 3

    def test_setting_a_parameter_changes_no_other_estimator(self):
        RuleSetClassifier().set_params(heuristic__m=1)
        assert RuleSetClassifier().heuristic == MEstimate(m=16)

    @pytest.mark.parametrize(
        "name", ["heuristic__beta", "decode__threshold", "nothing__m", "nothing"]
    )
    def test_unknown_parameters_are_rejected(self, name):
        with pytest.raises(ValueError, match=r"has no parameter|Invalid parameter"):
            RuleSetClassifier().set_params(**{name: 1})

    def test_validation_curve(self):
        clf, grid = RuleSetClassifier(**FOREST), [1.0, 64.0]
        train, test = validation_curve(
            clf, X, LABELS, param_name="heuristic__m", param_range=grid, cv=2
        )
        assert train.shape == test.shape == (2, 2)

    def test_a_threshold_does_not_change_probabilities(self):
        clf = BoostedRulesClassifier(max_rules=20, random_state=0)
        half, low = (clf.set_params(decode=EachLabel(t)).fit(X, LABELS) for t in (0.5, 0.2))
        half = BoostedRulesClassifier(max_rules=20, random_state=0, decode=EachLabel()).fit(
            X, LABELS
        )
        probability = low.predict_proba(X)
        assert (half.predict_proba(X) == probability).all()
        assert (low.predict(X) == (probability > 0.2)).mean() > 0.99
        assert low.predict(X).sum() > half.predict(X).sum()


@every_estimator
class TestInspection:
    @every_target
    def test_permutation_importance(self, clf, y):
        result = permutation_importance(clf.fit(X, y), X, y, n_repeats=2, random_state=0)
        assert result.importances_mean.shape == (X.shape[1],)

    @one_dimension
    def test_partial_dependence(self, clf, y):
        # scikit-learn rejects several labels here, whatever the estimator.
        result = partial_dependence(clf.fit(X, y), X.astype(float), [0], grid_resolution=9)
        assert np.isfinite(result["average"]).all()

    @every_target
    def test_importances_are_shares_of_the_attributes_that_rules_test(self, clf, y):
        fitted = clf.fit(X, y)
        shares = fitted.feature_importances_
        assert shares.shape == (fitted.n_features_in_,)
        assert shares.sum() == pytest.approx(1.0)
        tested = {condition.feature for scored in fitted.theory_ for condition in scored.body}
        assert set(X.columns[shares > 0]) <= tested

    def test_attributes_can_be_selected_by_importance(self, clf):
        chosen = SelectFromModel(clf, max_features=2, threshold=-np.inf).fit(X, PAIR)
        assert chosen.transform(X).shape[1] == 2
        assert RFE(clf, n_features_to_select=3).fit(X, PAIR).support_.sum() == 3


def test_importances_of_a_tuned_estimator():
    clf = RuleSetClassifierCV(heuristics=[MEstimate(4)], phis=[1.0], cv=2, **FOREST)
    assert not hasattr(clf, "feature_importances_")
    assert clf.fit(X, LABELS).feature_importances_.sum() == pytest.approx(1.0)


def test_the_attribute_of_the_only_rule_has_all_importance():
    noise = np.random.default_rng(0).random((60, 2))
    table = np.column_stack([noise[:, 0], np.arange(60), noise[:, 1]])
    clf = RuleSetClassifier(max_conditions=1, max_rules=1, **FOREST)
    assert clf.fit(table, np.arange(60) < 20).feature_importances_.tolist() == [0, 1, 0]


@every_estimator
class TestEnsembles:
    @one_dimension
    def test_bagging_and_voting(self, clf, y):
        members = [("rules", clf), ("bayes", GaussianNB())]
        for kind in ("hard", "soft"):
            assert VotingClassifier(members, voting=kind).fit(X, y).score(X, y) > 0.5
        bag = BaggingClassifier(clf, n_estimators=2, random_state=0).fit(X, y)
        assert bag.predict_proba(X).shape == (len(X), len(bag.classes_))

    @one_dimension
    def test_stacking(self, clf, y):
        stack = StackingClassifier([("rules", clf)], LogisticRegression(), cv=2)
        assert stack.fit(X, y).score(X, y) > 0.5

    def test_stacking_of_labels(self, clf):
        last = MultiOutputClassifier(LogisticRegression())
        # It takes the columns of an array, not those of a DataFrame.
        stack = StackingClassifier([("rules", clf)], last, cv=2).fit(X, LABELS.to_numpy())
        assert stack.predict(X).shape == LABELS.shape
        assert stack.transform(X).shape == LABELS.shape

    @one_dimension
    def test_calibration(self, clf, y):
        for method in ("sigmoid", "isotonic"):
            calibrated = CalibratedClassifierCV(clf, method=method, cv=2).fit(X, y)
            assert calibrated.predict_proba(X).sum(axis=1) == pytest.approx(1.0)

    def test_thresholds_of_two_classes(self, clf):
        assert FixedThresholdClassifier(clf, threshold=0.3).fit(X, PAIR).predict(X).sum() > 0
        tuned = TunedThresholdClassifierCV(clf, scoring="f1", cv=2, thresholds=9).fit(X, PAIR)
        assert 0 <= tuned.best_threshold_ <= 1

    def test_one_label_at_a_time(self, clf):
        assert MultiOutputClassifier(clf).fit(X, LABELS).predict(X).shape == LABELS.shape
        chain = ClassifierChain(clf, cv=2).fit(X, LABELS.to_numpy())
        assert chain.predict_proba(X).shape == LABELS.shape
        assert OneVsRestClassifier(clf).fit(X, CLASSES).predict_proba(X).shape == (len(X), 3)

    def test_calibration_and_bagging_of_labels_one_at_a_time(self, clf):
        for wrapper in (
            CalibratedClassifierCV(clf, cv=2),
            BaggingClassifier(clf, n_estimators=2, random_state=0),
        ):
            fitted = MultiOutputClassifier(wrapper).fit(X, LABELS)
            assert len(fitted.predict_proba(X)) == LABELS.shape[1]


def test_boosting_of_rule_sets_by_weights():
    # Its weights sum to 1, which is little beside m; precision does not see the scale.
    weak = RuleSetClassifier("precision", **FOREST)
    fitted = AdaBoostClassifier(weak, n_estimators=2, random_state=0).fit(X, PAIR)
    assert fitted.score(X, PAIR) > 0.9


@every_estimator
def test_routed_weights_are_those_of_the_fit(clf):
    weight = 1 + np.arange(len(X)) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        routed = sklearn.clone(clf).set_fit_request(sample_weight=True)
        routed.set_score_request(sample_weight=True)
        folds = KFold(2)
        found = cross_validate(
            *(routed, X, LABELS),
            cv=folds,
            params={"sample_weight": weight},
            return_estimator=True,
        )["estimator"]
    for fitted, (rows, _) in zip(found, folds.split(X), strict=True):
        by_hand = sklearn.clone(clf).fit(X.iloc[rows], LABELS.iloc[rows], weight[rows])
        assert fitted.theory_ == by_hand.theory_
        unweighted = sklearn.clone(clf).fit(X.iloc[rows], LABELS.iloc[rows])
        assert fitted.theory_ != unweighted.theory_


@pytest.mark.parametrize(
    "clf",
    [
        *ESTIMATORS.values(),
        RuleSetClassifierCV(heuristics=[MEstimate(4)], phis=[1.0], cv=2, **FOREST),
        RuleTransformer(RipperClassifier(random_state=0)),
    ],
    ids=[*ESTIMATORS, "rule-set-cv", "transformer"],
)
def test_skops_saves_and_loads_what_was_learned(clf):
    import skops.io

    saved = skops.io.dumps(clf.fit(DATA.X, LABELS))
    needed = skops.io.get_untrusted_types(data=saved)
    # Nothing but classes of this package has to be trusted.
    assert all(name.startswith("steelyard.") for name in needed)
    loaded = skops.io.loads(saved, trusted=needed)
    assert loaded.theory_ == clf.theory_
    method = "predict" if hasattr(clf, "predict") else "transform"
    np.testing.assert_array_equal(getattr(loaded, method)(DATA.X), getattr(clf, method)(DATA.X))


class TestTransformer:
    def test_its_columns_are_the_rules(self):
        transformer = RuleTransformer(RuleSetClassifier(**FOREST)).fit(X, LABELS)
        fires = transformer.transform(X)
        assert fires.shape == (len(X), len(transformer.theory_))
        assert (fires == transformer.theory_.covers(X)).all()
        names = transformer.get_feature_names_out()
        assert names.tolist() == [str(scored.rule) for scored in transformer.theory_]

    @pytest.mark.parametrize(
        ("output", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
    )
    def test_it_gives_frames(self, output, kind):
        transformer = RuleTransformer(RuleSetClassifier(**FOREST)).set_output(transform=output)
        table = transformer.fit_transform(X, LABELS)
        assert isinstance(table, kind)
        assert list(table.columns) == transformer.get_feature_names_out().tolist()
        if output == "pandas":
            assert table.index.equals(X.index)
        assert (table.to_numpy() == transformer.theory_.covers(X)).all()

    @every_estimator
    def test_rules_are_features_of_a_linear_model(self, clf):
        model = make_pipeline(RuleTransformer(clf), LogisticRegression(max_iter=1000))
        assert cross_val_score(model, X, PAIR, cv=3).mean() > 0.5

    def test_it_needs_an_estimator_with_rules(self):
        with pytest.raises(TypeError, match="must be a classifier of Steelyard"):
            RuleTransformer(LogisticRegression()).fit(X, PAIR)
