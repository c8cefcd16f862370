"""BoostedRulesClassifier: rules that vote as scikit-learn expects it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from planted_targets import TARGETS, make_three_labels
from steelyard import BestLabel, BestLabelSet, BoostedRulesClassifier, EachLabel
from steelyard.learning.settings import BoostingSettings

GROWN = {"max_rules": 30, "n_tries": 2, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.05)


class TestParameters:
    def test_the_defaults_are_those_of_boosting(self):
        assert BoostedRulesClassifier()._settings() == BoostingSettings()

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("m", 256.0),
            ("phi", 0.5),
            ("max_rules", 7),
            ("max_conditions", 1),
            ("max_conditions", None),
            ("n_tries", 1),
            ("sample_fraction", 1.0),
            ("max_features", 1),
            ("decode", "each-label"),
            ("calibrate", 3),
            ("random_state", 1),
        ],
    )
    def test_each_does_something(self, data, name, value):
        plain = BoostedRulesClassifier(**GROWN).fit(*data).theory_
        other = BoostedRulesClassifier(**(GROWN | {name: value})).fit(*data).theory_
        assert other.to_json() != plain.to_json()

    @pytest.mark.parametrize("max_rules", [1, 9, 60])
    def test_there_are_at_most_so_many_rules_of_so_many_conditions(self, data, max_rules):
        options = GROWN | {"max_rules": max_rules, "max_conditions": 2}
        theory = BoostedRulesClassifier(**options).fit(*data).theory_
        assert 0 < len(theory) <= max_rules
        assert max(map(len, theory)) <= 2

    def test_a_share_of_the_votes_are_those_that_lower_the_loss_most(self, data):
        def learn(**options):
            return BoostedRulesClassifier(**GROWN | options).fit(*data).theory_

        whole, half = learn(max_rules=180), learn(max_rules=180, phi=0.5)
        least = min(scored.value for scored in half)
        assert [scored.rule for scored in half] == [s.rule for s in whole if s.value >= least]
        assert 90 <= len(half) < 120  # a rule can have several votes
        assert len(learn(max_rules=180, phi=0.01)) == 2

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"m": -1}, "m must be a finite number of at least 0, got -1"),
            ({"m": "16"}, "m must be a finite number of at least 0, got '16'"),
            ({"phi": 0}, "phi must be a number above 0 and at most 1, got 0"),
            ({"phi": 0.5, "condense": "labels"}, "condense requires phi=1"),
            ({"phi": 0.5, "min_rules_per_label": 1}, "min_rules_per_label requires phi=1"),
            ({"max_rules": 0}, "max_rules must be an integer of at least 1, got 0"),
            ({"max_rules": True}, "max_rules must be an integer of at least 1, got True"),
            ({"max_conditions": 0}, "max_conditions must be an integer of at least 1, got 0"),
            ({"n_tries": 0}, "n_tries must be an integer from 1 to 1,000,000, got 0"),
            ({"max_features": None}, "max_features must be 'log2', 'sqrt'"),
            ({"sample_fraction": 0}, "sample_fraction must be a number above 0"),
            ({"decode": "sets"}, "decode must be"),
            ({"random_state": -1}, "random_state must be None, a RandomState or an integer"),
        ],
        ids=lambda value: str(value) if isinstance(value, dict) else "",
    )
    def test_a_wrong_value_is_named_in_one_sentence(self, data, options, sentence):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            BoostedRulesClassifier(**options).fit(*data)
        assert str(error.value).startswith(sentence)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("name", ["preset", "min_value", "target", "n_candidates"])
    def test_parameters_of_rule_sets_do_not_exist(self, name):
        with pytest.raises(TypeError, match=name):
            BoostedRulesClassifier(**{name: None})


class TestDecoding:
    def test_label_sets_for_several_labels(self, data):
        plain, spelled = (
            BoostedRulesClassifier(decode=decode, **GROWN).fit(*data).theory_
            for decode in (None, BestLabelSet())
        )
        assert plain == spelled
        assert isinstance(plain.decoder, BestLabelSet)
        assert plain.decoder.known is not None

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_no_label_sets_for_one_class_per_row(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        decoder = BestLabel() if output == "multiclass" else EachLabel()
        plain, spelled = (
            BoostedRulesClassifier(decode=decode, **GROWN).fit(X, y) for decode in (None, decoder)
        )
        assert plain.theory_ == spelled.theory_
        assert plain.theory_.decoder == decoder
        assert set(plain.theory_.classes) == set(y)
        assert plain.score(X, y) > pd.Series(y).value_counts(normalize=True).iloc[0]
        with pytest.raises(ValueError, match=f"does not apply to a {output} target"):
            BoostedRulesClassifier(decode=BestLabelSet(), **GROWN).fit(X, y)

    def test_a_lower_threshold_predicts_more_labels(self, data):
        counts = [
            BoostedRulesClassifier(decode=EachLabel(p), **GROWN).fit(*data).predict(data[0]).sum()
            for p in (0.7, 0.5, 0.2)
        ]
        assert counts == sorted(counts)
        assert counts[0] < counts[-1]


class TestConventions:
    def test_clone_and_pickle_keep_parameters_and_theory(self, data):
        fitted = BoostedRulesClassifier(8, decode=BestLabelSet(0.2), **GROWN).fit(*data)
        again = pickle.loads(pickle.dumps(fitted))
        assert again.theory_ == fitted.theory_
        assert (again.predict(data[0]) == fitted.predict(data[0])).all()
        fresh = clone(fitted)
        assert not hasattr(fresh, "theory_")
        assert fresh.get_params() == fitted.get_params()
        assert fresh.fit(*data).theory_ == fitted.theory_

    def test_workers_do_not_matter(self, data):
        one, two = (BoostedRulesClassifier(n_jobs=n, **GROWN).fit(*data) for n in (1, 2))
        assert one.theory_.to_json() == two.theory_.to_json()

    def test_an_integer_weight_is_a_number_of_copies(self, data):
        X, Y = data
        weight = np.arange(len(X)) % 3
        copies = np.repeat(np.arange(len(X)), weight)
        weighted = BoostedRulesClassifier(**GROWN).fit(X, Y, sample_weight=weight)
        repeated = BoostedRulesClassifier(**GROWN).fit(X.iloc[copies], Y.iloc[copies])
        assert weighted.theory_ == repeated.theory_

    def test_progress_is_shown_only_when_asked_for(self, data, capfd):
        BoostedRulesClassifier(**GROWN).fit(*data)
        quiet = capfd.readouterr()
        assert quiet.out == quiet.err == ""
        BoostedRulesClassifier(verbose=1, **GROWN).fit(*data)
        assert "labels" in capfd.readouterr().err
