"""Every public object is in the API reference and has a runnable example; links lead somewhere."""

import ast
import builtins
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = [
    "steelyard",
    *(f"steelyard.{m}" for m in ("data", "export", "measures", "report", "study")),
]
needs_docs = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="docs are not installed with the tests"
)


def public_objects():
    """The name and the value of every public class and function, once."""
    seen = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                seen.setdefault(name, value)
    return seen


@pytest.mark.parametrize("name", public_objects())
def test_every_public_name_has_a_runnable_example(name):
    doc = inspect.getdoc(public_objects()[name]) or ""
    examples = re.search(r"^Examples\n-+\n(.*)", doc, re.MULTILINE | re.DOTALL)
    assert examples, f"{name} has no section Examples"
    assert ">>>" in examples[1]


def list_names(tree, kind):
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, kind)
    }


@pytest.mark.parametrize("name", public_objects())
def test_an_example_imports_what_it_uses(name):
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(public_objects()[name]))
    tree = ast.parse("".join(example.source for example in examples))
    made = list_names(tree, ast.Store) | set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            made |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
    assert not list_names(tree, ast.Load) - made


@needs_docs
def test_every_public_name_is_in_the_api_reference():
    listed = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8").split()
    assert not set(public_objects()) - set(listed)


@needs_docs
def test_every_module_that_has_a_chapter_still_has_a_public_object():
    """A page of the API links to a chapter by the module of its object, which may be renamed."""
    tree = ast.parse((ROOT / "docs" / "sphinx_helpers.py").read_text(encoding="utf-8"))
    (chapters,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "CHAPTERS"
    )
    first = {
        next(prefix for prefix in chapters if value.__module__.startswith(prefix))
        for value in public_objects().values()
    }
    assert first == set(chapters)
    assert all((ROOT / "docs" / f"{page.lstrip('/')}.md").exists() for page in chapters.values())


# [text](target), where the target is neither an address nor a part of the same page.
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]+)?\)")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def list_broken(page):
    """The links of a page to files and headings that do not exist. Sphinx checks those it makes."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, heading in LINK.findall(text):
        path = page.parent / target
        if "gallery/" in target or target.endswith("index"):
            continue  # made when the documentation is built, which then fails if it is not there
        if not path.exists():
            yield target
        elif heading and heading[1:] not in list_anchors(path):
            yield target + heading


def list_anchors(path):
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


@needs_docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    if "_build" not in page.parts and "gallery" not in page.parts:
        assert not list(list_broken(page))
