"""RuleSetClassifierCV: the cell it chooses is the one that brute force would choose."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_validate

from planted_targets import TARGETS, make_three_labels
from steelyard import (
    WRA,
    BestLabel,
    BestLabelSet,
    EachLabel,
    FMeasure,
    IterativeStratifiedKFold,
    MEstimate,
    RuleSetClassifier,
    RuleSetClassifierCV,
    make_planted_rules,
    theory_path,
)
from steelyard.estimators.presets import PRESETS, TUNED_PRESETS
from steelyard.estimators.validation import as_list
from steelyard.learning.tuning import choose_cell, smooth_scores
from steelyard.measures import get_measure, get_scorer
from steelyard.model.thresholding import PHI_GRID

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only", "ignore:no rule can test")

HEURISTICS = [MEstimate(1), MEstimate(32), WRA()]
PHIS = [1.0, 0.5, 0.1]
FOREST = {"n_candidates": 200, "n_trees": 2, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return make_planted_rules(120, n_labels=3, noise=0.1, missing=0.05, random_state=1)


def tuned(scoring="f1_micro", **options):
    grid = {"heuristics": HEURISTICS, "phis": PHIS, "cv": 3, "calibrate": False}
    options = grid | FOREST | options
    return RuleSetClassifierCV(scoring, **options)


def brute_force(X, y, scorings, splits):
    """Scoring → scores of every cell, each cell a classifier fitted and scored by scikit-learn."""
    results = [
        cross_validate(
            RuleSetClassifier(heuristic, phi, **FOREST),
            X,
            y,
            scoring={str(scoring): get_scorer(scoring) for scoring in scorings},
            cv=splits,
            error_score="raise",
        )
        for heuristic in HEURISTICS
        for phi in PHIS
    ]
    return {
        scoring: np.array([found[f"test_{scoring}"] for found in results]) for scoring in scorings
    }


def negative_hamming_loss(estimator, X, y):
    return -float((estimator.predict(X) != np.asarray(y)).mean())


class TestChoosing:
    @pytest.mark.filterwarnings("ignore:F-score is ill-defined")  # scikit-learn's, of empty rows
    def test_the_best_cell_is_that_of_brute_force(self, data):
        of_labels = ("f1_micro", "hamming", "subset", "f1_macro", "f1_samples")
        measures = (*of_labels, "roc_auc", "brier", "ndcg_5")
        splits = list(KFold(3, shuffle=True, random_state=0).split(data.X))
        known = brute_force(data.X, data.Y, [*measures, negative_hamming_loss], splits)
        for scoring, scores in known.items():
            fitted = tuned(scoring, cv=splits).fit(data.X, data.Y)
            found = np.column_stack([fitted.cv_results_[f"split{i}_test_score"] for i in range(3)])
            np.testing.assert_allclose(found, scores, atol=1e-12, err_msg=str(scoring))
            assert fitted.best_score_ == pytest.approx(scores.mean(axis=1).max())
            h, j = divmod(fitted.best_index_, len(PHIS))
            assert fitted.best_heuristic_ == HEURISTICS[h]
            assert fitted.best_phi_ == PHIS[j]

    @pytest.mark.parametrize(
        ("target", "scorings"),
        [
            ("two classes", ["accuracy", "roc_auc", "f1_macro", "neg_log_loss"]),
            ("four classes", ["accuracy", "balanced_accuracy", "roc_auc_ovr"]),
        ],
    )
    def test_the_scores_of_classes_are_those_of_brute_force(self, data, target, scorings):
        y = np.where(data.Y.iloc[:, 0] == 1, "yes", "no")
        if target == "four classes":
            y = data.Y.iloc[:, 0] + 2 * data.Y.iloc[:, 1]
        splits = list(KFold(3, shuffle=True, random_state=0).split(data.X))
        for scoring, scores in brute_force(data.X, y, scorings, splits).items():
            found = tuned(scoring, cv=splits).fit(data.X, y).cv_results_["mean_test_score"]
            np.testing.assert_allclose(found, scores.mean(axis=1), err_msg=scoring)

    def test_ties_go_to_fewer_conditions(self, data):
        fitted = tuned(lambda *_: 1.0).fit(data.X, data.Y)
        results = pd.DataFrame(fitted.cv_results_)
        total = results.mean_n_conditions * results.mean_n_rules
        assert fitted.best_index_ == int(np.argmin(total))
        assert (results.rank_test_score == 1).all()

    def test_the_same_pair_twice_ties_and_the_first_one_is_taken(self, data):
        fitted = tuned(heuristics=[MEstimate(4), MEstimate(4)], phis=[0.5]).fit(data.X, data.Y)
        assert fitted.best_index_ == 0
        assert fitted.cv_results_["rank_test_score"].tolist() == [1, 1]

    def test_refitted_on_everything(self, data):
        fitted = tuned().fit(data.X, data.Y)
        refit = RuleSetClassifier(fitted.best_heuristic_, fitted.best_phi_, **FOREST)
        assert fitted.theory_ == refit.fit(data.X, data.Y).theory_
        assert (fitted.predict(data.X) == refit.predict(data.X)).all()

    def test_other_measures_prefer_other_cells(self):
        # The paper's finding: F1 wants coverage where Hamming wants consistency and filtering.
        data = make_planted_rules(300, noise=0.25, random_state=0)
        phis = (1.0, 0.5, 0.25, 0.05)
        f1, hamming = (
            tuned(scoring, phis=phis).fit(data.X, data.Y) for scoring in ("f1_micro", "hamming")
        )
        assert f1.best_phi_ > hamming.best_phi_

    def test_an_undefined_score_is_an_error(self, data):
        with pytest.raises(ValueError, match=r"is undefined \(NaN\) for every theory"):
            tuned(lambda *_: np.nan).fit(data.X, data.Y)


class TestResults:
    def test_one_entry_a_pair(self, data):
        fitted = tuned().fit(data.X, data.Y)
        results = pd.DataFrame(fitted.cv_results_)
        assert len(results) == len(HEURISTICS) * len(PHIS)
        assert results.phi.tolist() == PHIS * len(HEURISTICS)
        assert results.heuristic.unique().tolist() == HEURISTICS
        splits = results[[f"split{i}_test_score" for i in range(3)]]
        np.testing.assert_allclose(results.mean_test_score, splits.mean(axis=1))
        np.testing.assert_allclose(results.std_test_score, splits.std(axis=1, ddof=0))
        assert fitted.best_score_ == results.mean_test_score[fitted.best_index_]

    def test_rank_1_is_best_and_equals_share_the_best_of_their_places(self, data):
        results = tuned().fit(data.X, data.Y).cv_results_
        means = results["mean_test_score"].tolist()
        places = [1 + sum(other > mean for other in means) for mean in means]
        assert results["rank_test_score"].tolist() == places

    def test_sizes_are_the_means_over_the_folds(self, data):
        splits = list(KFold(3).split(data.X))
        results = tuned(cv=splits).fit(data.X, data.Y).cv_results_
        paths = [
            theory_path(data.X.iloc[train], data.Y.iloc[train], HEURISTICS, PHIS, **FOREST)
            for train, _ in splits
        ]
        n_rules = np.mean([path.n_kept.ravel() for path in paths], axis=0)
        np.testing.assert_allclose(results["mean_n_rules"], n_rules)


class TestFolds:
    def test_a_number_means_iterative_stratification(self, data):
        fitted = tuned(cv=4).fit(data.X, data.Y)
        splits = list(IterativeStratifiedKFold(4, random_state=0).split(data.X, data.Y))
        other = tuned(cv=splits).fit(data.X, data.Y)
        for name, column in fitted.cv_results_.items():
            assert column.tolist() == other.cv_results_[name].tolist(), name

    def test_any_splitter(self, data):
        fitted = tuned(cv=ShuffleSplit(2, random_state=0)).fit(data.X, data.Y)
        assert "split1_test_score" in fitted.cv_results_
        assert "split2_test_score" not in fitted.cv_results_

    def test_a_generator_of_splits_is_read_once(self, data):
        splits = KFold(2).split(data.X)
        assert np.isfinite(tuned(cv=splits).fit(data.X, data.Y).best_score_)

    @pytest.mark.parametrize("cv", [1, 0, 121])
    def test_the_number_of_folds_must_fit_the_data(self, data, cv):
        with pytest.raises(ValueError, match=f"n_splits={cv}"):
            tuned(cv=cv).fit(data.X, data.Y)

    def test_groups_come_as_ready_made_splits(self, data):
        groups = np.arange(len(data.X)) // 4
        splits = list(GroupKFold(3).split(data.X, groups=groups))
        assert np.isfinite(tuned(cv=splits).fit(data.X, data.Y).best_score_)


class TestConventions:
    def test_workers_do_not_matter(self, data):
        one, two = (tuned(n_jobs=n).fit(data.X, data.Y) for n in (1, 2))
        assert one.theory_.to_json() == two.theory_.to_json()
        for name, column in one.cv_results_.items():
            assert column.tolist() == two.cv_results_[name].tolist()

    def test_clone_pickle_and_nested_cross_validation(self, data):
        fitted = tuned(cv=2).fit(data.X, data.Y)
        again = pickle.loads(pickle.dumps(fitted))
        assert (again.predict(data.X) == fitted.predict(data.X)).all()
        assert not hasattr(clone(fitted), "best_phi_")
        scores = cross_validate(fitted, data.X, data.Y, cv=2, scoring=get_scorer("hamming"))
        assert np.isfinite(scores["test_score"]).all()

    def test_score_is_the_score_it_was_tuned_for(self, data):
        fitted = tuned("hamming").fit(data.X, data.Y)
        expected = get_measure("hamming")(data.Y, fitted.predict(data.X))
        assert fitted.score(data.X, data.Y) == pytest.approx(expected)

    def test_a_scikit_learn_scorer_object(self, data):
        scorer = make_scorer(lambda y, p: float((np.asarray(y) == p).mean()))
        own = tuned(scorer, cv=3).fit(data.X, data.Y)
        named = tuned("hamming", cv=3).fit(data.X, data.Y)
        np.testing.assert_allclose(
            own.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
        )

    def test_sparse_tables_and_sparse_labels(self, data):
        from scipy import sparse

        numbers = data.X.select_dtypes("number").fillna(0)
        dense = tuned().fit(numbers.to_numpy(), data.Y.to_numpy())
        other = tuned().fit(sparse.csr_array(numbers), sparse.csr_array(data.Y.to_numpy()))
        assert other.theory_ == dense.theory_
        assert other.best_score_ == pytest.approx(dense.best_score_)

    def test_integer_weights_are_copies_that_stay_in_their_fold(self, data):
        weight = 1 + np.arange(len(data.X)) % 2
        splits = list(KFold(3).split(data.X))
        weighted = tuned(cv=splits).fit(data.X, data.Y, sample_weight=weight)
        repeated = [tuple(np.repeat(rows, weight[rows]) for rows in split) for split in splits]
        same = tuned(cv=repeated).fit(data.X, data.Y)
        np.testing.assert_allclose(
            weighted.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"]
        )

    @pytest.mark.parametrize("scoring", ["f1_macro", "hamming", "accuracy"])
    def test_integer_weights_are_copies_in_the_score_too(self, data, scoring):
        fitted = tuned(scoring).fit(data.X, data.Y)
        weight = 1 + np.arange(len(data.X)) % 3
        rows = np.repeat(np.arange(len(data.X)), weight)
        weighted = fitted.score(data.X, data.Y, sample_weight=weight)
        assert weighted == pytest.approx(fitted.score(data.X.iloc[rows], data.Y.iloc[rows]))
        assert weighted != pytest.approx(fitted.score(data.X, data.Y))

    @pytest.mark.parametrize("folds", [[], [([0, 1, 2], [3]), ([0, 1], [])], [([], [0])]], ids=str)
    def test_folds_without_examples_are_rejected(self, data, folds):
        with pytest.raises(ValueError, match="examples to learn from and to score"):
            tuned(cv=folds).fit(data.X, data.Y)

    def test_a_fold_that_weights_leave_nothing_of_is_rejected(self, data):
        weight = np.ones(len(data.X))
        folds = list(KFold(3).split(data.X))
        weight[folds[1][1]] = 0
        with pytest.raises(ValueError, match="examples to learn from and to score"):
            tuned(cv=folds).fit(data.X, data.Y, sample_weight=weight)

    def test_one_heuristic_and_one_share_need_no_list(self, data):
        one = tuned(heuristics=MEstimate(4), phis=0.5).fit(data.X, data.Y)
        assert (
            one.theory_ == tuned(heuristics=[MEstimate(4)], phis=[0.5]).fit(data.X, data.Y).theory_
        )

    def test_an_infinite_score_is_the_best_one(self, data):
        fitted = tuned(lambda estimator, X, y: np.inf, tolerance=1.0, cv=2).fit(data.X, data.Y)  # noqa: ARG005
        assert fitted.best_score_ == np.inf

    def test_an_unknown_measure_is_rejected(self, data):
        with pytest.raises(ValueError, match="f1_mikro"):
            tuned("f1_mikro").fit(data.X, data.Y)

    @pytest.mark.parametrize("name", ["heuristics", "phis", "max_features", "prune", "decode"])
    def test_an_empty_list_leaves_nothing_to_choose_from(self, data, name):
        with pytest.raises(ValueError, match=r"^nothing to choose from"):
            tuned(**{name: []}).fit(data.X, data.Y)

    @pytest.mark.parametrize(
        "options",
        [
            {"preset": "fast"},
            {"prune": [False, "all"]},
            {"max_features": ["log2", 0]},
            {"decode": ["each-label", "sets"]},
            {"n_candidates": 0},
            *({"tolerance": wrong} for wrong in (-1, -0.1, np.nan, np.inf, "1", True)),
        ],
        ids=str,
    )
    def test_wrong_parameters_are_named_before_anything_is_scored(self, data, options):
        def never(estimator, X, y):
            raise AssertionError("a theory was scored")

        (name,) = options
        with pytest.raises(ValueError, match=f"^{name} must be") as error:
            tuned(never, **options).fit(data.X, data.Y)
        assert "\n" not in str(error.value)

    def test_phi_out_of_range_is_rejected(self, data):
        with pytest.raises(ValueError, match="phi must be a number above 0 and at most 1"):
            tuned(phis=[0.0]).fit(data.X, data.Y)

    def test_the_default_grid_is_the_papers_for_tuning(self):
        cells = RuleSetClassifierCV().list_cells()
        ms = [0, *(2**k for k in range(1, 13))]
        expected = itertools.product(ms, PHI_GRID)
        assert [(cell["heuristic"].m, cell["phi"]) for cell in cells] == list(expected)
        assert len(PHI_GRID) == 20

    def test_names_and_functions_may_be_in_the_grid(self, data):
        fitted = tuned(
            heuristics=["wra", FMeasure(2), lambda tp, fp, fn, tn: tp - fp + 0 * (fn + tn)]
        )
        assert len(fitted.fit(data.X, data.Y).cv_results_["phi"]) == 9

    def test_a_warning_of_few_candidates_comes_once(self):
        X = pd.DataFrame({"x": np.arange(12.0)})
        Y = pd.DataFrame({"a": [0, 0, 1] * 4})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            tuned(n_candidates=10_000).fit(X, Y)
        assert sum(issubclass(w.category, ConvergenceWarning) for w in caught) == 1


CHOICES = {
    "max_features": ["log2", 0.5],
    "prune": [False, "oob", "prefix"],
    "decode": [EachLabel(), BestLabelSet(), BestLabelSet(0.0, 0.1)],
}
SPLITS = list(KFold(3, shuffle=True, random_state=0).split(np.empty(120)))


@pytest.fixture(scope="module")
def three_labels():
    return make_three_labels(missing=0.05)


@pytest.fixture(scope="module")
def chosen(three_labels):
    return tuned(cv=SPLITS, phis=[1.0, 0.3], **CHOICES).fit(*three_labels)


def to_records(results):
    """One dictionary per cell."""
    return [dict(zip(results, row, strict=True)) for row in zip(*results.values(), strict=True)]


class TestMoreToChoose:
    def test_one_entry_per_combination(self, chosen):
        names = ("source", "max_features", "prune", "decode", "heuristic", "phi")
        found = [tuple(entry[n] for n in names) for entry in to_records(chosen.cv_results_)]
        assert found == list(
            itertools.product(["forest"], *CHOICES.values(), HEURISTICS, [1.0, 0.3])
        )

    def test_each_entry_is_what_a_classifier_of_its_own_scores(self, three_labels, chosen):
        X, Y = three_labels
        train, test = SPLITS[1]
        for entry in to_records(chosen.cv_results_)[::7]:
            parameters = {name: entry[name] for name in [*CHOICES, "heuristic", "phi"]}
            classifier = RuleSetClassifier(**parameters, **FOREST)
            classifier.fit(X.iloc[train], Y.iloc[train])
            expected = get_scorer("f1_micro")(classifier, X.iloc[test], Y.iloc[test])
            assert entry["split1_test_score"] == pytest.approx(expected)

    def test_the_best_entry_is_refitted_as_its_parameters_say(self, three_labels, chosen):
        best = to_records(chosen.cv_results_)[chosen.best_index_]
        assert chosen.best_score_ == max(chosen.cv_results_["mean_test_score"])
        assert best.items() >= chosen.best_params_.items()
        assert chosen.best_params_.keys() == {"source", *CHOICES, "heuristic", "phi"}
        assert chosen.best_heuristic_ == chosen.best_params_["heuristic"]
        same = RuleSetClassifier(**chosen.best_params_, **FOREST).fit(*three_labels)
        assert chosen.theory_.to_json() == same.theory_.to_json()

    def test_a_tolerant_choice_is_smaller_and_close(self, three_labels):
        phis = [1, 0.6, 0.3, 0.1]
        strict, tolerant = (tuned(phis=phis, tolerance=t).fit(*three_labels) for t in (0, 2))
        results = pd.DataFrame(strict.cv_results_)
        n_conditions = results.mean_n_conditions * results.mean_n_rules
        best, chosen = strict.best_index_, tolerant.best_index_
        assert n_conditions[chosen] < n_conditions[best]
        assert tolerant.theory_.n_conditions < strict.theory_.n_conditions
        folds = results[[f"split{i}_test_score" for i in range(3)]].to_numpy()
        difference = folds[best] - folds[chosen]
        assert difference.mean() <= 2 * difference.std(ddof=1) / np.sqrt(3)
        assert tolerant.best_score_ == results.mean_test_score[chosen]

    def test_smoothing_compares_means_of_neighbours_and_reports_the_cell_itself(self, three_labels):
        phis = [1, 0.6, 0.3, 0.1]
        fitted = tuned(phis=phis, smooth=True).fit(*three_labels)
        results = pd.DataFrame(fitted.cv_results_)
        folds = results[[f"split{i}_test_score" for i in range(3)]].to_numpy().T
        smooth = smooth_scores(folds, (len(HEURISTICS), len(phis)))
        n_conditions = (results.mean_n_conditions * results.mean_n_rules).to_numpy()
        assert fitted.best_index_ == choose_cell(smooth, n_conditions)
        assert fitted.best_score_ == results.mean_test_score[fitted.best_index_]


class TestPresets:
    @pytest.mark.parametrize("preset", PRESETS)
    def test_what_a_preset_offers(self, three_labels, preset):
        fitted = tuned(preset=preset, cv=2, phis=[1.0], heuristics=[MEstimate(8)])
        fitted.fit(*three_labels)
        offered = [as_list(TUNED_PRESETS[preset][name]) for name in ("source", "decode")]
        columns = (fitted.cv_results_[name] for name in ("source", "decode"))
        assert list(zip(*columns, strict=True)) == list(itertools.product(*offered))
        same = RuleSetClassifier(preset=preset, **(fitted.best_params_ | FOREST))
        assert fitted.theory_.to_json() == same.fit(*three_labels).theory_.to_json()

    def test_short_has_one_source_for_sparse_tables(self):
        X = pd.DataFrame(np.eye(12, 4))
        for table, sources in ((X, ["forest"]), (1 - X, ["forest", "ripper"])):
            search = RuleSetClassifierCV(preset="short")._plan(0, X=table)
            assert [variant["source"] for variant in search.variants] == sources
            assert search.smooth == (len(sources) == 2)
            assert search.tolerance == 0.5 / len(sources)

    @pytest.mark.parametrize(
        ("name", "value"), [("max_features", "log2"), ("prune", False), ("decode", EachLabel())]
    )
    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_given_value_wins(self, preset, name, value):
        for given in (value, [value]):
            cells = RuleSetClassifierCV(preset=preset, **{name: given}).list_cells()
            assert all(cell[name] == value for cell in cells)

    @pytest.mark.parametrize("tolerance", [0.0, np.float32(1), np.int64(1), 1])
    def test_a_given_tolerance_wins(self, tolerance):
        assert RuleSetClassifierCV(preset="short")._plan(0).tolerance == 0.25
        given = RuleSetClassifierCV(preset="short", tolerance=tolerance)
        assert given._plan(0).tolerance == tolerance

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_one_class_per_row_has_no_label_sets_to_choose_from(self, three_labels, output):
        X, y = three_labels[0], TARGETS[output](three_labels[1])
        fitted = tuned("accuracy", preset="short", cv=2).fit(X, y)
        decoder = BestLabel() if output == "multiclass" else EachLabel()
        assert set(fitted.cv_results_["decode"]) == {decoder}
        with pytest.raises(ValueError, match=f"does not apply to a {output} target"):
            tuned("accuracy", decode="best-label-set", cv=2).fit(X, y)


class TestCalibrating:
    @pytest.mark.parametrize("decode", ["each-label", "best-label-set"])
    def test_none_calibrates_if_predictions_stay_the_same(self, data, decode):
        X, y = data.X, data.Y
        none, yes, no = (
            tuned(decode=decode, calibrate=c).fit(X, y).theory_ for c in (None, True, False)
        )
        assert none == (yes if decode == "each-label" else no)
        assert yes.predict_proba(X).tolist() != no.predict_proba(X).tolist()
        if decode == "each-label":
            assert yes.predict(X).equals(no.predict(X))

    def test_classes_stay_the_same(self, data):
        y = TARGETS["multiclass"](data.Y)
        yes, no = (tuned("accuracy", calibrate=c).fit(data.X, y) for c in (True, False))
        assert (yes.predict(data.X) == no.predict(data.X)).all()
        assert (yes.predict_proba(data.X) != no.predict_proba(data.X)).any()

    def test_calibrate_is_a_boolean_or_none(self, data):
        with pytest.raises(ValueError, match="calibrate must be True or False or None, got 5"):
            tuned(calibrate=5).fit(data.X, data.Y)
        with pytest.raises(ValueError, match="calibrate must be True, False or a number of folds"):
            RuleSetClassifier(calibrate=1).fit(data.X, data.Y)
