"""Conditions: merged, negated, written and tested in tables, they say the same about every value."""

import dataclasses
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from steelyard.model.conditions import Condition, format_body, format_value, merge_conditions
from steelyard.model.features import Feature
from steelyard.model.json import condition_to_plain

COLOURS = ("red", "blue", "green", "4")
COLOUR = Feature("c", COLOURS)
SIZE = Feature("x")

# Few numbers, and their neighbours, so that bounds meet values and each other.
EDGES = [edge for x in (-2.5, 0.0, 0.3, 1e9) for edge in (x, math.nextafter(x, math.inf))]
numbers = st.one_of(st.sampled_from(EDGES), st.floats(-1e12, 1e12))
numeric_conditions = st.one_of(
    st.builds(Condition, st.just("x"), st.sampled_from(["<", "≤", "≥"]), numbers),
    st.builds(
        lambda low, high, closed: Condition.interval("x", low, high, includes_high=closed),
        numbers,
        numbers,
        st.booleans(),
    ),
)
nominal_conditions = st.lists(st.sampled_from(COLOURS)).map(lambda c: Condition("c", "in", c))
conditions = st.one_of(numeric_conditions, nominal_conditions)


def values_of(condition):
    """Values that conditions on the same attribute may tell apart."""
    return st.sampled_from([*COLOURS, "violet"]) if condition.is_nominal else numbers


class TestTesting:
    @pytest.mark.parametrize(
        ("operator", "inside", "outside"),
        [
            ("<", math.nextafter(2.0, 0), 2.0),
            ("≤", 2.0, math.nextafter(2.0, 3)),
            ("<=", 2.0, math.nextafter(2.0, 3)),
            ("≥", 2.0, math.nextafter(2.0, 0)),
            (">=", 2.0, math.nextafter(2.0, 0)),
        ],
    )
    def test_a_bound_separates_neighbouring_floats(self, operator, inside, outside):
        condition = Condition("x", operator, 2)
        assert condition.test(inside)
        assert not condition.test(outside)

    @given(conditions)
    def test_a_missing_value_satisfies_nothing(self, condition):
        assert not condition.test(None)
        assert not condition.test(math.nan)

    @given(conditions, st.data())
    def test_a_table_is_tested_as_its_values_are(self, condition, data):
        values = data.draw(st.lists(st.one_of(st.none(), values_of(condition)), max_size=6))
        column = pd.Series(values, dtype=object if condition.is_nominal else float)
        table = pd.DataFrame({condition.feature: column})
        expected = [condition.test(value) for value in values]
        assert condition.covers(table).tolist() == expected
        if condition.is_nominal:
            assert condition.covers(table.astype("category")).tolist() == expected
            assert condition.covers(table.astype("string")).tolist() == expected

    def test_categories_of_a_table_are_compared_as_text(self):
        condition = Condition("c", "=", "4")
        for values in ([4, 5], [4.0, 5.0], ["4", "5"]):
            assert condition.covers(pd.DataFrame({"c": values})).tolist() == [True, False]

    @given(numeric_conditions, numbers)
    def test_a_number_is_no_category_and_a_category_no_number(self, condition, number):
        assert not condition.test("red")
        assert not Condition("c", "=", "red").test(number)

    @given(numbers)
    def test_at_most_a_number_is_below_the_next_one(self, number):
        at_most = Condition("x", "≤", number)
        assert at_most.cut == math.nextafter(number, math.inf)
        assert Condition("x", "<", at_most.cut).test(number)


class TestMerging:
    @given(st.one_of(*[st.tuples(kind, kind) for kind in (numeric_conditions, nominal_conditions)]))
    def test_two_conditions_on_an_attribute_test_like_both(self, pair):
        one, other = pair
        both = one.intersect(other)
        for value in (*EDGES, *COLOURS, one.low, one.high, other.low, other.high, None):
            assert both.test(value) == (one.test(value) and other.test(value))
        assert both.is_empty == (both.nearest(None) is None)

    @given(st.lists(conditions, max_size=6))
    def test_a_body_has_one_condition_per_attribute_in_the_order_of_the_first(self, body):
        merged = merge_conditions(body)
        assert [c.feature for c in merged] == list(dict.fromkeys(c.feature for c in body))
        for condition in merged:
            own = [c for c in body if c.feature == condition.feature]
            for value in (*EDGES, *COLOURS):
                assert condition.test(value) == all(c.test(value) for c in own)

    @given(st.lists(conditions, max_size=6))
    def test_merged_conditions_stay_as_they_are(self, body):
        merged = merge_conditions(body)
        assert merge_conditions(merged) == merged

    def test_the_tightest_bounds_remain(self):
        bounds = [("≥", 1), ("<", 5), ("≥", 2), ("≤", 4)]
        (merged,) = merge_conditions([Condition("x", *bound) for bound in bounds])
        assert merged == Condition.interval("x", 2, 4, includes_high=True)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (Condition("x", "≥", 1), Condition("y", "≥", 1)),
            (Condition("x", "≥", 1), Condition("x", "=", "red")),
        ],
    )
    def test_conditions_on_different_attributes_cannot_be_merged(self, one, other):
        with pytest.raises(ValueError, match=f"^cannot merge the conditions '{one}' and '{other}'"):
            one.intersect(other)


class TestNegating:
    @given(conditions, st.data())
    def test_the_negation_holds_exactly_where_a_known_value_fails(self, condition, data):
        feature = COLOUR if condition.is_nominal else SIZE
        negation = condition.negate(feature)
        known = st.sampled_from(COLOURS) if condition.is_nominal else numbers
        for value in (data.draw(known), *(COLOURS if condition.is_nominal else EDGES)):
            assert any(part.test(value) for part in negation) != condition.test(value)
        assert not any(part.test(None) for part in negation)

    @given(numeric_conditions)
    def test_the_parts_of_a_negated_interval_exclude_each_other(self, condition):
        assume(not condition.is_empty)
        for value in (*EDGES, condition.low, condition.high):
            assert sum(part.test(value) for part in condition.negate(SIZE)) <= 1


class TestNearest:
    @given(conditions, st.data())
    def test_the_nearest_value_satisfies_the_condition_and_no_other_is_closer(
        self, condition, data
    ):
        value = data.draw(values_of(condition))
        nearest = condition.nearest(value)
        assert (nearest is None) == condition.is_empty
        assume(nearest is not None)
        assert condition.test(nearest)
        if condition.test(value):
            assert nearest == value
        if not condition.is_nominal:
            for other in (data.draw(numbers), *EDGES):
                assert not condition.test(other) or abs(nearest - value) <= abs(other - value)

    @given(conditions)
    def test_a_missing_value_gets_one_that_satisfies_the_condition(self, condition):
        nearest = condition.nearest(None)
        assert condition.is_empty if nearest is None else condition.test(nearest)

    @given(numeric_conditions, numbers)
    def test_the_part_that_fails_is_one_bound_and_changing_it_is_enough(self, condition, value):
        assume(not condition.is_empty and not condition.test(value))
        part = condition.failing_part(value)
        assert part.n_bounds == 1
        assert not part.test(value)
        assert condition.nearest(value) == part.nearest(value)

    @pytest.mark.parametrize(
        ("condition", "value", "text"),
        [
            (Condition("x", "≥", 2), 1.0, "raise x from 1 to at least 2"),
            (Condition("x", "<", 2), 3.5, "lower x from 3.5 to below 2"),
            (Condition("x", "≤", 2), 3.5, "lower x from 3.5 to at most 2"),
            (Condition.interval("x", 2, 4), 5.0, "lower x from 5 to below 4"),
            (Condition.interval("x", 2, 4), None, "give x a value: at least 2 and below 4"),
            (Condition("c", "=", "red"), "blue", "change c from blue to red"),
            (Condition("c", "in", ["red", "blue"]), "4", "change c from 4 to blue or red"),
            (Condition("c", "=", "red"), None, "give c a value: red"),
        ],
        ids=str,
    )
    def test_the_change_is_described_in_words(self, condition, value, text):
        assert condition.describe_change(value) == text


class TestWriting:
    @given(conditions)
    def test_its_json_triples_give_the_same_condition_again(self, condition):
        plain = json.loads(json.dumps(condition_to_plain(condition)))
        assert all(len(triple) == 3 for triple in plain)
        assert len(plain) == condition.n_bounds
        (again,) = merge_conditions(Condition(*triple) for triple in plain)
        assert again == condition
        assert str(again) == str(condition)

    @pytest.mark.parametrize(
        ("condition", "text"),
        [
            (Condition("x", "<", 2), "x < 2"),
            (Condition("x", "<=", 0.5), "x ≤ 0.5"),
            (Condition("x", ">=", -1e20), "x ≥ -1e+20"),
            (Condition.interval("x", 18, 65), "18 ≤ x < 65"),
            (Condition.interval("x", 18, 65, includes_high=True), "18 ≤ x ≤ 65"),
            (Condition.interval("x", high=1 / 3), "x < 0.333333"),
            (Condition("c", "==", "red"), "c = red"),
            (Condition("c", "in", ["red"]), "c = red"),
            (Condition("c", "in", ("red", "blue", "red")), "c in {blue, red}"),
        ],
        ids=str,
    )
    def test_it_prints_as_people_write_it(self, condition, text):
        assert str(condition) == text

    @given(st.permutations(COLOURS))
    def test_the_order_of_categories_does_not_matter(self, order):
        condition = Condition("c", "in", order)
        assert condition == Condition("c", "in", COLOURS)
        assert hash(condition) == hash(Condition("c", "in", COLOURS))
        assert str(condition) == "c in {4, blue, green, red}"

    def test_a_body_is_joined_by_and(self):
        body = [Condition.interval("a", 2, 5), Condition("b", "=", "x")]
        assert format_body(body) == "2 ≤ a < 5 ∧ b = x"
        assert format_body([]) == ""

    def test_values_read_as_people_write_them(self):
        assert [format_value(v) for v in (3.0, 0.15, "3.0", None)] == [
            "3",
            "0.15",
            "3.0",
            "missing",
        ]

    @given(conditions)
    def test_it_is_a_value_that_cannot_be_changed(self, condition):
        assert pickle.loads(pickle.dumps(condition)) == condition
        with pytest.raises(dataclasses.FrozenInstanceError):
            condition.feature = "y"


class TestRejections:
    @pytest.mark.parametrize("operator", ["!", ">", "≠", "", None, 3, ["<"]], ids=str)
    def test_an_unknown_operator_is_named(self, operator):
        with pytest.raises(ValueError, match="the operator of 'x' must be one of <, ≤, ≥, =, in"):
            Condition("x", operator, 1)

    @pytest.mark.parametrize(
        "bound", [math.inf, -math.inf, math.nan, "1", None, True, [1], 10**400]
    )
    @pytest.mark.parametrize("operator", ["<", "≤", "≥"])
    def test_a_bound_is_a_finite_number(self, operator, bound):
        with pytest.raises(
            ValueError, match="the value of 'x' must be a finite number, a date or a time, got"
        ):
            Condition("x", operator, bound)

    @pytest.mark.parametrize("bounds", [(-math.inf, math.inf), ()])
    def test_an_interval_has_a_bound(self, bounds):
        with pytest.raises(ValueError, match="an interval of 'x' needs at least one bound"):
            Condition.interval("x", *bounds)

    @pytest.mark.parametrize(
        "bounds",
        [(math.inf, math.inf), (-math.inf, -math.inf), (math.nan, 1), (1, math.nan), ("1", 2)],
    )
    def test_bounds_of_an_interval_are_finite_numbers(self, bounds):
        with pytest.raises(
            ValueError, match="the value of 'x' must be a finite number, a date or a time, got"
        ):
            Condition.interval("x", *bounds)

    @pytest.mark.parametrize("categories", [[1, 2], [None]])
    def test_categories_are_text(self, categories):
        with pytest.raises(ValueError, match="'c' must be text, got"):
            Condition("c", "in", categories)
        with pytest.raises(ValueError, match="the value of 'c' must be a category, got"):
            Condition("c", "=", categories)

    @pytest.mark.parametrize("categories", ["red", 3, None])
    def test_categories_are_a_list(self, categories):
        with pytest.raises(ValueError, match="the categories of 'c' must be a list, got"):
            Condition("c", "in", categories)
        with pytest.raises(ValueError, match="the categories of 'c' must be a list, got 'red'"):
            Feature("c", "red")

    def test_an_attribute_is_a_name(self):
        with pytest.raises(ValueError, match="must be text, got 3"):
            Condition(3, "<", 1)

    @pytest.mark.parametrize(
        ("condition", "feature", "message"),
        [
            (Condition("x", "=", "red"), SIZE, "'x' is numeric and needs bounds, got 'x = red'"),
            (Condition("c", "<", 1), COLOUR, "'c' is nominal and needs categories, got 'c < 1'"),
            (
                Condition("c", "=", "pink"),
                COLOUR,
                "'c' has no category 'pink'; it has 'red', 'blue'",
            ),
        ],
        ids=str,
    )
    def test_what_does_not_fit_its_attribute_is_named(self, condition, feature, message):
        with pytest.raises(ValueError, match=message):
            condition.check(feature)

    @given(conditions)
    def test_what_fits_is_accepted(self, condition):
        condition.check(COLOUR if condition.is_nominal else SIZE)


def test_numpys_numbers_and_texts_are_stored_as_pythons_own():
    bound = Condition("x", "≥", np.float32(0.5))
    assert type(bound.low) is float
    text = Condition("c", "in", np.array(["red", "blue"]))
    assert [type(category) for category in text.categories] == [str, str]
