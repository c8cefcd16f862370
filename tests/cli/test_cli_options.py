"""No option is ignored in silence: it is used, or refused in one sentence before the work."""

import json
import os

import pandas as pd
import pytest

from steelyard import Theory, make_planted_rules

LABELS = "for juice,for jam,for baking,for drying"
COLUMNS = "only columns of a CSV or Parquet file can be named"


@pytest.fixture(scope="module")
def fruit(tmp_path_factory):
    """The planted data as a table, with two columns that are not what they look like."""
    folder = tmp_path_factory.mktemp("fruit")
    data = make_planted_rules(150, random_state=0)
    table = data.X.join(data.Y)
    table.insert(0, "row", range(len(table)))
    # A number for each text, some of them missing, so that the codes are read as 1.0, 2.0, ...
    text = data.X.select_dtypes("category").iloc[:, 0]
    table["code"] = text.cat.codes + 1.0
    table.loc[3, "code"] = None
    table.drop(columns=text.name).to_csv(folder / "fruit.csv", index=False)
    return folder / "fruit.csv"


@pytest.fixture
def flags(tmp_path):
    """A folder with a file that names its labels itself."""
    folder = tmp_path / "flags"
    folder.mkdir()
    (folder / "flags.arff").write_text(
        "@relation 'flags: -C 2'\n@attribute red {0,1}\n@attribute green {0,1}\n"
        "@attribute size numeric\n@data\n1,0,1\n0,1,2\n1,1,3\n0,0,4\n",
        encoding="utf-8",
    )
    return folder


def refusal(result):
    """The sentence of a command that ended as wrong usage, without the frame around it."""
    code, out, err = result
    assert (code, out) == (2, ""), (code, out, err)
    assert "Traceback" not in err
    return " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize("option", ["--labels", "--ignore", "--nominal"])
def test_columns_are_named_of_tables_only(run, flags, tmp_path, option):
    for data in (flags, flags / "flags.arff", "segments"):
        said = refusal(run("fit", data, option, "red,green", "-o", tmp_path / "theory.json"))
        assert f"{option}: {COLUMNS}" in said.replace("'", "")


def test_labels_are_refused_by_every_command_where_they_are_not_chosen(run, flags, fruit, tmp_path):
    theory = tmp_path / "theory.json"
    Theory.from_json(_any_theory()).to_json(theory)
    assert COLUMNS in refusal(run("data", "show", flags, "--labels", "red"))
    assert COLUMNS in refusal(run("evaluate", theory, flags, "--labels", "red"))
    out = tmp_path / "results"
    assert COLUMNS in refusal(run("study", "--labels", "red", "--out", out))
    assert COLUMNS in refusal(run("study", flags, "planted", "--labels", "red", "--out", out))
    config = tmp_path / "study.toml"
    config.write_text('data = ["planted"]\n', encoding="utf-8")
    assert COLUMNS in refusal(run("study", "--config", config, "--labels", "a", "--out", out))
    assert not out.exists()


def _any_theory():
    from steelyard import RuleSetClassifier

    data = make_planted_rules(60, random_state=0)
    clf = RuleSetClassifier(n_candidates=100, random_state=0).fit(data.X, data.Y)
    return clf.theory_.to_json()


def test_columns_are_left_out_or_taken_as_codes(run, fruit, tmp_path):
    theory = tmp_path / "theory.json"
    command = ["fit", fruit, "--labels", LABELS, "-o", theory, "--candidates", 300, "--phi", 1]
    assert run(*command)[0] == 0
    plain = {f.name: f for f in Theory.from_json(theory).features}
    assert "row" in plain
    assert not plain["code"].is_nominal
    assert run(*command, "--ignore", "row", "--nominal", "code")[0] == 0
    learned = Theory.from_json(theory)
    told = {f.name: f for f in learned.features}
    assert "row" not in told
    assert told["code"].is_nominal
    # Later commands need not be told again.
    code, out, err = run("evaluate", theory, fruit, "--json")
    assert code == 0, err
    table = pd.read_csv(fruit)
    assert json.loads(out)["hamming"] == pytest.approx(
        (learned.predict(table) == table[LABELS.split(",")]).to_numpy().mean()
    )
    assert json.loads(out)["hamming"] > 0.9


def test_a_column_that_is_not_there_is_one_sentence(run, fruit, tmp_path):
    command = ["fit", fruit, "--labels", LABELS, "-o", tmp_path / "theory.json"]
    code, _, err = run(*command, "--ignore", "rwo")
    assert code == 1
    assert "has no column 'rwo', named in ignore (did you mean 'row'?)" in err


@pytest.mark.parametrize(
    ("options", "hint"), [(["--dialect", "duckdb"], "--dialect"), (["--table", "t"], "--table")]
)
def test_options_of_sql_are_refused_elsewhere(run, tmp_path, options, hint):
    (tmp_path / "theory.json").write_text(_any_theory(), encoding="utf-8")
    said = refusal(run("export", tmp_path / "theory.json", "--to", "latex", *options))
    assert hint in said
    assert "this is for --to sql, not for latex" in said


@pytest.fixture
def no_work(monkeypatch):
    """Commands that load data or read a theory have begun to work."""

    def work(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr("steelyard.cli.learn.load_labelled", work)
    monkeypatch.setattr("steelyard.cli.use.read_theory", work)
    monkeypatch.setattr("steelyard.cli.explain_export.read_theory", work)


WRITERS = [
    ["fit", "planted"],
    ["predict", "theory.json", "planted"],
    ["export", "theory.json", "--to", "sql"],
]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("command", WRITERS, ids=lambda command: command[0])
def test_a_file_that_cannot_be_written_is_said_before_the_work(run, tmp_path, command):
    (tmp_path / "file").write_text("kept")
    for out, reason in [
        (tmp_path / "nowhere" / "out", "no such file or directory"),
        (tmp_path / "file" / "out", "not a directory"),
        (tmp_path, "is a directory"),
    ]:
        code, _, err = run(*command, "-o", out)
        assert (code, err) == (1, f"error: cannot use '{out}': {reason}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("command", WRITERS, ids=lambda command: command[0])
def test_permission_is_asked_before_the_work_and_nothing_is_touched(
    run, tmp_path, monkeypatch, command
):
    (tmp_path / "file").write_text("kept")
    with monkeypatch.context() as patch:
        # Root may write everything: what others are told is tested with a system that says no.
        patch.setattr("os.access", lambda _, mode: not mode & os.W_OK)
        for out in (tmp_path / "file", tmp_path / "new"):
            code, _, err = run(*command, "-o", out)
            assert (code, err) == (1, f"error: cannot use '{out}': permission denied\n")
    _, _, err = run(*command, "-o", tmp_path / "file")
    assert "the work has begun" in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_a_table_is_one_by_its_name_whatever_else_is_said_of_it(run, fruit, tmp_path):
    other = tmp_path / "fruit.dat"
    other.write_bytes(fruit.read_bytes())
    for options in ((), ("--ignore", "row")):
        code, _, error = run("fit", other, "--labels", LABELS, *options, "-o", tmp_path / "t.json")
        assert code == 1
        assert "is neither a folder nor an ARFF, CSV or Parquet file" in error


def test_no_command_replaces_a_file_that_it_reads(run, fruit, flags, tmp_path):
    theory = tmp_path / "theory.json"
    options = ("--ignore", "row", "--nominal", "code", "--candidates", "50")
    run("fit", str(fruit), "--labels", LABELS, *options, "-o", str(theory))
    table, learned = fruit.read_bytes(), theory.read_bytes()
    arff = flags / "flags.arff"
    for command in (
        ("fit", str(fruit), "--labels", LABELS, "-o", str(fruit)),
        ("fit", str(flags), "-o", str(arff)),
        ("predict", str(theory), str(fruit), "-o", str(fruit)),
        ("predict", str(theory), str(fruit), "-o", str(theory)),
        ("export", str(theory), "--to", "sql", "-o", str(theory.parent / "." / theory.name)),
    ):
        code, _, error = run(*command)
        assert code == 1
        assert "is read by this command and would be lost: choose another -o" in error
    assert (fruit.read_bytes(), theory.read_bytes()) == (table, learned)
    assert arff.read_text().startswith("@relation")
