"""``steelyard evaluate`` as JSON and as a table."""

import json

import pandas as pd
import pytest

from steelyard import Theory
from steelyard.measures import MEASURES

pytestmark = pytest.mark.usefixtures("in_saved")


def test_every_measure_compares_predictions_with_the_labels(run, saved, labels):
    code, out, err = run("evaluate", "theory.json", "data.csv", "--json")
    assert code == 0, err
    theory, table = Theory.from_json(saved / "theory.json"), pd.read_csv("data.csv")
    values = json.loads(out)
    assert values.pop("n_examples") == len(table)
    assert values.pop("n_rules") == len(theory)
    assert set(values) == set(MEASURES)
    is_right = theory.predict(table) == table[labels.split(",")]
    assert values["hamming"] == pytest.approx(is_right.to_numpy().mean())
    code, out, _ = run("evaluate", "theory.json", "data.csv")
    assert f"{100 * values['hamming']:.2f} %" in out


def test_a_label_that_the_data_lacks_is_named(run, arff):
    code, _, err = run("evaluate", "theory.json", arff)
    assert code == 1
    assert "no label 'for juice'" in err
