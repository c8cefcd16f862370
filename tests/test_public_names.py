"""The names that `import steelyard` offers: the same at run time and for type checkers."""

import ast
from pathlib import Path

import steelyard


def typed_names():
    """Name and module of every import in the file for type checkers."""
    stub = Path(steelyard.__file__).with_suffix(".pyi")
    for statement in ast.parse(stub.read_text(encoding="utf-8")).body:
        if not isinstance(statement, ast.ImportFrom):
            continue
        for alias in statement.names:
            assert alias.asname == alias.name  # how a module says that it exports a name
            yield alias.name, statement.module


def test_type_checkers_see_the_names_that_are_imported_when_used():
    assert dict(typed_names()) == steelyard._MODULE_OF
    assert len(list(typed_names())) == len(steelyard.__all__)


def test_every_name_can_be_imported():
    for name in steelyard.__all__:
        value = getattr(steelyard, name)
        assert value.__name__ == name
        assert name in dir(steelyard)


def test_a_theory_can_be_built_and_read_by_hand():
    needed = {
        "AnyRule",
        "Condition",
        "EachLabel",
        "Evidence",
        "Rule",
        "Head",
        "Label",
        "Feature",
        "ScoredRule",
        "Theory",
        "Explanation",
    }
    assert needed <= set(steelyard.__all__)
