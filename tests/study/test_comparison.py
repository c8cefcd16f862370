import numpy as np
import pytest
from scipy.stats import rankdata

from steelyard.study.analysis.comparison import Comparison
from steelyard.study.analysis.published import PUBLISHED, PUBLISHED_METHODS

# The average ranks of the paper's table 1.
PUBLISHED_AVERAGE_RANKS = {
    "f1_micro": (3.44, 3.00, 1.67, 1.78),
    "hamming": (3.44, 2.89, 1.67, 1.89),
    "subset": (2.89, 2.67, 1.56, 2.11),
}


@pytest.mark.parametrize("measure", list(PUBLISHED_AVERAGE_RANKS))
def test_published_values_have_the_published_ranks(measure):
    # The only difference: in the paper equal values have the best rank, here the average rank.
    assert len(PUBLISHED[measure]) == 9
    values = np.array(list(PUBLISHED[measure].values()))
    ranks = rankdata(-values, method="min", axis=1).mean(axis=0)
    assert np.allclose(ranks, PUBLISHED_AVERAGE_RANKS[measure], atol=0.005)


def test_the_friedman_test_needs_three_methods_and_two_data_sets():
    values = np.array(list(PUBLISHED["f1_micro"].values()))
    names = tuple(PUBLISHED["f1_micro"])
    whole = Comparison("f1_micro", names, PUBLISHED_METHODS, values)
    assert whole.friedman()[1] < 0.05
    assert Comparison("f1_micro", names, ("R1", "M"), values[:, [0, 3]]).friedman() is None
    assert Comparison("f1_micro", names[:1], PUBLISHED_METHODS, values[:1]).friedman() is None
    assert Comparison("subset", ("a", "b"), ("x", "y", "z"), np.zeros((2, 3))).friedman()[1] == 1


def test_a_study_compares_baselines_with_tuned_theories(mini_study):
    comparison = mini_study.comparisons["f1_micro"]
    assert comparison.methods == ("R1", "R2", "R3", "M_F")
    rows = mini_study.tuned
    rows = rows[(rows.tuned_for == "f1_micro") & (rows.measure == "f1_micro")]
    assert comparison.values[0, 3] == pytest.approx(rows["value"].mean())
    assert mini_study.comparisons["hamming"].methods[-1] == "M_H"
    assert mini_study.comparisons["subset"].methods == ("R1", "R2", "R3")
