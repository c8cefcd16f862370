"""Theories that commands read: a single one, or all theories of a study's fold."""

import gzip
import json
import os
import threading

import pytest

COMMANDS = [
    ["rules"],
    ["predict", "data.csv"],
    ["evaluate", "data.csv", "--json"],
    ["explain", "data.csv"],
    ["export", "--to", "json"],
]
pytestmark = pytest.mark.usefixtures("in_saved")
every_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])


def insert(command, theory, *options):
    """Insert a theory as the first argument of a command."""
    return [command[0], theory, *command[1:], *options]


@every_command
@pytest.mark.parametrize("file", ["fold-1.json.gz", "fold-1.json"])
def test_a_theory_of_a_study_gives_the_same_as_that_theory_alone(run, command, file):
    expected = run(*insert(command, "theory.json"))
    assert expected[0] == 0, expected
    assert run(*insert(command, file, "--parameter", "4", "--phi", "1")) == expected
    assert run(*insert(command, "theory.json.gz")) == expected


def test_a_theory_can_come_from_a_pipe(run, saved, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[(saved / "theory.json").read_bytes()])
    writer.start()
    assert run("rules", pipe) == run("rules", "theory.json")
    writer.join()


def test_the_default_theory_of_a_study_is_named(run):
    code, out, err = run("export", "fold-1.json.gz", "--to", "json")
    assert code == 0
    assert json.loads(out)["phi"] == 0.5
    assert "m-estimate(m=16), φ = 0.5" in err


@every_command
def test_options_that_choose_are_rejected_for_a_single_theory(reject, command):
    message = reject(*insert(command, "theory.json", "--phi", "0.1", "--parameter", "4"))
    assert "theory.json holds a single theory" in message


def test_a_heuristic_without_a_parameter_gets_none(reject):
    message = reject("rules", "fold-1.json", "--heuristic", "wra", "--parameter", "1")
    assert "wra has no parameter" in message


def test_a_theory_outside_the_grid_is_one_sentence(run):
    code, _, err = run("predict", "fold-1.json.gz", "data.csv", "--parameter", "5")
    assert code == 1
    assert "no m-estimate(m=5)" in err


@every_command
def test_a_missing_file_is_wrong_usage(reject, command):
    assert "nothing.json" in reject(*insert(command, "nothing.json"))


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8b\x00\x00",
        gzip.compress(b"{}" * 50)[:-9],
        b"\xff\xfe\x00",
        b"colour,size",
        b"[1, 2]",
        b'{"a":' + b"[" * 100_000,
        gzip.compress(b'{"format": "other"}'),
        b'{"format": "steelyard path", "schema_version": 1}',
    ],
    ids=["no gzip", "half a gzip", "binary", "CSV", "list", "nest", "other format", "damaged path"],
)
def test_another_file_is_one_sentence_that_names_it(run, tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    code, out, err = run("rules", tmp_path / "other")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {tmp_path / 'other'}")
    assert "unexpected" not in err
