"""Tests between methods agree with other implementations and with what can be counted by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from steelyard.report import CriticalDifferenceDisplay
from steelyard.study.analysis.comparison import Comparison
from steelyard.study.analysis.ranks import map_cells, rank_best_first
from steelyard.study.analysis.statistics import (
    bayesian_signed_rank,
    compare_pairs,
    fewest_data_sets,
    friedman_test,
    holm,
    signed_rank_p,
)


def random_values(seed, n_datasets=12, n_methods=5, spread=0.02):
    """Values of methods of which each is a little better than the one before."""
    rng = np.random.default_rng(seed)
    return 0.7 + spread * np.arange(n_methods) + rng.normal(0, 0.05, (n_datasets, n_methods))


def compare(values, measure="hamming"):
    n, k = values.shape
    datasets, methods = (tuple(f"{c}{i}" for i in range(m)) for c, m in (("d", n), ("m", k)))
    return Comparison(measure, datasets, methods, values)


@pytest.mark.filterwarnings("ignore")  # of scikit-posthocs
class TestAgainstScikitPosthocs:
    @pytest.mark.parametrize("seed", range(20))
    def test_bars_join_runs_of_methods_that_nemenyis_test_does_not_tell_apart(self, seed):
        import scikit_posthocs

        values = random_values(seed)
        p = scikit_posthocs.posthoc_nemenyi_friedman(values).to_numpy()
        display = CriticalDifferenceDisplay.from_comparison(compare(values))
        assert display.groups() == runs_without_difference(values, p < 0.05)

    @pytest.mark.parametrize("seed", range(20))
    def test_bars_join_runs_that_wilcoxons_test_with_holm_does_not_tell_apart(self, seed):
        import scikit_posthocs

        values = random_values(seed, spread=0.04)
        long = pd.DataFrame(values).melt(var_name="method")
        p = scikit_posthocs.posthoc_wilcoxon(
            long, val_col="value", group_col="method", p_adjust="holm"
        ).to_numpy()
        comparison = compare(values)
        for pair in comparison.pairs:
            i, j = int(pair.first[1:]), int(pair.second[1:])
            assert pair.holm == pytest.approx(p[i, j])
        display = CriticalDifferenceDisplay.from_comparison(comparison, test="wilcoxon-holm")
        assert display.groups() == runs_without_difference(values, p <= 0.05)


def runs_without_difference(values, differs):
    """Maximal runs of methods, sorted by average rank, of which no two differ: tried one by one."""
    order = np.argsort(stats.rankdata(-values, axis=1).mean(axis=0), kind="stable")
    n = len(order)
    alike = [
        (i, j)
        for i, j in itertools.combinations(range(n), 2)
        if not any(
            differs[order[a], order[b]] for a, b in itertools.combinations(range(i, j + 1), 2)
        )
    ]
    return [
        (i, j)
        for i, j in alike
        if not any((a, b) != (i, j) and a <= i and j <= b for a, b in alike)
    ]


def test_iman_and_davenports_f_is_demsars_example():
    """Demšar (2006), table 6: four methods on 14 data sets, average ranks 3.143, 2, 2.893, 1.964."""
    auc = np.array(
        [
            [0.763, 0.768, 0.771, 0.798],
            [0.599, 0.591, 0.590, 0.569],
            [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657],
            [0.882, 0.888, 0.886, 0.898],
            [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685],
            [0.583, 0.583, 0.563, 0.625],
            [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000],
            [0.940, 0.962, 0.965, 0.962],
            [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.9751, 0.975],
            [0.957, 0.978, 0.946, 0.970],
        ]
    )
    assert compare(auc).average_ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    found = friedman_test(auc)
    # Demšar's χ² of 9.28 is not corrected for ties: one row of four equal values, three of two.
    correction = 1 - ((4**3 - 4) + 3 * (2**3 - 2)) / (14 * (4**3 - 4))
    assert found.chi2 * correction == pytest.approx(9.28, abs=0.005)
    assert found.f == pytest.approx(13 * found.chi2 / (14 * 3 - found.chi2))
    assert found.p < found.chi2_p < 0.05


class TestPairs:
    def test_counts_effect_and_shares_of_a_clear_winner(self):
        values = np.column_stack([np.linspace(0.6, 0.9, 10), np.linspace(0.5, 0.7, 10)])
        (pair,) = compare_pairs(("ours", "theirs"), values)
        assert (pair.wins, pair.ties, pair.losses) == (10, 0, 0)
        assert pair.p == pytest.approx(2 / 2**10)
        assert pair.holm == pair.p
        assert pair.effect == 1
        assert pair.better > 0.99

    @given(st.integers(0, 2**32 - 1))
    def test_exchanging_two_methods_exchanges_everything(self, seed):
        values = random_values(seed, n_methods=2)
        (one,) = compare_pairs(("a", "b"), values)
        (two,) = compare_pairs(("b", "a"), values[:, ::-1])
        assert (one.wins, one.losses, one.p) == (two.losses, two.wins, two.p)
        assert one.effect == pytest.approx(-two.effect)
        assert one.better == pytest.approx(two.worse)
        assert one.better + one.equal + one.worse == pytest.approx(1)

    def test_equal_methods_do_not_differ(self):
        values = np.repeat(random_values(0)[:, :1], 2, axis=1)
        (pair,) = compare_pairs(("a", "b"), values)
        assert (pair.ties, pair.p, pair.effect) == (12, 1.0, 0.0)
        assert pair.equal == 1

    def test_small_differences_are_practically_equal(self):
        shares = bayesian_signed_rank(np.full(10, 0.001), rope=0.01)
        assert shares[1] > 0.99

    def test_holm_is_a_step_down_of_bonferroni(self):
        assert holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])

    @pytest.mark.parametrize("n_methods", [2, 3, 5])
    def test_no_difference_is_significant_below_the_fewest_data_sets(self, n_methods):
        n_pairs = n_methods * (n_methods - 1) // 2
        fewest = fewest_data_sets(n_methods)
        smallest = [signed_rank_p(np.arange(1.0, n + 1)) * n_pairs for n in (fewest - 1, fewest)]
        assert smallest[0] > 0.05 >= smallest[1]


def test_means_that_differ_in_their_last_bit_share_a_rank():
    assert 0.1 + 0.2 != 0.3
    assert rank_best_first(np.array([0.1 + 0.2, 0.3, 0.1])).tolist() == [1.5, 1.5, 3.0]
    cell = {"dataset": "a", "heuristic": "m-estimate", "phi": 1.0, "measure": "hamming"}
    folds = {0.0: [0.1, 0.2, 0.3], 1.0: [0.3, 0.2, 0.1], 2.0: [0.0, 0.1, 0.1]}
    rows = [
        {**cell, "parameter": m, "fold": k, "value": value}
        for m, values in folds.items()
        for k, value in enumerate(values, 1)
    ]
    cells = map_cells(pd.DataFrame(rows), "hamming")
    assert cells.ranks.tolist() == [[[1.5, 1.5, 3.0]]]
    assert cells.best_cells == {"a": (0, 0)}
