"""Options that several commands share are used, or rejected in one sentence before the work."""

import os

import pytest

TABLES_ONLY = "only for CSV and Parquet files"
WRITERS = [
    ["fit", "planted"],
    ["predict", "theory.json", "planted"],
    ["export", "theory.json", "--to", "sql"],
]


@pytest.mark.parametrize("option", ["--labels", "--ignore", "--nominal"])
def test_columns_can_be_named_only_in_tables(reject, arff, tmp_path, option):
    for data in (arff.parent, arff, "segments"):
        message = reject("fit", data, option, "red,green", "-o", tmp_path / "theory.json")
        assert f"'{option}': {TABLES_ONLY}" in message


@pytest.mark.usefixtures("in_saved")
def test_every_command_rejects_labels_of_other_files(reject, arff, tmp_path):
    for command in [
        ["data", "show", arff],
        ["evaluate", "theory.json", arff],
        ["study", "--out", tmp_path / "results"],
        ["study", arff, "planted", "--out", tmp_path / "results"],
    ]:
        assert TABLES_ONLY in reject(*command, "--labels", "red")
    assert not (tmp_path / "results").exists()


@pytest.fixture
def no_work(monkeypatch, in_saved):
    """Let every command fail that loads data or reads a theory."""

    def work(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr("steelyard.cli.fit.load_data", work)
    monkeypatch.setattr("steelyard.cli.inputs.read_theory", work)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("command", WRITERS, ids=lambda command: command[0])
def test_an_output_that_cannot_be_written_is_rejected_before_the_work(reject, tmp_path, command):
    (tmp_path / "file").write_text("kept")
    for out, reason in [
        (tmp_path / "nowhere" / "out", "not a folder"),
        (tmp_path / "file" / "out", "not a folder"),
        (tmp_path, "is a directory"),
    ]:
        message = reject(*command, "-o", out)
        assert "--out" in message
        assert reason in message
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("command", WRITERS, ids=lambda command: command[0])
def test_permission_is_checked_before_the_work_and_nothing_is_touched(
    run, reject, tmp_path, monkeypatch, command
):
    (tmp_path / "file").write_text("kept")
    with monkeypatch.context() as patch:
        # Root may write everything, so the answer of the system is replaced.
        patch.setattr("os.access", lambda _, mode: not mode & os.W_OK)
        assert "is not writable" in reject(*command, "-o", tmp_path / "file")
        assert "can write to" in reject(*command, "-o", tmp_path / "new")
    assert "the work has begun" in run(*command, "-o", tmp_path / "file")[2]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.usefixtures("no_work")
def test_no_command_replaces_a_file_that_it_reads(reject, saved, arff):
    for command in (
        ["fit", "data.csv", "-o", saved / "data.csv"],
        ["fit", arff.parent, "-o", arff],
        ["predict", "theory.json", "data.csv", "-o", "data.csv"],
        ["predict", "theory.json", "data.csv", "-o", "theory.json"],
        ["export", "theory.json", "--to", "sql", "-o", saved / "." / "theory.json"],
    ):
        assert "choose another file" in reject(*command)


@pytest.mark.usefixtures("in_saved")
def test_an_output_can_be_a_device(run):
    code, out, err = run("predict", "theory.json", "data.csv", "-o", "/dev/null")
    assert (code, out) == (0, ""), err
