import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from steelyard import FMeasure, Label, MEstimate, make_planted_rules
from steelyard.report import (
    CoverageSpaceDisplay,
    CriticalDifferenceDisplay,
    RankHeatmapDisplay,
    ValueHeatmapDisplay,
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_rank_map_has_the_deviation_beside_it_and_readable_axes(two_studies):
    display = RankHeatmapDisplay.from_results(two_studies.results, measure="f1_micro").plot()
    left, right = display.ax_
    assert left.get_xlabel() == "m"
    assert [t.get_text() for t in left.get_xticklabels()] == ["0", "4", "2¹⁹"]
    assert [t.get_text() for t in left.get_yticklabels()] == ["1", "0.5", "0.1"]
    assert "deviation" in right.get_title()
    shown = [ax.collections[0].get_array().reshape(3, 3) for ax in (left, right)]
    assert np.array_equal(shown[0], display.cells.mean_rank)
    assert np.array_equal(shown[1], display.cells.sd_rank)
    # φ = 1 is at the top, as in the matrix.
    assert left.yaxis_inverted()


def test_a_red_plus_stands_at_each_data_sets_best_cell(two_studies):
    display = RankHeatmapDisplay.from_results(two_studies.results, measure="hamming").plot()
    red = [
        (round(line.get_xdata()[0]), round(line.get_ydata()[0]))
        for line in display.ax_[0].lines
        if line.get_color() == "#d00000"
    ]
    assert sorted(red) == sorted((x, y) for y, x in display.cells.best_cells.values())


def test_rank_map_draws_on_a_given_axes(two_studies):
    _, ax = plt.subplots()
    display = RankHeatmapDisplay.from_results(two_studies.results, measure="n_rules").plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_one_data_set_has_no_deviation(two_studies):
    rows = two_studies.results.query("dataset == 'planted'")
    display = RankHeatmapDisplay.from_results(rows, measure="subset").plot()
    assert not isinstance(display.ax_, np.ndarray)


def test_value_map_shows_percent_and_names_the_best(two_studies):
    display = ValueHeatmapDisplay.from_results(
        two_studies.results, measure="hamming", dataset="other"
    ).plot()
    assert "best" in display.ax_.get_title()
    assert display.ax_.collections[0].get_array().max() > 1
    with pytest.raises(ValueError, match="dataset must be one of planted, other"):
        ValueHeatmapDisplay.from_results(two_studies.results, measure="hamming")


def test_beta_goes_to_infinity_on_the_axis():
    rows = pd.DataFrame(
        {
            "dataset": "a",
            "fold": 1,
            "heuristic": "f-measure",
            "parameter": [0.0, 0.4343145750507619, np.inf],
            "phi": 1.0,
            "measure": "f1_micro",
            "value": [0.1, 0.3, 0.2],
        }
    )
    display = RankHeatmapDisplay.from_results(rows, measure="f1_micro").plot()
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["0", "0.43", "∞"]
    assert display.ax_.get_xlabel() == "β"


def test_isometrics_of_precision_are_lines_through_the_origin():
    display = CoverageSpaceDisplay(
        [10, 50],
        [0, 20],
        [50],
        [20],
        heuristic=MEstimate(m=0),
        label=Label("y", n_positives=60, n_negatives=40),
    )
    fp, tp, values = display.isometrics()
    inside = fp + tp > 0
    assert np.allclose(values[inside], (tp / np.where(inside, fp + tp, 1))[inside])
    assert display.plot().ax_.get_title().startswith("y: coverage space")


def test_coverage_space_shows_candidates_and_selected_rules():
    data = make_planted_rules(200, random_state=0)
    display = CoverageSpaceDisplay.from_data(
        data.X, data.Y, label="for jam", heuristic=FMeasure(1), n_candidates=400
    )
    assert len(display.selected_tp) < len(display.candidates_tp)
    # A selected rule is one of the candidates.
    candidates = set(zip(display.candidates_tp, display.candidates_fp, strict=True))
    assert set(zip(display.selected_tp, display.selected_fp, strict=True)) <= candidates
    display.plot()
    with pytest.raises(ValueError, match="no label 'jam'"):
        CoverageSpaceDisplay.from_data(data.X, data.Y, label="jam")


def test_long_names_fit_into_the_critical_difference_diagram():
    methods = ["M_F (m-estimate)", "M_F (f-measure)", "R1", "R2", "R3"]
    display = CriticalDifferenceDisplay(methods, [1.0, 4.9, 2.0, 3.0, 4.1], 2.0)
    figure, ax = plt.subplots(figsize=(6.4, 2.4))
    display.plot(ax=ax)
    width = figure.get_figwidth() * figure.dpi
    for text in ax.texts:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= width


def test_bars_join_methods_that_do_not_differ():
    display = CriticalDifferenceDisplay(["a", "b", "c", "d"], [3.9, 1.1, 1.9, 3.1], 1.0)
    assert display.groups() == [(0, 1), (2, 3)]
    assert CriticalDifferenceDisplay(["a", "b"], [1.0, 2.0], 0.5).groups() == []
    assert CriticalDifferenceDisplay(["a", "b", "c"], [1.0, 1.5, 2.0], 3).groups() == [(0, 2)]
    texts = [text.get_text().strip() for text in display.plot().ax_.texts]
    assert "b (1.10)" in texts
