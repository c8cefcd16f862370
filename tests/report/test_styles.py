"""Figures at their final size: widths, sizes of text, embedded fonts, and nothing on top of anything."""

import itertools
import re
import shutil
import subprocess

import numpy as np
import pytest

from steelyard.report import (
    STYLES,
    CriticalDifferenceDisplay,
    Style,
    ValueHeatmapDisplay,
    get_style,
)
from steelyard.report.figures import list_figures, render_figure
from steelyard.report.layout import new_panels
from steelyard.study import StudyConfig, run_study
from steelyard.study.rule_sets import collect_rule_sets

SMALLEST = 7  # pt
DRAWN = (
    "ranks-micro",
    "ranks-size",
    "values-planted",
    "size-planted",
    "critical-difference-f1_micro",
    "coverage-space",
)


@pytest.fixture(scope="module", params=list(STYLES))
def drawn(request, two_studies) -> dict:
    """Figures of each kind of a study in a style, drawn but not written."""
    style = get_style(request.param)
    planned = list_figures(two_studies, collect_rule_sets(two_studies), style)
    figures = {}
    for name in DRAWN:
        with style.context():
            figures[name] = planned[name].draw(style)
            figures[name].draw_without_rendering()
    return {"style": style, "figures": figures}


def shown_texts(figure):
    """All texts that are drawn: matplotlib also has ticks beyond the ends of an axis."""
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    texts = [*figure.texts, *(text for legend in filter(None, legends) for text in legend.texts)]
    for ax in figure.axes:
        texts += [ax.title, *ax.texts]
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if low <= tick.get_loc() <= high:
                    texts += [tick.label1, tick.label2]
            texts.append(axis.label)
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def boxes_of(figure):
    return [(text, text.get_window_extent()) for text in shown_texts(figure)]


def test_figures_have_the_width_of_the_text_and_fit_on_the_page(drawn):
    style = drawn["style"]
    for name, figure in drawn["figures"].items():
        width, height = 2.54 * figure.get_size_inches()
        assert width == pytest.approx(style.width), name
        assert height <= style.max_height + 1e-6, name


def test_text_is_large_enough_and_in_the_fonts_of_the_style(drawn):
    for name, figure in drawn["figures"].items():
        texts = list(shown_texts(figure))
        assert texts, name
        for text in texts:
            assert text.get_fontsize() >= SMALLEST, (name, text)
            assert text.get_fontfamily() == list(drawn["style"].fonts), (name, text)


def test_no_text_leaves_the_figure(drawn):
    for name, figure in drawn["figures"].items():
        for text, box in boxes_of(figure):
            inside = box.x0 >= -1 and box.x1 <= figure.bbox.width + 1
            inside &= box.y0 >= -1 and box.y1 <= figure.bbox.height + 1
            assert inside, (name, text, box)


def test_no_text_is_on_top_of_another(drawn):
    for name, figure in drawn["figures"].items():
        for (text, box), (other, second) in itertools.combinations(boxes_of(figure), 2):
            width = min(box.x1, second.x1) - max(box.x0, second.x0)
            height = min(box.y1, second.y1) - max(box.y0, second.y0)
            # Boxes include the space above and below letters.
            assert width <= 1 or height <= 3, (name, text, other)


def test_legends_cover_nothing(drawn):
    found = 0
    for name, figure in drawn["figures"].items():
        legends = figure.legends + [ax.get_legend() for ax in figure.axes]
        for legend in filter(None, legends):
            found += 1
            box = legend.get_window_extent().padded(-1)  # boxes may touch, as with matplotlib 3.8
            for ax in figure.axes:
                assert not box.overlaps(ax.get_tightbbox()) or ax.get_legend() is legend, name
                assert not box.overlaps(ax.get_window_extent()), name
    assert found == 2  # quality against size, and the coverage space


def test_the_panels_of_the_paper_are_stacked_and_share_their_bars(drawn):
    figure = drawn["figures"]["ranks-micro"]
    panels = [ax for ax in figure.axes if ax.get_title()]
    bars = [ax for ax in figure.axes if not ax.get_title()]
    assert len(panels) == 6  # precision, recall, F1: ranks and deviations
    assert len(bars) == 2
    limits = {ax.collections[0].get_clim() for ax in panels}
    assert len(limits) == 2  # one scale for ranks, one for deviations
    rows = {round(ax.get_position().y0, 3) for ax in panels}
    assert len(rows) == (2 if drawn["style"].is_slide else 3)


def test_fonts_are_embedded_maps_are_vectors_and_pictures_are_sharp(drawn, tmp_path):
    with drawn["style"].context():
        files = render_figure(drawn["figures"]["ranks-size"])
    pdf = files[".pdf"]
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf  # a TrueType font
    assert b"/Subtype /Image" not in pdf
    # pHYs: pixels per metre, 300 dpi.
    _, _, chunk = files[".png"].partition(b"pHYs")
    assert int.from_bytes(chunk[:4]) == 11811
    if shutil.which("pdffonts"):
        (tmp_path / "x.pdf").write_bytes(pdf)
        command = ["pdffonts", str(tmp_path / "x.pdf")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        lines = done.stdout.splitlines()[2:]
        assert lines
        assert all(re.search(r"TrueType.* yes yes yes ", line) for line in lines), done.stdout


def test_very_many_cells_become_pixels(two_studies):
    cells = two_studies.cells("hamming", "m-estimate").of("planted")
    import dataclasses

    many = np.random.default_rng(0).random((1, 110, 100))
    big = dataclasses.replace(
        cells, parameters=np.arange(100.0), phis=np.linspace(1, 0.01, 110), values=many, sd=many
    )
    display = ValueHeatmapDisplay(big, measure="hamming", heuristic="m-estimate")
    display.plot(ax=new_panels(get_style())[0, 0])
    assert display.ax_.collections[0].get_rasterized()


def test_a_style_of_your_own(two_studies):
    own = Style("own", 9.0, 8.0, page_width=9.0, text_height=20.0, max_table_lines=30, tick_size=8)
    rows = two_studies.results.query("dataset == 'other'")
    display = ValueHeatmapDisplay.from_results(rows, measure="subset").plot(style=own)
    assert display.figure_.get_figwidth() == pytest.approx(9.0 / 2.54)
    assert {t.get_fontsize() for t in display.ax_.get_xticklabels()} == {8}
    with pytest.raises(ValueError, match="unknown style 'acm'"):
        display.plot(style="acm")


@pytest.mark.parametrize("style", STYLES)
def test_long_names_of_methods_are_cut_until_they_fit(style):
    methods = [f"RandomForestClassifier(n_estimators={n}, max_depth=20)" for n in (10, 50)]
    display = CriticalDifferenceDisplay([*methods, "M_F", "costs $ 5"], [1.1, 2, 3.2, 3.7], 1.5)
    ax = display.plot(ax=display.new_panel(get_style(style)), style=style).ax_
    ax.figure.draw_without_rendering()
    names = [text.get_text() for text in ax.texts]
    assert any("$M_F$" in name for name in names)
    for text in ax.texts:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= ax.figure.bbox.width


def test_a_family_of_your_own_has_its_own_sign(tmp_path, monkeypatch):
    (tmp_path / "styled_youden.py").write_text(
        "from dataclasses import dataclass\nfrom steelyard import Heuristic\n"
        "@dataclass(frozen=True)\nclass Youden(Heuristic):\n"
        "    name, symbol, grid = 'youden', 'w', (0.5, 2.0)\n    w: float = 1.0\n"
        "    def __call__(self, tp, fp, fn, tn):\n"
        "        return tp / (tp + fn) - self.w * fp / (fp + tn)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = StudyConfig(
        ("planted",),
        heuristics=("styled_youden:Youden",),
        phis=(1.0, 0.5),
        folds=2,
        n_candidates=60,
    )
    study = run_study(config, tmp_path / "out", n_jobs=1)
    style = get_style()
    figures = list_figures(study, collect_rule_sets(study), style)
    assert "w is across" in figures["ranks-micro"].caption
    for name in ("ranks-micro", "values-planted"):
        labels = {ax.get_xlabel() for ax in figures[name].draw(style).axes}
        assert "w" in labels
        assert "parameter" not in labels
