"""``steelyard predict`` on labelled and unlabelled tables."""

import csv

import pandas as pd
import pytest

from steelyard import BestLabel, Evidence, Feature, Label, Rule, ScoredRule, Theory


@pytest.mark.parametrize("is_labelled", [True, False])
def test_predictions_are_those_of_the_theory(run, saved, tmp_path, labels, is_labelled):
    table = pd.read_csv(saved / "data.csv")
    if not is_labelled:
        table = table.drop(columns=labels.split(","))
    table.to_csv(tmp_path / "new.csv", index=False)
    theory, out = saved / "theory.json", tmp_path / "predictions.csv"
    code, printed, err = run("predict", theory, tmp_path / "new.csv", "-o", out)
    assert (code, printed) == (0, ""), err
    pd.testing.assert_frame_equal(pd.read_csv(out), Theory.from_json(theory).predict(table))
    code, printed, _ = run("predict", theory, tmp_path / "new.csv")
    assert printed == out.read_text(encoding="utf-8")


NAMES = ["=1+2", "+a", "-b", "@c", "\td"]


def write_case(folder, **parts):
    """A theory whose labels spreadsheets could take for formulas, and a table for it."""
    rules = [ScoredRule(Rule.parse(f'"{n}" <- x >= {i}'), Evidence(1, 0), 1.0) for i, n in NAMED]
    labels = tuple(Label(name, 1, 5, 5) for name in NAMES)
    Theory((Feature("x"),), labels, tuple(rules), **parts).to_json(folder / "theory.json")
    (folder / "data.csv").write_text("x\n-1\n0\n3\n", encoding="utf-8")


NAMED = list(enumerate(name.replace("\t", "\\t") for name in NAMES))


def test_no_cell_of_the_header_is_a_formula(run, tmp_path):
    write_case(tmp_path)
    code, printed, err = run("predict", tmp_path / "theory.json", tmp_path / "data.csv")
    assert code == 0, err
    header, *rows = csv.reader(printed.splitlines(keepends=True))
    assert header == [f"'{name}" for name in NAMES]
    assert rows == [list("00000"), list("10000"), list("11110")]


def test_no_class_is_a_formula(run, tmp_path):
    write_case(tmp_path, decoder=BestLabel(), classes=tuple(NAMES))
    code, printed, err = run("predict", tmp_path / "theory.json", tmp_path / "data.csv")
    assert code == 0, err
    header, *rows = csv.reader(printed.splitlines(keepends=True))
    assert header == ["class"]
    assert {row[0] for row in rows} <= {f"'{name}" for name in NAMES}


def test_numbers_stay_numbers(run, tmp_path):
    rule = ScoredRule(Rule.parse('"y=-1" <- x >= 0'), Evidence(1, 0), 1.0)
    theory = Theory((Feature("x"),), (Label("y=-1", 1, 5, 5),), (rule,), classes=(2, -1))
    theory.to_json(tmp_path / "theory.json")
    (tmp_path / "data.csv").write_text("x\n-1\n0\n", encoding="utf-8")
    printed = run("predict", tmp_path / "theory.json", tmp_path / "data.csv")[1]
    assert printed.split() == ["class", "2", "-1"]


def test_a_line_break_in_a_name_stays_in_its_cell(run, tmp_path):
    labels = tuple(Label(name, 1, 5, 5) for name in ("a\rb", "c\nd"))
    Theory((Feature("x"),), labels, ()).to_json(tmp_path / "theory.json")
    (tmp_path / "data.csv").write_text("x\n-1\n0\n", encoding="utf-8")
    out = tmp_path / "predictions.csv"
    code, _, err = run("predict", tmp_path / "theory.json", tmp_path / "data.csv", "-o", out)
    assert code == 0, err
    with out.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["a\rb", "c\nd"], ["0", "0"], ["0", "0"]]
