"""LaTeX that compiles as it is, fits the width of the text, and takes every name."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.report import STYLES, get_style
from steelyard.report.gathering import gather_latex
from steelyard.report.latex_text import escape_cell, escape_paragraph
from steelyard.report.tables import list_tables
from steelyard.report.text_table import TextTable, write_tables
from steelyard.study.rule_sets import collect_rule_sets

NAMES = [
    r"50% $ & #1 {a} ~^\x",
    "[bold]table",
    "*",
    "a\nb|c",
    "\x1b[31mred\x9b0m",
    "\ufefflabel",
    "雨 ≥ 0.5 ∧ naïve façade ÅŁß",
    "$φ",
    "=1+2",
    "<<x>> \"quoted\" 'so'",
    "a_very_long_name_without_any_space_" * 3,
    "RandomForestClassifier(n_estimators=50, max_depth=20)",
]


def find_sty(name: str) -> bool:
    found = subprocess.run(["kpsewhich", name], capture_output=True, check=False, timeout=60)
    return found.returncode == 0


def compile_latex(folder: Path, *needed: str) -> str:
    """Compile report.tex and return the log; skip without LaTeX or a file that it needs."""
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no pdflatex")
    for name in ("booktabs.sty", "array.sty", *needed):
        if not find_sty(name):
            pytest.skip(f"LaTeX has no {name}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    log = (folder / "report.log").read_text("utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    return log


def test_the_report_of_a_study_compiles_and_fits(written_report):
    log = compile_latex(written_report)
    assert "Overfull" not in log
    assert "Output written on report.pdf" in log
    text = (written_report / "report.tex").read_text("utf-8")
    for figure in (written_report / "figures").glob("*.pdf"):
        assert f"figures/{figure.name}" in text
    for table in (written_report / "tables").glob("*.tex"):
        assert rf"\input{{tables/{table.stem}}}" in text
    labels = re.findall(r"\\label\{(.*?)\}", text)
    labels += re.findall(
        r"\\label\{(.*?)\}",
        "".join(file.read_text("utf-8") for file in (written_report / "tables").glob("*.tex")),
    )
    assert len(labels) == len(set(labels)) > 10


def test_the_markdown_report_has_every_table_and_figure(written_report):
    text = (written_report / "report.md").read_text("utf-8")
    for figure in (written_report / "figures").glob("*.png"):
        assert f"](figures/{figure.name})" in text
    for table in (written_report / "tables").glob("*.md"):
        assert table.read_text("utf-8").strip().split("\n\n")[0] in text


@pytest.mark.parametrize("style", STYLES)
def test_tables_and_hostile_names_compile_in_every_style(style, two_studies, tmp_path):
    chosen = get_style(style)
    own = list_tables(two_studies, collect_rule_sets(two_studies))
    wide = TextTable(
        "Wide", ["data set", *NAMES], [[name, *["12.34"] * len(NAMES)] for name in NAMES]
    )
    text = "word " * 60
    tables = {name: parts for name, parts in own.items() if parts} | {
        "names": [TextTable(name, [name, "x"], [[name, "1"], ["M_F", "2"]]) for name in NAMES],
        "wide": [wide],
        "long": [TextTable("Long", ["a", "b", "c"], [["1", text, name] for name in NAMES] * 3)],
    }
    for name, parts in tables.items():
        write_tables(tmp_path, name, parts, chosen)
    (tmp_path / "report.tex").write_text(gather_latex("雨", tables, {}, chosen), encoding="utf-8")
    needed = ("beamer.cls", "pgfcore.sty") if chosen.is_slide else ()
    log = compile_latex(tmp_path, *needed)
    assert "Overfull \\hbox" not in log


def test_tables_of_one_file_have_labels_of_their_own_on_slides():
    parts = [TextTable(f"{title}: best", ["a"], [["1"]]) for title in ("F1", "Hamming")]
    text = gather_latex("study", {"best": parts}, {}, get_style("beamer"))
    assert re.findall(r"\\label\{(.*?)\}", text) == ["tab:best-f1", "tab:best-hamming"]


def test_methods_of_the_paper_have_an_index():
    table = TextTable("F1", ["data set", "R1", "M_F", "M_F (m-estimate)"], [["a", "1", "2", "3"]])
    text = table.to_latex()
    assert "$R_1$ & $M_F$ &" in text
    assert r"$M_F$\\(m-estimate)" in text
    assert r"\label{tab:f1}" in text
    assert escape_cell("R1 published") == "$R_1$ published"
    # The name of an attribute is no method.
    assert escape_paragraph("R1 ≥ 0.5 ∧ M_F < 2") == r"R1 $\geq$ 0.5 $\wedge$ M\_F $<$ 2"


def test_a_wide_table_of_numbers_is_turned():
    methods = [f"method {i}" for i in range(20)]
    table = TextTable(
        "F1", ["data set", *methods], [["flags", *["50.00"] * 20]], frozenset({(0, 3)})
    )
    text = table.to_latex()
    assert r"data set & flags \\" in text
    assert r"method 2 & \textbf{50.00} \\" in text


def test_a_long_table_is_split_with_a_label_for_each_part():
    rows = [[str(i), "1.0"] for i in range(95)]
    text = TextTable("Best", ["a", "b"], rows, frozenset({(94, 1)})).to_latex("cells")
    assert re.findall(r"\\label\{(.*?)\}", text) == ["tab:cells", "tab:cells-2", "tab:cells-3"]
    assert text.count(r"\begin{tabular}") == 3
    assert r"94 & \textbf{1.0} \\" in text
    assert "Best, continued." in text
    # In two columns of text, a wide table spans both of them.
    words = TextTable("Words", ["a", "b"], [["x", "word " * 40]])
    assert r"\begin{table*}" in words.to_latex(style="ieee")
    assert r"\begin{table}" in words.to_latex(style="springer")
