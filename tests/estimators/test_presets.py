"""Presets: they fill the parameters that are None; a value that a user writes wins."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from planted_targets import TARGETS, make_three_labels
from steelyard import RuleSetClassifier
from steelyard.estimators.presets import PRESETS
from steelyard.learning.settings import PAPER_DEPTHS, ForestSettings
from steelyard.model.decoding import EachLabel, LabelSets

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")

FOREST = {"n_candidates": 200, "n_trees": 2, "random_state": 0}

# Values that are those of one preset and not of the other, and values of neither.
GIVEN = [
    ("prune", "prefix"),
    ("prune", False),
    ("prune", "oob"),
    ("max_features", 3),
    ("max_features", "log2"),
    ("max_features", 0.3),
    ("max_depths", (2,)),
    ("max_depths", (None,)),
    ("max_depths", PAPER_DEPTHS),
    ("n_candidates", 77),
    ("n_candidates", 300_000),
    ("n_candidates", 30_000),
    ("n_trees", 10),
    ("sample_fraction", 1.0),
]


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.05)


class TestParameters:
    def test_the_paper_is_the_default_and_its_method(self):
        assert RuleSetClassifier()._settings() == ForestSettings()
        assert RuleSetClassifier()._choose_decoders() == [EachLabel()]

    def test_the_parameters_of_a_preset_are_none_by_default(self):
        parameters = RuleSetClassifier().get_params()
        assert [parameters[name] for name in PRESETS["paper"]] == [None] * len(PRESETS["paper"])

    @pytest.mark.parametrize(("name", "value"), GIVEN)
    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_given_value_wins(self, preset, name, value):
        settings = RuleSetClassifier(preset=preset, **{name: value})._settings()
        left_open = RuleSetClassifier(preset=preset)._settings()
        assert getattr(settings, name) == value
        for other in PRESETS[preset].keys() - {name, "decode"}:
            assert getattr(settings, other) == getattr(left_open, other)

    @pytest.mark.parametrize("decode", ["any", "label-sets", LabelSets(0.1)])
    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_given_decoder_wins(self, data, preset, decode):
        theory = RuleSetClassifier(preset=preset, decode=decode, **FOREST).fit(*data).theory_
        assert (theory.label_sets is not None) == (decode != "any")

    def test_depths_may_be_an_array_or_a_single_limit(self, data):
        for some, same in [(np.array([1, 2]), (1, 2)), (2, (2,))]:
            one, two = (
                RuleSetClassifier(max_depths=depths, **FOREST).fit(*data).theory_
                for depths in (some, same)
            )
            assert one == two


class TestTheories:
    @pytest.mark.parametrize("output", TARGETS)
    def test_the_paper_is_what_an_estimator_does_without_a_preset(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        plain = RuleSetClassifier(**FOREST).fit(X, y).theory_
        for options in ({"preset": "paper"}, {"prune": False, "decode": "any"}):
            same = RuleSetClassifier(**options, **FOREST).fit(X, y)
            assert same.theory_.to_json() == plain.to_json()

    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_preset_is_short_for_its_parameters(self, data, preset):
        named = RuleSetClassifier(preset=preset, **FOREST).fit(*data)
        (decode,) = PRESETS[preset]["decode"]
        spelled = RuleSetClassifier(**(PRESETS[preset] | FOREST | {"decode": decode})).fit(*data)
        assert named.theory_.to_json() == spelled.theory_.to_json()

    def test_short_rules_are_shorter_and_predict_label_sets(self, data):
        paper, short = (
            RuleSetClassifier(preset=p, phi=1.0, **FOREST).fit(*data).theory_
            for p in ("paper", "short")
        )
        assert short.n_conditions / len(short) < paper.n_conditions / len(paper)
        assert paper.label_sets is None
        assert short.label_sets is not None


class TestOneClassPerRow:
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
    def test_label_sets_that_are_asked_for_are_rejected(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        with pytest.raises(ValueError, match="label sets are for multi-label targets"):
            RuleSetClassifier(decode="label-sets", **FOREST).fit(X, y)


class TestRejections:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"preset": "fast"}, "preset must be one of 'paper', 'short', got 'fast'"),
            ({"preset": None}, "preset must be one of 'paper', 'short', got None"),
            ({"preset": ["short"]}, "preset must be one of 'paper', 'short', got ['short']"),
            ({"prune": "all"}, "prune must be False, 'oob' or 'prefix', got 'all'"),
            ({"prune": True}, "prune must be False, 'oob' or 'prefix', got True"),
            ({"decode": "sets"}, "decode must be"),
            ({"decode": ["any"]}, "decode must be"),
        ],
        ids=lambda value: str(value) if isinstance(value, dict) else "",
    )
    def test_a_wrong_value_is_named_in_one_sentence(self, data, options, sentence):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            RuleSetClassifier(**(FOREST | options)).fit(*data)
        assert str(error.value).startswith(sentence)
        assert "\n" not in str(error.value)


class TestConventions:
    @pytest.mark.parametrize("preset", PRESETS)
    def test_clone_and_pickle_keep_parameters_and_theory(self, data, preset):
        fitted = RuleSetClassifier(preset=preset, decode=LabelSets(0.2), **FOREST).fit(*data)
        again = pickle.loads(pickle.dumps(fitted))
        assert again.theory_ == fitted.theory_
        assert (again.predict(data[0]) == fitted.predict(data[0])).all()
        fresh = clone(fitted)
        assert not hasattr(fresh, "theory_")
        assert fresh.get_params() == fitted.get_params()
        assert fresh.fit(*data).theory_ == fitted.theory_

    def test_fitting_does_not_change_parameters(self, data):
        model = RuleSetClassifier(preset="short", **FOREST)
        before = model.get_params()
        model.fit(*data)
        assert model.get_params() == before
        assert model.decode is model.prune is model.max_depths is None

    def test_a_preset_can_be_set_later(self, data):
        model = RuleSetClassifier(**FOREST).set_params(preset="short")
        assert model.fit(*data).theory_ == (
            RuleSetClassifier(preset="short", **FOREST).fit(*data).theory_
        )
        back = model.set_params(preset="paper").fit(*data)
        assert back.theory_ == RuleSetClassifier(**FOREST).fit(*data).theory_
