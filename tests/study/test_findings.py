"""Each finding is supported by rows made to support it, and contradicted by rows made for that."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from steelyard.study import StudyConfig, StudyResults
from steelyard.study.analysis.findings import Finding, weigh_findings

M = (0.0, 2.0, 4.0, 8.0, 16.0)
PHI = (1.0, 0.75, 0.5, 0.25, 0.1)


def study_of(heuristic="m-estimate", parameters=M, phis=PHI, **formulas):
    """A study whose measures are functions of the positions of parameter and φ."""
    zero = dict.fromkeys(
        ["precision_micro", "recall_micro", "f1_micro", "hamming", "subset"], lambda i, j: i + j
    )
    sizes = {"n_rules": lambda i, j: 50 - i - j, "n_conditions": lambda i, j: -i - 0 * j}
    rows = [
        ("a", 1, heuristic, p, phi, measure, float(f(i, j)))
        for measure, f in (zero | sizes | formulas).items()
        for (i, p), (j, phi) in itertools.product(enumerate(parameters), enumerate(phis))
    ]
    columns = ["dataset", "fold", "heuristic", "parameter", "phi", "measure", "value"]
    config = StudyConfig(("a",), heuristics=(heuristic,), parameters=parameters, phis=phis)
    none = pd.DataFrame(columns=columns)
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
        ("F1 is best at small m", {"f1_micro": peak(1, 2)}, {"f1_micro": peak(4, 2)}),
        (
            "Hamming accuracy is best",
            {"f1_micro": peak(2, 1), "hamming": peak(1, 3)},
            {"f1_micro": peak(1, 3), "hamming": peak(2, 1)},
        ),
        (
            "Subset accuracy is best",
            {"f1_micro": peak(2, 1), "subset": peak(1, 3)},
            {"f1_micro": peak(2, 1), "subset": peak(1, 0)},
        ),
        ("The number of rules", {}, {"n_rules": lambda i, j: 50 + i - j}),
        (
            "The number of conditions",
            {"n_conditions": lambda i, j: 9 - i - 0.1 * j},
            {"n_conditions": lambda i, j: 9 - j - 0.1 * i},
        ),
    ],
)
def test_the_verdict_follows_the_rows(opening, for_it, against_it):
    for formulas, verdict in [(for_it, "supported"), (against_it, "contradicted")]:
        found = [f for f in study_of(**formulas).findings if f.statement.startswith(opening)]
        assert [f.verdict for f in found] == [verdict]


def test_f1_is_checked_on_the_f_measure_only():
    betas = (0.5, 1.0, 2.0)
    found = study_of("f-measure", betas, f1_micro=peak(0, 2)).findings
    assert [f.verdict for f in found] == ["supported"]
    assert found[0].statement.startswith("Selecting by F1")
    found = study_of("f-measure", betas, f1_micro=peak(1, 2)).findings
    assert [f.verdict for f in found] == ["contradicted"]


def test_a_single_parameter_has_no_findings():
    study = study_of(parameters=(4.0,))
    assert study.findings == []


def test_equal_theories_count_once_where_nothing_is_cut():
    # At m = 0 every φ gives the same theory; counted five times, the median φ would be 0.5.
    def f1(i, j):
        return 100.0 if i == 0 else float(i + j)

    finding = finding_of("F1", f1_micro=f1)
    assert "m = 0 (step 1 of 5), φ = 1;" in finding.numbers


def finding_of(opening, **formulas):
    return next(f for f in study_of(**formulas).findings if f.statement.startswith(opening))


def best_at(first, second):
    """Best in two cells (position of m, position of φ): of 25, the best tenth."""
    places = [first, second]
    return lambda i, j: 9 - places.index((i, j)) if (i, j) in places else -5 * i - j


def test_a_best_place_between_two_m_is_printed_as_such():
    finding = finding_of("Subset", f1_micro=best_at((1, 1), (1, 2)), subset=best_at((1, 4), (2, 4)))
    assert finding.verdict == "contradicted"
    assert (
        "Subset accuracy m between 2 and 4 (step 2.5 of 5), φ = 0.1; "
        "F1 m = 2 (step 2 of 5), φ = 0.625"
    ) in finding.numbers


def test_the_middle_of_the_grid_is_not_small():
    finding = finding_of("F1 is", f1_micro=best_at((2, 1), (2, 2)))
    assert finding.verdict == "contradicted"
    assert (
        "m = 4 (step 3 of 5), φ = 0.625; the first third of the grid ends at step 2.3"
        in finding.numbers
    )
    assert finding_of("F1 is", f1_micro=best_at((1, 1), (2, 2))).verdict == "undecided"
    assert finding_of("F1 is", f1_micro=best_at((1, 1), (1, 2))).verdict == "supported"


def test_numbers_that_are_printed_alike_support_nothing():
    # 0.3 and a hair less are the same φ to a reader.
    phis = (1.0, 0.3, 0.3 - 1e-9)
    study = study_of(phis=phis, f1_micro=peak(1, 1), hamming=peak(1, 2))
    finding = next(f for f in study.findings if f.statement.startswith("Hamming"))
    assert finding.numbers.count("m = 2 (step 2 of 5), φ = 0.3") == 2
    assert finding.verdict == "undecided"


def test_a_verdict_that_depends_on_one_data_set_is_undecided():
    def study(peaks):
        parts = [study_of(f1_micro=peak(*place)).results for place in peaks]
        rows = pd.concat(
            [rows.assign(dataset=name) for name, rows in zip("abcd", parts, strict=True)]
        )
        return dataclasses.replace(study_of(), results=rows)

    def f1(peaks):
        found = study(peaks).findings
        return next(f for f in found if f.statement.startswith("F1 is"))

    clear = f1([(0, 2), (1, 2), (0, 1), (1, 1)])
    assert clear.verdict == "supported"
    assert clear.numbers.endswith("the same without any one data set in 4 of 4 cases")
    torn = f1([(0, 2), (0, 2), (4, 2), (4, 2)])
    assert torn.verdict == "undecided"


def test_one_fold_says_nothing_about_the_spread():
    finding = finding_of("F1 is", f1_micro=peak(0, 1))
    assert finding.numbers.endswith("one fold only, so that nothing is known about the spread")


def test_elsewhere_names_a_cell_elsewhere():
    finding = finding_of("Selecting by precision", precision_micro=peak(0, 4))
    assert finding.numbers.startswith(
        "best average rank with m = 0 is 1.00, elsewhere 2.50 (m = 2, φ = 0.1)"
    )


def test_a_statement_that_a_part_leaves_out_is_not_the_same_there():
    found = [Finding("F1 is best at small m.", "supported", "")]
    (weighed,) = weigh_findings(found, [found, [], found], "fold")
    assert weighed.verdict == "undecided"
    assert "in 2 of 3 cases" in weighed.numbers
