"""A study end to end: its rows are those of the estimators, however the study was run."""

import dataclasses
import gzip
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from steelyard import (
    MEstimate,
    RuleSetClassifier,
    RuleSetClassifierCV,
    TheoryPath,
    make_planted_rules,
)
from steelyard.measures import MEASURES
from steelyard.study import StudyConfig, StudyError, load_study, read_config, run_study
from steelyard.study.data import load_study_data

RESULT_FILES = ("results.csv", "tuned.csv", "baselines.csv")


def result_bytes(folder):
    files = [folder / name for name in RESULT_FILES]
    files += sorted(folder.glob("theories/*/*")) + sorted(folder.glob("examples/*"))
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_rows_fill_the_grid(mini_study, mini_config):
    rows = mini_study.results
    assert list(rows) == ["dataset", "fold", "heuristic", "parameter", "phi", "measure", "value"]
    assert (rows.groupby(["fold", "measure"]).size() == 9).all()
    assert {"n_rules", "n_conditions", *mini_config.measures} == set(rows["measure"])
    assert rows["value"].notna().all()


def test_a_cell_is_what_the_classifier_learns(mini_study, mini_config):
    (data,) = load_study_data(mini_config)
    _, is_test = data.locate(2)
    clf = RuleSetClassifier(
        MEstimate(m=4), 0.5, n_candidates=mini_config.n_candidates, random_state=mini_config.seed
    ).fit(data.X[~is_test], data.Y[~is_test])
    rows = mini_study.results.query("fold == 2 and parameter == 4 and phi == 0.5")
    values = dict(zip(rows["measure"], rows["value"], strict=True))
    predicted = clf.predict(data.X[is_test])
    assert values["f1_micro"] == MEASURES["f1_micro"](data.Y[is_test], predicted)
    assert values["subset"] == MEASURES["subset"](data.Y[is_test], predicted)
    assert values["n_rules"] == len(clf.theory_)


def test_tuned_rows_are_what_the_cross_validating_classifier_chooses(mini_study, mini_config):
    (data,) = load_study_data(mini_config)
    _, is_test = data.locate(1)
    for scoring in mini_config.tune:
        clf = RuleSetClassifierCV(
            scoring,
            heuristics=mini_config.tuning_grid,
            phis=mini_config.phis,
            cv=mini_config.inner_folds,
            n_candidates=mini_config.n_candidates,
            random_state=mini_config.seed,
        ).fit(data.X[~is_test], data.Y[~is_test])
        rows = mini_study.tuned[
            (mini_study.tuned["fold"] == 1) & (mini_study.tuned["tuned_for"] == scoring)
        ]
        assert set(rows["parameter"]) == {clf.best_heuristic_.parameter}
        assert set(rows["phi"]) == {clf.best_phi_}
        value = rows.loc[rows["measure"] == scoring, "value"].item()
        assert value == clf.score(data.X[is_test], data.Y[is_test])


def test_every_theory_can_be_opened_again(mini_study):
    file = mini_study.folder / "theories" / "planted" / "fold-1.json.gz"
    path = TheoryPath.from_json(gzip.decompress(file.read_bytes()).decode())
    rows = mini_study.results.query("fold == 1 and measure == 'n_rules'")
    for _, _, _, parameter, phi, _, n_rules in rows.itertuples(index=False):
        assert len(path.theory(MEstimate(parameter), phi)) == n_rules


def test_examples_show_the_attributes_that_rules_test(mini_study):
    shown = json.loads((mini_study.folder / "examples" / "planted.json").read_text("utf-8"))
    assert shown["fold"] == 1
    assert 0 < shown["n_held_out"] <= len(shown["rows"])
    assert {len(row) for row in shown["rows"]} == {len(shown["features"])}
    assert len(shown["truth"]) == len(shown["rows"])


def test_two_jobs_give_the_same_bytes_as_one(mini_study, mini_config, tmp_path):
    run_study(mini_config, tmp_path / "two", n_jobs=2)
    assert result_bytes(tmp_path / "two") == result_bytes(mini_study.folder)


def test_an_interrupted_study_resumes(mini_study, mini_config, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(mini_study.folder, folder)
    units = sorted((folder / "units" / "data" / "planted").iterdir())
    lost = [units[0], units[3], units[5]]
    for unit in lost[:2]:
        unit.unlink()
    lost[2].write_bytes(lost[2].read_bytes()[:40])
    (folder / "results.csv").unlink()
    (folder / "units" / ".unfinished-x").write_bytes(b"half")
    done = []
    run_study(mini_config, folder, n_jobs=1, progress=lambda *call: done.append(call))
    assert [call[0] for call in done] == list(range(len(units) - 3, len(units) + 1))
    assert result_bytes(folder) == result_bytes(mini_study.folder)
    assert not (folder / "units" / ".unfinished-x").exists()


def test_damaged_theories_are_computed_again(mini_study, mini_config, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(mini_study.folder, folder)
    first, second, third = sorted((folder / "theories" / "planted").glob("fold-*"))
    first.write_bytes(first.read_bytes()[:100])
    second.unlink()
    content = bytearray(third.read_bytes())
    content[len(content) // 2] ^= 1
    third.write_bytes(content)
    done = []
    run_study(mini_config, folder, n_jobs=1, progress=lambda *call: done.append(call))
    assert {call[2].name for call in done[1:]} == {f"planted/fold-{k}" for k in (1, 2, 3)}
    assert result_bytes(folder) == result_bytes(mini_study.folder)


@pytest.mark.parametrize("name", ["lock", "identity.json", "data"])
def test_a_data_set_may_have_any_name_of_the_store(tmp_path, name):
    data = make_planted_rules(60, random_state=0)
    data.X.join(data.Y).to_csv(tmp_path / f"{name}.csv", index=False)
    config = StudyConfig(
        (str(tmp_path / f"{name}.csv"),),
        labels=tuple(data.label_names),
        parameters=(2.0,),
        phis=(1.0,),
        folds=2,
        n_candidates=60,
    )
    assert run_study(config, tmp_path / "out", n_jobs=1).datasets == (name,)


def test_a_folder_that_is_deleted_while_the_study_runs_is_one_sentence(mini_config, tmp_path):
    folder = tmp_path / "out"

    def delete(n_done, n_units, unit):
        if unit is not None and folder.exists():
            shutil.rmtree(folder)

    with pytest.raises(StudyError, match="was deleted while the study was running"):
        run_study(mini_config, folder, n_jobs=1, progress=delete)
    assert not folder.exists()


def test_another_configuration_is_rejected(mini_study, mini_config):
    with pytest.raises(StudyError, match="seed was 1, now 2"):
        run_study(dataclasses.replace(mini_config, seed=2), mini_study.folder)
    with pytest.raises(StudyError, match="data sets without planted, which it has"):
        run_study(dataclasses.replace(mini_config, data=("segments",)), mini_study.folder)


def test_the_written_configuration_repeats_the_study(mini_study, mini_config):
    assert read_config(mini_study.folder / "study.toml") == mini_config


def test_run_json_records_versions_seed_hashes_and_seconds(mini_study):
    run = json.loads((mini_study.folder / "run.json").read_text("utf-8"))
    assert {"steelyard", "numpy", "scikit-learn"} <= set(run["versions"])
    assert run["seed"] == 1
    assert len(run["data"]["planted"]["sha256"]) == 64
    kinds = ["candidates", "grid", "inner", "ripper"]
    for name in ("seconds", "cpu_seconds"):
        assert sorted(run["data"]["planted"][name]) == kinds
        assert run["data"]["planted"][name]["grid"] > 0


OWN_HEURISTIC = """
from dataclasses import dataclass
from steelyard import Heuristic


@dataclass(frozen=True)
class Youden(Heuristic):
    name, symbol, grid = "youden", "w", (0.5, 1.0)
    w: float = 1.0

    def __call__(self, tp, fp, fn, tn):
        return tp / (tp + fn) - self.w * fp / (fp + tn)
"""


def test_a_heuristic_of_ones_own_is_studied_beside_the_others(tmp_path, monkeypatch):
    (tmp_path / "own_youden.py").write_text(OWN_HEURISTIC)
    monkeypatch.syspath_prepend(tmp_path)
    config = StudyConfig(
        data=("planted",),
        heuristics=("relative-cost", "own_youden:Youden", "wra"),
        phis=(1.0, 0.5),
        folds=2,
        n_candidates=200,
        tune=("hamming",),
        inner_folds=2,
    )
    study = run_study(config, tmp_path / "out", n_jobs=1)
    rows = study.results[study.results["measure"] == "hamming"]
    assert rows.groupby("heuristic")["parameter"].nunique().to_dict() == {
        "relative-cost": 20,
        "wra": 1,
        "youden": 2,
    }
    # tp/P - fp/N is twice the relative cost with c = 1/2.
    values = rows.set_index(["heuristic", "parameter", "fold", "phi"])["value"]
    assert values["youden"][1.0].equals(values["relative-cost"][0.5])
    assert set(study.tuned["heuristic"]) == {"relative-cost", "youden", "wra"}
    with pytest.raises(StudyError, match=r"'own_youden:Youden' is Python code.* --trust"):
        load_study(tmp_path / "out")
    again = load_study(tmp_path / "out", trust=True)
    assert again.paths["planted"].shape == (23, 2)


def test_rules_for_inverted_labels_predict_presence_in_every_fold(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60)})
    table["half"] = np.repeat([0, 1], 30)  # inverting a label of half the examples changes nothing
    table["common"] = (table["x"] > -1).astype(int)
    table.to_csv(tmp_path / "t.csv", index=False)
    config = StudyConfig(
        data=(str(tmp_path / "t.csv"),),
        labels=("half", "common"),
        parameters=(2.0,),
        phis=(1.0,),
        folds=3,
        n_candidates=20,
        invert_majority_labels=True,
    )
    run_study(config, tmp_path / "out", n_jobs=1)
    files = sorted((tmp_path / "out" / "theories").rglob("*.json.gz"))
    assert len(files) == 3
    for file in files:
        path = TheoryPath.from_json(file)
        assert [label.name for label in path.labels] == ["¬half", "¬common"]
        assert {label.target_class for label in path.labels} == {1}


def test_only_some_folds_and_both_families(tmp_path):
    config = StudyConfig(
        ("planted",),
        heuristics=("m-estimate", "f-measure"),
        phis=(1.0, 0.5),
        folds=3,
        only_folds=(2,),
        n_candidates=200,
    )
    study = run_study(config, tmp_path)
    assert set(study.results["fold"]) == {2}
    assert set(study.results["heuristic"]) == {"m-estimate", "f-measure"}
    assert np.isinf(study.results["parameter"].max())
    assert "inf" in (tmp_path / "results.csv").read_text().replace(",", " ").split()
    with pytest.raises(StudyError, match="no fold 9"):
        run_study(dataclasses.replace(config, only_folds=(9,)), tmp_path / "x")
