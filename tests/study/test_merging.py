"""Merged studies equal one study of everything; what does not fit together is rejected."""

import dataclasses

import numpy as np
import pytest

from steelyard.study import StudyConfig, StudyError, merge_studies, run_study
from steelyard.study.store import StudyStore

BASE = StudyConfig(
    data=("planted",),
    parameters=(0.0, 16.0),
    phis=(1.0, 0.5),
    folds=2,
    n_candidates=100,
    seed=1,
    per_label=True,
)
PART = {
    "first": {"only_folds": (1,), "methods": ("ripper",), "baselines": ("ripper",)},
    "second": {"only_folds": (2,), "methods": ("ripper",), "baselines": ("ripper",)},
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for name, settings in PART.items():
        run_study(dataclasses.replace(BASE, **settings), folder / name, n_jobs=1)
    return folder


def test_a_merged_study_equals_one_of_everything(parts, tmp_path):
    whole = dataclasses.replace(BASE, methods=("ripper",), baselines=("ripper",))
    run_study(whole, tmp_path / "whole", n_jobs=1)
    study = merge_studies([parts / "first", parts / "second"], tmp_path / "merged", n_jobs=1)
    assert study.config == whole
    names = ["results.csv", "baselines.csv", "per_label.csv", "study.toml", "units/identity.json"]
    names += [f"theories/planted/{name}.json" for name in ("R1", "method-1", "to-use")]
    names += [f"theories/planted/fold-{k}.json.gz" for k in (1, 2)]
    for name in names:
        merged, new = ((tmp_path / folder / name).read_bytes() for folder in ("merged", "whole"))
        assert merged == new, name


def test_heuristics_of_the_same_folds_are_put_together(parts, tmp_path):
    """Theories of all heuristics come from the same candidates, wherever they were learned."""
    other = {"heuristics": ("wra", "m-estimate(4, 16)"), "parameters": ()}
    run_study(dataclasses.replace(BASE, **other, **PART["first"]), tmp_path / "other", n_jobs=1)
    merged = merge_studies([tmp_path / "other", parts / "first"], tmp_path / "merged", n_jobs=1)
    assert merged.config.heuristics == ("wra", "m-estimate(0.0, 4.0, 16.0)")
    run_study(dataclasses.replace(merged.config, only_folds=(1,)), tmp_path / "whole", n_jobs=1)
    names = ["results.csv", "baselines.csv", "per_label.csv", "study.toml", "units/identity.json"]
    for name in [*names, "theories/planted/fold-1.json.gz"]:
        found, new = ((tmp_path / folder / name).read_bytes() for folder in ("merged", "whole"))
        assert found == new, name


def test_methods_of_the_same_folds_are_put_together(parts, tmp_path):
    other = dataclasses.replace(BASE, only_folds=(1,), methods=("boosted(max_rules=9)",))
    run_study(other, tmp_path / "other", n_jobs=1)
    with pytest.raises(StudyError, match=r"units of the merged study are in none of the folders"):
        merge_studies([parts / "first", parts / "second", tmp_path / "other"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    study = merge_studies([parts / "first", tmp_path / "other"], tmp_path / "out", n_jobs=1)
    assert study.config.methods == ("ripper", "boosted(max_rules=9)")
    assert study.config.only_folds == (1,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": 2}, "seed is 1 in one and 2 in the other"),
        ({"phis": (1.0,)}, r"phis is \(1.0, 0.5\) in one and \(1.0,\) in the other"),
        ({"n_trees": 5}, "forest is None in one and {'n_trees': 5} in the other"),
    ],
)
def test_other_settings_are_rejected_with_the_reason(parts, tmp_path, settings, message):
    run_study(dataclasses.replace(BASE, only_folds=(2,), **settings), tmp_path / "other", n_jobs=1)
    with pytest.raises(StudyError, match=message):
        merge_studies([parts / "first", tmp_path / "other"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_units_with_other_results_are_rejected(parts, tmp_path):
    run_study(dataclasses.replace(BASE, only_folds=(1,)), tmp_path / "other", n_jobs=1)
    store = StudyStore(tmp_path / "other")
    arrays = store.read_unit("planted/fold-1")
    store.write_unit("planted/fold-1", arrays | {"values": np.nextafter(arrays["values"], 9)})
    with pytest.raises(StudyError, match=r"planted/fold-1 has other results in .* \(made by steel"):
        merge_studies([parts / "first", tmp_path / "other"], tmp_path / "out")


def test_studies_tuned_for_other_measures_are_rejected(tmp_path):
    small = dataclasses.replace(BASE, parameters=(0.0,), phis=(1.0,), inner_folds=2)
    for fold, measure in enumerate(("f1_micro", "hamming"), start=1):
        config = dataclasses.replace(small, only_folds=(fold,), tune=(measure,))
        run_study(config, tmp_path / measure, n_jobs=1)
    with pytest.raises(
        StudyError, match=r"tune is \('f1_micro',\) in one and \('hamming',\) in the"
    ):
        merge_studies([tmp_path / "f1_micro", tmp_path / "hamming"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_each_folder_has_one_part(parts, tmp_path):
    first, second = parts / "first", parts / "second"
    before = (first / "study.toml").read_bytes()
    with pytest.raises(StudyError, match="is one of the folders to merge"):
        merge_studies([first, second], parts / "second" / ".." / "first")
    with pytest.raises(StudyError, match="is given twice"):
        merge_studies([first, parts / "second" / ".." / "first"], tmp_path / "out")
    assert (first / "study.toml").read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_study_is_rejected(parts, tmp_path):
    with pytest.raises(StudyError, match="holds no study"):
        merge_studies([parts / "first", tmp_path], tmp_path / "out")
    with pytest.raises(StudyError, match="at least two"):
        merge_studies([parts / "first"], tmp_path / "out")
