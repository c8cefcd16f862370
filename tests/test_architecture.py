"""The architecture that CONTRIBUTING.md describes and the import contracts enforce, and its limits."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "steelyard"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]
MOST_LINES = 60
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_bytes())
    for path in sorted(PACKAGE.rglob("*.py"))
}
KERNELS = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.p[yx][xd]"))
}


def listed_layers(heading):
    """The names in the indented list of a section, one list of names per line."""
    _, _, section = CONTRIBUTING.partition(f"\n{heading}\n")
    assert section, f"CONTRIBUTING.md has no section {heading!r}"
    section = re.split(r"^##", section, maxsplit=1, flags=re.MULTILINE)[0]
    lines = re.findall(r"^    ([a-z_]+(?:, [a-z_]+)*) {2,}\S", section, re.MULTILINE)
    return [line.split(", ") for line in lines]


@pytest.mark.parametrize(
    ("heading", "container"),
    [("## Architecture", "steelyard"), ("### The files of model", "steelyard.model")],
)
def test_contributing_lists_the_layers_of_each_contract(heading, container):
    (contract,) = [c for c in LINTER["contracts"] if c["containers"] == [container]]
    layers = [layer.split(" | ") for layer in contract["layers"]]
    level = {module: i for i, layer in enumerate(layers) for module in layer}
    lines = listed_layers(heading)
    assert sorted(name for line in lines for name in line) == sorted(level)
    # A line lists modules of one layer, and the layers are listed from top to bottom.
    levels = [{level[name] for name in line} for line in lines]
    assert all(len(found) == 1 for found in levels)
    assert [min(found) for found in levels] == sorted(min(found) for found in levels)


def test_the_contracts_are_exhaustive_and_without_exceptions():
    # Exceptions would be `ignore_imports`, or imports under TYPE_CHECKING that are not looked at.
    assert set(LINTER) == {"root_package", "contracts"}
    for contract in LINTER["contracts"]:
        assert contract["exhaustive"]
        assert contract.get("exhaustive_ignores", []) in ([], ["__main__"])
        known = {"name", "type", "containers", "layers", "exhaustive", "exhaustive_ignores"}
        assert set(contract) <= known


def test_every_file_that_contributing_names_exists():
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.[a-z]+)?)`", CONTRIBUTING))
    assert len(named) > 10
    missing = [name for name in named if not ((ROOT / name).exists() or (PACKAGE / name).exists())]
    assert not missing


def test_every_name_that_contributing_finds_in_a_file_is_there():
    pairs = re.findall(r"`([a-z_/]+\.pyx?)`, `([A-Za-z_]+)`", CONTRIBUTING)
    assert len(pairs) >= 4
    for file, name in pairs:
        if file in KERNELS:
            assert re.search(rf"^c?p?def .*\b{name}\(", KERNELS[file], re.MULTILINE), (file, name)
            continue
        nodes = list(ast.walk(SOURCES[file]))
        defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assigned = {
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        assert name in defined | assigned, f"{file} does not define {name}"


def test_every_module_has_a_docstring():
    assert not [module for module, tree in SOURCES.items() if not ast.get_docstring(tree)]
    assert len(KERNELS) > 10
    opening = re.compile(r'(?:#.*\n)*"""[A-Z]')
    assert not [module for module, text in KERNELS.items() if not opening.match(text)]


def test_kernels_know_nothing_else_of_the_package():
    imported = {
        module: re.findall(r"^ *(?:from|import|cimport) +(\S+)", text, re.MULTILINE)
        for module, text in KERNELS.items()
    }
    allowed = re.compile(r"typing$|numpy$|libc\.|libcpp\.|cpython\.|\.[a-z_]+$|cython$")
    assert not [
        (m, name) for m, names in imported.items() for name in names if not allowed.match(name)
    ]


def count_lines(function):
    """Lines of a function without its decorators and its docstring."""
    n_lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        n_lines -= docstring.end_lineno - docstring.lineno + 1
    return n_lines


def test_no_function_but_kernels_is_longer_than_60_lines():
    long = [
        f"{module}: {node.name} has {count_lines(node)} lines"
        for module, tree in SOURCES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and count_lines(node) > MOST_LINES
    ]
    assert not long
