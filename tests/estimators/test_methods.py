"""Methods: estimators by name; a parameter that a method does not have is rejected."""

import pytest

from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    MEstimate,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
)
from steelyard.estimators.methods import METHODS, make_estimator
from steelyard.estimators.presets import DEFAULT_PRESET

KINDS = {
    "auto": (RuleSetClassifier, RuleSetClassifierCV),
    "paper": (RuleSetClassifier, RuleSetClassifierCV),
    "short": (RuleSetClassifier, RuleSetClassifierCV),
    "boosted": (BoostedRulesClassifier, BoostedRulesClassifierCV),
    "ripper": (RipperClassifier, None),
}


def test_every_method_has_its_estimator_and_its_tuned_twin():
    assert list(METHODS) == list(KINDS)
    for method, (kind, tuned) in KINDS.items():
        made = make_estimator(method, random_state=3)
        assert type(made) is kind
        assert made.random_state == 3
        if tuned is not None:
            made = make_estimator(method, tune="hamming", random_state=3)
            assert type(made) is tuned
            assert (made.scoring, made.random_state) == ("hamming", 3)


@pytest.mark.parametrize("preset", ["auto", "paper", "short"])
def test_a_preset_is_fixed_by_its_name(preset):
    assert make_estimator(preset).preset == preset
    assert make_estimator(preset, tune="subset").preset == preset
    with pytest.raises(ValueError, match=f"preset does not apply to method '{preset}'"):
        make_estimator(preset, preset="paper")


def test_the_default_preset_is_a_method():
    for tune in (None, "hamming"):
        made = make_estimator(DEFAULT_PRESET, tune=tune)
        assert made.get_params()["preset"] == type(made)().preset


def test_a_single_value_is_the_only_one_to_choose_from():
    made = make_estimator("paper", tune="subset", heuristic=MEstimate(4), phi=0.5)
    assert (made.heuristics, made.phis) == ([MEstimate(4)], [0.5])
    assert make_estimator("boosted", tune="subset", m=4).ms == [4]
    assert make_estimator("boosted", tune="subset", phi=0.3).phis == [0.3]
    assert make_estimator("paper", tune="subset", phis=[1.0, 0.5]).phis == [1.0, 0.5]


@pytest.mark.parametrize(
    ("method", "tune", "name", "others"),
    [
        ("paper", None, "n_tries", "n_candidates"),
        ("paper", "subset", "n_tries", "n_candidates"),
        ("short", "subset", "min_value", "tolerance"),
        ("boosted", None, "min_value", "max_conditions"),
        ("boosted", "subset", "heuristic", "ms"),
        ("ripper", None, "n_candidates", "optimizations"),
    ],
)
def test_what_a_method_does_not_have_is_rejected_with_what_it_has(method, tune, name, others):
    with pytest.raises(ValueError, match=f"^{name} does not apply to method '{method}'") as error:
        make_estimator(method, tune=tune, **{name: 1})
    reason, has = str(error.value).split("; it has: ")
    assert "\n" not in reason
    assert others in has.split(", ")
    assert not {name, "preset", "scoring"} & set(has.split(", "))


def test_a_method_without_a_twin_and_one_that_is_not_known():
    with pytest.raises(ValueError, match="method 'ripper' has no parameters to tune"):
        make_estimator("ripper", tune="subset")
    with pytest.raises(
        ValueError, match="unknown method 'accurate'; known methods: auto, paper, short"
    ):
        make_estimator("accurate")
