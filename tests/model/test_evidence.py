"""Evidence and labels: counts that are checked, and what follows from them."""

import pytest

from steelyard.model.evidence import Evidence, Label, smoothed_precision

COUNTS = ("n_positives", "n_negatives", "uncovered_positives", "uncovered_negatives")


def test_smoothed_precision_trusts_few_examples_less():
    assert smoothed_precision(1, 0) < smoothed_precision(10, 0) < 1
    assert smoothed_precision(0, 0) == 0.5
    assert Evidence(3, 1).smoothed_precision == 4 / 6


def test_the_precision_of_a_rule_that_covers_nothing_is_0():
    assert Evidence(0, 0).precision == 0
    assert Evidence(3, 1).precision == 0.75


def test_a_label_gets_the_other_class_where_no_rule_fires():
    assert (Label("a").default, Label("a", 0).default) == (0, 1)
    assert (str(Label("a")), str(Label("a", 0))) == ("a", "¬a")
    assert Label("a", 1, 4, 6).n_examples == 10


def test_silence_is_sure_of_the_other_class_where_few_positives_are_left_out():
    scores = [Label("a", 1, 4, 6, n, 5).silent_score for n in (0, 1, 4)]
    assert scores == sorted(scores)
    assert scores[1] == 2 / 8 - 1
    assert all(-1 < score < 0 for score in scores)


@pytest.mark.parametrize("wrong", [-1, 0.5, 2**31, None, "3", True])
class TestCounts:
    def test_those_of_a_rule_are_non_negative_integers(self, wrong):
        for name in ("tp", "fp"):
            with pytest.raises(ValueError, match=f"{name} of the evidence must be a non-negative"):
                Evidence(**({"tp": 1, "fp": 1} | {name: wrong}))

    def test_those_of_a_label_are_non_negative_integers(self, wrong):
        for name in COUNTS:
            with pytest.raises(ValueError, match=f"{name} of the label 'a' must be a non-negative"):
                Label("a", **{name: wrong})


@pytest.mark.parametrize("wrong", [2, -1, None, "1", True, 1.0])
def test_a_target_class_is_0_or_1(wrong):
    with pytest.raises(ValueError, match="target_class of the label 'a' must be 0 or 1, got"):
        Label("a", wrong)


def test_the_name_of_a_label_is_text():
    with pytest.raises(ValueError, match="the name of a label must be text, got 3"):
        Label(3)
