"""Commands on tables as they are: dates, identifiers, missing labels and targets of several values."""

import datetime as dt
import json

import pandas as pd
import pytest

from steelyard import Theory


@pytest.fixture
def orders(tmp_path):
    """Orders with a date and a number; some labels are missing."""
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=4 * i) for i in range(40)]
    table = pd.DataFrame({"ordered": days, "express": [i % 2 for i in range(40)]})
    table["early"] = [int(day < dt.date(2024, 3, 1)) for day in days]
    table["via"] = [("air", "sea", "rail")[i // 14] for i in range(40)]
    table["order_id"] = range(1000, 1040)
    file = tmp_path / "orders.csv"
    table.to_csv(file, index=False)
    return file


def fit(run, orders, *options):
    theory = orders.with_name("theory.json")
    method = ("--method", "ripper", "-j", 1)
    code, _, err = run("fit", orders, "-o", theory, *method, *options)
    return code, " ".join(err.split()), theory


def test_dates_in_a_csv_file_are_learned_printed_predicted_and_explained(run, orders):
    options = ("--labels", "early", "--ignore", "order_id,via")
    code, err, theory = fit(run, orders, *options)
    assert (code, err) == (0, "")
    assert "early ← ordered ≤ 2024-02-26" in run("rules", theory)[1].replace("¬", "")
    code, out, err = run("evaluate", theory, orders, "--json")
    assert code == 0, err
    assert json.loads(out)["hamming"] == 1
    assert run("predict", theory, orders)[0] == 0
    assert "2024-02-26" in run("explain", theory, orders, "--row", 39)[1]
    assert "ordered" in run("export", theory, "--to", "sql")[1]


def test_identifiers_are_named_once(run, orders):
    code, err, _ = fit(run, orders, "--labels", "early", "--ignore", "via")
    assert code == 0
    assert err.count("look like identifiers: 'order_id'") == 1


def test_targets_of_several_values_are_split_if_asked_for(run, orders):
    options = ("--labels", "early,via", "--ignore", "order_id")
    code, err, _ = fit(run, orders, *options)
    assert code == 1
    assert "label 'via' is 'air' instead of 0 or 1; multi_valued='split'" in err
    code, err, theory = fit(run, orders, *options, "--split-targets")
    assert code == 0, err
    assert Theory.from_json(theory).label_names == ("early", "via=air", "via=rail", "via=sea")


def test_missing_labels_are_dropped_if_asked_for(run, orders):
    table = pd.read_csv(orders)
    table.loc[3, "early"] = None
    table.to_csv(orders, index=False)
    options = ("--labels", "early", "--ignore", "order_id,via")
    code, err, _ = fit(run, orders, *options)
    assert code == 1
    assert "row 4: label 'early' is missing; missing_labels='drop'" in err
    code, err, theory = fit(run, orders, *options, "--missing-labels", "drop")
    assert code == 0
    assert "dropped 1 example with missing labels" in err
    assert Theory.from_json(theory).labels[0].n_examples == 39
