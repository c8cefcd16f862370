"""The history of edits: every operation is a step of it, and files, recounts and more edits keep it."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from steelyard import Theory
from steelyard.model.decoders import EachLabel
from steelyard.model.history import Edit
from steelyard.model.rule_lists import apply_text
from steelyard.model.rules import Rule
from theories import flu_theory

WHEN = "2026-03-01"
PATIENTS = pd.DataFrame({"fever": [36.0, 39.0, 40.0, 41.0], "nose": ["dry", "runs"] * 2})
ILL = pd.DataFrame({"flu": [0, 1, 1, 1], "cold": [0, 1, 0, 1]})


@pytest.fixture
def theory() -> Theory:
    return flu_theory("any-rule", EachLabel())


@pytest.fixture
def curated(theory) -> Theory:
    """A theory after one edit of each kind."""
    first = theory.rules[0]
    annotated = theory.annotate(first, "seen twice", when=WHEN)
    dropped = annotated.drop(theory.rules[-1], note="nonsense", when=WHEN)
    changed = dropped.replace(first, "flu <- fever >= 38.25", note="rounder", when=WHEN)
    return changed.add("cold <- nose = runs and fever >= 41", when=WHEN)


def test_each_operation_is_one_step(theory, curated):
    assert theory.history == ()
    first, last = theory.rules[0].rule, theory.rules[-1].rule
    new = Rule.parse("cold <- nose = runs and fever >= 41", theory.features)
    assert curated.history == (
        Edit("note", first, None, WHEN, "seen twice"),
        Edit("drop", last, None, WHEN, "nonsense"),
        Edit("replace", first, Rule.parse("flu <- fever >= 38.25"), WHEN, "rounder"),
        Edit("add", None, new, WHEN),
    )
    assert str(curated.history[1]) == f"{WHEN} dropped {last.describe()}: nonsense"


def test_a_file_keeps_it_and_so_does_what_is_made_of_the_file(curated):
    again = Theory.from_json(curated.to_json())
    assert again.history == curated.history
    assert again.to_json() == curated.to_json()
    assert again.recount(PATIENTS, ILL).history == curated.history
    more = again.drop(0)
    assert more.history[:-1] == curated.history
    assert Theory.from_json(more.to_json()).history == more.history


def test_a_theory_without_edits_writes_none(theory):
    assert "history" not in json.loads(theory.to_json())


def test_votes_are_part_of_it():
    theory = flu_theory("sum-of-votes", EachLabel())
    made = theory.add("flu <- fever >= 41", points=70, when=WHEN)
    assert Theory.from_json(made.to_json()).history[0].points == 70


def test_a_note_changes_nothing_else(theory):
    noted = theory.annotate(0, "as every nurse knows", when=WHEN)
    assert noted.rules[0].provenance.note == "as every nurse knows"
    assert noted.evidence_from == theory.evidence_from
    assert [s.evidence for s in noted] == [s.evidence for s in theory]
    assert noted.predict(PATIENTS).equals(theory.predict(PATIENTS))


def test_it_does_not_make_equal_theories_different(theory, curated):
    bare = Theory.from_json(json.dumps(_without_history(curated)))
    assert bare == curated
    assert hash(bare) == hash(curated)
    assert curated != theory


def _without_history(theory: Theory) -> dict:
    plain = json.loads(theory.to_json())
    del plain["history"]
    return plain


def test_edits_as_text_are_steps_with_the_note(theory):
    lines = "\n".join(str(scored.rule) for scored in theory.rules[1:])
    edited = apply_text(theory, lines, note="not here")
    assert [(e.action, e.rule, e.note) for e in edited.history] == [
        ("drop", theory.rules[0].rule, "not here")
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action": "burn"}, "edit 2: an edit must be one of drop, replace, add, keep, note"),
        ({"action": ["x"]}, r"edit 2: an edit must be one of .*, got \['x'\]"),
        ({"action": "add"}, "edit 2: an edit 'add' has no rule"),
        ({"rule": None}, "edit 2: expected an object, got None"),
        ({"rule": {"label": "flu", "target_class": 1, "body": [1]}}, "edit 2: a condition must"),
        ({"when": "today"}, "edit 2: the date of a rule must be written as 2026-03-01"),
        ({"note": 7}, "edit 2: the note of an edit must be text"),
        ({"points": 0.5}, "edit 2: points of an edit must be an integer"),
    ],
)
def test_a_damaged_step_is_named(curated, change, message):
    plain = json.loads(curated.to_json())
    plain["history"][1] |= change
    with pytest.raises(ValueError, match=message):
        Theory.from_json(json.dumps(plain))
