import csv
import dataclasses
import io

import numpy as np
import pytest

from steelyard.report.tables import (
    tabulate_comparison,
    tabulate_comparisons,
    tabulate_rule_sets,
)
from steelyard.report.text_table import TextTable
from steelyard.study import StudyConfig, StudyError
from steelyard.study.analysis.comparison import Comparison
from steelyard.study.analysis.published import PUBLISHED, describe_differences
from steelyard.study.rule_sets import collect_rule_sets


def test_the_best_is_bold_and_the_published_value_is_next_to_it():
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
        ({"only_folds": (1, 2)}, "only folds 1, 2."),
        ({"n_candidates": 2000}, "2,000 candidate rules instead of 300,000."),
        ({"invert_majority_labels": True}, "majority labels are inverted"),
        ({"tune": ("f1_micro",), "parameters": (0, 4)}, "tuned over another grid than the paper's"),
        ({"tune": ("f1_micro",), "inner_folds": 3}, "tuned on 3 inner folds instead of 5."),
    ],
)
def test_a_note_says_why_published_values_are_not_comparable(config, words):
    note = describe_differences(StudyConfig(**config), COMPARED.datasets, {})
    assert note.startswith(f"Not comparable with the published values: {words}")
    table = tabulate_comparison(COMPARED, note)
    assert f"{note} They are omitted." in table.notes
    assert table.columns == ["data set", "R1", "M_F"]
    assert describe_differences(StudyConfig(**config), ["mine"], {}) is None
    other = Comparison("f1_micro", ("mine",), ("R1",), np.array([[0.7]]))
    assert "published" not in tabulate_comparison(other, note).to_markdown()


def test_the_paper_s_own_setting_needs_no_note(two_studies):
    config = StudyConfig(COMPARED.datasets, tune=("f1_micro",))
    own = {name: {"has_own_folds": True} for name in COMPARED.datasets}
    study = dataclasses.replace(two_studies, config=config, run={"data": own})
    assert study.describe_differences(COMPARED.datasets) is None
    study.run["data"] = own | {"yeast": {"has_own_folds": False}}
    note = study.describe_differences(COMPARED.datasets)
    assert note.endswith("new folds instead of the paper's (yeast).")


def test_average_ranks_of_one_row_are_over_the_same_data_sets():
    assert tabulate_comparison(COMPARED).rows[-1][3:] == ["4.00", "2.50", "1.50", "2.00"]
    mixed = dataclasses.replace(COMPARED, datasets=("flags", "mine"))
    assert tabulate_comparison(mixed).rows[-1] == ["average rank", "1.50", "1.50", "", "", "", ""]


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


def test_words_are_left_aligned_numbers_right_and_long_texts_are_paragraphs():
    table = TextTable("t", ["a", "b", "c"], [["x", "1.5", "word " * 20], ["y", "", ""]])
    assert "|---|---:|---|" in table.to_markdown()
    paragraph = r">{\raggedright\arraybackslash}p{314pt}"
    assert rf"\begin{{tabular}}{{@{{}}lr{paragraph}@{{}}}}" in table.to_latex()


def test_rule_sets_are_side_by_side(two_studies):
    example = collect_rule_sets(two_studies, "for jam", [(4.0, 0.5), (524288.0, 1.0)])
    assert {(s.dataset, s.label) for s in example} == {("planted", "for jam")}
    table = tabulate_rule_sets(example, fold=1)
    assert "m-estimate(m=4), φ = 0.5" in table.columns[1]
    assert len(table.columns) == 3
    with pytest.raises(StudyError, match="no data set of the study has a label 'x'"):
        collect_rule_sets(two_studies, "x")
    with pytest.raises(StudyError, match=r"no cell 4:0\.7"):
        collect_rule_sets(two_studies, cells=[(4.0, 0.7)])


def test_every_measure_that_was_tuned_for_has_a_comparison(two_studies):
    titles = [table.title for table in tabulate_comparisons(two_studies)]
    assert titles == ["Micro F1", "Hamming accuracy", "Subset accuracy", "Macro recall"]


def test_a_report_has_every_figure_and_table(written_report):
    figures = {file.name for file in (written_report / "figures").iterdir()}
    for stack in ("accuracy", "micro", "size", "other"):
        assert {f"ranks-{stack}.png", f"ranks-{stack}.pdf"} <= figures
    assert {"values-planted.png", "values-other.png", "coverage-space.png"} <= figures
    assert {"size-planted.png", "size-other.pdf"} <= figures
    assert "critical-difference-f1_micro.png" in figures
    tables = {file.name for file in (written_report / "tables").iterdir()}
    for name in ("best_cells", "comparison", "findings", "rule_sets"):
        assert {f"{name}.md", f"{name}.tex"} <= tables


def test_the_summary_is_plain_data(two_studies):
    import json

    plain = json.loads(json.dumps(two_studies.summarize()))
    assert len(plain["best_cells"]) == 8
    # The paper's three measures, and those that were tuned for.
    assert {row["measure"] for row in plain["best_cells"]} == {
        "f1_micro",
        "hamming",
        "subset",
        "recall_macro",
    }
    assert {row["tuned_for"] for row in plain["tuned"]} == {"f1_micro", "recall_macro"}
    assert {f["verdict"] for f in plain["findings"]} <= {"supported", "contradicted", "undecided"}
