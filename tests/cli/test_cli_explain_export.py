"""``steelyard explain`` and ``steelyard export`` on a saved theory."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from steelyard import MEstimate, RuleSetClassifier, Theory, make_planted_rules
from steelyard.cli.explain_export import register

app = typer.Typer()
register(app)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A theory in JSON and its training examples in CSV, with the labels as columns."""
    folder = tmp_path_factory.mktemp("saved")
    data = make_planted_rules(200, random_state=0)
    clf = RuleSetClassifier(MEstimate(m=8), n_candidates=500, random_state=0)
    clf.fit(data.X, data.Y).theory_.to_json(folder / "theory.json")
    data.X.join(data.Y).to_csv(folder / "data.csv", index=False)
    return folder


def run(*arguments: object, ok: bool = True) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert (result.exit_code == 0) is ok, result.output
    return result.output


def test_explain_prints_the_explanation_of_the_row(files):
    theory = Theory.from_json(files / "theory.json")
    data = make_planted_rules(200, random_state=0)
    printed = run("explain", files / "theory.json", files / "data.csv", "--row", 3)
    assert printed == f"{theory.explain(data.X.iloc[3])}\n"


def test_explain_takes_named_data_and_prints_json(files):
    printed = run("explain", files / "theory.json", "planted", "--row", 5, "--json")
    explained = json.loads(printed)
    assert set(explained) == {"predicted", "labels", "reasons", "rules"}
    assert explained["rules"]


def test_a_row_beyond_the_last_is_wrong_usage(files):
    printed = run("explain", files / "theory.json", files / "data.csv", "--row", 200, ok=False)
    assert "200 examples" in printed


@pytest.mark.parametrize("to", ["sql", "python", "pmml", "latex", "markdown", "text", "json"])
def test_export_writes_what_the_theory_s_method_gives(files, tmp_path, to):
    theory = Theory.from_json(files / "theory.json")
    expected = getattr(theory, f"to_{to}")()
    assert run("export", files / "theory.json", "--to", to) == expected
    run("export", files / "theory.json", "--to", to, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text(encoding="utf-8") == expected


def test_export_of_sql_knows_dialects_and_tables(files):
    theory = Theory.from_json(files / "theory.json")
    options = ("--to", "sql", "--dialect", "duckdb", "--table", 'my "fruit"')
    assert run("export", files / "theory.json", *options) == theory.to_sql("duckdb", 'my "fruit"')
