"""Each check says yes on rows made to support it, and no on rows made to contradict it."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from steelyard.study import StudyConfig, StudyResults
from steelyard.study.findings import check_findings

M = (0.0, 2.0, 4.0, 8.0, 16.0)
PHI = (1.0, 0.75, 0.5, 0.25, 0.1)


def study_of(heuristic="m-estimate", parameters=M, **formulas):
    """A study whose measures are functions of the positions of parameter and φ."""
    zero = dict.fromkeys(
        ["precision_micro", "recall_micro", "f1_micro", "hamming", "subset"], lambda i, j: i + j
    )
    sizes = {"n_rules": lambda i, j: 50 - i - j, "n_conditions": lambda i, j: -i - 0 * j}
    rows = [
        ("a", 1, heuristic, p, phi, measure, float(f(i, j)))
        for measure, f in (zero | sizes | formulas).items()
        for (i, p), (j, phi) in itertools.product(enumerate(parameters), enumerate(PHI))
    ]
    columns = ["dataset", "fold", "heuristic", "parameter", "phi", "measure", "value"]
    config = StudyConfig(("a",), heuristics=(heuristic,), parameters=parameters, phis=PHI)
    none = pd.DataFrame()
    return StudyResults(Path(), config, pd.DataFrame(rows, columns=columns), none, none, {})


def peak(i0, j0):
    return lambda i, j: -np.hypot(i - i0, j - j0)


@pytest.mark.parametrize(
    ("opening", "for_it", "against_it"),
    [
        (
            "Precision and recall compete",
            {"precision_micro": peak(0, 4), "recall_micro": peak(4, 0)},
            {"precision_micro": peak(4, 0), "recall_micro": peak(0, 4)},
        ),
        (
            "Selecting by precision",
            {"precision_micro": peak(1, 4)},
            {"precision_micro": peak(0, 4)},
        ),
        ("F1 wants small m", {"f1_micro": peak(1, 2)}, {"f1_micro": peak(4, 2)}),
        (
            "Hamming accuracy wants",
            {"f1_micro": peak(2, 1), "hamming": peak(1, 3)},
            {"f1_micro": peak(1, 3), "hamming": peak(2, 1)},
        ),
        (
            "Subset accuracy wants",
            {"f1_micro": peak(2, 1), "subset": peak(1, 3)},
            {"f1_micro": peak(2, 1), "subset": peak(1, 0)},
        ),
        ("Fewer rules", {}, {"n_rules": lambda i, j: 50 + i - j}),
        (
            "The number of conditions",
            {"n_conditions": lambda i, j: 9 - i - 0.1 * j},
            {"n_conditions": lambda i, j: 9 - j - 0.1 * i},
        ),
    ],
)
def test_the_verdict_follows_the_rows(opening, for_it, against_it):
    for formulas, verdict in [(for_it, "supported"), (against_it, "contradicted")]:
        found = [f for f in check_findings(study_of(**formulas)) if f.statement.startswith(opening)]
        assert [f.verdict for f in found] == [verdict]


def test_f1_is_checked_on_the_f_measure_only():
    betas = (0.5, 1.0, 2.0)
    found = check_findings(study_of("f-measure", betas, f1_micro=peak(0, 2)))
    assert [f.verdict for f in found] == ["supported"]
    assert found[0].statement.startswith("Selecting by F1")
    found = check_findings(study_of("f-measure", betas, f1_micro=peak(1, 2)))
    assert [f.verdict for f in found] == ["contradicted"]


def test_nothing_is_said_of_a_single_cell():
    study = study_of(parameters=(4.0,))
    assert check_findings(study) == []


def test_equal_theories_count_once_where_nothing_is_cut():
    # At m = 0 every φ gives the same theory; counted five times it would seem to want φ ≈ 0.5.
    def f1(i, j):
        return 100.0 if i == 0 else float(i + j)

    finding = next(f for f in check_findings(study_of(f1_micro=f1)) if f.statement.startswith("F1"))
    assert "m ≈ 0, φ ≈ 1;" in finding.numbers
