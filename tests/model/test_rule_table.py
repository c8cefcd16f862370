"""Rule tables: rules that are taken, cut off or joined keep their bodies."""

import math

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.model.conditions import Condition
from steelyard.model.rule_table import RuleTable, ranges_to_body
from strategies import code_table, rule_tables, tables


@st.composite
def coded_rules(draw):
    coder, coded = code_table(draw(tables()))
    return coder, coded, draw(rule_tables(coded))


def bodies_of(table, coder):
    return [table.body(i, coder) for i in range(len(table))]


@settings(max_examples=50)
@given(coded_rules())
def test_conditions_are_counted_as_people_read_them(data):
    coder, coded, table = data
    counted = table.count_conditions(coded.n_codes, coded.is_nominal)
    expected = [sum(c.n_bounds for c in body) for body in bodies_of(table, coder)]
    assert counted.tolist() == expected


@settings(max_examples=50)
@given(coded_rules(), st.data())
def test_taking_rules_takes_their_bodies(data, draw):
    coder, _, table = data
    bodies = bodies_of(table, coder)
    index = st.integers(0, max(len(table) - 1, 0))
    chosen = draw.draw(st.lists(index)) if len(table) else []
    taken = table.take(np.array(chosen, dtype=np.intp))
    assert bodies_of(taken, coder) == [bodies[i] for i in chosen]
    assert bodies_of(table.head(len(table) // 2), coder) == bodies[: len(table) // 2]


@settings(max_examples=50)
@given(coded_rules())
def test_tables_one_after_the_other(data):
    coder, _, table = data
    both = RuleTable.concatenate([table, RuleTable.empty(), table])
    assert bodies_of(both, coder) == 2 * bodies_of(table, coder)
    assert len(RuleTable.concatenate([])) == 0


def test_ranges_of_codes_are_bounds_between_values_and_sets_of_categories():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["a", "b", "c"]})
    coder, _ = code_table(X)  # x has the cuts 2 and 3
    assert ranges_to_body([(0, 1, 3)], coder) == (Condition("x", "≥", 2),)
    assert ranges_to_body([(0, 0, 1)], coder) == (Condition("x", "<", 2),)
    assert ranges_to_body([(0, 1, 2), (1, 1, 3)], coder) == (
        Condition.interval("x", 2, 3),
        Condition("c", "in", ["b", "c"]),
    )


def test_a_cut_just_above_another_one_is_read_as_at_most():
    X = pd.DataFrame({"x": [1.0, 2.0, math.nextafter(2.0, 3.0)]})
    coder, _ = code_table(X)
    assert ranges_to_body([(0, 0, 2)], coder) == (Condition("x", "≤", 2),)
    assert ranges_to_body([(0, 0, 1)], coder) == (Condition("x", "<", 2),)
