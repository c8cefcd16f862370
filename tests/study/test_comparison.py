import numpy as np
import pytest
from scipy.stats import rankdata

from steelyard.study.analysis.comparison import Comparison, compare_methods
from steelyard.study.analysis.published import PUBLISHED, PUBLISHED_AVERAGE_RANKS, PUBLISHED_METHODS


@pytest.mark.parametrize("measure", list(PUBLISHED))
def test_published_values_have_the_published_ranks(measure):
    # The paper gives equals their best place; ours share the average. It is the only difference.
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


def test_a_study_compares_its_baselines_with_what_was_tuned(mini_study):
    comparison = compare_methods(mini_study, "f1_micro")
    assert comparison.methods == ("R1", "R2", "R3", "M_F")
    rows = mini_study.tuned
    rows = rows[(rows.tuned_for == "f1_micro") & (rows.measure == "f1_micro")]
    assert comparison.values[0, 3] == pytest.approx(rows["value"].mean())
    assert compare_methods(mini_study, "hamming").methods[-1] == "M_H"
    assert compare_methods(mini_study, "subset").methods == ("R1", "R2", "R3")
