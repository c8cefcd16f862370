"""``steelyard import`` reads what other programs write, and says in one sentence what is wrong."""

import json
import pickle
from pathlib import Path

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from steelyard import Theory

RECORDED = Path(__file__).parents[1] / "importing" / "recorded"
PATIENTS = RECORDED / "patients.csv"
PREDICTED = pd.read_csv(RECORDED / "predictions.csv")


@pytest.mark.parametrize("format", [[], ["--format", "boomer"]])
def test_rules_are_counted_on_the_data(run, tmp_path, format):
    out = tmp_path / "theory.json"
    code, printed, err = run("import", RECORDED / "boomer.txt", PATIENTS, "-o", out, *format)
    assert code == 0, err
    assert printed.splitlines()[-1] == "The evidence is from a recount on 150 examples."
    theory = Theory.from_json(out)
    assert [feature.name for feature in theory.features] == ["fever", "the age", "nose", "days"]
    predicted = theory.predict(pd.read_csv(PATIENTS))
    for label in theory.label_names:
        assert (predicted[label] == PREDICTED[f"boomer {label}"]).all()
    code, printed, _ = run("rules", out, "--label", "cold")
    assert "imported" in printed


def test_a_rule_set_gets_the_name_of_its_label(run, tmp_path):
    out = tmp_path / "theory.json"
    arguments = (RECORDED / "wittgenstein.txt", PATIENTS, "--labels", "cold", "-o", out, "--json")
    code, printed, err = run("import", *arguments)
    assert code == 0, err
    assert json.loads(printed)["labels"] == ["cold"]
    predicted = Theory.from_json(out).predict(pd.read_csv(PATIENTS))
    assert (predicted["cold"] == PREDICTED["ripper"]).all()


def test_classes_need_no_column(run, tmp_path):
    out = tmp_path / "theory.json"
    code, _, err = run("import", RECORDED / "rulekit.json", PATIENTS, "-o", out)
    assert code == 0, err
    theory = Theory.from_json(out)
    assert (theory.predict(pd.read_csv(PATIENTS)) == PREDICTED["rulekit"]).all()


def test_classes_are_counted_if_their_column_is_named(run, tmp_path):
    table = pd.read_csv(PATIENTS).assign(ill=PREDICTED["rulekit"])
    table.to_csv(tmp_path / "ill.csv", index=False)
    out = tmp_path / "theory.json"
    arguments = (RECORDED / "rulekit.json", tmp_path / "ill.csv", "--labels", "ill", "-o", out)
    code, printed, err = run("import", *arguments)
    assert code == 0, err
    assert "recount on 150 examples" in printed
    assert Theory.from_json(out).evidence_from.judgement.measures["subset"] == 1


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("{fever > 38} => flu", (), "line 1: expected {conditions} => (label = score, ...)"),
        (
            "nothing",
            (),
            "this is not a known format; choose from decision-rules, wittgenstein, boomer",
        ),
        ("nothing", ("--format", "boomer"), "line 1: expected {conditions}"),
        ("{", (), "this is not JSON"),
        ("", (), "this is not a known format"),
        ("{temperature > 38.0} => (flu = 1)", (), "line 1: unknown attribute 'temperature'"),
    ],
)
def test_damage_is_one_sentence_with_the_file(run, tmp_path, text, options, message):
    file = tmp_path / "rules.txt"
    file.write_text(text, encoding="utf-8")
    code, out, err = run("import", file, PATIENTS, "-o", tmp_path / "theory.json", *options)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {file}: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "theory.json").exists()


def test_a_pickled_tree_is_not_executed(run, tmp_path):
    file = tmp_path / "tree.pickle"
    file.write_bytes(pickle.dumps(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])))
    code, _, err = run("import", file, PATIENTS, "-o", tmp_path / "theory.json")
    assert code == 1
    assert len(err.splitlines()) == 1


def test_an_unknown_label_is_wrong_usage(reject, tmp_path):
    arguments = (RECORDED / "boomer.txt", PATIENTS, "-o", tmp_path / "theory.json")
    assert "has no column 'fly'" in reject("import", *arguments, "--labels", "fly")


@pytest.mark.parametrize("format", [[], ["--format", "wittgenstein"]])
def test_a_label_that_no_rule_names_must_be_given(reject, tmp_path, format):
    out = tmp_path / "theory.json"
    arguments = (RECORDED / "wittgenstein.txt", PATIENTS, "-o", out, *format)
    assert "does not name the label that its rules predict" in reject("import", *arguments)
    assert not out.exists()
