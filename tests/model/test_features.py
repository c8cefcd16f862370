"""Attributes: categories are text, whatever a reader of tables made of them."""

import numpy as np
import pytest

from steelyard.model.features import BOOLEAN_WORDS, Feature, category_text


@pytest.mark.parametrize("value", [4, 4.0, "4", np.int8(4), np.float32(4)])
def test_a_category_is_its_text(value):
    assert category_text(value) == "4"


def test_an_attribute_with_categories_is_nominal():
    assert not Feature("size").is_nominal
    assert Feature("colour", ("red",)).is_nominal
    assert Feature("nothing seen", ()).is_nominal


@pytest.mark.parametrize("categories", [("False", "True"), ("True", "False"), ("True",)])
def test_a_boolean_attribute_reads_every_way_to_write_a_boolean(categories):
    feature = Feature("ill", categories)
    assert feature.is_boolean
    for category, words in BOOLEAN_WORDS.items():
        for word in (category, *words, *map(str.upper, words)):
            assert feature.read_category(word) == category


@pytest.mark.parametrize("categories", [None, (), ("0", "1"), ("False", "True", "maybe")])
def test_other_attributes_read_categories_as_they_are(categories):
    feature = Feature("grade", categories)
    assert not feature.is_boolean
    assert [feature.read_category(text) for text in ("1", "true", "True")] == ["1", "true", "True"]


@pytest.mark.parametrize(
    ("name", "categories", "message"),
    [
        (3, None, "the name of an attribute must be text, got 3"),
        ("a", ("x", "y", "x"), "the attribute 'a' has the category 'x' twice"),
        ("a", ("x", 4), "the categories of 'a' must be text, got 4"),
    ],
)
def test_what_is_no_attribute_is_rejected(name, categories, message):
    with pytest.raises(ValueError, match=message):
        Feature(name, categories)


def test_names_are_pythons_own_text():
    feature = Feature(np.str_("a"), list(np.array(["x", "y"])))
    assert {type(text) for text in (feature.name, *feature.categories)} == {str}
