"""A study with constraints, from its TOML to its page: no theory of any fold violates them."""

from __future__ import annotations

import gzip
import json

import pytest

from steelyard import Constraints, TheoryPath, make_planted_rules
from steelyard.report.page import write_page
from steelyard.study import load_study, read_config, run_study

STUDY = """
data = ["orchard.csv"]
labels = ["for juice", "for jam", "for baking", "for drying"]
folds = 2
n_candidates = 300
parameters = [4, 64]
phis = [1.0, 0.5]
tune = ["f1_micro"]
inner_folds = 2
baselines = ["ripper"]

[constraints]
forbidden = ["orchard"]
increasing = ["firmness"]
max_conditions = 3
min_tp = 2
given = [
    {rule = "for jam <- bruised = yes and weight >= 250", note = "peeled", when = "2026-03-01"},
    "for juice <- skin = golden",
    "for drying <- acidity >= 4.5",
]

[constraints.for_label."for baking"]
forbidden = ["colour"]
forbidden_conditions = ["skin = golden"]
"""


@pytest.fixture(scope="module")
def constrained(tmp_path_factory):
    """The study; one example has a category that constraints name, so one of two folds lacks it."""
    folder = tmp_path_factory.mktemp("constrained")
    data = make_planted_rules(200, random_state=0)
    X = data.X.astype({"skin": object})
    X.loc[7, "skin"] = "golden"
    X.join(data.Y).to_csv(folder / "orchard.csv", index=False)
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    config = read_config(folder / "study.toml")
    with pytest.warns(UserWarning, match="orchard: "):
        return run_study(config, folder / "results", n_jobs=1)


def read_paths(study):
    for file in sorted((study.folder / "theories" / "orchard").glob("fold-*")):
        yield TheoryPath.from_json(gzip.decompress(file.read_bytes()).decode())


def test_no_theory_of_any_fold_violates_them(constrained):
    wanted = constrained.config.constraints
    paths = list(read_paths(constrained))
    assert len(paths) == 2
    n_missing = 0
    for path in paths:
        knows_golden = "golden" in {
            text for f in path.coded.features if f.name == "skin" for text in f.categories
        }
        for heuristic in path.heuristics:
            for phi in path.phis:
                found = wanted.violations(path.theory(heuristic, phi))
                if not knows_golden:  # the rule has nothing to act on
                    found.remove("'for juice ← skin = golden' is given and missing")
                    n_missing += 1
                assert found == []
    assert n_missing


def test_given_rules_keep_when_and_why(constrained):
    for path in read_paths(constrained):
        texts = {str(s.rule): s.provenance.describe() for s in path.theory(0, 0.5)}
        expected = "given 2026-03-01: peeled"
        assert texts["for jam ← bruised = yes ∧ weight ≥ 250"] == expected
        assert texts["for drying ← acidity ≥ 4.5"] == "given"


def test_a_resumed_study_has_the_same_constraints_and_the_same_page(constrained):
    page = write_page(constrained)
    first = page.read_bytes()
    again = load_study(constrained.folder)
    assert again.config == constrained.config
    assert write_page(again).read_bytes() == first
    assert b'"source":"given","when":"2026-03-01","note":"peeled"' in first
    run = json.loads((constrained.folder / "run.json").read_text(encoding="utf-8"))
    assert Constraints.from_plain(run["config"]["constraints"]) == constrained.config.constraints
