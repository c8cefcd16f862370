"""``steelyard explain`` for one row of a table or of a named data set."""

import json

import pandas as pd
import pytest

from steelyard import Theory

pytestmark = pytest.mark.usefixtures("in_saved")


def test_the_explanation_of_the_row_is_printed(run, saved):
    row = pd.read_csv("data.csv").iloc[[3]]
    expected = Theory.from_json(saved / "theory.json").explain(row)
    assert run("explain", "theory.json", "data.csv", "--row", 3)[1] == f"{expected}\n"


def test_bodies_that_fire_are_printed_once(run, reject, saved):
    row = pd.read_csv("data.csv").iloc[[3]]
    expected = Theory.from_json(saved / "theory.json").explain(row).to_text(by="body")
    assert run("explain", "theory.json", "data.csv", "--row", 3, "--by", "body")[1] == expected
    reject("explain", "theory.json", "data.csv", "--by", "body", "--json")


def test_json_holds_reasons_and_rules_without_missing_values(run):
    code, out, err = run("explain", "theory.json", "planted", "--row", 5, "--json")
    assert code == 0, err
    assert "NaN" not in out
    explained = json.loads(out)
    assert set(explained) == {"predicted", "labels", "reasons", "rules"}
    assert explained["predicted"] == [name for name, is_on in explained["labels"].items() if is_on]
    assert explained["rules"]


def test_a_row_after_the_last_is_wrong_usage(reject):
    assert "150 examples" in reject("explain", "theory.json", "data.csv", "--row", 150)
