"""BoostedRulesClassifierCV: the decoder and the m that brute force would choose."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_validate

from planted_targets import TARGETS, make_three_labels
from steelyard import (
    BestLabel,
    BestLabelSet,
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    EachLabel,
    LabelSetVotes,
)
from steelyard.estimators.presets import TUNED_BOOSTED_DECODERS
from steelyard.measures import get_scorer

GROWN = {"max_rules": 30, "n_tries": 2, "random_state": 0}
DECODE = [EachLabel(), EachLabel(0.3), BestLabelSet(), LabelSetVotes(0.4)]
MS = [1.0, 64.0]
SPLITS = list(KFold(3, shuffle=True, random_state=0).split(np.empty(120)))


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.05)


def tuned(scoring="f1_micro", **options):
    return BoostedRulesClassifierCV(scoring, **({"cv": 2} | GROWN | options))


SCORINGS = ("f1_micro", "subset", "f1_samples", "roc_auc")


@pytest.fixture(scope="module")
def brute_force(data):
    """The scores of each cell on each fold, cell by cell."""
    scorers = {name: get_scorer(name) for name in SCORINGS}
    results = [
        cross_validate(
            BoostedRulesClassifier(m, decode=decode, **GROWN),
            *data,
            scoring=scorers,
            cv=SPLITS,
            error_score="raise",
        )
        for decode in DECODE
        for m in MS
    ]
    return {name: np.array([found[f"test_{name}"] for found in results]) for name in SCORINGS}


class TestChoosing:
    @pytest.mark.filterwarnings("ignore:F-score is ill-defined")  # scikit-learn's, of empty rows
    @pytest.mark.parametrize("scoring", SCORINGS)
    def test_the_best_cell_is_that_of_brute_force(self, data, brute_force, scoring):
        fitted = tuned(scoring, ms=MS, decode=DECODE, cv=SPLITS).fit(*data)
        scores = brute_force[scoring]
        found = np.column_stack([fitted.cv_results_[f"split{i}_test_score"] for i in range(3)])
        np.testing.assert_allclose(found, scores, atol=1e-12)
        assert fitted.best_score_ == pytest.approx(scores.mean(axis=1).max())
        refitted = BoostedRulesClassifier(**fitted.best_params_, **GROWN).fit(*data)
        assert fitted.theory_ == refitted.theory_

    def test_results_have_the_parameters_that_were_chosen_from_and_no_others(self, data):
        results = tuned(ms=MS, decode=DECODE).fit(*data).cv_results_
        assert list(results)[:2] == ["decode", "m"]
        assert results["m"].tolist() == MS * len(DECODE)
        assert results["decode"].tolist() == [decode for decode in DECODE for _ in MS]
        assert not {"phi", "heuristic", "prune", "max_features"} & results.keys()

    def test_without_a_list_the_decoder_is_chosen_with_one_m(self, data):
        cells = BoostedRulesClassifierCV().list_cells()
        assert cells == [{"decode": d, "m": 16.0} for d in TUNED_BOOSTED_DECODERS]
        assert tuned().fit(*data).cv_results_["decode"].tolist() == TUNED_BOOSTED_DECODERS

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_one_class_per_row_has_no_label_sets_to_choose_from(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        decoders = tuned("accuracy").fit(X, y).cv_results_["decode"]
        thresholds = [d for d in TUNED_BOOSTED_DECODERS if isinstance(d, EachLabel)]
        assert list(decoders) == (thresholds if output == "binary" else [BestLabel()])
        with pytest.raises(ValueError, match=f"does not apply to a {output} target"):
            tuned("accuracy", decode=["best-label-set"]).fit(X, y)

    def test_the_chosen_threshold_is_that_of_the_refitted_theory(self, data):
        X, y = data[0], TARGETS["binary"](data[1])

        def count_yes(estimator, X, y):
            return float((estimator.predict(X) == "yes").mean())

        fitted = tuned(count_yes, decode=[EachLabel(0.5), EachLabel(0.2)]).fit(X, y)
        assert fitted.best_params_ == {"decode": EachLabel(0.2), "m": 16.0}
        assert fitted.theory_ == (
            BoostedRulesClassifier(decode=EachLabel(0.2), **GROWN).fit(X, y).theory_
        )


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
            ({"tolerance": -1}, "tolerance must be a number of at least 0, got -1"),
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
