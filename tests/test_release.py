"""What a release consists of: its files agree with the package, and same seeds give same theories."""

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

import steelyard

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def load_script(folder, name, monkeypatch):
    """A script outside of the package as a module."""
    monkeypatch.syspath_prepend(ROOT / folder)
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("data", ["iris", "planted_missing"])
def test_the_same_seed_gives_the_stored_theory(data, monkeypatch):
    script = load_script("benchmarks", "same_theories", monkeypatch)
    monkeypatch.setattr(script, "tuned_estimators", dict)  # `make test-oldest` has these, too
    monkeypatch.setattr(script, "LARGE", [data])
    stored = json.loads((ROOT / "benchmarks" / "theories.json").read_text(encoding="utf-8"))
    found = dict(script.digests_of(data))
    assert len(found) == 4
    assert found == {key: stored[key] for key in found}


class TestLowerBounds:
    def test_each_dependency_is_pinned_at_its_bound(self, monkeypatch):
        versions = load_script("tools", "versions", monkeypatch)
        project = {
            "name": "steelyard",
            "dependencies": ["numpy>=1.26"],
            "optional-dependencies": {"x": ["dask[distributed]>=2024.5"], "all": ["steelyard[x]"]},
        }
        bounds = versions.list_lower_bounds({"project": project})
        assert bounds == ["dask==2024.5", "distributed==2024.5", "numpy==1.26"]

    def test_a_dependency_without_a_bound_is_rejected(self, monkeypatch):
        versions = load_script("tools", "versions", monkeypatch)
        project = {"name": "a", "dependencies": ["numpy"], "optional-dependencies": {}}
        with pytest.raises(SystemExit, match="'numpy' has no lower bound"):
            versions.list_lower_bounds({"project": project})

    def test_the_first_wheels_for_a_newer_python_are_newer_than_the_bounds(self, monkeypatch):
        versions = load_script("tools", "versions", monkeypatch)
        bounds = dict(line.split("==") for line in versions.list_lower_bounds(PYPROJECT))
        for first in versions.FIRST_WHEELS.values():
            assert all(Version(first[name]) > Version(bounds[name]) for name in first)

    def test_the_conda_recipe_has_the_bounds_and_the_version_of_the_package(self, monkeypatch):
        versions = load_script("tools", "versions", monkeypatch)
        recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
        assert f'version: "{steelyard.__version__}"' in recipe
        run = recipe.partition("\n  run:\n")[2].partition("\ntests:")[0]
        found = dict(re.findall(r"- ([\w-]+) >=([\d.]+)", run))
        project = PYPROJECT["project"] | {"optional-dependencies": {}}
        expected = dict(
            line.split("==") for line in versions.list_lower_bounds({"project": project})
        )
        expected["matplotlib-base"] = expected.pop("matplotlib")
        expected["python"] = PYPROJECT["project"]["requires-python"].removeprefix(">=")
        assert found == expected


def test_the_version_stands_in_one_place():
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert PYPROJECT["tool"]["setuptools"]["dynamic"]["version"] == {
        "attr": "steelyard.__version__"
    }


def test_the_changelog_begins_with_the_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\d\S*)", changelog, re.MULTILINE)[1]
    assert newest == steelyard.__version__


@pytest.mark.skipif(not WORKFLOWS, reason="a source archive has no workflows")
def test_workflows_call_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    called = set()
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        called |= set(re.findall(r"run: make ([\w-]+)", text))
        for targets in re.findall(r"target: \[(.*)\]", text):
            called |= set(targets.split(", "))
    assert {"test", "dist", "test-oldest", "test-newest"} <= called
    assert called <= set(phony)


def test_every_tested_python_is_a_classifier(monkeypatch):
    versions = load_script("tools", "versions", monkeypatch)
    classifiers = PYPROJECT["project"]["classifiers"]
    listed = [c.rpartition(" ")[2] for c in classifiers if re.search(r":: 3\.\d+$", c)]
    assert listed == list(versions.PYTHONS)


class TestSpeedPage:
    """The tables of docs/speed.md are views of the JSON files of the benchmarks."""

    MACHINE = {
        "processor": "A processor",
        "cores": 2,
        "load": 0.5,
        "python": "3.11.7",
        "packages": {"numpy": "2.0", "scipy": "1.15"},
    }

    def results(self):
        timings = {
            "revision": "abc",
            "machine": self.MACHINE,
            "cpu_seconds": {"import": 0.5, "fit": 0.0123},
        }
        speed = {
            "revision": "abc",
            "machine": self.MACHINE,
            "ratio of candidates per second": {"scene": 17.04, "yeast": 20.0},
            "CPU seconds of 400 theories": {"scene": 15.31, "yeast": 11.02},
            "ratio of predictions per second": {"yeast": 8.26},
            "peak memory in GB": {"scene": 0.123},
        }
        comparison = {
            "revisions": ["old", "abc"],
            "machine": self.MACHINE,
            "cpu_seconds": [{"import": 1.0, "fit": 0.05}, {"import": 0.5, "fit": 0.0125}],
            "ratios": {"import": 0.5, "fit": 0.25},
        }
        return timings, speed, comparison

    def test_every_number_is_one_of_the_benchmarks(self, monkeypatch):
        script = load_script("docs", "make_speed", monkeypatch)
        blocks = script.make_blocks(*self.results())
        facts = (
            "A processor, 2 cores, load 0.5 at the end of the run; Python 3.11.7, numpy 2.0, "
            "scipy 1.15."
        )
        assert blocks["pieces"].splitlines() == [
            "| piece of work | CPU time |",
            "| --- | ---: |",
            "| import | 0.50 s |",
            "| fit | 12.3 ms |",
            "",
            f"Revision `abc`; {facts}",
        ]
        assert blocks["data_sets"].splitlines()[2:7] == [
            "| scene | 17.0 | 15.3 s | 0.12 GB |",
            "| yeast | 20.0 | 11.0 s |  |",
            "| together |  | 26.3 s |  |",
            "",
            "A forest of 100 trees takes 8.3 times as long as a rule set to predict 100,000 rows of "
            "yeast.",
        ]
        assert blocks["changes"].splitlines()[2:] == [
            "| import | 1.00 s | 0.50 s | 0.50 |",
            "| fit | 50.0 ms | 12.5 ms | 0.25 |",
            "",
            f"Revision `old` and `abc`; {facts}",
        ]

    def test_a_page_is_written_anew_as_often_as_wanted(self, monkeypatch):
        script = load_script("docs", "make_speed", monkeypatch)
        blocks = script.make_blocks(*self.results())
        page = script.PAGE.read_text(encoding="utf-8")
        filled = script.fill(page, blocks)
        assert all(block in filled for block in blocks.values())
        assert script.fill(filled, blocks) == filled
        assert script.fill(filled, dict.fromkeys(blocks, "")) == script.fill(
            page, dict.fromkeys(blocks, "")
        )

    def test_a_page_without_a_block_is_rejected(self, monkeypatch):
        script = load_script("docs", "make_speed", monkeypatch)
        with pytest.raises(ValueError, match=r"the page has the blocks \['pieces'\], not"):
            script.fill("<!-- pieces -->\n<!-- end -->\n", script.make_blocks(*self.results()))

    def test_the_page_has_what_the_benchmarks_measure_today(self, monkeypatch):
        """Each piece of work of timings.py is a row of two tables; the data sets are the paper's."""
        page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| ([^|]+?) \|", page, re.MULTILINE)
        script = load_script("benchmarks", "timings", monkeypatch)
        pieces = ["import", "path planted", "evaluate 400 theories", "predict 50,000 rows"]
        pieces += [
            f"fit {kind} {data}"
            for kind in script.list_estimators()
            for data in ("planted", "segments")
        ]
        assert all(rows.count(piece) == 2 for piece in pieces)
        paper_sets = load_script("benchmarks", "speed", monkeypatch).PAPER_SETS
        assert all(rows.count(name) == 1 for name in paper_sets)
