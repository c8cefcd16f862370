"""``steelyard export`` to every format."""

import pytest

from steelyard import Theory

pytestmark = pytest.mark.usefixtures("in_saved")


@pytest.mark.parametrize(
    "to", ["sql", "python", "pmml", "latex", "markdown", "html", "text", "json"]
)
def test_export_writes_what_the_theory_s_method_returns(run, saved, tmp_path, to):
    expected = getattr(Theory.from_json(saved / "theory.json"), f"to_{to}")()
    assert run("export", "theory.json", "--to", to)[1] == expected
    run("export", "theory.json", "--to", to, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text(encoding="utf-8") == expected


def test_sql_has_dialects_and_tables(run, saved):
    options = ("--to", "sql", "--dialect", "duckdb", "--table", 'my "fruit"')
    expected = Theory.from_json(saved / "theory.json").to_sql("duckdb", 'my "fruit"')
    assert run("export", "theory.json", *options)[1] == expected


@pytest.mark.parametrize("option", [("--dialect", "duckdb"), ("--table", "t")])
def test_options_of_sql_are_rejected_for_other_formats(reject, option):
    message = reject("export", "theory.json", "--to", "latex", *option)
    assert option[0] in message
    assert "--to sql" in message


@pytest.mark.parametrize("to", ["latex", "markdown", "html", "text"])
def test_formats_for_readers_show_rules_by_body(run, reject, saved, to):
    expected = getattr(Theory.from_json(saved / "theory.json"), f"to_{to}")(by="body")
    assert run("export", "theory.json", "--to", to, "--by", "body")[1] == expected
    message = reject("export", "theory.json", "--to", "sql", "--by", "body")
    assert "--to text, markdown, latex, html" in message
