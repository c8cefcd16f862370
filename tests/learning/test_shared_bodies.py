"""Bodies that vote for several labels, against the formulas of the votes and what they promise."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from planted_targets import make_three_labels
from steelyard import BoostedRulesClassifier, Theory
from steelyard.learning.boosting import MAX_WEIGHT, STEP
from steelyard.learning.shared_bodies import SIGNIFICANCE, Candidate, Losses, grow_together
from steelyard.model.conditions import describe_body

M = 16.0


def fit(X, Y, max_labels=3, **options):
    grown = {"n_tries": 2, "max_rules": 20, "random_state": 0, "decode": "each-label"}
    clf = BoostedRulesClassifier(M, max_labels_per_rule=max_labels, **(grown | options))
    return clf.fit(X, Y).theory_


def bodies_of(theory):
    return {rule.body for rule in theory}


@pytest.fixture(scope="module")
def data():
    """Three labels and a fourth that is the opposite of the first."""
    X, Y = make_three_labels(missing=0.1)
    return X, Y.assign(opposite=1 - Y.iloc[:, 0])


@pytest.fixture(scope="module")
def theory(data):
    return fit(*data)


def draw_votes(reuse):
    """Labels, curvatures of the prior and votes of three labels, for candidates drawn at random."""
    rng = np.random.default_rng(0)
    masks = rng.random((60, 80)) < 0.3
    is_present = np.array([masks[0], masks[0] ^ (rng.random(80) < 0.1), masks[1]])
    l2 = np.array([0.1, 1.0, 4.0])
    drawn = iter(masks)

    def find(j, log_odds):
        covered = next(drawn, None)
        if covered is None:
            return None
        losses = Losses(is_present[[j]], log_odds[None].copy(), l2[[j]], STEP, MAX_WEIGHT)
        return Candidate(covered, covered, float(losses.weigh(covered)[0][0]))

    losses = Losses(is_present, np.zeros((3, 80)), l2, STEP, MAX_WEIGHT)
    return is_present, l2, grow_together(find, losses, np.array([True, True, False]), 30, 2, reuse)


@pytest.fixture(scope="module")
def votes():
    return draw_votes(math.inf)


class TestVotes:
    @pytest.mark.parametrize("reuse", [math.inf, 0.7])
    def test_points_and_gains_are_those_of_the_formulas(self, reuse):
        for is_present, l2, of_label in zip(*draw_votes(reuse), strict=True):
            log_odds = np.zeros(80)
            assert len(of_label) > 3
            for covered, points, gain in of_label:
                p = 1 / (1 + np.exp(-log_odds[covered]))
                slope, bend = (is_present[covered] - p).sum(), (p * (1 - p)).sum() + l2
                weight = np.clip(slope / bend, -MAX_WEIGHT, MAX_WEIGHT)
                assert gain == pytest.approx(2 * slope * weight - bend * weight**2, abs=1e-6)
                assert points == round(100 * STEP * weight)
                log_odds[covered] += points / 100

    def test_a_label_that_may_not_share_has_no_body_of_another(self, votes):
        first, second, third = ({vote.rule.tobytes() for vote in of} for of in votes[2])
        assert first & second
        assert not third & (first | second)

    def test_there_are_no_more_bodies_than_allowed(self, votes):
        bodies = [vote.rule.tobytes() for of_label in votes[2] for vote in of_label]
        assert len(set(bodies)) == 30 < len(bodies)
        assert max(map(bodies.count, bodies)) == 2

    def test_known_bodies_are_raised_where_they_gain_almost_as_much(self, votes):
        _, _, raised = draw_votes(0.7)
        labels_of = [{vote.rule.tobytes() for vote in of_label} for of_label in raised]
        assert not set.intersection(*labels_of)  # no body votes for more than two labels
        first = [vote.rule.tobytes() for vote in raised[0]]
        assert len(set(first)) < len(first)
        assert len(votes[2][0]) == len({vote.rule.tobytes() for vote in votes[2][0]})

    def test_a_further_label_is_helped_significantly(self, votes):
        least = chi2.isf(SIGNIFICANCE / 3, 1)
        own = [{v.rule.tobytes(): v.gain for v in of_label} for of_label in votes[2][:2]]
        both = own[0].keys() & own[1].keys()
        assert all(max(own[0][body], own[1][body]) >= least for body in both)


class TestTheories:
    def test_a_body_votes_against_the_opposite_of_what_it_votes_for(self, data, theory):
        first, other = (theory.rules_of(name) for name in (data[1].columns[0], "opposite"))
        for_first, for_other = ({rule.body: rule.weight for rule in of} for of in (first, other))
        both = for_first.keys() & for_other.keys()
        assert len(both) >= 2
        assert all(for_first[body] * for_other[body] < 0 for body in both)

    def test_max_rules_counts_bodies(self, data, theory):
        assert len(bodies_of(theory)) == 20 < len(theory)
        per_body = [sum(rule.body == body for rule in theory) for body in bodies_of(theory)]
        assert 2 <= max(per_body) <= 3
        assert len(fit(*data, max_labels=99, max_rules=5)) <= 5 * 4

    def test_a_line_per_body_names_all_its_labels(self, theory):
        head, count, _, *lines = theory.to_text(by="body").splitlines()
        assert head == theory.summary
        assert count == "20 different bodies"
        assert len(lines) == 20
        for rule in theory:
            (line,) = [ln for ln in lines if ln.endswith(f"← {describe_body(rule.body)}")]
            assert f"{rule.head.label} {rule.weight:+.2f}" in line

    @pytest.mark.parametrize("export", ["to_markdown", "to_latex", "to_html"])
    def test_views_for_readers_have_a_title_per_body_and_a_row_per_label(self, theory, export):
        text = getattr(theory, export)(by="body")
        titles = {"to_markdown": "## ", "to_latex": r"\multicolumn", "to_html": "<tbody>"}
        assert text.count(titles[export]) == 20
        ends = {"to_markdown": " right |", "to_latex": r"\quad", "to_html": "</td></tr>"}
        assert text.count(ends[export]) == len(theory)
        with pytest.raises(ValueError, match="by must be 'label' or 'body', got 'rule'"):
            getattr(theory, export)(by="rule")

    def test_an_explanation_by_body_has_the_votes_of_the_one_by_label(self, data, theory):
        explanation = theory.explain(data[0].iloc[[0]])
        assert explanation.to_text() == f"{explanation}\n"
        text = explanation.to_text(by="body")
        lines = [line for line in text.splitlines() if line.startswith("  ✓ ")]
        fired = [rule for label in explanation for rule in label.fired]
        assert len(lines) == len({rule.body for rule in fired}) < len(fired)
        heads = [head for line in lines for head in line[4:].split(" ← ")[0].split(", ")]
        assert sorted(heads) == sorted(f"{r.head.label} {r.weight:+.2f}" for r in fired)
        assert [label.reason in text for label in explanation] == [True] * len(theory.labels)

    def test_neither_the_order_of_rows_nor_workers_matter(self, data, theory):
        order = np.random.default_rng(0).permutation(len(data[0]))
        moved = fit(data[0].iloc[order], data[1].iloc[order], n_jobs=2)
        assert moved == theory

    def test_it_is_saved_and_predicts_like_every_theory(self, data, theory):
        loaded = Theory.from_json(theory.to_json())
        pd.testing.assert_frame_equal(loaded.predict(data[0]), theory.predict(data[0]))
        scores = np.tile(theory.combiner.start, (len(data[0]), 1))
        position = {name: j for j, name in enumerate(theory.label_names)}
        for rule, covered in zip(theory, theory.covers(data[0]).T, strict=True):
            scores[covered, position[rule.head.label]] += round(100 * rule.weight)
        assert ((scores > 0) == theory.predict(data[0])).all(axis=None)

    def test_a_minimum_per_label_is_rejected(self, data):
        with pytest.raises(ValueError, match="min_rules_per_label does not apply"):
            fit(*data, min_rules_per_label=1)

    def test_a_view_that_does_not_exist_is_rejected(self, theory):
        with pytest.raises(ValueError, match="by must be 'label' or 'body', got 'rule'"):
            theory.to_text(by="rule")


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(0)
    is_present, log_odds = rng.random((2, 30)) < 0.4, rng.normal(size=(2, 30))
    copies, covered = rng.integers(1, 4, 30), rng.random(30) < 0.5
    rows, l2 = np.repeat(np.arange(30), copies), np.ones(2)
    totals = np.repeat(copies[None] / 1.0, 2, axis=0)
    weighed = Losses(is_present, log_odds.copy(), l2, STEP, MAX_WEIGHT, totals)
    copied = Losses(is_present[:, rows], log_odds[:, rows].copy(), l2, STEP, MAX_WEIGHT)
    assert np.allclose(weighed.weigh(covered), copied.weigh(covered[rows]), atol=1e-6)
