"""Rules: what people read, and that tables of rules keep it."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import Condition, Rule
from steelyard.model.coded_rules import compile_rules, reduce_program
from steelyard.model.features import code_training_table
from steelyard.model.rules import Head, RuleTable, format_body, format_number
from strategies import rule_tables, tables


@st.composite
def coded_rules(draw):
    training = code_training_table(draw(tables()))
    return training, draw(rule_tables(training.coded))


def bodies_of(table, coder):
    return [table.body(i, coder) for i in range(len(table))]


class TestPrinting:
    def test_a_rule_reads_head_then_conditions(self):
        body = (Condition("fever", "≥", 38.5), Condition("cough", "=", "dry"))
        assert str(Rule(Head("Flu"), body)) == "Flu ← fever ≥ 38.5 ∧ cough = dry"
        assert str(Rule(Head("Flu", target_class=0), body)).startswith("¬Flu ←")

    def test_two_bounds_of_an_attribute_are_an_interval(self):
        body = [Condition("a", "<", 5), Condition("b", "=", "x"), Condition("a", "≥", 2)]
        assert format_body(body) == "2 ≤ a < 5 ∧ b = x"

    @pytest.mark.parametrize(
        ("number", "text"),
        [(3.0, "3"), (0.15, "0.15"), (-2.0, "-2"), (1e20, "1e+20"), (1 / 3, "0.333333")],
    )
    def test_numbers_read_as_people_write_them(self, number, text):
        assert format_number(number) == text

    def test_a_rule_is_as_long_as_its_body_and_does_not_change(self):
        rule = Rule(Head("a"), (Condition("x", "<", 1),))
        assert len(rule) == 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            rule.head = Head("b")


class TestRuleTable:
    @given(coded_rules())
    def test_conditions_are_counted_as_people_read_them(self, data):
        training, table = data
        coded = training.coded
        n_conditions = table.count_conditions(coded.n_codes, coded.is_nominal)
        assert n_conditions.tolist() == [len(body) for body in bodies_of(table, training.coder)]

    @given(coded_rules(), st.data())
    def test_taking_rules_takes_their_bodies(self, data, draw):
        training, table = data
        bodies = bodies_of(table, training.coder)
        index = st.integers(0, max(len(table) - 1, 0))
        chosen = draw.draw(st.lists(index)) if len(table) else []
        taken = table.take(np.array(chosen, dtype=np.intp))
        assert bodies_of(taken, training.coder) == [bodies[i] for i in chosen]
        assert bodies_of(table.head(len(table) // 2), training.coder) == bodies[: len(table) // 2]

    @given(coded_rules())
    def test_tables_one_after_the_other(self, data):
        training, table = data
        both = RuleTable.concatenate([table, RuleTable.empty(), table])
        assert bodies_of(both, training.coder) == 2 * bodies_of(table, training.coder)
        assert len(RuleTable.concatenate([])) == 0

    @given(coded_rules())
    def test_a_program_of_the_used_attributes_says_the_same(self, data):
        training, table = data
        program = reduce_program(table, training.coder)
        assert bodies_of(program.table, program.coder) == bodies_of(table, training.coder)
        assert len(program.used_idx) == len(set(table.feature.tolist()))

    @given(coded_rules())
    def test_rules_compiled_from_their_text_say_the_same(self, data):
        training, table = data
        bodies = bodies_of(table, training.coder)
        program = compile_rules(training.coder.features, bodies)
        # A category is compared as text, and the order within a body is that of its attributes.
        assert bodies_of(program.table, program.coder) == bodies


def test_a_condition_on_a_category_that_training_never_saw_is_never_met():
    features = code_training_table(pd.DataFrame({"c": ["red", "blue"]})).coder.features
    program = compile_rules(features, [[Condition("c", "=", "green")]])
    covered = program.cover(pd.DataFrame({"c": ["green", "red"]}))
    assert covered.tolist() == [[0]]
