"""Importances count what changes without an attribute or a condition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from steelyard.model.decoders import EachLabel
from steelyard.model.rules import Rule
from theories import PAIRS, flu_theory, random_cases


def without(theory, is_dropped):
    """The theory whose rules lack some conditions."""
    rules = tuple(
        replace(s, rule=Rule(s.head, tuple(c for c in s.body if not is_dropped(c)))) for s in theory
    )
    return replace(theory, rules=rules)


def share_of_changes(theory, other, X):
    one, two = (t.evaluate(X).is_present for t in (theory, other))
    return (one != two).mean()


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_on_a_table_they_are_the_predictions_that_change_without(pair):
    for theory, X in random_cases(*pair):
        frame = theory.importances(X)
        assert set(frame["attribute"]) == {c.feature for s in theory for c in s.body}
        for row in frame.itertuples():
            other = without(theory, lambda c, name=row.attribute: c.feature == name)
            assert row.importance == pytest.approx(share_of_changes(theory, other, X))
        conditions = theory.importances(X, per="condition")
        for row in conditions.itertuples():
            condition = Rule.parse(f"a ← {row.condition}").body[0]
            other = without(theory, lambda c, dropped=condition: c == dropped)
            assert row.importance == pytest.approx(share_of_changes(theory, other, X))
            assert row.n_rules == sum(condition in s.body for s in theory)
        assert (np.diff(frame["importance"]) <= 0).all()


def test_without_a_table_rules_share_what_they_cover_beyond_chance_among_conditions():
    theory = flu_theory("any-rule", EachLabel()).replace(1, "cold ← nose = runs ∧ 36 ≤ fever < 37")
    X = pd.DataFrame({"fever": [39.0, 39.0, 36.5, 37.0], "nose": ["dry", "dry", "runs", "dry"]})
    counted = theory.recount(X, [[1, 0], [1, 0], [0, 1], [0, 0]])
    frame = counted.importances().set_index("attribute")
    # The rule on fever alone covers two positives where chance gives one of two; the other covers one
    # where chance gives a quarter, and two of its three conditions test fever.
    flu, cold = 2 - 2 * 2 / 4, 1 - 1 / 4
    expected = {"fever": flu + cold * 2 / 3, "nose": cold / 3}
    total = flu + cold
    assert frame["importance"].to_dict() == pytest.approx(
        {name: value / total for name, value in expected.items()}
    )
    assert frame["n_rules"].to_dict() == {"fever": 2, "nose": 1}
    conditions = counted.importances(per="condition")
    assert conditions["condition"].tolist() == ["fever ≥ 38.5", "36 ≤ fever < 37", "nose = runs"]
    assert conditions["importance"].sum() == pytest.approx(1)


def test_votes_count_by_their_size():
    theory = flu_theory("sum-of-votes", EachLabel())
    frame = theory.importances().set_index("attribute")
    prior = {label.name: label.prior for label in theory.labels}
    excess = []
    for scored in theory:
        is_present = scored.head.target_class == 1
        chance = prior[scored.head.label] if is_present else 1 - prior[scored.head.label]
        excess.append(abs(scored.tp - (scored.tp + scored.fp) * chance) * scored.points)
    fever, nose = excess[0], sum(excess[1:])
    assert frame["importance"].to_dict() == pytest.approx(
        {"fever": fever / (fever + nose), "nose": nose / (fever + nose)}
    )


def test_a_theory_without_conditions_has_none():
    empty = flu_theory("any-rule", EachLabel()).drop(0, 1)
    assert len(empty.importances()) == 0
    assert len(empty.importances([[39.0, "dry"]], per="condition")) == 0


def test_other_things_have_no_importance():
    with pytest.raises(ValueError, match="per must be 'attribute' or 'condition', got 'label'"):
        flu_theory().importances(per="label")
