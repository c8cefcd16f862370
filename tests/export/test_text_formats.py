"""Formats for people: every rule is there with its numbers, and names are never markup."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from steelyard.model.combiners import FirstRule
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BestLabel, EachLabel
from steelyard.model.evidence import Evidence, EvidenceFrom, Label, Provenance
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from theories import (
    HOSTILE,
    PAIRS,
    VOTING_PAIRS,
    bound_theory,
    flu_theory,
    handmade_theory,
    many_rules,
    random_cases,
)

WEIGHT = r"[+-]\d+\.\d\d"


def named(name: str) -> Theory:
    """A theory in which everything has the same name."""
    rule = Rule(Head(name), (Condition(name, "=", name),))
    labels = (Label(name, 1, 3, 4, 1, 3), Label("other", 0, 3, 4, 1, 3))
    scored = ScoredRule(rule, Evidence(2, 1), 0.5)
    return Theory((Feature(name, (name,)),), labels, (scored,), heuristic=name)


def markdown_rows(theory: Theory) -> list[str]:
    return [line for line in theory.to_markdown().splitlines() if line.startswith("| ")]


def latex_rows(theory: Theory) -> list[str]:
    return [line for line in theory.to_latex().splitlines() if line.startswith(r"\quad")]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
class TestRules:
    def test_markdown_has_a_row_for_each_rule_and_a_heading_for_each_label(self, pair):
        for theory, _ in random_cases(*pair):
            headings = [line for line in theory.to_markdown().splitlines() if line[:3] == "## "]
            assert len(headings) == len(theory.labels)
            n_tables = sum(bool(theory.rules_of(name)) for name in theory.label_names)
            assert len(markdown_rows(theory)) == len(theory) + n_tables

    def test_latex_has_a_row_for_each_rule_and_balanced_braces(self, pair):
        for theory, _ in random_cases(*pair):
            body = theory.to_latex().replace(r"\{", "").replace(r"\}", "")
            assert body.count("{") == body.count("}")
            n_empty = sum(not theory.rules_of(name) for name in theory.label_names)
            rows = latex_rows(theory)
            assert len(rows) == len(theory) + n_empty
            n_columns = 4 + (pair in VOTING_PAIRS)
            assert {row.replace(r"\&", "").count("&") for row in rows} <= {n_columns - 1}

    def test_html_has_a_row_for_each_rule_and_one_for_each_label(self, pair):
        for theory, _ in random_cases(*pair):
            root = ET.fromstring(theory._repr_html_())
            assert len(root.findall("tbody/tr/td/..")) == len(theory)
            assert len(root.findall("tbody/tr/th")) == len(theory.labels)
            titles = root.findall("thead/tr/th")
            for row in root.findall("tbody/tr"):
                assert sum(int(cell.get("colspan", 1)) for cell in row) == len(titles)

    def test_every_view_has_the_weight_of_each_rule_that_votes(self, pair):
        for theory, _ in random_cases(*pair):
            weights = [f"{s.weight:+.2f}" for s in theory] if pair in VOTING_PAIRS else []
            rows = [row for row in markdown_rows(theory) if " TP " not in row]
            assert [row.split(" | ")[-4] for row in rows if weights] == weights
            rows = [row for row in latex_rows(theory) if "no rule" not in row]
            assert [row.split(" & ")[-4] for row in rows if weights] == [f"${w}$" for w in weights]
            assert re.findall(rf"<td>({WEIGHT})</td>", theory._repr_html_()) == weights
            assert re.findall(rf"  ({WEIGHT})  ", str(theory)) == [
                f"{s.weight:+.2f}"
                for j in theory.combiner.list_order(theory.labels)
                for s in theory.rules_of(theory.label_names[j])
                if weights
            ]

    def test_a_plot_has_a_panel_for_each_label_and_a_dot_for_each_rule(self, pair):
        for theory, _ in random_cases(*pair)[:1]:
            figure = theory.plot()
            drawn = [axes for axes in figure.axes if axes.axison]
            assert len(drawn) == len(theory.labels)
            n_dots = sum(len(axes.collections[0].get_offsets()) for axes in drawn)
            assert n_dots == len(theory)


def test_rules_that_decide_mention_neither_weights_nor_votes():
    theory = flu_theory("any-rule", EachLabel())
    views = (str(theory), theory.to_markdown(), theory.to_latex(), theory._repr_html_())
    for text in (*views, theory.to_sql(), theory.to_python()):
        assert not any(word in text for word in ("weight", "start", "vote", "points"))
    assert "weight" not in theory.to_frame()


def test_labels_of_a_decision_list_have_a_note_in_every_view():
    theory = handmade_theory()
    labels = tuple(replace(label, target_class=1) for label in theory.labels)
    theory = Theory(
        theory.features, labels, (), FirstRule((1, 0, 3, 2)), BestLabel(), theory.label_names
    )
    for text in (str(theory), theory.to_markdown(), theory.to_latex(), theory._repr_html_()):
        assert text.count("predicted where no rule fires") == 1


@pytest.mark.parametrize("name", HOSTILE)
class TestNames:
    def test_markdown_shows_them_as_text(self, name):
        text = named(name).to_markdown()
        unescaped = re.sub(r"\\(.)", "", text)
        assert "<" not in unescaped
        assert "`" not in unescaped
        assert len([line for line in text.splitlines() if line[:3] == "## "]) == 2
        # A table of a head, a line and a rule, each with four columns.
        rows = [line for line in text.splitlines() if line.startswith("|")]
        assert [re.sub(r"\\\|", "", row).count("|") for row in rows] == [5, 5, 5]

    def test_latex_shows_them_as_text(self, name):
        lines = named(name).to_latex().splitlines()
        body = "\n".join(lines[1:])
        for special in "%#&$_":
            own = {"&": 3 * 3, "$": 2}.get(special, 0)  # column separators, ¬ of a label
            assert len(re.findall(rf"(?<!\\){re.escape(special)}", body)) == own
        assert "[" not in body.replace("{[}", "")
        assert [line for line in lines if not line.strip()] == []

    def test_html_shows_them_as_text(self, name):
        root = ET.fromstring(named(name)._repr_html_())
        assert name.strip() in "".join(root.itertext())
        tags = {element.tag for element in root.iter()}
        inside = {"table", "caption", "thead", "tbody", "tr", "th", "td", "small", "svg", "rect"}
        assert tags <= inside


@pytest.mark.filterwarnings("ignore:Glyph")  # not every font has every character
@pytest.mark.parametrize("name", [*HOSTILE[4:7], r"$\bad$", "$$", r"\frac{"])
def test_names_in_plots_are_no_mathematics(name):
    figure = named(name).plot()
    FigureCanvasAgg(figure).draw()
    assert name in figure.get_suptitle()


class TestLength:
    def test_a_large_theory_is_cut_in_notebooks_and_says_so(self):
        html = many_rules(1000, "any-rule")._repr_html_()
        assert html.count("<tr>") < 310
        assert "700 more rules" in html

    def test_text_is_what_is_printed(self):
        theory = flu_theory()
        assert theory.to_text() == f"{theory}\n"

    def test_a_plot_leaves_out_the_labels_with_the_fewest_rules(self):
        figure = flu_theory().plot(max_labels=1)
        (panel,) = [axes for axes in figure.axes if axes.axison]
        assert panel.get_title() == "flu"
        assert "1 labels with the fewest rules are left out" in figure.get_suptitle()

    @pytest.mark.parametrize("max_labels", [0, -1, 1.5, None, "2"])
    def test_a_plot_has_at_least_one_panel(self, max_labels):
        with pytest.raises(ValueError, match="max_labels must be a positive integer, got"):
            bound_theory(1.0).plot(max_labels=max_labels)


def test_plots_draw_heavy_rules_larger_and_rules_against_below_the_line():
    figure = flu_theory().plot()
    dots = figure.axes[0].collections[0]
    assert dots.get_offsets().tolist() == [[2.0, 9.0], [8.0, 3.0]]  # covered without, with flu
    assert dots.get_sizes()[0] > dots.get_sizes()[1]
    assert dots.get_facecolor()[0].tolist() != dots.get_facecolor()[1].tolist()
    FigureCanvasAgg(figure).draw()


def test_markdown_by_hand():
    assert flu_theory("strongest-vote", EachLabel()).to_markdown().splitlines() == [
        "2 rules for 2 labels, 1.0 conditions per rule; the strongest vote counts",
        "",
        r"## flu: 10 of 40 \(25%\), start -1.20",
        "",
        "| rule | weight | TP | FP | precision |",
        "|:--|--:|--:|--:|--:|",
        "| fever ≥ 38.5 | +1.52 | 9 | 2 | 0.82 |",
        "",
        r"## cold: 12 of 40 \(30%\), start -0.85",
        "",
        "| rule | weight | TP | FP | precision |",
        "|:--|--:|--:|--:|--:|",
        "| nose = runs | +1.10 | 6 | 3 | 0.67 |",
    ]


def test_held_out_counts_have_a_column_if_there_are_some():
    theory = flu_theory("any-rule", EachLabel())
    first, second = theory.rules
    unseen = replace(theory, rules=(replace(first, held_out=Evidence(42, 29)), second))
    for export in ("to_markdown", "to_latex", "_repr_html_"):
        text = getattr(unseen, export)()
        assert "unseen" in text
        assert "42 of 71 right" in text
        assert "unseen" not in getattr(theory, export)()
    assert [row.count("|") for row in markdown_rows(unseen)] == [6] * 4
    assert [row.count("&") for row in latex_rows(unseen)] == [4] * 2


def test_rules_that_were_not_counted_have_no_numbers():
    edited = flu_theory("any-rule", EachLabel()).add("flu ← nose = dry")
    assert "| nose = dry | – | – | – |" in markdown_rows(edited)
    assert any(row.endswith(r"nose = dry & – & – & – \\") for row in latex_rows(edited))


def test_latex_of_a_long_theory_breaks_over_lines_and_pages(tmp_path):
    """No line is wider than the page, and all rules are on one of the pages."""
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.skip("pdflatex is not installed")
    features = tuple(Feature(f"attribute_{i}") for i in range(40))
    body = tuple(Condition(feature.name, "≥", 0.5) for feature in features[:12])
    rules = tuple(
        ScoredRule(
            Rule(Head(f"y{j}"), (*body, Condition(f"attribute_{i}", "<", 9))), Evidence(9, 1), 0.8
        )
        for j in range(3)
        for i in range(12, 40)
    )
    theory = Theory(features, tuple(Label(f"y{j}", 1, 10, 10) for j in range(4)), rules)
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{array,booktabs,longtable}"
    text = f"{head}\\begin{{document}}\n{theory.to_latex()}\\end{{document}}\n"
    (tmp_path / "theory.tex").write_text(text, encoding="utf-8")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "theory.tex"]
    log = ""
    for _ in range(2):  # a longtable knows its widths after the first run
        log = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    pages = re.search(r"Output written on theory.pdf \((\d+) pages", log)
    assert pages, log[-500:]
    assert int(pages[1]) > 3
    assert "Overfull" not in log


def test_latex_repeats_its_titles_on_every_page_and_breaks_long_rules():
    text = handmade_theory().to_latex()
    assert r"\begin{longtable}" in text
    assert text.index(r"rule & TP & FP & precision") < text.index(r"\endhead")
    assert re.search(r"arraybackslash.*p\{\\dimexpr\\linewidth", text)


def test_a_plot_shows_itself_in_a_notebook_without_pyplot():
    """A notebook asks an object for its picture; plain figures have one only after pyplot's set-up."""
    picture = handmade_theory().plot()._repr_png_()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_page_shows_all_rules_and_who_made_them_and_loads_nothing():
    theory = flu_theory("any-rule", EachLabel())
    note = "</td><script>alert(1)</script>"
    origin = Provenance("given", "2026-03-01", note)
    heads = [Rule.parse(f"flu ← fever ≥ {i}") for i in range(400)]
    many = tuple(ScoredRule(rule, None, None, provenance=origin) for rule in heads)
    edited = replace(theory, rules=theory.rules + many, evidence_from=EvidenceFrom("stale"))
    page = edited.to_html()
    assert page.count("<tr>") == 1 + len(edited.labels) + len(edited)
    assert page.count("given 2026-03-01: &lt;/td&gt;&lt;script&gt;alert(1)") == 400
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "recount(X, Y) renews it" in page
