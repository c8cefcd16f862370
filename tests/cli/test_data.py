"""``steelyard data list`` and ``show``; ``fetch`` needs a network."""

import json

from steelyard.data.sources import EMBEDDED


def test_list_names_embedded_and_openml_data_sets(run):
    code, out, _ = run("data", "list", "--json")
    assert code == 0
    names = {entry["name"] for entry in json.loads(out)}
    assert {*EMBEDDED, "yeast"} <= names
    _, out, _ = run("data", "list")
    assert all(name in out for name in names)


def test_show_counts_examples_and_labels(run, saved, labels):
    command = ["data", "show", saved / "data.csv", "--labels", labels]
    shown = json.loads(run(*command, "--json")[1])
    assert shown["n_examples"] == 150
    assert list(shown["labels"]) == labels.split(",")
    _, out, _ = run(*command)
    assert f"{shown['labels']['for jam'] / 150:.1%}" in out
