"""Estimators link to their page of the documentation, and the page exists."""

import tomllib
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import steelyard

ROOT = Path(__file__).parents[2]
ESTIMATORS = [
    name
    for name in steelyard.__all__
    if isinstance(value := getattr(steelyard, name), type) and issubclass(value, BaseEstimator)
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_html_representation_links_to_the_page_of_the_estimator(name):
    address = f"https://steelyard.readthedocs.io/api/generated/steelyard.{name}.html"
    assert address in getattr(steelyard, name)()._repr_html_()


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="docs are not installed with the tests")
def test_the_address_is_that_of_the_project_and_every_estimator_has_a_page():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Documentation"] == "https://steelyard.readthedocs.io"
    pages = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8").split()
    assert len(ESTIMATORS) == 6
    assert set(ESTIMATORS) <= set(pages)


def test_an_estimator_of_somebody_else_has_no_page_of_ours():
    class Own(steelyard.RipperClassifier):
        pass

    assert "steelyard.readthedocs.io" not in Own()._repr_html_()
