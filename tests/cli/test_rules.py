"""``steelyard rules`` for all labels and for one."""

import json

import pytest

from steelyard import Theory

pytestmark = pytest.mark.usefixtures("in_saved")


def test_rules_are_printed_as_the_theory_prints_itself(run, saved):
    assert run("rules", "theory.json")[1] == f"{Theory.from_json(saved / 'theory.json')}\n"


def test_the_rules_of_one_label_can_be_had_alone(run, saved):
    expected = Theory.from_json(saved / "theory.json").rules_of("for jam")
    lines = run("rules", "theory.json", "--label", "for jam")[1].splitlines()
    assert len(lines) == len(expected)
    assert all(line.startswith("for jam ←") for line in lines)
    printed = json.loads(run("rules", "theory.json", "--label", "for jam", "--json")[1])
    assert {rule["label"] for rule in printed} == {"for jam"}
    assert len(printed) == len(expected)


def test_rules_with_the_same_body_can_be_printed_together(run, saved):
    theory = Theory.from_json(saved / "theory.json")
    assert run("rules", "theory.json", "--by", "body")[1] == theory.to_text(by="body")
    assert run("rules", "theory.json", "--by", "label")[1] == theory.to_text(by="label")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [(["--label", "for jam"], "without --label"), (["--json"], "without --json")],
)
def test_bodies_are_printed_for_all_labels_and_as_text(run, options, sentence):
    code, _, err = run("rules", "theory.json", "--by", "body", *options)
    assert code == 2
    assert sentence in " ".join(err.split())


def test_an_unknown_label_is_one_sentence(run):
    code, _, err = run("rules", "theory.json", "--label", "for jma")
    assert code == 1
    assert "'for jma'" in err
