"""docs/study.md lists the measures that a study has."""

import re
from pathlib import Path

import pytest

from steelyard.measures import MEASURES, SCORE_MEASURES
from steelyard.study.config import SIZE_MEASURES, STUDY_MEASURES

DOCS = Path(__file__).parents[2] / "docs" / "study.md"


@pytest.mark.skipif(not DOCS.exists(), reason="docs/study.md is not installed with the tests")
def test_the_table_of_measures_is_complete():
    table = DOCS.read_text(encoding="utf-8").split("| name | what it is |")[1].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    names = {line: re.findall(r"`(\w+)`", line.split("|")[1]) for line in rows}
    listed = [name for line in rows for name in names[line]]
    assert sorted(listed) == sorted([*MEASURES, *SIZE_MEASURES])
    always = [name for line in rows if line.endswith("always |") for name in names[line]]
    assert sorted(always) == sorted([*STUDY_MEASURES, *SIZE_MEASURES])


@pytest.mark.skipif(not DOCS.exists(), reason="docs/study.md is not installed with the tests")
def test_the_table_of_measures_of_scores_is_complete():
    text = DOCS.read_text(encoding="utf-8")
    table = text.split("| measure of scores |")[1].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    listed = [name for line in rows for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert listed == list(SCORE_MEASURES)
