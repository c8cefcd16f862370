"""Files that commands read theories from: single ones, and all theories of a study's fold."""

import gzip
import json

import pytest

from steelyard import MEstimate, make_planted_rules, theory_path

COMMANDS = [
    ["rules"],
    ["predict", "data.csv"],
    ["evaluate", "data.csv", "--json"],
    ["explain", "data.csv"],
    ["export", "--to", "json"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All theories of a small grid as a study keeps them, one of them by itself, and the data."""
    folder = tmp_path_factory.mktemp("saved")
    data = make_planted_rules(150, random_state=0)
    grid = [MEstimate(m) for m in (4, 16)]
    path = theory_path(data.X, data.Y, grid, [1.0, 0.5], n_candidates=300, random_state=0)
    (folder / "fold-1.json.gz").write_bytes(gzip.compress(path.to_json().encode()))
    (folder / "fold-1.json").write_text(path.to_json(), encoding="utf-8")
    path.theory(MEstimate(4), 1.0).to_json(folder / "theory.json")
    (folder / "theory.json.gz").write_bytes(gzip.compress((folder / "theory.json").read_bytes()))
    data.X.join(data.Y).to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def _in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


def insert(command, theory, *options):
    """A command's arguments with a theory in its place."""
    return [command[0], theory, *command[1:], *options]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("file", ["fold-1.json.gz", "fold-1.json"])
def test_a_cell_of_a_study_says_what_the_same_theory_by_itself_says(run, command, file):
    expected = run(*insert(command, "theory.json"))
    assert expected[0] == 0, expected
    assert run(*insert(command, file, "--parameter", "4", "--phi", "1")) == expected
    assert run(*insert(command, "theory.json.gz")) == expected


def test_a_cell_that_nobody_named_is_said(run):
    code, out, err = run("export", "fold-1.json.gz", "--to", "json")
    assert code == 0
    assert json.loads(out)["phi"] == 0.5
    assert "this is the one of m-estimate(m=16), φ = 0.5" in " ".join(err.split())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_options_of_a_cell_are_refused_where_there_is_a_single_theory(run, command):
    code, out, err = run(*insert(command, "theory.json", "--phi", "0.1", "--parameter", "4"))
    assert code == 2
    assert out == ""
    assert "theory.json holds a single theory" in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1f\x8b\x00\x00", "damaged or another kind of file"),
        (gzip.compress(b"{}" * 50)[:-9], "damaged or another kind of file"),
        (b"\xff\xfe\x00", "damaged or another kind of file"),
        (b"colour,size", "is not JSON"),
        (b"[1, 2]", "is not a steelyard theory"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
        (gzip.compress(b'{"format": "other"}'), "is not a steelyard theory"),
        (b'{"format": "steelyard path", "schema_version": 1}', "is a damaged path"),
    ],
    ids=["no gzip", "half a gzip", "binary", "CSV", "list", "nest", "other format", "damaged path"],
)
def test_another_file_is_one_sentence_that_names_it(run, folder, command, content, message):
    (folder / "other").write_bytes(content)
    code, out, err = run(*insert(command, "other"))
    assert (code, out) == (1, "")
    assert err.startswith("error: other")
    assert message in err
    assert "this should not have happened" not in err


def test_a_cell_beyond_the_grid_is_one_sentence(run):
    code, _, err = run("predict", "fold-1.json.gz", "data.csv", "--parameter", "5")
    assert code == 1
    assert "the path has no m-estimate(m=5)" in err
