"""BoostedRulesClassifierCV: the decoder and the m that brute force would choose."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold, cross_validate

from planted_targets import TARGETS, make_three_labels
from steelyard import (
    BestF1,
    BestLabel,
    BestLabelSet,
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    Constraints,
    EachLabel,
    LabelSetVotes,
)
from steelyard.estimators.presets import TUNED_BOOSTED_DECODERS
from steelyard.learning.boosted_rules import expect_memory
from steelyard.measures import get_scorer
from steelyard.model.calibrating import apply_calibration, find_points
from steelyard.model.sigmoids import Unseen, fit_sigmoids

GROWN = {"max_rules": 30, "n_tries": 2, "random_state": 0}
DECODE = [EachLabel(), EachLabel(0.3), BestLabelSet(), LabelSetVotes(0.4)]
MS = [1.0, 64.0]
CONDENSE = [False, "predictions", "labels"]
SPLITS = list(KFold(3, shuffle=True, random_state=0).split(np.empty(120)))


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.05)


@pytest.fixture(scope="module")
def noisy(data):
    """A third of the labels are turned."""
    X, Y = data
    is_turned = np.random.default_rng(1).random(Y.shape) < 0.3
    return X, (Y.astype(bool) ^ is_turned).astype(int)


def tuned(scoring="f1_micro", **options):
    fixed = {"cv": 2, "phis": [1.0], "max_labels_per_rule": 1}
    return BoostedRulesClassifierCV(scoring, **(fixed | GROWN | options))


SCORINGS = ("f1_micro", "subset", "f1_samples", "roc_auc", "brier", "auc_macro")


@pytest.fixture(scope="module")
def brute_force(data):
    """The scores of each cell on each fold, cell by cell."""
    scorers = {name: get_scorer(name) for name in SCORINGS}
    results = [
        cross_validate(
            BoostedRulesClassifier(m, condense=condense, decode=decode, **GROWN),
            *data,
            scoring=scorers,
            cv=SPLITS,
            error_score="raise",
        )
        for condense in CONDENSE
        for m in MS
        for decode in DECODE
    ]
    return {name: np.array([found[f"test_{name}"] for found in results]) for name in SCORINGS}


class TestChoosing:
    @pytest.mark.filterwarnings("ignore:F-score is ill-defined")  # scikit-learn's, of empty rows
    @pytest.mark.parametrize("scoring", SCORINGS)
    def test_the_best_cell_is_that_of_brute_force(self, data, brute_force, scoring):
        options = {"ms": MS, "decode": DECODE, "cv": SPLITS, "calibrate": False}
        fitted = tuned(scoring, **options).fit(*data)
        scores = brute_force[scoring]
        found = np.column_stack([fitted.cv_results_[f"split{i}_test_score"] for i in range(3)])
        np.testing.assert_allclose(found, scores, atol=1e-12)
        assert fitted.best_score_ == pytest.approx(scores.mean(axis=1).max())
        refitted = BoostedRulesClassifier(**fitted.best_params_, **GROWN).fit(*data)
        assert fitted.theory_ == refitted.theory_

    def test_results_have_the_parameters_that_were_chosen_from_and_no_others(self, data):
        results = tuned(ms=MS, decode=DECODE).fit(*data).cv_results_
        chosen = ["max_conditions", "max_labels_per_rule", "condense", "m", "phi", "decode"]
        assert list(results)[:6] == chosen
        n_cells = len(DECODE) * len(MS)
        assert results["condense"].tolist() == [c for c in CONDENSE for _ in range(n_cells)]
        assert results["m"].tolist() == [m for m in MS for _ in DECODE] * 3
        assert results["decode"].tolist() == DECODE * len(MS) * 3
        assert not {"heuristic", "prune", "max_features"} & results.keys()

    def test_without_a_list_the_decoder_is_chosen_with_one_m(self, data):
        cells = BoostedRulesClassifierCV(phis=[1.0]).list_cells()
        assert cells == [
            {"max_conditions": length, "max_labels_per_rule": most, "condense": condense}
            | {"m": 16.0, "phi": 1.0, "decode": decoder}
            for most, length, ways in ((1, 4, CONDENSE), (None, 8, [False, "labels"]))
            for condense in ways
            for decoder in TUNED_BOOSTED_DECODERS
        ]
        fitted = tuned().fit(*data)
        assert fitted.cv_results_["decode"].tolist() == TUNED_BOOSTED_DECODERS * 3

    def test_with_a_budget_of_conditions_the_length_of_rules_is_chosen(self, data):
        fitted = tuned(max_total_conditions=12, condense=False, decode="each-label").fit(*data)
        assert fitted.cv_results_["max_conditions"].tolist() == [1, 2, 4]
        assert sum(len(rule.body) for rule in fitted.theory_) <= 12
        chosen = fitted.best_params_["max_conditions"]
        assert max(len(rule.body) for rule in fitted.theory_) <= chosen

    def test_sparse_tables_are_also_tried_with_one_condition_per_rule(self):
        words = pd.DataFrame(np.random.default_rng(0).random((120, 9)) < 0.1).astype(int)
        words.columns = [f"word {j}" for j in range(9)]
        Y = pd.DataFrame({"any": words.iloc[:, :3].max(axis=1), "both": words.iloc[:, 5]})
        fitted = tuned("hamming", decode="each-label").fit(words, Y)
        tried = zip(*(fitted.cv_results_[k] for k in ("max_conditions", "condense")), strict=True)
        assert list(tried) == [(4, False), (1, False), (4, "predictions"), (4, "labels")]
        for given in ({"condense": False}, {"max_conditions": 4}, {"max_total_conditions": 9}):
            variants = tuned(decode="each-label", **given)._plan(0, X=words).variants
            assert variants == tuned(decode="each-label", **given)._plan(0).variants

    @pytest.mark.parametrize(
        ("given", "tried"),
        [(3, [3]), (None, [None]), ([2, None], [2, None]), (np.array([1, 2]), [1, 2])],
    )
    def test_lengths_of_rules_that_are_given_are_tried_with_any_budget(self, given, tried):
        for budget in (None, 12):
            options = {"condense": False, "decode": "each-label", "max_total_conditions": budget}
            cells = tuned(max_conditions=given, **options).list_cells()
            assert [cell["max_conditions"] for cell in cells] == tried

    @pytest.mark.parametrize(
        ("given", "message"),
        [("short", "got 'short'"), ([1, "auto"], "got 'auto'"), ([], "nothing to choose from")],
    )
    def test_lengths_of_rules_that_cannot_be_are_rejected(self, data, given, message):
        with pytest.raises(ValueError, match=message):
            tuned(max_conditions=given).fit(*data)

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_one_class_per_row_has_no_label_sets_to_choose_from(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        decoders = tuned("accuracy", condense=False).fit(X, y).cv_results_["decode"]
        thresholds = [d for d in TUNED_BOOSTED_DECODERS if isinstance(d, EachLabel)]
        assert list(decoders) == (thresholds if output == "binary" else [BestLabel()])
        with pytest.raises(ValueError, match=f"does not apply to a {output} target"):
            tuned("accuracy", decode=["best-label-set"]).fit(X, y)

    def test_the_chosen_threshold_is_that_of_the_refitted_theory(self, data):
        X, y = data[0], TARGETS["binary"](data[1])

        def count_yes(estimator, X, y):
            return float((estimator.predict(X) == "yes").mean())

        decode = [EachLabel(0.5), EachLabel(0.2)]
        for calibrate in (False, True):
            fitted = tuned(count_yes, decode=decode, calibrate=calibrate).fit(X, y)
            assert fitted.best_params_["decode"] == EachLabel(0.2)
            plain = BoostedRulesClassifier(**fitted.best_params_, **GROWN).fit(X, y).theory_
            assert fitted.theory_.decoder == plain.decoder
            assert (fitted.theory_ == plain) != calibrate


def learn_fold(X, y, train, test, m, decoder):
    """A theory of a fold, and what it makes of the rows that it did not see."""
    clf = BoostedRulesClassifier(m, decode=decoder, **GROWN).fit(X.iloc[train], y.iloc[train])
    points = find_points(clf.theory_, X.iloc[test])
    known = clf.theory_.decoder.known
    return clf.theory_, Unseen(points, y.iloc[test].to_numpy() > 0, label_sets=known)


def calibrate_folds(X, y, m, decoder):
    """Theories of the folds, each with the calibration that the other folds give."""
    theories, unseen = zip(*(learn_fold(X, y, *fold, m, decoder) for fold in SPLITS), strict=True)
    for k, theory in enumerate(theories):
        others = [part for i, part in enumerate(unseen) if i != k]
        yield apply_calibration(theory, decoder.fit_calibration(others))


class TestCalibrating:
    @pytest.mark.parametrize("scoring", ["f1_micro", "neg_brier_score", "brier"])
    def test_a_fold_is_scored_with_the_calibration_of_the_other_folds(self, data, scoring):
        X, y = data
        if scoring == "neg_brier_score":  # of scikit-learn, by means of predict_proba
            scoring = make_scorer(
                lambda truth, p: -((truth.to_numpy() - p) ** 2).mean(),
                response_method="predict_proba",
            )
        decode = [EachLabel(), EachLabel(0.3), LabelSetVotes(), LabelSetVotes(0.3)]
        fitted = tuned(scoring, ms=MS, decode=decode, condense=False, cv=SPLITS).fit(X, y)
        for h, m in enumerate(MS):
            for j, decoder in enumerate(decode):
                for k, theory in enumerate(calibrate_folds(X, y, m, decoder)):
                    test = SPLITS[k][1]
                    clf = BoostedRulesClassifier(m, decode=decoder, **GROWN)
                    clf.fit(X.iloc[test], y.iloc[test])
                    clf.theory_ = theory
                    expected = get_scorer(scoring)(clf, X.iloc[test], y.iloc[test])
                    found = fitted.cv_results_[f"split{k}_test_score"][h * len(decode) + j]
                    assert found == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("decoder", [EachLabel(), LabelSetVotes(0.4)], ids=str)
    def test_all_held_out_rows_calibrate_the_theory(self, data, decoder):
        X, y = data
        fitted = tuned(decode=[decoder], condense=False, cv=SPLITS).fit(X, y)
        plain = BoostedRulesClassifier(decode=decoder, **GROWN).fit(X, y)
        m = BoostedRulesClassifier.m
        unseen = [learn_fold(X, y, *fold, m, decoder)[1] for fold in SPLITS]
        calibration = decoder.fit_calibration(unseen)
        slope = np.array(
            [s.points / t.points for s, t in zip(fitted.theory_, plain.theory_, strict=True)]
        )
        of_rule = [fitted.theory_.label_names.index(s.head.label) for s in plain.theory_]
        assert slope == pytest.approx(calibration.slope[of_rule], abs=0.1)
        assert fitted.theory_.combiner.start == pytest.approx(
            calibration.slope * plain.theory_.combiner.start + calibration.shift, abs=0.5
        )

    @pytest.mark.parametrize("calibrate", [True, False])
    def test_sparse_labels_are_scored_as_dense_ones(self, data, calibrate):
        X, y = data
        fitted = [
            tuned("brier", decode=DECODE, condense=False, calibrate=calibrate).fit(X, labels)
            for labels in (y.to_numpy(), sparse.csr_matrix(y.to_numpy()))
        ]
        scores = [one.cv_results_["mean_test_score"].tolist() for one in fitted]
        assert scores[0] == scores[1]

    def test_a_macro_measure_may_give_each_label_a_threshold_of_its_own(self, data):
        fitted = tuned("f1_macro", ms=MS).fit(*data)
        decoders = fitted.cv_results_["decode"].tolist()
        n_own = len(CONDENSE) * len(MS)
        assert decoders[:-n_own] == TUNED_BOOSTED_DECODERS * n_own
        for decoder in decoders[-n_own:]:
            assert len(decoder.threshold) == data[1].shape[1]
        chosen = fitted.cv_results_["decode"][fitted.best_index_]
        assert chosen == fitted.best_params_["decode"]
        assert len(tuned("f1_macro", decode=DECODE).fit(*data).cv_results_["m"]) == 3 * len(DECODE)

    def test_example_based_f1_may_be_maximised_as_expected(self, data):
        for scoring, is_offered in {"f1_examples": True, "f1_micro": False}.items():
            cells = tuned(scoring).list_cells()
            assert (BestF1() in [cell["decode"] for cell in cells]) == is_offered

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_a_fold_without_a_class_does_not_matter(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        order = np.argsort(y, kind="stable")
        fitted = tuned("accuracy", cv=KFold(3)).fit(X.iloc[order], np.asarray(y)[order])
        assert len(fitted.predict(X)) == len(X)

    def test_the_best_class_stays_the_best(self, data):
        X, y = data[0], TARGETS["multiclass"](data[1])
        yes, no = (tuned("accuracy", calibrate=c).fit(X, y) for c in (True, False))
        assert (yes.predict(X) == no.predict(X)).mean() > 0.98  # votes are rounded
        assert (yes.predict_proba(X) != no.predict_proba(X)).any()


class TestStopping:
    @pytest.mark.parametrize("calibrate", [True, False])
    def test_boosting_stops_where_held_out_labels_are_most_likely(self, noisy, calibrate):
        X, Y = noisy
        shares = [0.1, 0.2, 0.5, 1.0]
        options = {"cv": SPLITS, "condense": False, "calibrate": calibrate}
        fitted = tuned("hamming", phis=shares, **options).fit(X, Y)
        likelihood = []
        for phi in shares:
            found = []
            for train, test in SPLITS:
                clf = BoostedRulesClassifier(phi=phi, **GROWN).fit(X.iloc[train], Y.iloc[train])
                found.append((find_points(clf.theory_, X.iloc[test]), Y.iloc[test].to_numpy()))
            points, truth = map(np.concatenate, zip(*found, strict=True))
            if calibrate:
                slope, shift = fit_sigmoids(points, truth, is_shared=True)
                points = slope * points + shift
            p = 1 / (1 + np.exp(-points / 100))
            likelihood.append(np.log(np.where(truth, p, 1 - p)).mean())
        assert fitted.best_params_["phi"] == shares[int(np.argmax(likelihood))] < 1
        plain = BoostedRulesClassifier(**fitted.best_params_, **GROWN).fit(X, Y).theory_
        assert (fitted.theory_ == plain) != calibrate
        assert [s.rule for s in fitted.theory_] == [s.rule for s in plain]

    def test_noise_needs_fewer_rules_and_no_condensing(self, data, noisy):
        full, short = (tuned("hamming", phis=None, max_rules=99).fit(*xy) for xy in (data, noisy))
        assert full.best_params_["phi"] > short.best_params_["phi"]
        assert len(short.theory_) < len(full.theory_)
        assert set(short.cv_results_["condense"]) == {False}
        given = tuned("hamming", phis=None, max_rules=99, condense=CONDENSE, decode="each-label")
        assert set(given.fit(*noisy).cv_results_["condense"]) == set(CONDENSE)

    def test_what_there_is_to_choose_from_has_every_share(self):
        cells = tuned(phis=[1.0, 0.5], decode="each-label").list_cells()
        found = [(cell["condense"], cell["phi"]) for cell in cells]
        assert found == [(False, 1.0), (False, 0.5), ("predictions", 1.0), ("labels", 1.0)]
        assert {cell["phi"] for cell in tuned(phis=0.8).list_cells()} == {0.8}

    def test_any_length_of_rules_that_needs_them_all_is_condensed(self, noisy):
        for lengths in ([1, 4], [4, 1]):
            options = {"max_conditions": lengths, "decode": "each-label", "cv": SPLITS}
            results = tuned("hamming", phis=None, max_rules=12, **options).fit(*noisy).cv_results_
            needed = max(results["phi"][results["condense"] == False])  # noqa: E712
            assert (len(set(results["condense"])) == 3) == (needed >= 0.65)

    @pytest.mark.parametrize("weights", [{}, {"class_weight": "balanced"}])
    @pytest.mark.parametrize("calibrate", [True, False])
    def test_folds_without_a_class_do_not_matter(self, noisy, weights, calibrate):
        X, y = noisy[0], np.where(noisy[1].iloc[:, 0], "a", "b")
        y[0] = "rare"
        found = []
        for splits in (SPLITS, SPLITS[::-1]):
            options = {"cv": splits, "calibrate": calibrate, "condense": False, **weights}
            fitted = tuned("accuracy", phis=None, max_rules=60, **options).fit(X, y)
            found.append(fitted.best_params_["phi"])
        assert found[0] == found[1] < 1

    def test_held_out_rows_that_count_nothing_tell_nothing(self, data):
        X, Y = data[0], data[1].copy()
        Y.iloc[60:] = 0
        splits = [(np.arange(60), np.arange(60, 120))]
        options = {"cv": splits, "class_weight": {0: 0, 1: 1}, "condense": False}
        with pytest.warns(UserWarning, match="no rule"):
            fitted = tuned("hamming", phis=None, **options).fit(X, Y)
        assert fitted.best_params_["phi"] == 1

    def test_rules_that_each_label_keeps_are_not_given_up(self, noisy):
        fitted = tuned("hamming", phis=None, min_rules_per_label=2, condense=False).fit(*noisy)
        assert fitted.best_params_["phi"] == 1

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_classes_stop_early_too(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        y = np.random.default_rng(0).permutation(y)
        fitted = tuned("accuracy", phis=[0.1, 1.0], cv=3).fit(X, y)
        assert fitted.best_params_["phi"] == 0.1


class TestBodiesForAllLabels:
    """They are tried without being asked for where most rules for one label are needed."""

    MANY = {"max_labels_per_rule": "auto", "max_rules": 100}

    def tried(self, fitted):
        columns = (fitted.cv_results_[k] for k in ("max_labels_per_rule", "condense"))
        return set(zip(*columns, strict=True))

    def test_they_are_tried_alone_and_condensed(self, data):
        options = self.MANY | {"decode": "each-label"}
        fitted = tuned("hamming", **options).fit(*data)
        assert self.tried(fitted) == {(1, way) for way in CONDENSE} | {
            (None, False),
            (None, "labels"),
        }
        asked = tuned("hamming", **options | {"max_labels_per_rule": [1, None]}).fit(*data)
        assert asked.theory_ == fitted.theory_
        alone = tuned("hamming", **options, condense=False).fit(*data)
        assert self.tried(alone) == {(1, False), (None, False)}

    def test_noise_needs_none_of_them(self, noisy):
        options = self.MANY | {"phis": None}
        assert self.tried(tuned("hamming", **options).fit(*noisy)) == {(1, False)}

    @pytest.mark.parametrize("condense", [[False, "labels"], False])
    def test_condensed_rules_do_not_tell_whether_they_are_needed(self, noisy, condense):
        options = self.MANY | {"phis": None, "condense": condense}
        assert {most for most, _ in self.tried(tuned("hamming", **options).fit(*noisy))} == {1}

    def test_bodies_that_were_asked_for_are_tried_with_any_number_of_labels(self, data):
        X, Y = data
        many = pd.concat([Y.add_suffix(f" {k}") for k in range(11)], axis=1)
        options = {"max_labels_per_rule": [1, None], "decode": "each-label"}
        fitted = tuned("hamming", **self.MANY | options).fit(X, many)
        assert self.tried(fitted) >= {(None, False), (None, "labels")}

    def test_bodies_are_not_condensed_if_that_takes_long(self):
        clf = tuned(**self.MANY | {"max_rules": np.int32(333)})
        condensed = {"max_labels_per_rule": None, "condense": "labels"}
        assert clf._is_quick(condensed, (9, 20_000), are_classes=False)
        assert not clf._is_quick(condensed, (12, 200_000), are_classes=False)
        assert clf._is_quick(condensed | {"condense": False}, (12, 200_000), are_classes=False)

    def test_who_asks_for_few_rules_gets_no_more_votes(self, data):
        fitted = tuned("hamming", **self.MANY | {"max_rules": 99}).fit(*data)
        assert self.tried(fitted) == {(1, way) for way in CONDENSE}
        assert len(fitted.theory_) <= 99

    def test_one_label_has_nothing_to_share(self, data):
        X, Y = data
        options = self.MANY | {"decode": "each-label"}
        fitted = tuned("hamming", **options).fit(X, Y.iloc[:, :1])
        assert self.tried(fitted) == {(1, way) for way in CONDENSE}

    def test_they_are_tried_with_many_labels_too(self, data):
        X, Y = data
        many = pd.concat([Y.add_suffix(f" {k}") for k in range(11)], axis=1)
        options = self.MANY | {"decode": "each-label", "condense": False}
        assert self.tried(tuned("hamming", **options).fit(X, many)) == {(1, False), (None, False)}

    def test_they_are_tried_with_up_to_thirty_classes(self):
        rng = np.random.default_rng(0)
        y = np.arange(240)
        X = pd.DataFrame(rng.normal(size=(240, 4)))
        options = self.MANY | {"decode": "best-label", "condense": False, "phis": [1.0]}
        for n_classes, found in ((30, {1, None}), (31, {1})):
            fitted = tuned("accuracy", **options).fit(X, y % n_classes)
            assert {most for most, _ in self.tried(fitted)} == found

    def test_they_are_left_out_beyond_the_memory(self, data):
        X, Y = data
        options = self.MANY | {"decode": "each-label", "condense": False}
        shape = (Y.shape[1], len(X))
        settings = (
            BoostedRulesClassifier(
                max_rules=100, max_labels_per_rule=most, max_conditions=8
            )._settings()
            for most in (1, None)
        )
        alone, shared = (expect_memory(shape, of, 1, is_weighed=False) for of in settings)
        limit = (alone + shared) // 2
        assert alone < limit < shared
        fitted = tuned("hamming", **options, max_memory=limit).fit(X, Y)
        assert self.tried(fitted) == {(1, False)}

    def test_with_very_many_labels_they_are_not_tried(self):
        for way in (False, "labels"):
            variant = {"max_labels_per_rule": None, "condense": way}
            is_quick = tuned(**self.MANY)._is_quick
            assert is_quick(variant, (250, 100), are_classes=False)
            assert not is_quick(variant, (251, 100), are_classes=False)
            assert is_quick(variant, (30, 100), are_classes=True)
            assert not is_quick(variant, (31, 100), are_classes=True)
            asked = tuned(**self.MANY | {"max_labels_per_rule": [1, None]})
            assert asked._is_quick(variant, (251, 100), are_classes=False)

    def test_for_words_they_are_not_condensed_and_may_have_one_condition(self):
        words = pd.DataFrame(np.random.default_rng(0).random((120, 9)) < 0.1).astype(int)
        variants = tuned(**self.MANY)._plan(0, X=words).variants
        names = ("max_labels_per_rule", "max_conditions", "condense")
        found = [tuple(v[name] for name in names) for v in variants if not v["condense"]]
        assert found == [(1, 4, False), (1, 1, False), (None, 8, False), (None, 1, False)]
        condensed = {v["max_labels_per_rule"] for v in variants if v["condense"]}
        assert condensed == {1}

    @pytest.mark.parametrize(
        "given",
        [
            {"max_total_conditions": 30},
            {"min_rules_per_label": 1},
            {"category_sets": True},
            {"constraints": Constraints(forbidden=["x0"])},
        ],
        ids=lambda given: next(iter(given)),
    )
    def test_what_does_not_apply_to_them_excludes_them(self, given):
        cells = tuned(**self.MANY, **given).list_cells()
        assert {cell["max_labels_per_rule"] for cell in cells} == {1}


class TestRejections:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"ms": []}, "nothing to choose from"),
            ({"decode": []}, "nothing to choose from"),
            ({"ms": [-1]}, "m must be a finite number of at least 0, got -1"),
            ({"decode": ["each-label", "sets"]}, "decode must be"),
            ({"max_rules": 0}, "max_rules must be an integer"),
            ({"max_features": [0.2, 0.3]}, "max_features must be 'log2', 'sqrt'"),
            ({"calibrate": 5}, "calibrate must be True or False, got 5"),
            ({"calibrate": None}, "calibrate must be True or False, got None"),
            ({"tolerance": -1}, "tolerance must be a number of at least 0, got -1"),
            ({"phis": []}, "nothing to choose from: phis is empty"),
            ({"phis": 0.5, "condense": "labels"}, "condense requires a phi of 1"),
            ({"phis": [0.5, 2]}, "phi must be a number above 0 and at most 1, got 2"),
            ({"phis": [0.5, 1], "min_rules_per_label": 1}, "min_rules_per_label requires phis=[1]"),
        ],
        ids=lambda value: str(value) if isinstance(value, dict) else "",
    )
    def test_wrong_parameters_are_named_before_anything_is_scored(self, data, options, sentence):
        def never(estimator, X, y):
            raise AssertionError("a theory was scored")

        with pytest.raises(ValueError) as error:  # noqa: PT011
            tuned(never, **options).fit(*data)
        assert str(error.value).startswith(sentence)


class TestConventions:
    def test_workers_do_not_matter(self, data):
        one, two = (tuned(n_jobs=n).fit(*data) for n in (1, 2))
        assert one.theory_.to_json() == two.theory_.to_json()
        assert one.best_params_ == two.best_params_

    def test_a_tuned_model_keeps_its_choice(self, data):
        fitted = tuned(tolerance=1.0).fit(*data)
        again = pickle.loads(pickle.dumps(fitted))
        assert again.best_params_ == fitted.best_params_
        assert again.theory_ == fitted.theory_
        fresh = clone(fitted)
        assert fresh.get_params() == fitted.get_params()
        assert not hasattr(fresh, "best_params_")
