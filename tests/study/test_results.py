"""One reader, one type: a loaded study is the study that was run, and each summary is computed once."""

import collections
import shutil

import numpy as np
import pandas as pd
import pytest

from steelyard import TheoryPath, make_planted_rules
from steelyard.cli.main import main
from steelyard.study import StudyConfig, StudyError, load_study, results, run_study

# Names that a reader of CSV could take for missing values or numbers.
NAMES = ("NA", "None", "null", "1e5", "007")


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory):
    """A study of data sets with such names."""
    folder = tmp_path_factory.mktemp("odd")
    for i, name in enumerate(NAMES):
        data = make_planted_rules(60, random_state=i)
        data.X.join(data.Y).to_csv(folder / f"{name}.csv", index=False)
    config = StudyConfig(
        tuple(str(folder / f"{name}.csv") for name in NAMES),
        labels=tuple(data.label_names),
        parameters=(2.0, 64.0),
        phis=(1.0, 0.5),
        folds=2,
        n_candidates=60,
        tune=("f1_micro",),
        inner_folds=2,
        baselines=("ripper",),
    )
    return run_study(config, folder / "results", n_jobs=1)


def test_a_loaded_study_equals_the_study_that_was_run(mini_study):
    loaded = load_study(mini_study.folder)
    assert loaded.config == mini_study.config
    for name in ("results", "tuned", "baselines"):
        pd.testing.assert_frame_equal(
            getattr(loaded, name), getattr(mini_study, name), check_exact=True
        )
    assert loaded.summarize() == mini_study.summarize()


@pytest.mark.usefixtures("unprinted")
def test_every_name_of_a_data_set_survives(odd_names, run):
    loaded = load_study(odd_names.folder)
    assert loaded.datasets == odd_names.datasets == NAMES
    assert loaded.comparisons["f1_micro"].datasets == NAMES
    assert {cell["dataset"] for cell in loaded.best_cells} == set(NAMES)
    code, out, err = run("report", odd_names.folder)
    assert code == 0, err
    assert all(f"│ {name} " in out for name in NAMES)
    for name in NAMES:
        assert (odd_names.folder / "figures" / f"values-{name}.png").exists()
    best = (odd_names.folder / "tables" / "best_cells.md").read_text("utf-8")
    assert all(f"| {name} |" in best for name in NAMES)
    page = (odd_names.folder / "index.html").read_text("utf-8")
    assert all(f'"name":"{name}"' in page for name in NAMES)


@pytest.mark.usefixtures("unprinted")
def test_a_report_computes_each_summary_once(odd_names, monkeypatch, capfd):
    calls = collections.Counter()

    def count(name, describe):
        original = getattr(results, name)

        def counted(*arguments):
            calls[name, *describe(*arguments)] += 1
            return original(*arguments)

        monkeypatch.setattr(results, name, counted)

    # The findings are checked again without each data set or fold, so rows are counted apart.
    parts = ("dataset", "fold")
    count("map_cells", lambda rows, *key: (*key, rows[[*parts]].drop_duplicates().to_csv()))
    count("average_methods", lambda *_: ())
    count("compare_methods", lambda _, measure, __: (measure,))
    read = TheoryPath.from_json
    monkeypatch.setattr(
        TheoryPath, "from_json", lambda text: (calls.update(["from_json"]), read(text))[1]
    )
    with pytest.raises(SystemExit):
        main(["report", str(odd_names.folder)])
    assert "Best cell" in capfd.readouterr().out
    assert calls.pop("from_json") == len(NAMES)
    assert {("map_cells", "hamming", "m-estimate")} < {call[:3] for call in calls}
    assert ("compare_methods", "f1_micro") in calls
    assert set(calls.values()) == {1}


def test_files_of_the_shown_fold_are_found(mini_study):
    assert mini_study.shown_fold == 1
    path = mini_study.paths["planted"]
    assert len(path.labels) == 4
    assert mini_study.paths["planted"] is path
    assert mini_study.examples("planted")["fold"] == 1
    counts = mini_study.candidate_counts("planted")
    n_positives = np.array([label.n_positives for label in path.labels])
    assert np.all(counts["tp"] <= n_positives[counts["label"]])
    assert "other" not in mini_study.paths
    for read in (mini_study.examples, mini_study.candidate_counts):
        assert read("other") is None


def test_an_unfinished_study_cannot_be_loaded(mini_study, tmp_path):
    with pytest.raises(StudyError, match="no study"):
        load_study(tmp_path)
    folder = tmp_path / "unfinished"
    shutil.copytree(mini_study.folder, folder)
    (folder / "run.json").unlink()
    with pytest.raises(StudyError, match="unfinished"):
        load_study(folder)


@pytest.mark.usefixtures("unprinted")
def test_a_study_without_tuning_and_baselines_has_a_report(tmp_path, run):
    config = StudyConfig(("planted",), parameters=(2.0,), phis=(1.0,), folds=2, n_candidates=60)
    study = run_study(config, tmp_path / "plain", n_jobs=1)
    assert study.comparisons == {}
    assert study.summarize()["tuned"] == []
    code, _, err = run("report", study.folder)
    assert code == 0, err
