"""Presets: they fill the parameters that are None; a value that a user writes wins."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from planted_targets import TARGETS, make_three_labels
from steelyard import RuleSetClassifier, RuleSetClassifierCV
from steelyard.estimators.presets import DEFAULT_PRESET, PRESETS, TUNED_PRESETS, choose_preset
from steelyard.learning.settings import PAPER_DEPTHS, ForestSettings
from steelyard.model.decoders import BestLabel, BestLabelSet, EachLabel, LabelSetVotes, get_decoder
from strategies import to_csr, to_sparse_frame

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
    def test_the_preset_of_the_paper_is_its_method(self):
        assert RuleSetClassifier(preset="paper")._settings() == ForestSettings()
        assert PRESETS["paper"]["decode"] == [EachLabel()]

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

    @pytest.mark.parametrize(
        "decode", ["each-label", "best-label-set", BestLabelSet(0.1), LabelSetVotes(0.4)], ids=str
    )
    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_given_decoder_wins(self, data, preset, decode):
        theory = RuleSetClassifier(preset=preset, decode=decode, **FOREST).fit(*data).theory_
        assert theory.decoder.to_plain() == get_decoder(decode).to_plain()
        assert (theory.decoder.known is None) == (decode == "each-label")

    def test_depths_may_be_an_array_or_a_single_limit(self, data):
        for some, same in [(np.array([1, 2]), (1, 2)), (2, (2,))]:
            one, two = (
                RuleSetClassifier(max_depths=depths, **FOREST).fit(*data).theory_
                for depths in (some, same)
            )
            assert one == two


def make_words(n_rows=160, n_words=12, density=0.06):
    """Word counts of texts, most of them 0, and two labels that depend on words."""
    rng = np.random.default_rng(0)
    X = (rng.random((n_rows, n_words)) < density) * rng.integers(1, 4, (n_rows, n_words))
    Y = np.column_stack([X[:, 0] + X[:, 1] > 0, X[:, 2] + X[:, 3] > 0]).astype(int)
    names = [f"word {i}" for i in range(n_words)]
    return pd.DataFrame(X, columns=names).astype(float), pd.DataFrame(Y, columns=["a", "b"])


@pytest.fixture(scope="module")
def words():
    return make_words()


class TestAutomaticChoice:
    def test_is_the_default(self):
        assert DEFAULT_PRESET == "auto"
        assert RuleSetClassifier().preset == RuleSetClassifierCV().preset == "auto"

    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_named_preset_stays(self, data, words, preset):
        assert choose_preset(preset, data[0]) == choose_preset(preset, words[0]) == preset

    def test_is_short_for_a_sparse_table_in_each_of_its_forms(self, words):
        X = words[0]
        for form in (X, X.to_numpy(), to_csr(X), to_sparse_frame(X)):
            assert choose_preset("auto", form) == "short"
        present = pd.DataFrame(np.where(X > 0, "yes", "no"), columns=X.columns)
        assert choose_preset("auto", present) == "short"
        assert choose_preset("auto", X > 0) == "short"

    def test_is_paper_for_a_dense_table_in_each_of_its_forms(self, data):
        numbers = 1 + data[0].select_dtypes("number").fillna(0).abs()
        for form in (data[0], numbers, numbers.to_numpy(), to_csr(numbers)):
            assert choose_preset("auto", form) == "paper"

    @pytest.mark.parametrize(
        ("n_zeros", "n_sparse", "preset"),
        [(5, 2, "short"), (4, 2, "paper"), (5, 1, "paper"), (6, 2, "short")],
    )
    def test_needs_more_than_half_of_the_columns_with_5_of_6_zeros(self, n_zeros, n_sparse, preset):
        X = np.ones((6, 3))
        X[:n_zeros, :n_sparse] = 0
        assert choose_preset("auto", X) == preset
        # Two of four columns are not more than half of them.
        assert choose_preset("auto", np.column_stack([X, np.ones(6)])) == "paper"

    @pytest.mark.parametrize(("table", "preset"), [("words", "short"), ("data", "paper")])
    def test_fits_what_the_chosen_preset_fits(self, request, table, preset):
        X, Y = request.getfixturevalue(table)
        automatic, named = (
            RuleSetClassifier(**options, **FOREST).fit(X, Y).theory_
            for options in ({}, {"preset": preset})
        )
        assert automatic.to_json() == named.to_json()
        other = RuleSetClassifier(preset="paper" if preset == "short" else "short", **FOREST)
        assert automatic != other.fit(X, Y).theory_

    @pytest.mark.parametrize(("table", "preset"), [("words", "short"), ("data", "paper")])
    def test_tunes_what_the_chosen_preset_tunes(self, request, table, preset):
        X, Y = request.getfixturevalue(table)
        automatic, named = (
            RuleSetClassifierCV(phis=[1.0, 0.5], heuristics=["wra"], cv=2, **options, **FOREST)
            for options in ({}, {"preset": preset})
        )
        automatic.fit(X, Y)
        decoders = TUNED_PRESETS[preset]["decode"]
        assert list(dict.fromkeys(automatic.cv_results_["decode"])) == decoders
        assert automatic.theory_.to_json() == named.fit(X, Y).theory_.to_json()
        assert automatic.best_params_ == named.best_params_


class TestTheories:
    @pytest.mark.parametrize("output", TARGETS)
    def test_the_paper_is_what_an_estimator_does_with_a_dense_table(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        plain = RuleSetClassifier(**FOREST).fit(X, y).theory_
        decode = "best-label" if output == "multiclass" else "each-label"
        for options in ({"preset": "paper"}, {"prune": False, "decode": decode}):
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
        assert paper.decoder == EachLabel()
        assert isinstance(short.decoder, BestLabelSet)
        assert short.decoder.known is not None


class TestOneClassPerRow:
    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    @pytest.mark.parametrize("preset", PRESETS)
    def test_a_preset_predicts_classes_without_label_sets(self, data, preset, output):
        X, y = data[0], TARGETS[output](data[1])
        fitted = RuleSetClassifier(preset=preset, **FOREST).fit(X, y)
        decoder = BestLabel() if output == "multiclass" else EachLabel()
        assert fitted.theory_.decoder == decoder
        assert set(fitted.theory_.classes) == set(y)
        spelled = RuleSetClassifier(preset=preset, decode=decoder, **FOREST).fit(X, y)
        assert fitted.theory_ == spelled.theory_
        guess = pd.Series(y).value_counts(normalize=True).iloc[0]
        assert fitted.score(X, y) > guess

    @pytest.mark.parametrize("output", ["binary", "multiclass"])
    def test_label_sets_that_are_asked_for_are_rejected(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        with pytest.raises(ValueError, match=f"does not apply to a {output} target"):
            RuleSetClassifier(decode="best-label-set", **FOREST).fit(X, y)


class TestRejections:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"preset": "fast"}, "preset must be one of 'auto', 'paper', 'short', got 'fast'"),
            ({"preset": None}, "preset must be one of 'auto', 'paper', 'short', got None"),
            (
                {"preset": ["short"]},
                "preset must be one of 'auto', 'paper', 'short', got ['short']",
            ),
            ({"prune": "all"}, "prune must be False, 'oob' or 'prefix', got 'all'"),
            ({"prune": True}, "prune must be False, 'oob' or 'prefix', got True"),
            ({"decode": "sets"}, "decode must be"),
            ({"decode": ["each-label"]}, "decode must be"),
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
        fitted = RuleSetClassifier(preset=preset, decode=BestLabelSet(0.2), **FOREST).fit(*data)
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
