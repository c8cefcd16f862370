"""Results folders of older versions stay readable; each has its theories in one version of paths."""

from pathlib import Path

import pytest

from steelyard import MEstimate
from steelyard.model.json import PATH
from steelyard.report.page.payload import study_to_payload
from steelyard.report.tables import list_tables
from steelyard.study import load_study
from steelyard.study.rule_sets import collect_rule_sets

OLD_STUDIES = Path(__file__).parent / "old_studies"


def test_every_version_of_paths_has_a_study():
    expected = [f"paths-v{version}" for version in range(1, PATH.version + 1)]
    assert sorted(folder.name for folder in OLD_STUDIES.iterdir()) == expected


@pytest.mark.parametrize("folder", sorted(OLD_STUDIES.iterdir()), ids=lambda folder: folder.name)
def test_an_old_study_is_read_and_reported(folder):
    study = load_study(folder)
    assert (len(study.results), len(study.tuned), len(study.baselines)) == (72, 18, 54)
    path = study.paths["planted"]
    sizes = study.results.query("measure == 'n_rules' and fold == 1")
    for m, phi, n_rules in sizes[["parameter", "phi", "value"]].itertuples(index=False):
        assert len(path.theory(MEstimate(m), phi)) == n_rules
    tables = list_tables(study, collect_rule_sets(study))
    assert tables["best_cells"]
    payload, theories = study_to_payload(study)
    assert payload["datasets"][0]["name"] == "planted"
    assert len(theories["planted"]["cells"]["rules"]) == len(path.coded)
