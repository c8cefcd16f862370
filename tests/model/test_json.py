"""Files may be damaged: what is read is a theory that works or is refused in one sentence."""

import contextlib
import json
import math
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steelyard.model.decoding import KnownLabelSets

from points_theories import KINDS, flu_theory, random_table, random_theory
from steelyard import MEstimate, Theory, TheoryPath, make_planted_rules, theory_path
from strategies import random_generators
from theories import handmade_theory

DAMAGES = (None, "zz", -5, 10**30, [], {}, 0.5, True)


def change(data, place, value):
    """The plain data with another value, or without it, at a place such as ("rules", 0, "tp")."""
    data = json.loads(data)
    *way, last = place
    inner = data
    for step in way:
        inner = inner[step]
    if value is DELETED:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(data)


class Deleted:
    def __repr__(self):
        return "deleted"


DELETED = Deleted()


def table_of_damages():
    """(place, damaged value, what the refusal says)."""
    whole, count = "must be a whole number", "must be a whole number of at least 0"
    yield ("start_points",), [], "0 start points for 2 labels"
    yield ("start_points",), [1, 2, 3], "3 start points for 2 labels"
    yield ("start_points",), [0.5, 1], "start_points must be a list of whole numbers"
    yield ("start_points",), [10**30, 1], "start_points must be a list of whole numbers"
    yield ("start_points",), DELETED, "start_points is missing"
    yield ("schema_version",), 1, "schema version 1 has neither start points"
    yield ("combine",), DELETED, "combine is missing"
    yield ("combine",), "zz", "combine must be one of any, weighted, got 'zz'"
    yield ("output",), None, "output must be one of"
    yield ("output",), "zz", "output must be one of"
    yield ("output",), [], "output must be one of"
    yield ("output",), "binary", "2 labels for a binary output"
    yield ("output",), "multiclass", "0 classes for 2 labels"
    yield ("classes",), ["a"], "1 classes for 2 labels"
    yield ("classes",), [None], "classes must be a list of texts or of numbers"
    yield ("heuristic",), None, "heuristic must be text"
    yield ("phi",), "zz", "phi must be a number from 0 to 1"
    yield ("phi",), math.nan, "phi must be a number from 0 to 1"
    yield ("features",), [], "rule 1 tests an attribute that is not listed: 'fever'"
    yield ("features", 0), "zz", "attribute 1 must be an object"
    yield ("features", 0, "name"), "zz", "rule 1 tests an attribute that is not listed: 'fever'"
    yield ("features", 0, "name"), None, "name of attribute 1 must be text"
    yield ("features", 1, "categories"), None, "categories of attribute 2 must be a list of texts"
    yield ("features", 1, "categories"), DELETED, "the operator of 'nose' in rule 2 must be <"
    yield ("labels",), [], "labels must be a list that is not empty"
    yield ("labels", 0), None, "label 1 must be an object"
    yield ("labels", 0, "name"), "cold", "two labels have the same name 'cold'"
    for damage in (None, "zz", -5, 10**30, 2, True, 0.0):
        yield ("labels", 0, "target_class"), damage, "target_class of label 1 must be 0 or 1"
        yield ("rules", 1, "target_class"), damage, "target_class of rule 2 must be 0 or 1"
    for name in ("n_positives", "n_negatives", "uncovered_positives", "uncovered_negatives"):
        yield ("labels", 1, name), -5, f"{name} of label 2 {count}, got -5"
        yield ("labels", 1, name), DELETED, f"{name} of label 2 is missing"
    for damage in (None, "zz", -5, 10**30, 0.5, True):
        yield ("rules", 0, "tp"), damage, f"tp of rule 1 {count}"
        yield ("rules", 0, "fp"), damage, f"fp of rule 1 {count}"
    yield ("rules",), {}, "rules must be a list"
    yield ("rules", 0), [], "rule 1 must be an object"
    yield ("rules", 0, "label"), "zz", "rule 1 is for a label that is not listed: 'zz'"
    yield ("rules", 0, "value"), None, "value of rule 1 must be a number"
    yield ("rules", 0, "value"), math.nan, "value of rule 1 must be a number"
    yield ("rules", 0, "points"), DELETED, "points of rule 1 is missing"
    yield ("rules", 0, "points"), None, f"points of rule 1 {whole}"
    yield ("rules", 0, "points"), 1.5, f"points of rule 1 {whole}"
    yield ("rules", 0, "points"), 10**30, f"points of rule 1 {whole}"
    yield ("rules", 0, "body"), None, "body of rule 1 must be a list"
    yield (
        ("rules", 0, "body", 0),
        ["fever"],
        "a condition of rule 1 must be an attribute, an operator",
    )
    yield ("rules", 0, "body", 0, 0), "zz", "rule 1 tests an attribute that is not listed: 'zz'"
    yield ("rules", 0, "body", 0, 0), [], "rule 1 tests an attribute that is not listed"
    yield ("rules", 0, "body", 0, 1), "!", "the operator of 'fever' in rule 1 must be < or ≤ or ≥"
    yield ("rules", 0, "body", 0, 1), "=", "the operator of 'fever' in rule 1 must be < or ≤ or ≥"
    yield ("rules", 0, "body", 0, 2), "zz", "the value of 'fever' in rule 1 must be a number"
    yield ("rules", 0, "body", 0, 2), 10**400, "the value of 'fever' in rule 1 must be a number"
    yield ("rules", 0, "body", 0, 2), math.inf, "the value of 'fever' in rule 1 must be a number"
    yield ("rules", 1, "body", 0, 1), "≥", "the operator of 'nose' in rule 2 must be =, got '≥'"
    yield ("rules", 1, "body", 0, 2), 1, "the value of 'nose' in rule 2 must be text"
    yield ("label_sets",), [], "there must be at least one label set"
    yield ("label_sets", 0), None, "label set 1 must be an object"
    yield (
        ("label_sets", 0, "labels"),
        [2],
        "a label set has label 2, but the last of the 2 labels is 1",
    )
    yield ("label_sets", 0, "labels"), [-1], "labels of label set 1 must be a list of whole numbers"
    yield ("label_sets", 0, "labels"), [0, 0], "a label set must have each label once"
    yield ("label_sets", 0, "labels"), [], "two label sets are the same"
    for damage in (None, -5, 10**30, 0, "zz"):
        yield (
            ("label_sets", 0, "count"),
            damage,
            "(the )?count of .*label set.* must be a whole number",
        )
    yield ("frequency_weight",), DELETED, "frequency_weight is missing"
    yield ("frequency_weight",), 10**30, "frequency_weight must be a number from 0 to 1,000,000"


@pytest.mark.parametrize(
    ("place", "damage", "message"),
    [
        pytest.param(place, damage, message, id=f"{'.'.join(map(str, place))} {str(damage)[:20]}")
        for place, damage, message in table_of_damages()
    ],
)
def test_a_damage_is_named_in_one_sentence(place, damage, message):
    text = change(flu_theory().to_json(), place, damage)
    with pytest.raises(ValueError, match="^the text is a damaged theory: " + message) as refusal:
        Theory.from_json(text)
    assert "\n" not in str(refusal.value)


def test_a_rule_that_decides_is_for_the_target_class_of_its_label():
    text = change(flu_theory("any", ()).to_json(), ("rules", 0, "target_class"), 0)
    with pytest.raises(ValueError, match="rule 1 is for class 0 of 'flu', whose target class is 1"):
        Theory.from_json(text)


def test_label_sets_are_not_for_classes():
    text = flu_theory().to_json().replace('"multilabel"', '"multiclass"')
    text = text.replace('"classes": []', '"classes": ["a", "b"]')
    with pytest.raises(ValueError, match="label sets are for the output multilabel"):
        Theory.from_json(text)


def test_a_category_that_no_example_has_is_no_damage():
    text = change(flu_theory().to_json(), ("rules", 1, "body", 0, 2), "zz")
    assert Theory.from_json(text).predict(pd.DataFrame({"fever": [39.0], "nose": ["runs"]})).size


def test_start_points_of_another_number_of_labels_are_refused_before_they_are_counted():
    theory = replace(flu_theory(known=()), start_points=())
    with pytest.raises(ValueError, match="0 start points for 2 labels"):
        theory.predict(pd.DataFrame({"fever": [39.0], "nose": ["runs"]}))


@pytest.mark.parametrize(
    ("sets", "counts", "message"),
    [
        ((), (), "at least one label set"),
        (((0,),), (1, 2), "1 label sets have 2 counts"),
        (((-1,),), (1,), "positions of labels, got"),
        (((0.5,),), (1,), "positions of labels, got"),
        (((1, 1),), (1,), "each label once"),
        (((0, 1), (1, 0)), (1, 1), "two label sets are the same"),
        (((0,),), (0,), "count of a label set must be a whole number of at least 1, got 0"),
        (((0,),), (True,), "count of a label set must be a whole number of at least 1, got True"),
    ],
)
def test_label_sets_are_checked_however_they_are_made(sets, counts, message):
    with pytest.raises(ValueError, match=message):
        KnownLabelSets(sets, counts)


VERSION_1 = """{
 "format": "steelyard theory", "schema_version": 1, "heuristic": "m-estimate(m=16)", "phi": 1.0,
 "output": "binary", "classes": ["no", "yes"],
 "features": [{"name": "x0"}, {"name": "kind", "categories": ["a", "b"]}],
 "labels": [{"name": "yes", "target_class": 1, "n_positives": 5, "n_negatives": 9,
             "uncovered_positives": 1, "uncovered_negatives": 8}],
 "rules": [{"label": "yes", "target_class": 1, "body": [["x0", "<", 2], ["kind", "=", "b"]],
            "tp": 4, "fp": 1, "value": 0.6}]
}"""
VERSION_2 = """{
 "format": "steelyard theory", "schema_version": 2, "heuristic": "", "phi": 1.0,
 "output": "multilabel", "classes": [], "combine": "any", "start_points": [-90],
 "frequency_weight": 0.5, "features": [{"name": "x0"}],
 "labels": [{"name": "flu", "target_class": 0, "n_positives": 5, "n_negatives": 9,
             "uncovered_positives": 1, "uncovered_negatives": 8}],
 "rules": [{"label": "flu", "target_class": 0, "body": [["x0", "≤", 2.5]], "tp": 4, "fp": 1,
            "value": 0.6, "points": -12}],
 "label_sets": [{"labels": [0], "count": 9}, {"labels": [], "count": 5}]
}"""


@pytest.mark.parametrize("text", [VERSION_1, VERSION_2])
def test_theories_of_both_versions_are_read(text):
    theory = Theory.from_json(text)
    assert json.loads(theory.to_json()) == json.loads(text)
    assert len(theory.predict(pd.DataFrame({"x0": [1.0, 3.0], "kind": ["b", "a"]}))) == 2


def places(data, way=()):
    """Where in plain data something can be damaged."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*way, key)
        if isinstance(value, dict | list):
            yield from places(value, (*way, key))


def random_handmade(rng):
    """A theory without points, and a table for it."""
    X = pd.DataFrame(
        {
            "x": rng.normal(size=5),
            "label": rng.normal(size=5),
            "kind": pd.Categorical(rng.choice(["a", "b"], 5)),
        }
    )
    return handmade_theory(), X


@settings(max_examples=300, deadline=None)
@given(random_generators(), st.sampled_from([*KINDS, None]), st.data())
def test_a_damaged_theory_is_refused_or_works(rng, kind, data):
    if kind is None:
        theory, X = random_handmade(rng)
    else:
        theory, X = random_theory(rng, *kind, n_rules=5), random_table(rng, 5)
    text = theory.to_json()
    every_place = list(places(json.loads(text)))
    place = every_place[int(rng.integers(len(every_place)))]
    damaged = change(text, place, data.draw(st.sampled_from([DELETED, *DAMAGES])))
    try:
        read = Theory.from_json(damaged)
    except ValueError as error:
        refusal = str(error)
    else:
        refusal = ""
        check_that_it_works(read, X, is_same_table=read.features == theory.features)
    assert "\n" not in refusal


def check_that_it_works(theory, X, is_same_table):
    assert Theory.from_json(theory.to_json()) == theory
    # A table that lacks an attribute, or has another kind of it, cannot be predicted.
    refused = () if is_same_table else ValueError
    for use in (Theory.predict, Theory.decision_function, Theory.explain):
        with contextlib.suppress(refused):
            use(theory, X)
    # Not all formats can say all theories.
    for use in (str, Theory.to_frame, Theory.to_sql, Theory.to_python, Theory.to_markdown):
        with contextlib.suppress(() if use in (str, Theory.to_frame) else ValueError):
            use(theory)


@pytest.fixture(scope="module")
def path_text():
    data = make_planted_rules(100, random_state=0)
    path = theory_path(
        data.X, data.Y, [MEstimate(m=2)], [1.0, 0.5], n_candidates=100, random_state=0
    )
    return path.to_json()


@pytest.mark.parametrize(
    ("place", "damage", "message"),
    [
        (("rules", 0, "label"), 99, "there is no label 99: the last of"),
        (("rules", 0, "label"), -1, "label of rule 1 must be a whole number of at least 0"),
        (("rules", 0, "body", 0, 0), "zz", "rule 1 tests an attribute that is not listed: 'zz'"),
        (("rules", 0, "tp"), None, "tp of rule 1 must be"),
        (("heuristics", 0, "rules", 0), 10**6, "there is no rule 1000000: the last of"),
        (("heuristics", 0, "rules"), [], "a ranking has lists of different lengths: 0 rules"),
        (("heuristics", 0, "values", 0), -9, "a ranking is not sorted by its values"),
        (("heuristics", 0, "values", 0), None, "values of heuristic 1 must be a list of numbers"),
        (("heuristics", 0, "heuristic"), None, "heuristic of heuristic 1 must be an object"),
        (("heuristics", 0, "heuristic", "m"), "zz", ""),
        (("heuristics", 0, "heuristic", "m"), [], ""),
        (("labels", 0, "target_class"), 2, "target_class of label 1 must be 0 or 1"),
        (("output",), "binary", "labels for a binary output"),
        (("phis",), [7], "phis must be a list of numbers from 0 to 1"),
        (("features",), DELETED, "features is missing"),
    ],
)
def test_a_damaged_path_is_refused(path_text, place, damage, message):
    TheoryPath.from_json(path_text)
    with pytest.raises(ValueError, match="^the text is a damaged path: .*" + message):
        TheoryPath.from_json(change(path_text, place, damage))


class TestFiles:
    def test_what_is_nested_too_deeply_is_no_theory(self, tmp_path):
        file = tmp_path / "deep.json"
        file.write_text('{"a":' + "[" * 100_000)
        with pytest.raises(ValueError, match=r"deep\.json is not a steelyard theory: it is nested"):
            Theory.from_json(file)

    def test_a_file_that_is_not_utf8_is_named(self, tmp_path):
        file = tmp_path / "latin.json"
        file.write_bytes(b'{"format": "\xff"}')
        with pytest.raises(ValueError, match=r"latin\.json is not text in UTF-8: byte 12"):
            Theory.from_json(file)

    def test_a_failed_save_leaves_the_file_as_it_was(self, tmp_path, monkeypatch):
        def fail(*_):
            raise OSError(28, "No space left on device")

        file = tmp_path / "theory.json"
        flu_theory().to_json(file)
        before = file.read_bytes()
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space"):
            handmade_theory().to_json(file)
        assert file.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["theory.json"]

    @pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
    def test_a_link_stays_a_link(self, tmp_path):
        (tmp_path / "link.json").symlink_to(tmp_path / "theory.json")
        flu_theory().to_json(tmp_path / "link.json")
        assert (tmp_path / "link.json").is_symlink()
        assert Theory.from_json(tmp_path / "theory.json") == flu_theory()


class TestInfiniteValues:
    """A heuristic such as the odds ratio is infinite for a rule without errors."""

    @pytest.mark.parametrize("value", [math.inf, -math.inf])
    def test_they_are_valid_json_and_survive(self, value):
        theory = handmade_theory()
        theory = replace(
            theory, scored_rules=tuple(replace(s, value=value) for s in theory.scored_rules)
        )
        text = theory.to_json()
        assert json.loads(text, parse_constant=pytest.fail)["rules"][0]["value"] == str(value)
        assert Theory.from_json(text) == theory

    def test_as_older_versions_wrote_them_they_are_read(self):
        text = change(handmade_theory().to_json(), ("rules", 0, "value"), math.inf)
        assert "Infinity" in text
        assert Theory.from_json(text).scored_rules[0].value == math.inf

    def test_those_of_a_path_survive(self):
        def odds_ratio(tp, fp, fn, tn):
            return tp * tn / (fp * fn)

        data = make_planted_rules(100, random_state=0)
        path = theory_path(data.X, data.Y, [odds_ratio], [1.0], n_candidates=100, random_state=0)
        text = path.to_json()
        assert '"inf"' in text
        assert json.loads(text, parse_constant=pytest.fail)
        again = TheoryPath.from_json(text)
        assert again.ranked[0].values.tolist() == path.ranked[0].values.tolist()
        assert np.isinf(again.ranked[0].values).any()
