"""Files: what is written is read again, old files stay readable, damaged ones are rejected."""

import contextlib
import json
import math
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.heuristics import FunctionHeuristic
from steelyard.model.combiners import COMBINERS
from steelyard.model.decoders import DECODERS, BestLabelSet, EachLabel, LabelSetVotes
from steelyard.model.evidence import Evidence, EvidenceFrom
from steelyard.model.json import PATH, THEORY, find_format
from steelyard.model.path import TheoryPath
from steelyard.model.theory import Theory
from strategies import random_generators
from theories import (
    PAIRS,
    PATHS,
    flu_theory,
    handmade_table,
    handmade_theory,
    random_cases,
    random_path,
    random_table,
    random_theory,
)

OLD_FILES = Path(__file__).parent / "old_files"
PATIENTS = pd.DataFrame({"fever": [39.0, 37.0], "nose": ["runs", "dry"]})


class TestRoundTrip:
    @pytest.mark.parametrize("pair", PAIRS, ids="-".join)
    def test_read_again_a_theory_is_equal_and_predicts_the_same(self, pair):
        for theory, X in random_cases(*pair):
            again = Theory.from_json(theory.to_json())
            assert again == theory
            assert hash(again) == hash(theory)
            assert again.to_json() == theory.to_json()
            assert np.asarray(again.predict(X)).tolist() == np.asarray(theory.predict(X)).tolist()
            assert again.decision_function(X).tolist() == theory.decision_function(X).tolist()

    def test_so_is_one_with_every_kind_of_condition(self):
        theory, X = handmade_theory(), handmade_table()
        again = Theory.from_json(theory.to_json())
        assert again == theory
        assert again.predict(X).equals(theory.predict(X))

    @pytest.mark.parametrize("classes", [("a", "b"), (0, 1), (True, False), (1.5, 2)])
    def test_classes_survive(self, classes):
        theory = random_theory(np.random.default_rng(0), "any-rule", "each-label", target="binary")
        theory = replace(theory, classes=classes)
        assert Theory.from_json(theory.to_json()).classes == classes

    def test_what_edits_and_counts_leave_survives(self):
        theory = flu_theory()
        unseen = replace(theory.rules[0], held_out=Evidence(3, 1))
        edited = replace(theory, rules=(unseen, *theory.rules[1:])).add(
            "cold ← fever < 37", points=3, note="Größe 寸法"
        )
        counted = edited.recount(PATIENTS, [[1, 0], [0, 1]])
        for made in (edited, counted):
            assert Theory.from_json(made.to_json()) == made
        data = json.loads(edited.to_json())
        assert data["evidence_from"] == {"kind": "stale"}
        assert data["rules"][0]["held_out"] == {"tp": 3, "fp": 1}
        assert (data["rules"][-1]["tp"], data["rules"][-1]["value"]) == (None, None)
        assert "provenance" not in data["rules"][0]

    def test_numbers_of_numpy_are_written_as_numbers(self):
        theory = flu_theory(decoder=LabelSetVotes(0.4))
        known = theory.decoder.known
        votes = LabelSetVotes(np.float64(0.4), np.float32(0.5)).fit(known)
        rules = tuple(
            replace(s, evidence=Evidence(np.int64(s.tp), s.fp), points=np.int64(s.points))
            for s in theory
        )
        other = replace(theory, rules=rules, decoder=votes)
        assert Theory.from_json(other.to_json()) == theory

    def test_a_theory_has_one_rule_per_line(self):
        text = flu_theory().to_json()
        assert len(json.loads(text)["rules"]) == 3
        assert sum('"body"' in line for line in text.splitlines()) == 3

    def test_a_file_says_which_combiner_and_decoder_it_has(self):
        for combiner, decoder in PAIRS:
            theory, _ = random_cases(combiner, decoder)[0]
            data = json.loads(theory.to_json())
            assert (data["combiner"]["name"], data["decoder"]["name"]) == (combiner, decoder)
            assert "label_sets" in data

    def test_every_setting_of_a_decoder_is_written(self):
        for new_sets in (True, False):
            decoder = BestLabelSet(0.25, 2, new_sets=new_sets).fit(flu_theory().decoder.known)
            text = flu_theory(decoder=decoder).to_json()
            assert Theory.from_json(text).decoder == decoder
            assert ("new_sets" in text) is not new_sets  # files of before have no such field
        assert flu_theory(decoder=EachLabel(0.3)).to_json().count('"threshold": 0.3') == 1

    def test_the_kind_of_a_file_is_found(self):
        path = random_path(np.random.default_rng(0), "any-rule", "labels")
        for thing, kind in ((flu_theory(), "steelyard theory"), (path, "steelyard path")):
            assert find_format(thing.to_json(), "the text") == kind
        assert find_format("[1]", "the text") is None

    @pytest.mark.parametrize("path", PATHS, ids="-".join)
    def test_read_again_every_cell_of_a_path_is_the_same(self, path):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            made, X = random_path(rng, *path), random_table(rng)
            again = TheoryPath.from_json(made.to_json())
            assert again.to_json() == made.to_json()
            assert (again.heuristics, again.phis) == (made.heuristics, made.phis)
            assert again.n_rules.tolist() == made.n_rules.tolist()
            cells = zip(made.predict_cells(X), again.predict_cells(X), strict=True)
            for (h, j, expected), (*_, predicted) in cells:
                assert predicted.tolist() == expected.tolist()
                one, other = (p.theory(h, made.phis[j]) for p in (made, again))
                assert other.labels == one.labels
                assert [s.evidence for s in other] == [s.evidence for s in one]
                assert other.combiner == one.combiner


class TestOldFiles:
    """Written by older versions (3: before recounts), with the predictions of the first of them.

    The files of the newest version are here before it is an older one.
    """

    TABLE = OLD_FILES / "table.csv"

    @pytest.mark.parametrize(
        ("name", "combiner", "decoder"),
        [
            ("v1-binary", "any-rule", "each-label"),
            ("v1-multiclass", "any-rule", "best-label"),
            ("v1-multilabel", "any-rule", "each-label"),
            ("v1-ordered", "first-rule", "best-label"),
            ("v2-strongest-best-set", "strongest-vote", "best-label-set"),
            ("v2-votes-best-set", "sum-of-votes", "best-label-set"),
            ("v2-votes-each", "sum-of-votes", "each-label"),
            ("v2-votes-multiclass", "sum-of-votes", "best-label"),
            ("v2-votes-set-votes", "sum-of-votes", "label-set-votes"),
            ("v3-multilabel", "any-rule", "each-label"),
            ("v3-ordered", "first-rule", "best-label"),
            ("v3-votes-set-votes", "sum-of-votes", "label-set-votes"),
            ("v4-multilabel", "any-rule", "each-label"),
            ("v4-votes", "sum-of-votes", "best-label-set"),
        ],
    )
    def test_a_theory_predicts_as_it_did_and_is_written_in_the_newest_version(
        self, name, combiner, decoder
    ):
        theory = Theory.from_json(OLD_FILES / f"{name}.json")
        assert (theory.combiner.name, theory.decoder.name) == (combiner, decoder)
        predicted = np.asarray(theory.predict(pd.read_csv(self.TABLE)))
        lines = [" ".join(map(str, np.atleast_1d(row))) for row in predicted]
        expected = (OLD_FILES / f"{name}.predictions.txt").read_text().splitlines()
        assert lines == expected
        assert theory.evidence_from == EvidenceFrom("training")
        text = theory.to_json()
        assert json.loads(text)["schema_version"] == THEORY.version
        assert Theory.from_json(text) == theory

    def test_every_old_file_is_tested(self):
        assert len(list(OLD_FILES.glob("v*.json"))) == 15

    def test_every_version_has_a_file(self):
        for pattern, newest in (("v{}-*.json", THEORY.version), ("path-v{}.json", PATH.version)):
            for version in range(1, newest + 1):
                assert list(OLD_FILES.glob(pattern.format(version))), pattern.format(version)

    def test_what_edits_and_held_out_counts_left_is_read(self):
        theory = Theory.from_json(OLD_FILES / "v4-edited.json")
        (made,) = (scored for scored in theory if scored.provenance.note == "by hand")
        assert made.evidence is None
        assert theory.evidence_from.kind == "stale"
        held_out = Theory.from_json(OLD_FILES / "v4-multilabel.json")
        assert all(scored.held_out is not None for scored in held_out)

    @pytest.mark.parametrize(("name", "n_rules"), [("path-v1", 43), ("path-v2", 9)])
    def test_a_path_is_read_and_written_in_the_newest_version(self, name, n_rules):
        path = TheoryPath.from_json(OLD_FILES / f"{name}.json")
        assert (path.shape, len(path.coded), len(path.labels)) == ((2, 3), n_rules, 4)
        X = pd.read_csv(self.TABLE)
        for h, j, predicted in path.predict_cells(X):
            theory = path.theory(h, path.phis[j])
            assert predicted.tolist() == theory.predict(X).to_numpy().tolist()
        text = path.to_json()
        assert json.loads(text)["schema_version"] == PATH.version
        assert TheoryPath.from_json(text).to_json() == text

    @pytest.mark.parametrize(
        ("place", "damage", "message"),
        [
            (("output",), "zz", "output must be one of multilabel, binary, multiclass, ordered"),
            (("combine",), "zz", "combine must be one of any, weighted, got 'zz'"),
            (("combine",), None, "combine must be one of any, weighted, got None"),
            (("start_points",), [0.5, 1, 1, 1], "start.points must be integers"),
            (("start_points",), [], "0 start points for 4 labels"),
            (("start_points",), None, "start_points must be a list"),
            (("schema_version",), 1, "schema version 1 has neither start points nor label sets"),
            (("min_share",), 5, "threshold must be a number between 0 and 1"),
            (("frequency_weight",), -1, "frequency_weight must be a number from 0 to 1,000,000"),
        ],
    )
    def test_a_damaged_one_is_rejected(self, place, damage, message):
        text = (OLD_FILES / "v2-votes-set-votes.json").read_text()
        with pytest.raises(ValueError, match=f"^the text is a damaged theory: .*{message}"):
            Theory.from_json(change(text, place, damage))


# -- damage ------------------------------------------------------------------------------------------


class Deleted:
    def __repr__(self):
        return "deleted"


DELETED = Deleted()
DAMAGES = (None, "zz", -5, 10**30, [], {}, 0.5, True)


def change(text, place, value):
    """The text with another value, or without it, at a place such as ("rules", 0, "tp")."""
    data = json.loads(text)
    *way, last = place
    inner = data
    for step in way:
        inner = inner[step]
    if value is DELETED:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(data)


def table_of_damages():
    """(place, damaged value, what the message must say)."""
    yield ("combiner",), None, "the combiner must be one of any-rule"
    yield ("combiner", "name"), "zz", "the combiner must be one of any-rule"
    yield ("combiner", "name"), [], "the combiner must be one of any-rule"
    yield ("combiner", "name"), "any-rule", r"the combiner any-rule must have the fields \[\]"
    yield ("combiner", "start"), [], "0 start points for 2 labels"
    yield ("combiner", "start"), [1, 2, 3], "3 start points for 2 labels"
    yield ("combiner", "start"), [0.5, 1], r"start.points must be integers, got 0\.5"
    yield ("combiner", "start"), [10**30, 1], "start.points must be integers"
    yield ("combiner", "start"), DELETED, r"the combiner sum-of-votes must have the fields"
    yield ("decoder",), [], "the decoder must be one of each-label"
    yield ("decoder", "name"), {}, "the decoder must be one of each-label"
    yield ("decoder", "name"), "each-label", "the decoder each-label must have the fields"
    yield (
        ("decoder", "frequency_weight"),
        DELETED,
        "the decoder best-label-set must have the fields",
    )
    yield ("decoder", "frequency_weight"), 10**30, "frequency_weight must be a number from 0 to 1,0"
    yield ("decoder", "frequency_weight"), "0.4", "frequency_weight must be a number"
    yield ("decoder", "silence"), math.nan, "silence must be a number"
    yield ("decoder", "known"), [], "the decoder best-label-set must have the fields"
    yield ("classes",), ["a"], "the decoder best-label-set predicts several labels"
    yield ("classes",), [None], "classes must be texts or numbers"
    yield ("heuristic",), None, "heuristic must be text"
    yield ("phi",), "zz", "phi must be a number"
    yield ("phi",), 1.5, "phi must be a number from 0 to 1"
    yield ("phi",), math.nan, "phi must be a number"
    yield ("features",), [], "rule 1 tests an unknown attribute 'fever'"
    yield ("features", 0), "zz", "attribute 1: expected an object"
    yield ("features", 0, "name"), "zz", "rule 1 tests an unknown attribute 'fever'"
    yield ("features", 0, "name"), None, "attribute 1: the name of an attribute must be text"
    yield ("features", 1, "name"), "fever", "two attributes have the same name 'fever'"
    yield ("features", 1, "categories"), 3, "attribute 2: the categories of 'nose' must be a list"
    yield ("features", 1, "categories"), "zz", "the categories of 'nose' must be a list"
    yield ("features", 1, "categories"), None, "rule 2: the attribute 'nose' is numeric"
    yield ("features", 1, "categories"), ["runs", 3], "the categories of 'nose' must be text, got 3"
    yield ("features", 1, "categories"), ["dry"], "rule 2: the attribute 'nose' has no category"
    yield ("features", 1, "categories"), DELETED, "rule 2: the attribute 'nose' is numeric"
    yield ("labels",), [], "a theory needs at least one label"
    yield ("labels", 0), None, "label 1: expected an object"
    yield ("labels", 0, "name"), "cold", "two labels have the same name 'cold'"
    for damage in (None, "zz", -5, 10**30, 2, True, 0.0):
        yield (
            ("labels", 0, "target_class"),
            damage,
            "label 1: target_class .*must",
        )
        yield ("rules", 1, "target_class"), damage, "(target_class of )?rule 2"
    for name in ("n_positives", "n_negatives", "uncovered_positives", "uncovered_negatives"):
        yield ("labels", 1, name), -5, f"{name} of the label 'cold' must be a non-negative integer"
        yield ("labels", 1, name), DELETED, f"label 2: {name} is missing"
    for damage in (None, "zz", -5, 10**30, 0.5, True):
        yield ("rules", 0, "tp"), damage, "tp .*must be"
        yield ("rules", 0, "fp"), damage, "fp .*must be"
    yield ("rules",), {}, "rules must be a list"
    yield ("rules", 0), [], "rule 1: expected an object"
    yield ("rules", 0, "label"), "zz", "rule 1 predicts an unknown label 'zz'"
    yield ("rules", 0, "value"), None, "rule 1: value must be a number"
    yield ("rules", 0, "value"), math.nan, "rule 1: value must be a number"
    for damage in (None, "zz", []):
        yield ("evidence_from",), damage, "evidence_from must be an object"
    yield ("evidence_from",), DELETED, "evidence_from is missing"
    yield ("evidence_from", "kind"), "zz", "the kind of evidence must be one of training, recount"
    yield ("evidence_from", "kind"), "recount", "evidence has a judgement if it is from a recount"
    yield ("evidence_from", "judgement"), 3, "judgement must be an object"
    yield ("evidence_from", "judgement"), {}, "labels is missing"
    yield ("rules", 0, "tp"), DELETED, "rule 1: tp is missing"
    yield ("rules", 0, "only"), 99, "rule 1: only of the evidence must be an integer from 0 to 11"
    yield ("rules", 0, "held_out"), None, "rule 1: held_out must be an object"
    yield ("rules", 0, "held_out"), {"tp": 3}, "rule 1: held_out: fp is missing"
    yield ("rules", 0, "provenance"), "me", "rule 1: provenance must be an object"
    yield ("rules", 0, "provenance"), {"source": "me", "note": ""}, "rule 1: provenance: the source"
    yield ("rules", 0, "confidence"), 2, "the confidence of .* must be a number from 0 to 1"
    yield ("labels", 1, "silent"), 1, "silent of the label 'cold' must be a number from -1 to 0"
    yield ("rules", 0, "points"), DELETED, "points .*must be an integer, got None"
    for damage in (None, 1.5, 10**30):
        yield ("rules", 0, "points"), damage, "points of rule 1 must be an integer"
    yield ("rules", 0, "body"), None, "rule 1: body must be a list"
    yield ("rules", 0, "body", 0), ["fever"], "rule 1: a condition must be an attribute, an oper"
    yield ("rules", 0, "body", 0, 0), "zz", "rule 1 tests an unknown attribute 'zz'"
    yield ("rules", 0, "body", 0, 0), [], "rule 1: the attribute of a condition must be text"
    yield ("rules", 0, "body", 0, 1), "!", "rule 1: the operator of 'fever' must be one of"
    yield ("rules", 0, "body", 0, 1), "=", "rule 1: the value of 'fever' must be a category"
    yield ("rules", 0, "body", 0, 1), "in", "rule 1: the categories of 'fever' must be a list"
    for damage in ("zz", 10**400, math.inf, None):
        yield ("rules", 0, "body", 0, 2), damage, "rule 1: the value of 'fever' must be a finite"
    yield ("rules", 1, "body", 0, 1), "≥", "rule 2: the value of 'nose' must be a finite number"
    yield ("rules", 1, "body", 0, 2), 1, "rule 2: the value of 'nose' must be a category, got 1"
    yield ("rules", 1, "body", 0, 2), "zz", "rule 2: the attribute 'nose' has no category 'zz'"
    yield ("label_sets",), [], "the decoder best-label-set needs label sets"
    yield ("label_sets",), DELETED, "label_sets is missing"
    yield ("label_sets", 0), None, "label set 1: expected an object"
    yield ("label_sets", 0, "labels"), [2], "a label set has label 2, but the last of the 2 labels"
    yield ("label_sets", 0, "labels"), [-1], "a label set must consist of positions of labels"
    yield ("label_sets", 0, "labels"), [[]], "a label set must consist of positions of labels"
    yield ("label_sets", 0, "labels"), [0, 0], "a label set must contain each label once"
    yield ("label_sets", 0, "labels"), [], "two label sets are equal"
    for damage in (None, -5, 0, "zz"):
        yield ("label_sets", 0, "count"), damage, "count .*must be"


class TestDamagedTheories:
    @pytest.mark.parametrize(
        ("place", "damage", "message"),
        [
            pytest.param(place, damage, message, id=f"{'.'.join(map(str, place))} {damage!r:.20}")
            for place, damage, message in table_of_damages()
        ],
    )
    def test_a_damage_is_named_in_one_sentence(self, place, damage, message):
        text = change(flu_theory().to_json(), place, damage)
        with pytest.raises(
            ValueError, match=f"^the text is a damaged theory: .*{message}"
        ) as error:
            Theory.from_json(text)
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 250

    @settings(max_examples=300)
    @given(random_generators(), st.sampled_from([*PAIRS, None]), st.data())
    def test_a_damaged_theory_is_rejected_or_works(self, rng, pair, data):
        if pair is None:
            theory, X = handmade_theory(), handmade_table().head(5)
        else:
            theory, X = random_theory(rng, *pair, n_rules=5), random_table(rng, 5)
        text = theory.to_json()
        every_place = list(places(json.loads(text)))
        place = every_place[int(rng.integers(len(every_place)))]
        damaged = change(text, place, data.draw(st.sampled_from([DELETED, *DAMAGES])))
        try:
            read = Theory.from_json(damaged)
        except ValueError as error:
            assert "\n" not in str(error)
        else:
            check_that_it_works(read, X, is_same_table=read.features == theory.features)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "the text is not JSON"),
            ("{}", "the text is not a steelyard theory"),
            ('{"format": "steelyard path"}', "the text is not a steelyard theory"),
            ('{"format": "steelyard theory", "schema_version": 99}', "schema version 99"),
            ('{"format": "steelyard theory", "schema_version": null}', "schema version None"),
            ('{"format": "steelyard theory", "schema_version": 1}', "is a damaged theory"),
            ('{"format": "steelyard theory", "schema_version": 3}', "is a damaged theory"),
        ],
    )
    def test_what_is_no_theory_is_rejected(self, text, message):
        with pytest.raises(ValueError, match=message):
            Theory.from_json(text)


def places(data, way=()):
    """Where in plain data something can be damaged."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*way, key)
        if isinstance(value, dict | list):
            yield from places(value, (*way, key))


def check_that_it_works(theory, X, is_same_table):
    assert Theory.from_json(theory.to_json()) == theory
    # A table without an attribute, or with another kind of it, cannot be predicted.
    rejected = () if is_same_table else ValueError
    for use in (Theory.predict, Theory.decision_function, Theory.explain):
        with contextlib.suppress(rejected):
            use(theory, X)
    # Not every format can express every theory.
    for use in (str, Theory.to_frame, Theory.to_sql, Theory.to_python, Theory.to_markdown):
        with contextlib.suppress(() if use in (str, Theory.to_frame) else ValueError):
            use(theory)


@cache
def path_text(combiner):
    return random_path(np.random.default_rng(1), combiner, "labels").to_json()


class TestDamagedPaths:
    @pytest.mark.parametrize(
        ("place", "damage", "message"),
        [
            (("rules", 0, "label"), 99, "rule 1: the label of a rule must be text"),
            (("rules", 0, "label"), -1, "rule 1: the label of a rule must be text"),
            (("rules", 0, "tp"), None, "rule 1: tp of the evidence must be"),
            (("rules", 0, "body"), [["zz", "<", 1]], "rule 1 tests an unknown attribute 'zz'"),
            (("heuristics", 0, "rules", 0), 10**6, "heuristic 1: rules must be integers from 0"),
            (("heuristics", 0, "rules"), [], "heuristic 1: the lists have different lengths"),
            (("heuristics", 0, "values", 0), -9, "heuristic 1: the values are not sorted"),
            (("heuristics", 0, "values", 0), None, "heuristic 1: value must be a number"),
            (("heuristics", 0, "votes", 0), 0.5, "heuristic 1: votes must be integers"),
            (("heuristics", 0, "heuristic"), None, "heuristic 1: heuristic must be an object"),
            (("heuristics", 0, "heuristic", "m"), "zz", ""),
            (("heuristics", 0, "heuristic", "m"), [], ""),
            (("labels", 0, "target_class"), 2, "target_class of the label .* must be 0 or 1"),
            (("labels", 1), DELETED, ""),
            (("classes",), ["a"], "1 classes for"),
            (("phis",), [7], "phis must be numbers above 0 and at most 1"),
            (("features",), DELETED, "features is missing"),
            (("combiner", "start"), [], "0 start points for"),
            (("combiner", "start"), [1], "1 start points for"),
            (("combiner",), {"name": "any-rule"}, "votes"),
            (("label_sets", 0, "labels"), [99], "a label set has label 99"),
        ],
        ids=str,
    )
    def test_a_damage_is_named(self, place, damage, message):
        text = path_text("sum-of-votes")
        TheoryPath.from_json(text)
        with pytest.raises(
            ValueError, match="^the text is a damaged path: .*.*" + message
        ) as error:
            TheoryPath.from_json(change(text, place, damage))
        assert "\n" not in str(error.value)

    def test_votes_cannot_be_computed_from_counts(self):
        text = change(path_text("sum-of-votes"), ("heuristics", 0, "votes"), DELETED)
        with pytest.raises(ValueError, match="the text is a damaged path: .*votes"):
            TheoryPath.from_json(text)

    @settings(max_examples=150)
    @given(random_generators(), st.sampled_from(["any-rule", "sum-of-votes"]), st.data())
    def test_a_damaged_path_is_rejected_or_works(self, rng, name, data):
        every_place = list(places(json.loads(path_text(name))))
        place = every_place[int(rng.integers(len(every_place)))]
        damage = data.draw(st.sampled_from([DELETED, *DAMAGES]))
        try:
            path = TheoryPath.from_json(change(path_text(name), place, damage))
        except ValueError as error:
            assert "\n" not in str(error)
            return
        X = random_table(rng, 5)
        with contextlib.suppress(ValueError):
            for h, j, predicted in path.predict_cells(X):
                assert len(predicted) == len(X)
                path.theory(h, path.phis[j])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"format": "steelyard theory"}', "the text is not a steelyard path"),
            ('{"format": "steelyard path", "schema_version": 1}', "is a damaged path"),
            ('{"format": "steelyard path", "schema_version": 9}', "schema version 9"),
        ],
    )
    def test_what_is_no_path_is_rejected(self, text, message):
        with pytest.raises(ValueError, match=message):
            TheoryPath.from_json(text)


class TestFiles:
    def test_a_file_is_written_and_read(self, tmp_path):
        theory = flu_theory()
        theory.to_json(tmp_path / "theory.json")
        assert Theory.from_json(tmp_path / "theory.json") == theory
        assert Theory.from_json(str(tmp_path / "theory.json")) == theory
        path = random_path(np.random.default_rng(0), "any-rule", "labels")
        path.to_json(tmp_path / "path.json")
        assert TheoryPath.from_json(tmp_path / "path.json").to_json() == path.to_json()

    def test_what_is_nested_too_deeply_is_rejected(self, tmp_path):
        file = tmp_path / "deep.json"
        file.write_text('{"a":' + "[" * 100_000)
        with pytest.raises(ValueError, match=r"deep\.json is nested too deeply"):
            Theory.from_json(file)

    def test_a_file_that_is_not_utf8_is_named(self, tmp_path):
        file = tmp_path / "latin.json"
        file.write_bytes(b'{"format": "\xff"}')
        with pytest.raises(ValueError, match=r"latin\.json .*UTF-8.*12"):
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
        theory = replace(theory, rules=tuple(replace(s, value=value) for s in theory))
        text = theory.to_json()
        assert json.loads(text, parse_constant=pytest.fail)["rules"][0]["value"] == str(value)
        assert Theory.from_json(text) == theory

    def test_as_older_versions_wrote_them_they_are_read(self):
        text = change(handmade_theory().to_json(), ("rules", 0, "value"), math.inf)
        assert "Infinity" in text
        assert Theory.from_json(text).rules[0].value == math.inf

    def test_those_of_a_path_survive(self):
        def odds_ratio(tp, fp, fn, tn):
            return tp * tn / (fp * fn)

        path = random_path(np.random.default_rng(1), "any-rule", "labels")
        first = path.ranked[0]
        assert len(first.values) > 1
        values = np.array([math.inf, *first.values[1:-1], -math.inf])
        path = replace(
            path,
            heuristics=(FunctionHeuristic(odds_ratio), path.heuristics[1]),
            ranked=(first._replace(values=values), path.ranked[1]),
        )
        text = path.to_json()
        assert json.loads(text, parse_constant=pytest.fail)
        assert TheoryPath.from_json(text).ranked[0].values.tolist() == values.tolist()


def test_every_combiner_and_decoder_is_written_by_some_theory():
    assert {combiner for combiner, _ in PAIRS} == set(COMBINERS)
    assert {decoder for _, decoder in PAIRS} == set(DECODERS)
