"""``steelyard study`` and ``report``, end to end, interrupted, and with wrong options."""

import json
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

from steelyard import make_planted_rules
from steelyard.cli.study import StyleName
from steelyard.report import STYLES
from steelyard.study import StudyConfig, StudyError, load_study, run_study

MINI = [
    *("--candidates", "300", "--folds", "3", "--parameters", "0,4,64", "--phis", "1,0.5"),
    *("-j", "1"),
]


def test_a_study_end_to_end(run, saved, labels, tmp_path, request):
    out_folder = tmp_path / "results"
    data = (saved / "data.csv", "--labels", labels)
    command = ["study", *data, "--out", out_folder, *MINI, "--tune", "f1_micro"]
    code, out, err = run(*command)
    assert code == 0, err
    assert str(out_folder) in out
    assert "Best cell" in out
    assert "units" in err
    rows = pd.read_csv(out_folder / "results.csv")
    assert (rows.groupby(["fold", "measure"]).size() == 6).all()
    assert len(list((out_folder / "figures").glob("*.png"))) >= 6
    assert (out_folder / "tuned.csv").exists()

    request.getfixturevalue("unprinted")  # once is enough
    before = (out_folder / "results.csv").read_bytes()
    config = ("--config", out_folder / "study.toml")
    code, out, _ = run("study", *config, "--out", out_folder, "--json")
    assert code == 0
    assert json.loads(out)["tuned"][0]["tuned_for"] == "f1_micro"
    assert (out_folder / "results.csv").read_bytes() == before

    code, _, err = run(*command, "--seed", "5")
    assert code == 1
    assert "seed was 0, now 5" in err
    assert "Traceback" not in err

    report = (out_folder / "report.tex").read_text("utf-8")
    assert "in the style springer" in report
    assert "figures/ranks-micro.pdf" in report
    example = ("--label", "for jam", "--cells", "4:0.5,64:1")
    code, out, _ = run("report", out_folder, *example, "--style", "ieee")
    assert code == 0
    assert "for jam" in (out_folder / "tables" / "rule_sets.md").read_text("utf-8")
    assert "in the style ieee" in (out_folder / "report.tex").read_text("utf-8")
    assert "for jam" in (out_folder / "report.md").read_text("utf-8")

    theories = out_folder / "theories" / "data" / "fold-1.json.gz"
    code, out, _ = run("rules", theories, "--parameter", "4", "--phi", "1")
    assert code == 0
    assert "for jam ←" in out


def test_parts_that_were_computed_apart_are_merged(run, tmp_path, monkeypatch):
    # Drawing all figures takes most of the time, and other tests look at them.
    monkeypatch.setattr("steelyard.report.build.write_report", lambda study: study.folder / "page")
    config = StudyConfig(("planted",), parameters=(0.0,), phis=(1.0,), folds=2, n_candidates=100)
    for fold in (1, 2):
        run_study(replace(config, only_folds=(fold,)), tmp_path / str(fold), n_jobs=1)
    command = ["study", "merge", tmp_path / "1"]
    code, out, err = run(*command, tmp_path / "2", "-o", tmp_path / "both", "-j", 1)
    assert code == 0, err
    assert str(tmp_path / "both") in out
    assert load_study(tmp_path / "both").config == config
    code, _, err = run(*command, "-o", tmp_path / "more")
    assert (code, err) == (1, "error: a merge needs at least two results folders\n")


def test_options_become_settings(run, saved, monkeypatch):
    asked = []

    def record(config, *_, **__):
        asked.append(config)
        raise StudyError("enough")

    monkeypatch.setattr("steelyard.study.run_study", record)
    table = ["--labels", "for *", "--ignore", "weight", "--nominal", "row"]
    grid = ["--heuristic", "m-estimate(0,16), klosgen(0.5)", "--measures", "auc_macro,ece"]
    forest = ["--trees", 5, "--depths", "none,3", "--features", "0.5", "--bag", 0.8]
    options = [*table, *grid, *forest, "--prune", "oob", "--per-label"]
    _, _, err = run("study", saved / "data.csv", *options, "--out", saved / "nothing")
    assert err == "error: enough\n"
    assert asked[0] == StudyConfig(
        (str(saved / "data.csv"),),
        labels=("for *",),
        ignore=("weight",),
        nominal=("row",),
        heuristics=("m-estimate(0,16)", "klosgen(0.5)"),
        more_measures=("auc_macro", "ece"),
        n_trees=5,
        max_depths=(None, 3),
        max_features=0.5,
        sample_fraction=0.8,
        prune="oob",
        per_label=True,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--depths", "a"], "not a list of depths"),
        (["--prune", "all"], "not none, oob or prefix"),
        (["--ignore", "x"], "only for CSV and Parquet files"),
    ],
)
def test_wrong_settings_of_candidates_are_wrong_usage(run, tmp_path, options, message):
    code, _, err = run("study", "planted", "--out", tmp_path / "out", *options)
    assert code == 2
    assert message in err


def test_the_command_line_knows_every_style():
    assert [str(name) for name in StyleName] == list(STYLES)


@pytest.mark.usefixtures("unprinted")
def test_shards_and_their_collection(run, tmp_path):
    command = ["study", "planted", *MINI, "--out"]
    assert run(*command, tmp_path / "whole")[0] == 0
    code, out, err = run(*command, tmp_path / "parts", "--shard", "1/2")
    assert (code, "2 units computed" in out) == (0, True), err
    assert "shard 1/2: 2 of 2 units" in err
    code, _, err = run("study", "--collect", "--out", tmp_path / "parts")
    assert code == 1
    assert err.startswith("error: 2 of 4 units are missing: ")
    code, out, _ = run(*command, tmp_path / "parts", "--shard", "2/2", "--json")
    assert json.loads(out) == {"n_computed": 2, "n_found": 0, "n_elsewhere": 0}
    # The configuration is in the folder.
    code, out, err = run("study", "--collect", "--out", tmp_path / "parts")
    assert (code, "Best cell" in out) == (0, True), err
    for name in ("results.csv", "index.html", "study.toml"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["study", "segmnets", "--out", "x"], 1, "did you mean 'segments'"),
        (["study", "no/where.csv", "--out", "x"], 1, "there is no file or folder"),
        (["study", "segments"], 2, "--out"),
        (["study", "--out", "x", "--jobs", "0"], 2, "--jobs"),
        (["study", "--out", "x", "--phis", "a"], 2, "--phis"),
        (["study", "--out", "x", "--phis", "2"], 1, "phis must be above 0"),
        (["study", "--out", "x", "--heuristic", "gini"], 1, "unknown heuristic 'gini'"),
        (["study", "--out", "x", "--tune", "f2"], 1, "unknown measure"),
        (["study", "--config", "none.toml", "--out", "x"], 1, "none.toml"),
        (["report", "nowhere"], 1, "holds no study"),
        (["report", "nowhere", "--style", "acm"], 2, "'springer', 'ieee', 'beamer'"),
        (["study", "--out", "x", "--shard", "4/3"], 2, "'4/3' is not a part of a whole"),
        (["study", "--out", "x", "--shard", "0/3"], 2, "such as 3/50"),
        (["study", "--out", "x", "--shard", "a"], 2, "such as 3/50"),
        (["study", "--out", "x", "--collect", "--shard", "1/3"], 2, "excludes --shard"),
        (["study", "--out", "x", "--collect", "--dask", "local"], 2, "excludes --shard and --dask"),
    ],
)
def test_errors_are_one_sentence(run, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    got, _, err = run(*arguments)
    assert got == code
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder_is_one_sentence(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run("study", "planted", "--out", tmp_path / "file" / "results", *MINI)
    assert code == 1
    assert "file" in err
    assert "Traceback" not in err


def test_a_full_disk_is_one_sentence(run, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device", "unit")

    monkeypatch.setattr("steelyard.study.store.StudyStore.write_unit", fail)
    code, _, err = run("study", "planted", "--out", tmp_path / "o", *MINI)
    assert code == 1
    assert "the disk is full" in err


def test_killed_anywhere_it_ends_with_the_same_bytes(tmp_path):
    script = (
        "import sys; from steelyard.study import StudyConfig, run_study\n"
        "config = StudyConfig(('planted',), folds=4, n_candidates=1000, phis=(1.0, 0.5))\n"
        "run_study(config, sys.argv[1], progress=lambda *_: print('unit', flush=True))"
    )

    def kill_after(name: str, n_lines: int) -> bool:
        """Start a study and kill it at its n-th sign of life; whether it was still running."""
        command = [sys.executable, "-c", script, str(tmp_path / name)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for _ in range(n_lines):
                process.stdout.readline()
            alive = process.poll() is None
            process.kill()
        return alive

    killed = [kill_after("killed", n_lines) for n_lines in (1, 2)]
    assert any(killed)
    config = StudyConfig(("planted",), folds=4, n_candidates=1000, phis=(1.0, 0.5))
    for name in ("killed", "whole"):
        run_study(config, tmp_path / name, n_jobs=1)
    for file in ("results.csv", "theories/planted/fold-1.json.gz", "examples/planted.json"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "killed" / file).read_bytes()


def test_report_writes_the_page_of_one_theory(run, tmp_path):
    theory, page = tmp_path / "theory.json", tmp_path / "page.html"
    assert run("fit", "planted", "--method", "ripper", "-o", theory)[0] == 0
    code, out, _ = run("report", theory, "planted", "--out", page)
    assert code == 0
    assert str(page) in out
    assert "<!DOCTYPE html>" in page.read_text(encoding="utf-8")
    assert run("report", theory, "planted")[0] == 0
    assert theory.with_suffix(".html").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("theory.json",), "needs examples"),
        (("theory.json", "planted", "--label", "a"), "only for a results folder"),
        ((".", "planted"), "only for a theory"),
        (("nowhere.json", "planted"), "no file or folder"),
        (("theory.json", "planted", "--out", "theory.json"), "is an input"),
    ],
)
def test_report_rejects_what_does_not_fit(run, tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    assert run("fit", "planted", "--method", "ripper", "-o", "theory.json")[0] == 0
    code, _, err = run("report", *arguments)
    assert code == 2
    assert problem in " ".join(err.split())


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (("--tune", "f1_micro", "--phi", "0.5", "--candidates", "300"), '"kind":"study"'),
        (("--method", "boosted", "--max-rules", "20"), '"kind":"theory"'),
    ],
)
def test_fit_writes_a_page_on_request(run, tmp_path, options, kind):
    page = tmp_path / "page.html"
    out = tmp_path / "theory.json"
    code, _, _ = run("fit", "planted", *options, "-o", out, "--report", page)
    assert code == 0
    assert kind in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "options", [("--method", "ripper"), ("--tune", "f1_micro", "--phi", "0.5")]
)
def test_the_page_of_a_fit_judges_on_examples_that_are_not_learned_from(run, tmp_path, options):
    page, out = tmp_path / "page.html", tmp_path / "theory.json"
    data = make_planted_rules(130, random_state=5)
    table = data.X.join(data.Y)
    files = [tmp_path / "train.csv", tmp_path / "test.csv"]
    for file, part in zip(files, (table[:100], table[100:]), strict=True):
        part.to_csv(file, index=False)
    if "--tune" in options:
        options += ("--candidates", "200")
    names = ",".join(data.label_names)
    given = ("fit", files[0], "--labels", names, *options, "-o", out, "--test", files[1])
    code, _, err = run(*given)
    assert code == 2
    assert "needs --report" in err
    assert run(*given, "--report", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert '"n_rows":30,"n_held_out":30,"n_test":30,"n_training":0' in text
