"""Presets: they speak for what is left open, and tuning chooses among what they offer."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from planted_targets import TARGETS, make_three_labels
from steelyard import (
    MEstimate,
    RuleSetClassifier,
    RuleSetClassifierCV,
)
from steelyard.estimators.presets import PRESETS, TUNED_CHOICES
from steelyard.estimators.rule_set import effective_parameters
from steelyard.estimators.tuning import TUNING_GRID, WEIGHTED_GRID, choose_cell
from steelyard.heuristics import describe
from steelyard.learning.candidates import PAPER_DEPTHS
from steelyard.measures import get_scorer
from steelyard.model.decoding import EachLabel, LabelSets, get_decoding
from steelyard.model.thresholding import PHI_GRID
from strategies import random_generators

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")

FOREST = {"n_candidates": 200, "n_trees": 2, "random_state": 0}
HEURISTICS = [MEstimate(1), MEstimate(32)]
PHIS = [1.0, 0.3]


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.05)


def tuned(scoring="f1_micro", **options):
    options = {"heuristics": HEURISTICS, "phis": PHIS, "cv": 3} | FOREST | options
    return RuleSetClassifierCV(scoring, **options)


class TestOneTheory:
    @pytest.mark.parametrize("output", TARGETS)
    def test_the_paper_is_what_an_estimator_does_without_a_preset(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        plain = RuleSetClassifier(**FOREST).fit(X, y).theory_
        said = {"prune": None, "combine": "any", "decode": "any"}
        for options in ({"preset": "paper"}, said):
            same = RuleSetClassifier(**options, **FOREST).fit(X, y)
            assert same.theory_.to_json() == plain.to_json()
        assert not plain.has_points

    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_preset_is_short_for_its_parameters(self, data, preset):
        named = RuleSetClassifier(preset=preset, **FOREST).fit(*data)
        spelled = RuleSetClassifier(**(PRESETS[preset] | FOREST)).fit(*data)
        assert named.theory_.to_json() == spelled.theory_.to_json()

    def test_presets_give_different_theories(self, data):
        theories = [RuleSetClassifier(preset=p, **FOREST).fit(*data).theory_ for p in PRESETS]
        assert len({theory.to_json() for theory in theories}) == len(PRESETS) == 3
        assert [t.combine for t in theories] == ["any", "any", "weighted"]
        assert [t.label_sets is not None for t in theories] == [False, True, True]

    def test_pruned_rules_are_shorter(self, data):
        paper, short = (
            RuleSetClassifier(preset=p, phi=1.0, **FOREST).fit(*data).theory_
            for p in ("paper", "short")
        )
        assert short.n_conditions / len(short) < paper.n_conditions / len(paper)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("prune", "prefix"),
            ("prune", None),
            ("combine", "weighted"),
            ("combine", "any"),
            ("decode", "any"),
            ("decode", LabelSets(0.1)),
            ("max_features", 3),
            ("max_features", "sqrt"),
            ("max_depths", (2,)),
            ("max_depths", [None]),
            ("n_candidates", 77),
        ],
    )
    @pytest.mark.parametrize("preset", PRESETS)
    def test_what_is_said_wins_over_the_preset(self, preset, name, value):
        parameters = effective_parameters(RuleSetClassifier(preset=preset, **{name: value}))
        assert parameters[name] == value
        expected = RuleSetClassifier().get_params() | PRESETS[preset] | {name: value}
        assert parameters == expected | {"preset": preset}

    def test_depths_may_be_an_array(self, data):
        options = FOREST | {"preset": "accurate"}
        array, same = (
            RuleSetClassifier(max_depths=depths, **options).fit(*data).theory_
            for depths in (np.array([1, 2]), (1, 2))
        )
        assert array == same

    def test_what_is_said_is_done(self, data):
        options = FOREST | {"preset": "short"}
        plain = RuleSetClassifier(decode="any", prune=None, **options).fit(*data)
        left_open = {name: PRESETS["short"][name] for name in ("max_features", "max_depths")}
        same = RuleSetClassifier(**left_open, **FOREST).fit(*data)
        assert plain.theory_.to_json() == same.theory_.to_json()

    def test_every_vote_is_kept_unless_a_share_is_said(self, data):
        automatic, whole, half = (
            RuleSetClassifier(preset="accurate", phi=phi, **FOREST).fit(*data).theory_
            for phi in ("auto", 1.0, 0.5)
        )
        assert automatic == whole
        assert len(half) < len(whole)

    def test_the_defaults_of_the_estimators_are_those_that_presets_replace(self):
        for kind in (RuleSetClassifier, RuleSetClassifierCV):
            parameters = kind().get_params()
            assert parameters["max_features"] == "log2"
            assert parameters["max_depths"] == PAPER_DEPTHS
            assert parameters["n_candidates"] == 300_000
            assert [parameters[n] for n in ("prune", "combine", "decode")] == ["auto"] * 3


class TestOneClassARow:
    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_preset_predicts_each_class_by_itself(self, data, preset, output):
        X, y = data[0], TARGETS[output](data[1])
        fitted = RuleSetClassifier(preset=preset, **FOREST).fit(X, y)
        assert fitted.theory_.output == output
        assert fitted.theory_.label_sets is None
        each = RuleSetClassifier(preset=preset, decode="any", **FOREST).fit(X, y)
        assert fitted.theory_ == each.theory_
        guess = pd.Series(y).value_counts(normalize=True).iloc[0]
        assert fitted.score(X, y) > guess

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_label_sets_that_are_asked_for_are_refused(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        with pytest.raises(ValueError, match="label sets are for multi-label targets; this y has"):
            RuleSetClassifier(decode="label-sets", **FOREST).fit(X, y)

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    @pytest.mark.parametrize("preset", ["short", "accurate"])
    def test_tuning_does_not_need_sets_of_labels(self, data, preset, output):
        X, y = data[0], TARGETS[output](data[1])
        fitted = tuned("accuracy", preset=preset).fit(X, y)
        assert fitted.theory_.label_sets is None
        assert all(decode.startswith("any") for decode in fitted.cv_results_["decode"])

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_tuning_with_nothing_but_label_sets_predicts_each_class_by_itself(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        sets, each = (tuned("accuracy", decode=d, cv=2).fit(X, y) for d in ("label-sets", "any"))
        assert sets.theory_ == each.theory_
        # What was chosen can be learned again with what the tuning says of it.
        assert sets.best_params_ == each.best_params_
        assert RuleSetClassifier(**sets.best_params_, **FOREST).fit(X, y).theory_ == sets.theory_

    def test_the_chosen_probability_is_that_of_the_refitted_theory(self, data):
        X, y = data[0], TARGETS["binary"](data[1])

        def count_yes(estimator, X, y):
            return float((estimator.predict(X) == "yes").mean())

        decodings = [EachLabel(0.5), EachLabel(0.2)]
        fitted = tuned(count_yes, combine="weighted", decode=decodings).fit(X, y)
        assert fitted.best_decoding_ == EachLabel(0.2)
        same = RuleSetClassifier(**fitted.best_params_, **FOREST).fit(X, y)
        assert fitted.theory_ == same.theory_
        other = RuleSetClassifier(**(fitted.best_params_ | {"decode": "any"}), **FOREST).fit(X, y)
        assert fitted.theory_ != other.theory_


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"preset": "fast"}, "preset must be one of 'paper', 'short', 'accurate', got 'fast'"),
            ({"preset": None}, "preset must be one of 'paper', 'short', 'accurate', got None"),
            ({"preset": ["short"]}, "preset must be one of 'paper', 'short', 'accurate', got"),
            ({"prune": "all"}, "prune must be None, 'oob' or 'prefix', got 'all'"),
            ({"prune": True}, "prune must be None, 'oob' or 'prefix', got True"),
            ({"combine": "votes"}, "combine must be 'any' or 'weighted', got 'votes'"),
            ({"combine": None}, "combine must be 'any' or 'weighted', got None"),
            ({"decode": "sets"}, "decode must be 'any', 'label-sets', an EachLabel or a LabelSets"),
            ({"decode": None}, "decode must be 'any', 'label-sets', an EachLabel or a LabelSets"),
            ({"max_rules": 0}, "max_rules must be a whole number of at least 1, got 0"),
            ({"max_rules": 2.5}, "max_rules must be a whole number of at least 1, got 2.5"),
            ({"max_rules": "all"}, "max_rules must be a whole number of at least 1, got 'all'"),
            ({"max_rules": True}, "max_rules must be a whole number of at least 1, got True"),
        ],
        ids=lambda value: str(value) if isinstance(value, dict) else "",
    )
    @pytest.mark.parametrize("make", [RuleSetClassifier, tuned], ids=["one", "tuned"])
    def test_what_is_not_known_is_said_in_one_sentence(self, data, make, options, sentence):
        options = (FOREST if make is RuleSetClassifier else {}) | options
        with pytest.raises(ValueError) as error:  # noqa: PT011
            make(**options).fit(*data)
        assert str(error.value).startswith(sentence)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("wrong", [-1, -0.1, np.nan, np.inf, "1", None, True])
    def test_a_tolerance_is_at_least_0(self, data, wrong):
        with pytest.raises(ValueError, match=r"^tolerance must be a number of at least 0, got"):
            tuned(tolerance=wrong).fit(*data)

    @pytest.mark.parametrize("name", ["max_features", "prune", "combine", "decode"])
    def test_an_empty_list_leaves_nothing_to_choose_from(self, data, name):
        with pytest.raises(ValueError, match="must each have at least one entry"):
            tuned(**{name: []}).fit(*data)

    @pytest.mark.parametrize(
        "options", [{"prune": [None, "all"]}, {"combine": ["votes"]}, {"decode": ["any", "sets"]}]
    )
    def test_every_entry_of_a_list_must_be_known(self, data, options):
        (name,) = options
        with pytest.raises(ValueError, match=f"^{name} must be"):
            tuned(**options).fit(*data)

    def test_pruning_is_for_those_of_several_combinations_that_it_fits(self, data):
        fitted = tuned(preset="short", combine=["any", "weighted"], decode="any", cv=2).fit(*data)
        tried = set(zip(fitted.cv_results_["combine"], fitted.cv_results_["prune"], strict=True))
        assert tried == {("any", "oob"), ("weighted", None)}

    def test_what_does_not_fit_together_is_said_before_anything_is_learned(self, data):
        options = {"combine": "weighted", "prune": "oob"}

        def never(estimator, X, y):
            raise AssertionError("a theory was scored")

        with pytest.raises(ValueError, match="rules that vote are not pruned"):
            tuned(never, **options).fit(*data)


CHOICES = {
    "max_features": ["log2", 0.5],
    "prune": [None, "oob", "prefix"],
    "decode": ["any", LabelSets(), LabelSets(0.0, 0.1)],
}
SPLITS = list(KFold(3, shuffle=True, random_state=0).split(np.empty(120)))


@pytest.fixture(scope="module")
def chosen(data):
    return tuned(cv=SPLITS, **CHOICES).fit(*data)


def to_records(results):
    """One dictionary an entry; not by pandas, in which None would be NaN."""
    return [dict(zip(results, row, strict=True)) for row in zip(*results.values(), strict=True)]


class TestTuning:
    def test_one_entry_a_combination(self, chosen):
        names = ("max_features", "prune", "combine", "decode", "heuristic", "phi")
        found = [tuple(entry[n] for n in names) for entry in to_records(chosen.cv_results_)]
        decodings = [str(get_decoding(decode)) for decode in CHOICES["decode"]]
        expected = itertools.product(
            CHOICES["max_features"],
            CHOICES["prune"],
            ["any"],
            decodings,
            map(describe, HEURISTICS),
            PHIS,
        )
        assert found == list(expected)

    def test_each_entry_is_what_a_classifier_of_its_own_scores(self, data, chosen):
        X, Y = data
        scorer = get_scorer("f1_micro")
        decodings = {str(get_decoding(d)): d for d in CHOICES["decode"]}
        train, test = SPLITS[1]
        for entry in to_records(chosen.cv_results_)[::5]:
            classifier = RuleSetClassifier(
                MEstimate(entry["parameter"]),
                entry["phi"],
                max_features=entry["max_features"],
                prune=entry["prune"],
                combine=entry["combine"],
                decode=decodings[entry["decode"]],
                **FOREST,
            ).fit(X.iloc[train], Y.iloc[train])
            expected = scorer(classifier, X.iloc[test], Y.iloc[test])
            assert entry["split1_test_score"] == pytest.approx(expected)

    def test_the_best_entry_is_refitted_as_its_parameters_say(self, data, chosen):
        best = to_records(chosen.cv_results_)[chosen.best_index_]
        assert chosen.best_score_ == max(chosen.cv_results_["mean_test_score"])
        assert chosen.best_params_ == {
            "max_features": best["max_features"],
            "prune": best["prune"],
            "combine": best["combine"],
            "decode": chosen.best_decoding_,
            "heuristic": chosen.best_heuristic_,
            "phi": best["phi"],
        }
        assert str(chosen.best_decoding_) == best["decode"]
        same = RuleSetClassifier(**chosen.best_params_, **FOREST).fit(*data)
        assert chosen.theory_.to_json() == same.theory_.to_json()

    @pytest.mark.parametrize("preset", PRESETS)
    def test_the_choice_that_a_preset_offers(self, data, preset):
        fitted = tuned(preset=preset, cv=2, phis=[1.0]).fit(*data)
        offered = TUNED_CHOICES[preset].get("decode", [EachLabel()])
        decode = pd.Series(fitted.cv_results_["decode"])
        assert decode.unique().tolist() == list(map(str, offered))
        shared = {
            k: v for k, v in PRESETS[preset].items() if k in ("max_depths", "sample_fraction")
        }
        same = RuleSetClassifier(**(fitted.best_params_ | shared | FOREST)).fit(*data)
        assert fitted.theory_.to_json() == same.theory_.to_json()

    @pytest.mark.parametrize("preset", PRESETS)
    def test_the_shares_that_a_preset_offers_unless_others_are_said(self, data, preset):
        options = {"heuristics": [MEstimate(8)], "decode": "any", "cv": 2, **FOREST}
        offered = TUNED_CHOICES[preset].get("phis", PHI_GRID)
        fitted = RuleSetClassifierCV(preset=preset, **options).fit(*data)
        assert fitted.cv_results_["phi"].tolist() == list(offered)
        said = RuleSetClassifierCV(preset=preset, phis=np.array(PHIS), **options).fit(*data)
        assert said.cv_results_["phi"].tolist() == PHIS

    def test_a_list_wins_over_what_a_preset_offers(self, data):
        fitted = tuned(preset="accurate", decode=["any"], max_features=[2, 3], cv=2).fit(*data)
        assert set(fitted.cv_results_["decode"]) == {"any"}
        assert set(fitted.cv_results_["max_features"]) == {2, 3}
        assert set(fitted.cv_results_["combine"]) == {"weighted"}

    def test_the_grid_of_heuristics_goes_with_the_way_to_combine(self, data):
        options = {"heuristics": None, "phis": [1.0], "cv": 2}
        fitted = tuned(combine=["any", "weighted"], **options).fit(*data)
        results = pd.DataFrame(fitted.cv_results_)
        of = results.groupby("combine", sort=False).parameter.agg(list)
        assert of["any"] == [h.m for h in TUNING_GRID]
        assert of["weighted"] == [h.m for h in WEIGHTED_GRID]

    def test_tuning_with_the_paper_is_tuning_without_a_preset(self, data):
        plain = tuned().fit(*data)
        for options in ({"preset": "paper"}, {"prune": [None], "decode": [EachLabel()]}):
            same = tuned(**options).fit(*data)
            assert same.theory_.to_json() == plain.theory_.to_json()
            assert same.best_score_ == plain.best_score_

    def test_workers_do_not_matter(self, data):
        one, two = (tuned(preset="accurate", cv=2, n_jobs=n).fit(*data) for n in (1, 2))
        assert one.theory_.to_json() == two.theory_.to_json()
        assert one.best_params_ == two.best_params_


def choose_plainly(scores, n_conditions, tolerance):
    """One cell after the other: the fewest conditions, then the best mean, then the first."""
    n_folds, n_cells = scores.shape
    mean = [sum(scores[:, c]) / n_folds for c in range(n_cells)]
    best = min(range(n_cells), key=lambda c: (-mean[c], n_conditions[c], c))
    close = []
    for c in range(n_cells):
        difference = [scores[k, best] - scores[k, c] for k in range(n_folds)]
        centre = sum(difference) / n_folds
        variance = sum((d - centre) ** 2 for d in difference) / (n_folds - 1)
        if centre <= tolerance * (variance / n_folds) ** 0.5 + 1e-12:
            close.append(c)
    return min(close, key=lambda c: (n_conditions[c], -mean[c], c))


class TestTolerance:
    @settings(max_examples=150)
    @given(random_generators(), st.integers(2, 6), st.sampled_from([0.5, 1.0, 3.0]))
    def test_the_fewest_conditions_within_so_many_standard_errors(self, rng, n_folds, tolerance):
        scores = rng.random((n_folds, 9)) * 0.3
        n_conditions = rng.integers(0, 5, 9).astype(float)
        chosen = choose_cell(scores, n_conditions, tolerance)
        assert chosen == choose_plainly(scores, n_conditions, tolerance)

    def test_without_a_tolerance_the_best_mean_wins(self):
        scores = np.array([[0.5, 0.9], [0.5, 0.1 + 1e-9]])
        assert choose_cell(scores, np.array([1, 1000])) == 1
        assert choose_cell(scores, np.array([1, 1000]), 0.1) == 0

    def test_a_cell_that_is_worse_by_the_same_in_every_fold_is_out_of_reach(self):
        scores = np.array([[0.5, 0.625], [0.25, 0.375]])
        assert choose_cell(scores, np.array([1, 1000]), 1000.0) == 1

    def test_an_undefined_score_is_never_chosen(self):
        scores = np.array([[np.nan, 0.2, 0.1], [0.9, 0.2, 0.3]])
        assert choose_cell(scores, np.array([1, 5, 7]), 5.0) == 1

    def test_one_fold_tells_no_error(self):
        assert choose_cell(np.array([[0.5, 0.6]]), np.array([1, 9]), 5.0) == 1

    def test_a_tolerant_choice_is_smaller_and_close(self, data):
        strict, tolerant = (tuned(phis=[1, 0.6, 0.3, 0.1], tolerance=t).fit(*data) for t in (0, 2))
        results = pd.DataFrame(strict.cv_results_)
        n_conditions = results.mean_n_conditions * results.mean_n_rules
        best, chosen = strict.best_index_, tolerant.best_index_
        assert n_conditions[chosen] < n_conditions[best]
        assert tolerant.theory_.n_conditions < strict.theory_.n_conditions
        folds = results[[f"split{i}_test_score" for i in range(3)]].to_numpy()
        difference = folds[best] - folds[chosen]
        assert difference.mean() <= 2 * difference.std(ddof=1) / np.sqrt(3)
        assert tolerant.best_score_ == results.mean_test_score[chosen]

    @pytest.mark.parametrize("number", [np.float64(1), np.float32(1), np.int64(1), 1])
    def test_any_number_is_a_number(self, data, number):
        assert tuned(tolerance=number, cv=2).fit(*data).best_index_ >= 0


class TestManners:
    @pytest.mark.parametrize("preset", PRESETS)
    def test_clone_and_pickle_keep_what_was_said_and_learned(self, data, preset):
        fitted = RuleSetClassifier(preset=preset, decode=LabelSets(0.2), **FOREST).fit(*data)
        again = pickle.loads(pickle.dumps(fitted))
        assert again.theory_ == fitted.theory_
        assert (again.predict(data[0]) == fitted.predict(data[0])).all()
        fresh = clone(fitted)
        assert not hasattr(fresh, "theory_")
        assert fresh.get_params() == fitted.get_params()
        assert fresh.fit(*data).theory_ == fitted.theory_

    def test_fitting_leaves_the_parameters_as_they_were_said(self, data):
        model = RuleSetClassifier(preset="accurate", **FOREST)
        before = model.get_params()
        model.fit(*data)
        assert model.get_params() == before
        assert model.decode == model.combine == model.prune == "auto"

    def test_a_preset_can_be_set_later(self, data):
        model = RuleSetClassifier(**FOREST).set_params(preset="accurate", max_rules=7)
        same = RuleSetClassifier(preset="accurate", max_rules=7, **FOREST)
        assert model.fit(*data).theory_ == same.fit(*data).theory_
        back = model.set_params(preset="paper").fit(*data)
        assert back.theory_ == RuleSetClassifier(**FOREST).fit(*data).theory_

    def test_a_tuned_model_keeps_its_choice(self, data):
        fitted = tuned(preset="accurate", cv=2, tolerance=1.0).fit(*data)
        again = pickle.loads(pickle.dumps(fitted))
        assert again.best_params_ == fitted.best_params_
        assert again.theory_ == fitted.theory_
        fresh = clone(fitted)
        assert fresh.get_params() == fitted.get_params()
        assert not hasattr(fresh, "best_params_")


FEW = {"n_candidates": 100, "n_trees": 2}


@parametrize_with_checks(
    [
        RuleSetClassifier(preset="short", **FEW),
        RuleSetClassifier(preset="accurate", max_rules=30, **FEW),
        RuleSetClassifierCV(preset="accurate", phis=[1.0], cv=2, max_rules=30, **FEW),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
