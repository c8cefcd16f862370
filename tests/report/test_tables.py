import csv
import dataclasses
import io

import numpy as np
import pytest

from steelyard.report.build import summarize_study, write_report
from steelyard.report.figures import MAPPED_MEASURES
from steelyard.report.tables import tabulate_comparison, tabulate_rule_sets
from steelyard.report.text_table import TextTable
from steelyard.study import StudyConfig, StudyError
from steelyard.study.analysis.comparison import Comparison
from steelyard.study.analysis.published import PUBLISHED
from steelyard.study.analysis.rule_sets import collect_rule_sets


def test_the_best_is_bold_and_the_published_value_stands_beside():
    comparison = Comparison(
        "f1_micro", ("flags", "mine"), ("R1", "M_F"), np.array([[0.7, 0.8], [0.5, 0.5]])
    )
    table = tabulate_comparison(comparison)
    assert table.rows[0] == [
        "flags",
        "70.00",
        "80.00",
        *(f"{v:.2f}" for v in PUBLISHED["f1_micro"]["flags"]),
    ]
    assert table.rows[1] == ["mine", "50.00", "50.00", "", "", "", ""]
    assert table.rows[2][:3] == ["average rank", "1.75", "1.25"]
    # flags: ours M_F, theirs R3; mine: both are best.
    assert table.bold == {(0, 2), (0, 5), (1, 1), (1, 2)}
    assert "**80.00**" in table.to_markdown()
    assert r"\textbf{80.00}" in table.to_latex()


COMPARED = Comparison(
    "f1_micro", ("flags", "yeast"), ("R1", "M_F"), np.array([[0.7, 0.8], [0.5, 0.4]])
)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"folds": 3}, "3 new folds instead of the paper's ten."),
        ({"only_folds": [1, 2]}, "only folds 1, 2."),
        ({"n_candidates": 2000}, "2,000 candidate rules instead of 300,000."),
        ({"tune": ["f1_micro"], "parameters": [0, 4]}, "tuned over another grid than the paper's"),
    ],
)
def test_a_note_says_why_published_values_are_not_comparable(config, words):
    table = tabulate_comparison(COMPARED, {"config": config})
    assert f"Not comparable with the published values: {words}" in table.to_markdown()
    other = Comparison("f1_micro", ("mine",), ("R1",), np.array([[0.7]]))
    assert "published" not in tabulate_comparison(other, {"config": config}).to_markdown()


def test_the_paper_s_own_setting_needs_no_note():
    own = {name: {"has_own_folds": True} for name in COMPARED.datasets}
    config = dataclasses.asdict(StudyConfig(COMPARED.datasets, tune=("f1_micro",)))
    run = {"config": config, "data": own}
    assert "Not comparable" not in tabulate_comparison(COMPARED, run).to_markdown()
    run["data"] = own | {"yeast": {"has_own_folds": False}}
    assert "new folds instead of the paper's (yeast)." in tabulate_comparison(
        COMPARED, run
    ).to_markdown().replace("\\", "")


def test_inverted_labels_have_no_published_ranks():
    assert tabulate_comparison(COMPARED).rows[-1][3:] == ["4.00", "2.50", "1.50", "2.00"]
    table = tabulate_comparison(COMPARED, {"config": {"invert_majority_labels": True}})
    assert table.rows[-1] == ["average rank", "1.50", "1.50", "", "", "", ""]
    assert "majority labels are inverted, which makes F1 another quantity." in table.notes[-1]


def test_without_a_known_data_set_nothing_published_is_shown():
    table = tabulate_comparison(Comparison("hamming", ("mine",), ("M_H",), np.array([[0.9]])))
    assert table.columns == ["data set", "M_H"]
    assert table.rows == [["mine", "90.00"]]


def test_names_are_shown_as_text_in_every_format():
    table = TextTable("a & b", ["x_y", "|"], [["<img>", "50 %, φ"]])
    assert "<img>" not in table.to_markdown()
    assert r"x\_y" in table.to_latex()
    assert r"50 \%" in table.to_latex()
    assert list(csv.reader(io.StringIO(table.to_csv()))) == [["x_y", "|"], ["<img>", "50 %, φ"]]


def test_words_stand_left_numbers_right_and_long_texts_are_broken():
    table = TextTable("t", ["a", "b", "c"], [["x", "1.5", "word " * 20], ["y", "", ""]])
    assert "|---|---:|---|" in table.to_markdown()
    assert r"\begin{tabular}{lrp{0.90\linewidth}}" in table.to_latex()


def test_rule_sets_stand_side_by_side(two_studies):
    example = collect_rule_sets(two_studies, label="for jam", cells=[(4.0, 0.5), (524288.0, 1.0)])
    assert example.dataset == "planted"
    table = tabulate_rule_sets(example)
    assert "m-estimate(m=4), φ = 0.5" in table.columns[1]
    assert len(table.columns) == 3
    with pytest.raises(StudyError, match="no data set of the study has a label 'x'"):
        collect_rule_sets(two_studies, label="x")
    with pytest.raises(StudyError, match=r"no cell 4:0\.7"):
        collect_rule_sets(two_studies, cells=[(4.0, 0.7)])


def test_a_report_has_every_figure_and_table(two_studies, monkeypatch):
    monkeypatch.setattr("steelyard.report.build._write_page", lambda _: None)
    write_report(two_studies)
    figures = {file.name for file in (two_studies.folder / "figures").iterdir()}
    for measure in (*MAPPED_MEASURES, "recall_macro"):
        assert {f"ranks-{measure}.png", f"ranks-{measure}.pdf"} <= figures
    assert {"values-planted.png", "values-other.png", "coverage-space.png"} <= figures
    assert "critical-difference-f1_micro.png" in figures
    tables = {file.name for file in (two_studies.folder / "tables").iterdir()}
    for name in ("best_cells", "comparison", "findings", "rule_sets"):
        assert {f"{name}.md", f"{name}.tex"} <= tables


def test_the_summary_is_plain_data(two_studies):
    import json

    summary = summarize_study(two_studies)
    plain = json.loads(json.dumps(summary.as_dict()))
    assert len(plain["best_cells"]) == 8
    # The paper's three, and what was tuned for.
    assert {row["measure"] for row in plain["best_cells"]} == {
        "f1_micro",
        "hamming",
        "subset",
        "recall_macro",
    }
    assert {row["tuned_for"] for row in plain["tuned"]} == {"f1_micro", "recall_macro"}
    assert {f["verdict"] for f in plain["findings"]} <= {"supported", "contradicted"}
