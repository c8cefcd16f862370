"""``steelyard data list`` and ``show``; ``fetch`` needs a network."""

import json

import pytest

from steelyard.data.sources import EMBEDDED


def test_list_names_embedded_and_openml_data_sets(run):
    code, out, _ = run("data", "list", "--json")
    assert code == 0
    names = {entry["name"] for entry in json.loads(out)}
    assert {*EMBEDDED, "yeast"} <= names
    _, out, _ = run("data", "list")
    assert all(name in out for name in names)


@pytest.mark.parametrize("name", ["broken", "yeast"])
def test_a_damaged_folder_is_listed_with_the_reason(run, arff, monkeypatch, name):
    folder = arff.parents[1]
    (folder / name).mkdir()
    (folder / name / f"{name}.arff").write_text("@relation x\n@data\n1,2\n", encoding="utf-8")
    monkeypatch.setenv("STEELYARD_DATA", str(folder))
    for place in ([], [folder]):
        code, out, err = run("data", "list", *place, "--json")
        assert code == 0
        entries = {entry["name"]: entry for entry in json.loads(out)}
        assert entries["flags"]["n_examples"] == 4
        assert entries[name]["n_examples"] is None
        assert entries[name]["from"] == "here"
        assert f"note: {name} cannot be counted: " in err
        code, out, _ = run("data", "list", *place)
        (line,) = [line for line in out.splitlines() if f" {name} " in line]
        assert code == 0
        assert line.count("–") >= 7


def test_show_counts_examples_and_labels(run, saved, labels):
    command = ["data", "show", saved / "data.csv", "--labels", labels]
    shown = json.loads(run(*command, "--json")[1])
    assert shown["n_examples"] == 150
    assert list(shown["labels"]) == labels.split(",")
    _, out, _ = run(*command)
    assert f"{shown['labels']['for jam'] / 150:.1%}" in out
