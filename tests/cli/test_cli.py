"""The command line as a user meets it: each command through the real entry point."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from steelyard import make_planted_rules
from steelyard.cli import main

MINI = [
    "--candidates",
    "300",
    "--folds",
    "3",
    "--parameters",
    "0,4,64",
    "--phis",
    "1,0.5",
    "-j",
    "1",
]


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    data = make_planted_rules(150, random_state=0)
    data.X.join(data.Y).to_csv(tmp_path / "fruit.csv", index=False)
    return tmp_path / "fruit.csv"


LABELS = "for juice,for jam,for baking,for drying"


def test_every_command_has_help_with_an_example(run):
    for command in ["study", "report", "fit", "predict", "evaluate", "rules", "explain", "export"]:
        code, out, _ = run(command, "--help")
        assert code == 0
        assert "Example: steelyard " + command in " ".join(out.split()), command
    for command in ["list", "show", "fetch"]:
        code, out, _ = run("data", command, "--help")
        assert code == 0
        assert f"Example: steelyard data {command}" in " ".join(out.split())


def test_version_names_what_results_depend_on(run):
    code, out, _ = run("--version")
    assert code == 0
    assert all(name in out for name in ("steelyard 0.", "numpy", "numba", "scikit-learn"))


def test_a_study_end_to_end(run, fruit, tmp_path):
    out_folder = tmp_path / "results"
    command = ["study", fruit, "--labels", LABELS, "--out", out_folder, *MINI, "--tune", "f1_micro"]
    code, out, err = run(*command)
    assert code == 0, err
    assert str(out_folder) in out
    assert "Best cell" in out
    assert "units" in err
    rows = pd.read_csv(out_folder / "results.csv")
    assert (rows.groupby(["fold", "measure"]).size() == 6).all()
    assert len(list((out_folder / "figures").glob("*.png"))) >= 8
    assert (out_folder / "tuned.csv").exists()

    before = (out_folder / "results.csv").read_bytes()
    code, out, _ = run(
        "study", "--config", out_folder / "study.toml", "--out", out_folder, "--json"
    )
    assert code == 0
    assert json.loads(out)["tuned"][0]["tuned_for"] == "f1_micro"
    assert (out_folder / "results.csv").read_bytes() == before

    code, _, err = run(*command, "--seed", "5")
    assert code == 1
    assert "seed was 0, now 5" in err
    assert "Traceback" not in err

    code, out, _ = run("report", out_folder, "--label", "for jam", "--cells", "4:0.5,64:1")
    assert code == 0
    assert "for jam" in (out_folder / "tables" / "rule_sets.md").read_text("utf-8")

    theories = out_folder / "theories" / "fruit" / "fold-1.json.gz"
    code, out, _ = run("rules", theories, "--parameter", "4", "--phi", "1", "--label", "for jam")
    assert code == 0
    assert "for jam ←" in out


def test_fit_predict_evaluate_rules(run, fruit, tmp_path):
    theory, predictions = tmp_path / "theory.json", tmp_path / "predictions.csv"
    code, out, err = run(
        "fit",
        fruit,
        "--labels",
        LABELS,
        "-o",
        theory,
        "--candidates",
        "300",
        "--phi",
        "1",
        "--json",
    )
    assert code == 0, err
    n_rules = json.loads(out)["n_rules"]
    assert n_rules > 0
    unlabelled = tmp_path / "new.csv"
    pd.read_csv(fruit).drop(columns=LABELS.split(",")).to_csv(unlabelled, index=False)
    code, _, err = run("predict", theory, unlabelled, "-o", predictions)
    assert code == 0, err
    assert list(pd.read_csv(predictions)) == LABELS.split(",")
    assert len(pd.read_csv(predictions)) == 150
    code, out, err = run("evaluate", theory, fruit, "--json")
    assert code == 0, err
    values = json.loads(out)
    assert values["n_rules"] == n_rules
    assert values["hamming"] > 0.9
    code, out, _ = run("rules", theory, "--label", "for jam", "--json")
    assert {rule["label"] for rule in json.loads(out)} == {"for jam"}


def test_data_commands(run, fruit):
    code, out, _ = run("data", "list", "--json")
    assert code == 0
    assert {"segments", "yeast"} <= {entry["name"] for entry in json.loads(out)}
    code, out, _ = run("data", "show", fruit, "--labels", LABELS, "--json")
    assert json.loads(out)["n_examples"] == 150


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
        (["rules", "nothing.json"], 1, "nothing.json"),
        (["fit", "segments", "-o", "t.json", "--heuristic", "wra", "--parameter", "1"], 2, "wra"),
        (["nonsense"], 2, "nonsense"),
    ],
)
def test_errors_are_one_sentence(run, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    got, _, err = run(*arguments)
    assert got == code
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_the_traceback_wherever_it_stands(run):
    with pytest.raises(ValueError, match="no file or data set 'nope'"):
        main(["fit", "nope", "-o", "x", "--debug"])


def test_an_unwritable_folder_is_one_sentence(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run("study", "planted", "--out", tmp_path / "file" / "results", *MINI)
    assert code == 1
    assert "file" in err
    assert "Traceback" not in err


def test_a_full_disk_is_one_sentence(run, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device", "unit")

    monkeypatch.setattr("steelyard.study.units.StudyStore.write_unit", fail)
    code, _, err = run("study", "planted", "--out", tmp_path / "o", *MINI)
    assert code == 1
    assert "the disk is full" in err


def test_no_colour_where_it_is_not_wanted(run, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "")
    _, out, err = run("data", "list")
    assert "\x1b[3" not in out + err


def test_killed_anywhere_it_ends_with_the_same_bytes(tmp_path):
    script = (
        "import sys; from steelyard.study import StudyConfig, run_study\n"
        "config = StudyConfig(('planted',), folds=4, n_candidates=3000, phis=(1.0, 0.5))\n"
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

    killed = [kill_after("killed", n_lines) for n_lines in (1, 2, 2)]
    assert any(killed)
    for name in ("killed", "whole"):
        subprocess.run([sys.executable, "-c", script, str(tmp_path / name)], check=True)
    for file in ("results.csv", "theories/planted/fold-1.json.gz", "examples/planted.json"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "killed" / file).read_bytes()


def test_running_again_in_one_process_adds_no_commands(run):
    from steelyard.cli.app import app

    run("--version")
    n_commands = len(app.registered_commands)
    run("--version")
    assert len(app.registered_commands) == n_commands
