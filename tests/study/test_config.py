import dataclasses
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import Constraints
from steelyard.heuristics import BETA_GRID, M_GRID
from steelyard.study import (
    StudyConfig,
    StudyError,
    config_from_toml,
    config_to_toml,
    read_config,
)

configs = st.builds(
    StudyConfig,
    data=st.lists(st.text(min_size=1), min_size=1, max_size=3, unique=True).map(tuple),
    labels=st.lists(st.text(min_size=1), max_size=2).map(tuple),
    heuristics=st.sampled_from([("m-estimate",), ("f-measure",), ("m-estimate", "f-measure")]),
    folds=st.none() | st.integers(2, 20),
    n_candidates=st.integers(1, 10**6),
    seed=st.integers(0, 2**40),
    invert_majority_labels=st.booleans(),
    tune=st.sampled_from([(), ("f1_micro",), ("hamming", "subset")]),
    max_depths=st.sampled_from([(None, 1, 2), (4,)]),
    max_features=st.sampled_from(["sqrt", 3, 0.5]),
    prune=st.sampled_from([False, "oob"]),
    more_measures=st.sampled_from([(), ("ranking", "jaccard_micro")]),
    per_label=st.booleans(),
)


@settings(max_examples=40)
@given(configs)
def test_toml_repeats_the_configuration(config):
    assert config_from_toml(config_to_toml(config)) == config


def test_default_grid_is_the_papers():
    assert tuple(h.parameter for h in StudyConfig().grid) == M_GRID
    assert len(StudyConfig().phis) == 20
    both = StudyConfig(heuristics=("m-estimate", "f-measure"))
    assert tuple(h.parameter for h in both.grid) == M_GRID + BETA_GRID


def test_tuning_stops_at_m_4096_but_takes_every_beta():
    assert max(h.parameter for h in StudyConfig().tuning_grid) == 4096
    assert math.inf in [h.parameter for h in StudyConfig(heuristics=("f-measure",)).tuning_grid]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"data": ()}, "at least one data set"),
        ({"heuristics": ("entropy",)}, "unknown heuristic 'entropy'"),
        ({"heuristics": ("m-estimate", "f-measure"), "parameters": (1.0,)}, "one heuristic"),
        ({"phis": (0.0,)}, "above 0"),
        ({"phis": (0.5, 0.5)}, "twice"),
        ({"folds": 1}, "at least 2"),
        ({"folds": True}, "integer"),
        ({"n_candidates": 0}, "at least 1"),
        ({"seed": -1}, "at least 0"),
        ({"parameters": (-1.0,)}, "m must be"),
        ({"parameters": ("a",)}, "must be numbers"),
        ({"tune": ("f1_mirco",)}, "did you mean 'f1_micro'"),
        ({"baselines": ("svm",)}, "unknown baseline"),
        ({"heuristics": ("wra(1, 2)",)}, "wra has no parameter"),
        ({"heuristics": ("m-estimate(a)",)}, "is not a heuristic with values"),
        ({"heuristics": ("m-estimate(1, 1)", "wra")}, "contains a value twice"),
        ({"heuristics": ("m-estimate(1)",), "parameters": (2.0,)}, "give different values"),
        ({"n_trees": 0}, "n_trees must be an integer"),
        ({"max_depths": (0,)}, "max_depths must be one or more depth limits"),
        ({"prune": "all"}, "prune must be False, 'oob' or 'prefix'"),
        ({"more_measures": ("rankings",)}, "did you mean 'ranking'"),
        ({"per_label": 1}, "per_label must be a boolean"),
    ],
)
def test_wrong_settings_are_rejected(settings, message):
    with pytest.raises(ValueError, match=message):
        StudyConfig(**settings)


def test_every_heuristic_may_have_values_of_its_own():
    config = StudyConfig(heuristics=("m-estimate(0, 16)", "klosgen( 0.5 )", "wra"))
    assert config.columns == (("m-estimate", 0), ("m-estimate", 16), ("klosgen", 0.5), ("wra", 0))
    assert config_from_toml(config_to_toml(config)) == config
    single = StudyConfig(heuristics=("m-estimate(0, 16)",))
    assert single == StudyConfig(parameters=(0.0, 16.0))
    assert dataclasses.replace(single, seed=1).parameters == (0.0, 16.0)


def test_measures_that_a_study_has_anyway_are_listed_once():
    config = StudyConfig(tune=("hamming",), more_measures=("calibration", "hamming", "f1_micro"))
    assert config.more_measures == ("brier", "ece")
    assert len(set(config.measures)) == len(config.measures)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data = [", "not valid TOML"),
        ("colour = 1", "unknown setting 'colour'"),
        ("seed = [1]", "seed must be a single value"),
        ("data = 'x'", "data must be a list"),
        ("data = [1]", "data must be texts, got 1"),
        ("data = [['a']]", "data must be texts"),
        ("tune = [1]", "tune must be texts"),
        ("invert_majority_labels = 'no'", "must be a boolean, got 'no'"),
        ("seed = 1" + 400 * "0", "here.toml: seed must be at most"),
        ("n_candidates = 1" + 400 * "0", "n_candidates must be at most"),
        ("repeats = 1000000000", "repeats must be at most"),
        ("seed = 1" + 5000 * "0", "here.toml is not valid TOML"),
        ("parameters = [1" + 400 * "0" + "]", "parameters must be numbers"),
        ("data = " + 5000 * "[" + 5000 * "]", "here.toml is nested too deeply"),
        ("phis = [2.0]", "here.toml: phis must be above 0"),
    ],
)
def test_wrong_files_are_rejected(text, message):
    with pytest.raises(StudyError, match=message):
        config_from_toml(text, "here.toml")


def test_paths_are_relative_to_the_configuration_file(tmp_path: Path):
    (tmp_path / "flags").mkdir()
    config = StudyConfig(data=("flags", "segments"))
    (tmp_path / "study.toml").write_text(config_to_toml(config), encoding="utf-8")
    read = read_config(tmp_path / "study.toml")
    assert read.data == (str(tmp_path / "flags"), "segments")
    assert dataclasses.replace(read, data=config.data) == config


class TestConstraints:
    def test_toml_gives_them_back(self):
        own = {"y": Constraints(increasing=["b c"])}
        wanted = Constraints(forbidden=['a"b'], min_tp=2, given=["y ← x ≥ 0.1"], for_label=own)
        config = StudyConfig(constraints=wanted)
        assert config_from_toml(config_to_toml(config)) == config

    def test_a_section_of_a_file_is_read(self):
        text = '[constraints]\nforbidden = ["a"]\n[constraints.for_label."l 1"]\nmin_tp = 3\n'
        own = {"l 1": Constraints(min_tp=3)}
        assert config_from_toml(text).constraints == Constraints(forbidden=["a"], for_label=own)

    def test_a_typing_error_is_told_with_the_nearest_name(self):
        with pytest.raises(
            StudyError, match=r"constraints: .*'forbiden' \(did you mean 'forbidden'"
        ):
            config_from_toml('[constraints]\nforbiden = ["a"]\n')
        with pytest.raises(ValueError, match="constraints must be Constraints or None"):
            StudyConfig(constraints=["a"])
