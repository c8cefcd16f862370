"""RuleSetClassifier: the published method as scikit-learn expects it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from steelyard import (
    WRA,
    Constraints,
    FMeasure,
    Heuristic,
    MEstimate,
    Precision,
    RipperClassifier,
    RuleSetClassifier,
    Theory,
    make_planted_rules,
    theory_path,
)
from steelyard.measures import get_scorer
from strategies import data_sets, tables, to_csr, to_sparse_frame

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only", "ignore:no rule can test")

FOREST = {"n_candidates": 60, "n_trees": 2, "max_depths": (None, 1, 2), "random_state": 0}


def classifier(**options):
    return RuleSetClassifier(**({"n_candidates": 500, "random_state": 0} | options))


@pytest.fixture(scope="module")
def data():
    return make_planted_rules(200, n_labels=3, noise=0.05, missing=0.05, random_state=0)


@pytest.fixture(scope="module")
def numeric():
    """Numbers only, mostly 0, with two labels that depend on them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.integers(1, 5, (80, 6)) * (rng.random((80, 6)) < 0.3),
        columns=[f"word{j}" for j in range(6)],
    ).astype(float)
    Y = pd.DataFrame({"a": (X.word0 > 0) & (X.word1 < 3), "b": X.word2 + X.word3 > 4}).astype(int)
    return X, Y


class TestPlantedRules:
    @pytest.mark.parametrize("missing", [0.0, 0.1])
    @pytest.mark.parametrize("seed", range(2))
    def test_planted_rules_are_found_again(self, seed, missing):
        """Without noise the theory is the planted one: a rule for a rule, covering the same rows."""
        data = make_planted_rules(1000, missing=missing, random_state=seed)
        fitted = classifier(heuristic=MEstimate(16), phi=1.0, n_candidates=30_000)
        theory = fitted.fit(data.X, data.Y).theory_
        found = {
            (rule.head.label, tuple(mask))
            for rule, mask in zip(theory, theory.covers(data.X).T, strict=True)
        }
        assert found == {(rule.head.label, tuple(rule.covers(data.X))) for rule in data.rules}
        assert (fitted.predict(data.X) == data.Y.to_numpy()).all()

    def test_with_noise_precision_stays_high(self):
        noisy = make_planted_rules(1000, noise=0.1, random_state=0)
        truth = np.column_stack(
            [
                np.any([r.covers(noisy.X) for r in noisy.rules if r.head.label == label], axis=0)
                for label in noisy.label_names
            ]
        )
        fitted = classifier(heuristic=MEstimate(16), phi=0.3, n_candidates=20_000)
        predicted = fitted.fit(noisy.X, noisy.Y).predict(noisy.X).astype(bool)
        assert (predicted & truth).sum() > 0.85 * predicted.sum()
        assert (predicted & truth).sum() > 0.9 * truth.sum()


class TestTheory:
    @settings(max_examples=40)
    @given(data_sets(max_rows=25), st.sampled_from([MEstimate(0), MEstimate(64), WRA()]))
    def test_at_phi_1_every_positive_that_can_be_covered_is(self, data, heuristic):
        X, Y = data
        theory = RuleSetClassifier(heuristic, 1.0, **FOREST).fit(X, Y).theory_
        # Recall takes the widest rules first: what it leaves uncovered nothing covers.
        widest = RuleSetClassifier("recall", 1.0, **FOREST).fit(X, Y).theory_
        for label, other in zip(theory.labels, widest.labels, strict=True):
            assert label.uncovered_positives == other.uncovered_positives

    @settings(max_examples=30)
    @given(data_sets(max_rows=25))
    def test_every_distinguishable_positive_is_covered_by_enough_trees(self, data):
        X, Y = data
        theory = RuleSetClassifier(MEstimate(2), 1.0, n_candidates=2000, random_state=0).fit(X, Y)
        predicted = theory.predict(X)
        rows = X.apply(lambda row: repr(tuple(row)), axis=1)
        complete = X.notna().all(axis=1)
        for j, label in enumerate(theory.theory_.labels):
            wanted = Y.iloc[:, j] == label.target_class
            if not 0 < wanted.sum() < len(X):
                continue
            pure = wanted.groupby(rows).transform("all") & complete
            assert (predicted[pure, j] == label.target_class).all()

    @given(data_sets(max_rows=25))
    @settings(max_examples=30)
    def test_the_minority_value_is_the_target(self, data):
        X, Y = data
        theory = RuleSetClassifier(**FOREST).fit(X, Y).theory_
        for label in theory.labels:
            # Less than half have it: presence. Exactly half: absence, as in the paper's text.
            assert label.target_class == int(2 * Y[label.name].sum() < len(Y))
        present = RuleSetClassifier(target="present", **FOREST).fit(X, Y).theory_
        assert all(label.target_class == 1 for label in present.labels)
        assert all(rule.head.target_class == 1 for rule in present)

    def test_a_smaller_phi_keeps_fewer_rules(self, data):
        sizes = [
            len(classifier(phi=phi).fit(data.X, data.Y).theory_) for phi in (0.05, 0.3, 0.6, 1.0)
        ]
        assert sizes == sorted(sizes)
        assert sizes[0] < sizes[-1]

    def test_phi_is_chosen_by_the_kind_of_target_unless_given(self, data):
        assert classifier().fit(data.X, data.Y).theory_.phi == 0.5
        assert classifier().fit(data.X, data.Y.iloc[:, 0]).theory_.phi == 1.0
        assert classifier(phi=0.2).fit(data.X, data.Y).theory_.phi == 0.2

    def test_a_larger_m_gives_shorter_rules(self, data):
        lengths = [
            np.mean([len(r) for r in classifier(heuristic=h, phi=1.0).fit(data.X, data.Y).theory_])
            for h in (MEstimate(0), MEstimate(64), MEstimate(2**19))
        ]
        assert lengths == sorted(lengths, reverse=True)


class TestSources:
    def test_candidates_of_ripper_are_ripper_s_rules(self, data):
        """Covering drops only rules that cover no further positive; one firing rule decides."""
        ripper = RipperClassifier(random_state=0).fit(data.X, data.Y)
        source = {"source": "ripper", "phi": 1.0, "decode": "each-label"}
        for preset in ("paper", "short"):
            fitted = classifier(preset=preset, **source).fit(data.X, data.Y)
            rules = {scored.rule for scored in fitted.theory_}
            assert rules <= {scored.rule for scored in ripper.theory_}
            missed = (fitted.predict(data.X) != ripper.predict(data.X)).mean()
            assert missed < 0.02
            assert all(scored.held_out is None for scored in fitted.theory_)

    def test_they_satisfy_constraints(self, numeric):
        X, Y = numeric
        Y = Y.assign(never=0)
        wanted = Constraints(forbidden=["word1"], given=["a ← word0 ≥ 3"])
        options = {"max_conditions": 1, "presence_only": True, "constraints": wanted}
        theory = classifier(source="ripper", phi=1.0, **options).fit(X, Y).theory_
        assert len(theory) > 1
        assert wanted.violations(theory) == []
        assert max(map(len, theory)) == 1
        assert all("<" not in str(scored.rule) and "≤" not in str(scored.rule) for scored in theory)

    def test_another_source_is_rejected(self, data):
        with pytest.raises(ValueError, match="source must be 'forest' or 'ripper', got 'trees'"):
            classifier(source="trees").fit(data.X, data.Y)


class TestHeuristics:
    @pytest.mark.parametrize("revalidate", [True, False])
    def test_a_function_or_subclass_learns_the_theory_of_what_it_mimics(self, data, revalidate):
        def precision(tp, fp, fn, tn):
            return tp / (tp + fp)

        class OwnPrecision(Heuristic):
            def __call__(self, tp, fp, fn, tn):
                return precision(tp, fp, fn, tn)

        known, *others = (
            list(classifier(heuristic=h, revalidate=revalidate).fit(data.X, data.Y).theory_)
            for h in (
                Precision(),
                precision,
                OwnPrecision(),
                "precision",
                MEstimate(0),
                FMeasure(0),
            )
        )
        assert len(known) > 3
        for other in others:
            assert other == known

    def test_values_are_those_of_the_whole_training_set(self, data):
        theory = classifier(heuristic=MEstimate(8)).fit(data.X, data.Y).theory_
        by_name = {label.name: label for label in theory.labels}
        for scored in theory.rules:
            label = by_name[scored.rule.head.label]
            counts = (
                scored.tp,
                scored.fp,
                label.n_positives - scored.tp,
                label.n_negatives - scored.fp,
            )
            assert scored.value == MEstimate(8)(*counts)

    def test_the_threshold_may_have_its_own_heuristic(self, data):
        theory = classifier(heuristic=WRA(), threshold_heuristic="precision", phi=0.2)
        values = [s.value for s in theory.fit(data.X, data.Y).theory_.rules]
        assert values
        assert min(values) > 0.5  # precisions; no weighted relative accuracy exceeds 1/4

    def test_ranking_once_differs_from_ranking_again(self, data):
        once = classifier(phi=1.0, revalidate=False).fit(data.X, data.Y).theory_
        assert once != classifier(phi=1.0).fit(data.X, data.Y).theory_

    def test_a_heuristic_of_the_wrong_shape_is_an_error(self, data):
        with pytest.raises(ValueError, match="must return one value for each rule"):
            classifier(heuristic=lambda *_: 1.0).fit(data.X, data.Y)


class TestReproducibility:
    def test_one_and_two_workers_learn_the_same(self, data):
        one, two = (classifier(n_jobs=n).fit(data.X, data.Y).theory_ for n in (1, 2))
        assert one.to_json() == two.to_json()

    def test_another_seed_learns_another_theory(self, data):
        assert (
            classifier().fit(data.X, data.Y).theory_
            != classifier(random_state=1).fit(data.X, data.Y).theory_
        )

    def test_random_state_may_be_a_generator_or_none(self, data):
        one, two = (
            classifier(random_state=np.random.RandomState(4)).fit(data.X, data.Y).theory_
            for _ in range(2)
        )
        assert one == two
        classifier(random_state=None, n_candidates=50).fit(data.X, data.Y)

    @pytest.mark.parametrize("wrong", [-1, "seed", 1.5])
    def test_an_invalid_seed_is_rejected(self, data, wrong):
        with pytest.raises(
            ValueError, match="random_state must be None, a RandomState or an integer"
        ):
            classifier(random_state=wrong).fit(data.X, data.Y)

    def test_rows_in_another_order_learn_the_same(self, data):
        order = np.random.default_rng(0).permutation(len(data.X))
        known = classifier().fit(data.X, data.Y)
        assert known.fit(data.X.iloc[order], data.Y.iloc[order]).theory_ == known.theory_


class TestForms:
    def test_every_form_of_a_numeric_table(self, numeric):
        X, Y = numeric
        known = classifier().fit(X.to_numpy(), Y)
        predicted = known.predict(X.to_numpy())
        assert predicted.sum() > 0
        forms = {
            "list": X.to_numpy().tolist(),
            "integers": X.to_numpy().astype(int),
            "objects": X.to_numpy().astype(object),
            "csr": to_csr(X),
            "csc": to_csr(X).tocsc(),
            "coo": to_csr(X).tocoo(),
            "csr matrix": sparse.csr_matrix(to_csr(X)),
        }
        for name, form in forms.items():
            other = classifier().fit(form, Y)
            assert other.theory_ == known.theory_, name
            assert other.predict(form).tolist() == predicted.tolist(), name
            assert known.predict(form).tolist() == predicted.tolist(), name

    def test_frames_dense_or_sparse(self, numeric):
        X, Y = numeric
        known = classifier().fit(X, Y)
        for form in (X.astype(int), to_sparse_frame(X), X.astype("Float64"), X.astype("float32")):
            other = classifier().fit(form, Y)
            assert other.theory_ == known.theory_
            assert other.predict(form).tolist() == known.predict(X).tolist()

    @settings(max_examples=30)
    @given(tables(nominal=False, min_rows=8), st.integers(0, 99))
    def test_listed_and_dense_storage_learn_the_same(self, X, seed):
        y = np.random.default_rng(seed).integers(0, 2, (len(X), 2))
        known = RuleSetClassifier(phi=1.0, **FOREST).fit(X.to_numpy(), y)
        other = RuleSetClassifier(phi=1.0, **FOREST).fit(to_csr(X), y)
        assert known.theory_ == other.theory_
        assert known.predict(X.to_numpy()).tolist() == other.predict(to_csr(X)).tolist()

    def test_every_form_of_the_labels(self, data):
        known = classifier().fit(data.X, data.Y.to_numpy())
        Y = data.Y.to_numpy()
        forms = [
            Y.tolist(),
            Y.astype(bool),
            Y.astype(float),
            sparse.csr_array(Y),
            sparse.csc_matrix(Y),
        ]
        for form in forms:
            assert classifier().fit(data.X, form).theory_ == known.theory_
        named = classifier().fit(data.X, data.Y).theory_
        assert list(named.label_names) == list(data.label_names)
        assert [rule.body for rule in named] == [rule.body for rule in known.theory_]
        booleans = classifier().fit(data.X, data.Y.astype(bool)).theory_
        assert booleans == named

    def test_text_is_nominal_in_arrays_and_lists(self):
        rows = [["red", 1.0], ["blue", 2.0], ["red", 3.0], ["blue", 4.0], ["blue", 1.0]] * 4
        y = [int(colour == "red") for colour, _ in rows]
        for form in (rows, np.array(rows, dtype=object)):
            fitted = classifier().fit(form, y)
            assert fitted.theory_.features[0].categories == ("blue", "red")
            assert not fitted.theory_.features[1].is_nominal
            assert fitted.predict(form).tolist() == y

    def test_the_callers_data_is_left_alone(self, data):
        X, Y = data.X.copy(), data.Y.copy()
        classifier().fit(X, Y).predict(X)
        assert X.equals(data.X)
        assert Y.equals(data.Y)


class TestOneDimensionalTargets:
    @pytest.mark.parametrize(
        "classes",
        [("no", "yes"), (0, 1), (False, True), (-1, 1), (2, 7), ("yes", "no"), (0.0, 1.0)],
        ids=repr,
    )
    def test_binary(self, data, classes):
        present = data.Y.iloc[:, 0].to_numpy()
        y = np.array(classes)[present]
        fitted = classifier().fit(data.X, y)
        assert fitted.classes_.tolist() == sorted(set(classes))
        predicted = fitted.predict(data.X)
        assert predicted.dtype == y.dtype
        assert (predicted == y).mean() > 0.85
        # The rules are for the rarer class, whatever it is called.
        assert len(fitted.theory_.labels) == 1
        assert fitted.theory_.classes == (classes[0], classes[1])
        probability = fitted.predict_proba(data.X)
        assert probability.shape == (len(y), 2)
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert (fitted.classes_[np.argmax(probability, axis=1)] == predicted).all()
        decision = fitted.decision_function(data.X)
        assert ((decision > 0) == (predicted == fitted.classes_[1])).all()

    def test_lists_and_series_of_classes(self, data):
        y = np.where(data.Y.iloc[:, 0] == 1, "yes", "no")
        known = classifier().fit(data.X, y).theory_
        assert classifier().fit(data.X, y.tolist()).theory_ == known
        assert classifier().fit(data.X, pd.Series(y)).theory_ == known
        assert classifier().fit(data.X, pd.Series(y).astype("category")).theory_ == known

    def test_multiclass(self):
        X, y = load_iris(return_X_y=True, as_frame=True)
        y = y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))
        fitted = classifier().fit(X, y)
        assert fitted.classes_.tolist() == ["setosa", "versicolor", "virginica"]
        assert fitted.theory_.label_names == ("setosa", "versicolor", "virginica")
        assert all(label.target_class == 1 for label in fitted.theory_.labels)
        predicted = fitted.predict(X)
        assert fitted.score(X, y) > 0.93
        probability = fitted.predict_proba(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert (fitted.classes_[np.argmax(probability, axis=1)] == predicted).all()
        decision = fitted.decision_function(X)
        assert (fitted.classes_[np.argmax(decision, axis=1)] == predicted).all()

    def test_a_number_of_a_continuous_target_is_rejected(self, data):
        with pytest.raises(ValueError, match="Unknown label type"):
            classifier().fit(data.X, np.linspace(0, 1, len(data.X)))


class TestProbabilities:
    def test_multilabel_scores_agree_with_predictions(self, data):
        fitted = classifier().fit(data.X, data.Y)
        predicted = fitted.predict(data.X)
        decision, probability = fitted.decision_function(data.X), fitted.predict_proba(data.X)
        assert decision.shape == probability.shape == data.Y.shape
        assert ((decision > 0) == (predicted == 1)).all()
        assert ((probability > 0.5) == (predicted == 1)).all()
        assert ((probability > 0) & (probability < 1)).all()

    def test_scores_rank_better_than_chance_where_the_labels_are_inverted_too(self, data):
        from sklearn.metrics import roc_auc_score

        inverted = 1 - data.Y
        fitted = classifier().fit(data.X, inverted)
        assert [label.target_class for label in fitted.theory_.labels] == [0, 0, 0]
        assert roc_auc_score(inverted, fitted.predict_proba(data.X)) > 0.8

    def test_presence_or_absence_is_the_same_theory_mirrored(self, data):
        known, mirrored = (classifier().fit(data.X, Y) for Y in (data.Y, 1 - data.Y))
        assert [r.body for r in known.theory_] == [r.body for r in mirrored.theory_]
        assert (known.predict(data.X) == 1 - mirrored.predict(data.X)).all()
        np.testing.assert_allclose(
            known.decision_function(data.X), -mirrored.decision_function(data.X)
        )


class TestSampleWeight:
    def test_an_integer_weight_is_a_number_of_copies(self, data):
        rng = np.random.default_rng(0)
        weight = rng.integers(0, 4, len(data.X))
        copies = rng.permutation(np.repeat(np.arange(len(data.X)), weight))
        weighted = classifier().fit(data.X, data.Y, sample_weight=weight)
        repeated = classifier().fit(data.X.iloc[copies], data.Y.iloc[copies])
        assert weighted.theory_ == repeated.theory_

    def test_for_sparse_tables_lists_and_classes(self, numeric):
        X, Y = numeric
        weight = np.arange(len(X)) % 3
        copies = np.repeat(np.arange(len(X)), weight)
        y = Y["a"].tolist()
        weighted = classifier().fit(to_csr(X), y, sample_weight=weight.tolist())
        repeated = classifier().fit(to_csr(X)[copies], Y["a"].to_numpy()[copies])
        assert weighted.theory_ == repeated.theory_

    def test_negative_weights_are_rejected_in_one_sentence(self, data):
        weight = np.ones(len(data.X))
        weight[3] = -1
        with pytest.raises(ValueError, match="sample_weight must be at least 0, got -1 for row 3"):
            classifier().fit(data.X, data.Y, sample_weight=weight)

    def test_no_weight_at_all_is_rejected(self, data):
        with pytest.raises(ValueError, match=r"[Ss]ample.?weight.* zero|non-zero"):
            classifier().fit(data.X, data.Y, sample_weight=np.zeros(len(data.X)))


class TestInScikitLearn:
    def test_clone_keeps_parameters_and_forgets_the_theory(self, data):
        fitted = classifier(heuristic=FMeasure(0.5), phi=0.3).fit(data.X, data.Y)
        fresh = clone(fitted)
        assert fresh.get_params() == fitted.get_params()
        assert not hasattr(fresh, "theory_")

    def test_pickled_it_predicts_the_same(self, data):
        fitted = classifier().fit(data.X, data.Y)
        again = pickle.loads(pickle.dumps(fitted))
        assert again.theory_ == fitted.theory_
        assert (again.predict(data.X) == fitted.predict(data.X)).all()

    def test_in_a_pipeline_with_columns_of_both_kinds(self, data):
        numbers = data.X.select_dtypes("number").columns
        words = data.X.columns.difference(numbers, sort=False)
        prepare = ColumnTransformer(
            [
                ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
                ("words", SimpleImputer(strategy="most_frequent"), words),
            ],
            verbose_feature_names_out=False,
        ).set_output(transform="pandas")
        pipeline = make_pipeline(prepare, classifier()).fit(data.X, data.Y)
        theory = pipeline[-1].theory_
        assert {f.name for f in theory.features if f.is_nominal} == set(words)
        assert pipeline.predict(data.X).shape == data.Y.shape
        assert (pipeline.predict(data.X) == data.Y.to_numpy()).mean() > 0.8

    def test_behind_an_encoder_of_arrays(self, data):
        words = data.X.select_dtypes(exclude="number").columns
        encode = ColumnTransformer([("words", OrdinalEncoder(), words)], remainder="passthrough")
        pipeline = make_pipeline(encode, classifier()).fit(data.X, data.Y)
        assert pipeline.predict(data.X).shape == data.Y.shape

    def test_grid_search_over_heuristic_and_phi(self, data):
        grid = {"heuristic": [MEstimate(2), MEstimate(64), "wra"], "phi": [0.3, 1.0]}
        search = GridSearchCV(
            classifier(n_candidates=200), grid, scoring=get_scorer("f1_micro"), cv=3
        ).fit(data.X, data.Y)
        assert search.best_params_.keys() == grid.keys()
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.predict(data.X).shape == data.Y.shape

    @pytest.mark.parametrize("scoring", ["accuracy", "f1_micro", "jaccard_micro", "roc_auc"])
    def test_cross_validation_with_scikit_learns_scorers(self, data, scoring):
        scores = cross_validate(
            classifier(n_candidates=200), data.X, data.Y, scoring=scoring, cv=3, error_score="raise"
        )["test_score"]
        assert ((scores >= 0) & (scores <= 1)).all()

    def test_score_is_subset_accuracy_for_labels(self, data):
        fitted = classifier().fit(data.X, data.Y)
        expected = (fitted.predict(data.X) == data.Y.to_numpy()).all(axis=1).mean()
        assert fitted.score(data.X, data.Y) == pytest.approx(expected)

    def test_its_printed_form_names_what_differs_from_the_defaults(self):
        assert (
            repr(RuleSetClassifier(MEstimate(2))) == "RuleSetClassifier(heuristic=MEstimate(m=2))"
        )


class TestNames:
    def test_rules_use_the_names_of_the_columns(self, data):
        fitted = classifier().fit(data.X, data.Y)
        assert fitted.feature_names_in_.tolist() == data.X.columns.tolist()
        assert fitted.n_features_in_ == data.X.shape[1]
        assert {c.feature for rule in fitted.theory_ for c in rule.body} <= set(data.X.columns)

    def test_another_column_order_is_scikit_learns_error_and_the_theory_reads_by_name(self, data):
        fitted = classifier().fit(data.X, data.Y)
        turned = data.X.iloc[:, ::-1]
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            fitted.predict(turned)
        assert (fitted.theory_.predict(turned).to_numpy() == fitted.predict(data.X)).all()

    def test_an_array_for_a_frame_is_scikit_learns_warning(self, numeric):
        X, Y = numeric
        fitted = classifier().fit(X, Y)
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            predicted = fitted.predict(X.to_numpy())
        assert (predicted == fitted.predict(X)).all()

    def test_columns_without_string_names(self, numeric):
        X, Y = numeric
        numbered = X.set_axis(range(X.shape[1]), axis=1)
        fitted = classifier().fit(numbered, Y)
        assert not hasattr(fitted, "feature_names_in_")
        assert [f.name for f in fitted.theory_.features] == list("012345")
        assert (fitted.predict(numbered) == classifier().fit(X, Y).predict(X)).all()

    def test_a_theory_read_from_a_file_predicts_as_the_classifier(self, data, tmp_path):
        fitted = classifier().fit(data.X, data.Y)
        fitted.theory_.to_json(tmp_path / "theory.json")
        theory = Theory.from_json(tmp_path / "theory.json")
        assert (theory.predict(data.X).to_numpy() == fitted.predict(data.X)).all()


class TestPath:
    @pytest.mark.parametrize("name", ["heuristic", "phi", "min_value", "decode"])
    def test_what_a_cell_has_does_not_apply_to_all_of_them(self, data, name):
        with pytest.raises(TypeError, match=f"a path has no single {name}"):
            theory_path(data.X, data.Y, **{name: None})

    def test_wrong_parameters_are_rejected(self, data):
        with pytest.raises(ValueError, match=r"^n_trees must be"):
            theory_path(data.X, data.Y, n_trees=0)
        with pytest.raises(ValueError, match="must each have at least one entry"):
            theory_path(data.X, data.Y, [])
        with pytest.raises(ValueError, match="phi must be a number above 0"):
            theory_path(data.X, data.Y, phis=[2])


def test_progress_is_shown_only_when_asked_for(data, capfd):
    classifier().fit(data.X, data.Y)
    quiet = capfd.readouterr()
    assert quiet.out == quiet.err == ""
    classifier(verbose=1).fit(data.X, data.Y)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "candidates" in shown.err
