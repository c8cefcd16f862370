"""Decoders that compare label sets: every prediction is the one of a slow oracle in exact numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding import EITHER, THRESHOLDS, VOTES, WEIGHTS, best_set, decode, problems, to_sets
from reference import decoding as oracle
from steelyard.model import label_set_decoders as module
from steelyard.model.decoders import BestF1, BestLabelSet, LabelSetVotes
from steelyard.model.label_sets import KnownLabelSets
from strategies import random_generators


def set_votes(examples, threshold, weight=0.5):
    known = KnownLabelSets.from_labels(np.array(examples, dtype=bool))
    return LabelSetVotes(threshold, weight).fit(known)


def find(decoder, points):
    """Positions of the best sets; -1 is a new one."""
    return decoder.decode(np.array(points), VOTES).found.tolist()


class TestAgainstBruteForce:
    @settings(max_examples=300)
    @given(problems())
    def test_the_best_set_is_the_best_of_all_sets(self, problem):
        examples, points, weight = problem
        counts = oracle.count_sets(examples.tolist())
        predicted = decode(best_set(examples, weight), points)
        assert to_sets(predicted) == [oracle.decode(counts, row, weight) for row in points.tolist()]

    @given(problems())
    def test_sets_have_the_points_of_their_frequencies(self, problem):
        examples, _, weight = problem
        counts = oracle.count_sets(examples.tolist())
        decoder = best_set(examples, weight)
        sets = map(frozenset, decoder.known.sets)
        expected = [oracle.frequency_points(counts, labels, weight) for labels in sets]
        assert decoder.set_points.tolist() == expected
        assert decoder.unseen_points == oracle.new_points(counts, weight)

    @given(problems())
    def test_a_position_is_that_of_the_set_and_minus_one_counts_as_new(self, problem):
        examples, points, weight = problem
        decoder = best_set(examples, weight)
        known = [frozenset(labels) for labels in decoder.known.sets]
        found, predicted = find(decoder, points), to_sets(decode(decoder, points))
        for position, labels in zip(found, predicted, strict=True):
            if position >= 0:
                assert labels == known[position]
            else:
                assert decoder.unseen_points is not None
                if labels in known:
                    assert decoder.set_points[known.index(labels)] < decoder.unseen_points

    @settings(max_examples=200)
    @given(problems(), st.sampled_from(THRESHOLDS))
    def test_labels_have_their_share_of_the_votes_of_all_sets(self, problem, threshold):
        examples, points, weight = problem
        counts = oracle.count_sets(examples.tolist())
        decoder = set_votes(examples, threshold, weight)
        expected = [oracle.share_votes(counts, row, weight) for row in points.tolist()]
        votes, n_votes = decoder.share_votes(points)
        shares = [
            [Fraction(vote, n) for vote in row]
            for row, n in zip(votes.tolist(), n_votes.tolist(), strict=True)
        ]
        assert shares == expected
        needed = Fraction(round(1000 * threshold), 1000)
        assert decode(decoder, points) == [[share > needed for share in row] for row in expected]


class TestLabelSetVotes:
    def test_no_exponential_is_so_near_to_a_half_that_a_language_could_round_it_otherwise(self):
        # A double is right to 1e-16 of its value, of at most a million: 1e-5 leaves a wide margin.
        half = Decimal("0.5")
        for lack in range(1501):
            votes = 1_000_000 * (Decimal(-lack) / 100).exp()
            assert abs(votes % 1 - half) > Decimal("1e-5")
            assert round(1_000_000 * math.exp(-lack / 100)) == oracle.exact_votes(lack)
        assert oracle.exact_votes(1500) == 0

    @given(problems(), st.sampled_from([0.25, 0.4, 0.5, 0.9]))
    def test_the_decision_is_positive_where_a_label_is_predicted(self, problem, threshold):
        examples, points, weight = problem
        decoder = set_votes(examples, threshold, weight)
        decoded = decoder.decode(points, VOTES)
        decision = decoder.to_decision(decoded, VOTES)
        assert ((decision > 0) == decoded.is_present).all()
        assert (((1 + decision) / 2 > 0.5) == decoded.is_present).all()
        assert (abs(decision) < 1).all()
        share = decoder.to_probability(decoded, VOTES)
        log_odds = np.log(share / (1 - share)) - math.log(threshold / (1 - threshold))
        np.testing.assert_allclose(decision, 2 / (1 + np.exp(-log_odds)) - 1, atol=1e-9)

    @given(problems(), st.sampled_from(THRESHOLDS))
    def test_the_probability_is_the_share_whatever_the_threshold(self, problem, threshold):
        examples, points, weight = problem
        decoder = set_votes(examples, threshold, weight)
        votes, n_votes = decoder.share_votes(points)
        probability = decoder.to_probability(decoder.decode(points, VOTES), VOTES)
        np.testing.assert_allclose(probability, votes / n_votes[:, None], atol=1e-6)
        assert (probability > 0).all()
        assert (probability < 1).all()

    def test_a_share_that_is_just_met_is_not_enough(self):
        decoder = LabelSetVotes(0.5, 0.0).fit(KnownLabelSets(((0,), (1,)), (2, 2)))
        decoded = decoder.decode(np.array([[7, 7]]), VOTES)
        assert decoder.share_votes(np.array([[7, 7]]))[1].tolist() == [2_000_000]
        assert not decoded.is_present.any()
        assert decoder.to_decision(decoded, VOTES).tolist() == [[0, 0]]

    def test_where_labels_exclude_each_other_neither_may_have_enough(self):
        examples = [[1, 0]] * 2 + [[0, 1]] * 2 + [[0, 0]] * 2
        assert decode(set_votes(examples, 0.5, 0.0), [[1, 1]]) == [[False, False]]
        assert decode(set_votes(examples, 0.3, 0.0), [[1, 1]]) == [[True, True]]

    def test_the_higher_the_threshold_the_fewer_labels_are_predicted(self, many):
        known, points = many
        numbers = [
            LabelSetVotes(share).fit(known).decode(points, VOTES).is_present.sum()
            for share in (0.1, 0.3, 0.5, 0.9)
        ]
        assert numbers == sorted(numbers, reverse=True)
        assert numbers[0] > numbers[-1]

    def test_a_threshold_counts_to_three_digits_and_is_never_nothing_or_all(self):
        shares = (1e-9, 0.0014, 0.3333, 0.9999)
        thousandths = [LabelSetVotes(share).min_share for share in shares]
        assert thousandths == [1, 1, 333, 999]


class TestTies:
    def test_of_sets_that_fit_alike_the_more_frequent_wins(self):
        # Without a weight of frequencies both sets score 5.
        decoder = BestLabelSet(0.0).fit(KnownLabelSets(((1,), (0,)), (3, 2)))
        assert decode(decoder, [[5, 5]]) == [[False, True]]

    def test_of_equally_frequent_ones_the_one_with_the_first_label(self):
        decoder = best_set([[0, 1], [0, 1], [1, 0], [1, 0]], 0.0)
        assert decode(decoder, [[5, 5]]) == [[True, False]]

    def test_a_new_set_is_found_only_if_new_sets_are_wanted(self):
        known = KnownLabelSets(((0,), (1,)), (1, 1))
        for wanted, found in ((True, -1), (False, 0)):
            assert find(BestLabelSet(0.0, new_sets=wanted).fit(known), [[5, 4]]) == [found]

    def test_a_known_set_wins_over_a_new_one(self):
        decoder = BestLabelSet(0.0).fit(KnownLabelSets(((0,),), (1,)))
        assert find(decoder, [[5, 0], [5, 1]]) == [0, -1]


# Two labels of a tenth of the examples each, always together.
BOTH_OR_NONE = [[0, 0]] * 18 + [[1, 1]] * 2


class TestFrequencies:
    def test_a_set_above_chance_wins_over_one_that_fits_a_little_better(self):
        # Both is 0.1/0.01 times as frequent as by chance, none 0.9/0.81 times: half of ln 9 is 110
        # hundredths.
        decoder = best_set(BOTH_OR_NONE, 0.5)
        assert decode(decoder, [[0, -109], [0, -111]]) == [[True, True], [False, False]]

    def test_the_weight_of_frequencies_decides_how_much(self):
        chosen = [find(best_set(BOTH_OR_NONE, w), [[0, -150]]) for w in (0, 0.5, 1)]
        assert chosen == [[0], [0], [1]]


class TestNewSets:
    def test_none_is_expected_where_no_set_was_seen_just_once(self):
        decoder = best_set([[1, 0], [1, 0], [0, 1], [0, 1]])
        assert decoder.unseen_points is None
        assert min(find(decoder, [[900, 900], [-900, -900], [900, -900]])) >= 0

    @given(random_generators(), st.sampled_from(WEIGHTS))
    def test_where_every_set_was_seen_once_a_new_one_counts_as_by_chance(self, rng, weight):
        decoder = best_set(np.unique(rng.random((6, 4)) < 0.5, axis=0), weight)
        assert decoder.unseen_points == 0
        # So strong a set is predicted, whatever the known ones count.
        strong = np.where(rng.random(4) < 0.5, 2_000, -2_000)
        assert decode(decoder, strong[None]) == [(strong > 0).tolist()]

    def test_a_new_set_counts_as_the_share_of_examples_that_have_a_set_of_their_own(self):
        # One of four examples has a set of its own: a new set is a quarter as frequent as by chance.
        decoder = best_set([[1, 0]] * 3 + [[0, 1]], 1.0)
        assert decoder.unseen_points == round(100 * math.log(1 / 4))
        # The first label alone is 4/3 times as frequent, 29 + 139 = 168 hundredths more.
        assert find(decoder, [[500, 168], [500, 169]]) == [0, -1]
        assert decode(decoder, [[500, 169]]) == [[True, True]]

    def test_what_counts_as_new_can_be_known_and_rarer_than_by_chance(self):
        # The first two labels come together, and alone, once in 45 examples: by chance it would be
        # ten times. Five sets were seen once: a new set is a ninth as frequent as by chance.
        unique = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
        decoder = best_set([[1, 0, 0], [0, 1, 0]] * 20 + unique, 2.0)
        points = [[700, 700, -700]]
        assert decoder.set_points[decoder.known.sets.index((0, 1))] < decoder.unseen_points
        assert find(decoder, points) == [-1]
        assert decode(decoder, points) == [[True, True, False]]

    def test_a_new_set_need_not_have_any_label(self):
        decoder = best_set([[1, 0], [0, 1]])
        assert find(decoder, [[-50, -50]]) == [-1]
        assert decode(decoder, [[-50, -50]]) == [[False, False]]


@pytest.fixture(scope="module")
def many():
    """More than a thousand sets, and points to be decoded."""
    rng = np.random.default_rng(0)
    known = KnownLabelSets.from_labels(rng.random((3000, 14)) < 0.3)
    assert len(known.sets) > 1000
    return known, rng.integers(-200, 200, (97, 14))


class TestManySets:
    @pytest.mark.parametrize("block", [1, 5_000, 10**9])
    def test_blocks_are_invisible(self, many, block, monkeypatch):
        known, points = many
        best, votes = BestLabelSet().fit(known), LabelSetVotes().fit(known)
        expected = [find(best, row[None])[0] for row in points]
        shares = [part.tolist() for part in votes.share_votes(points)]
        assert len(set(expected)) > 10
        monkeypatch.setattr(module, "_BLOCK_SCORES", block)
        assert find(best, points) == expected
        assert [part.tolist() for part in votes.share_votes(points)] == shares

    def test_scores_are_never_held_for_more_rows_than_a_block_has(self, many, monkeypatch):
        known, points = many
        sizes = []
        argmax = np.argmax

        def watch(scores, **options):
            sizes.append(scores.shape)
            return argmax(scores, **options)

        monkeypatch.setattr(module, "_BLOCK_SCORES", 10 * len(known.sets))
        monkeypatch.setattr(module.np, "argmax", watch)
        find(BestLabelSet().fit(known), points)
        assert sizes == [(10, len(known.sets))] * 9 + [(7, len(known.sets))]

    @pytest.mark.parametrize("kind", [BestLabelSet, LabelSetVotes])
    def test_no_rows_give_no_rows(self, many, kind):
        known, points = many
        assert kind().fit(known).decode(points[:0], VOTES).is_present.shape == (0, 14)


class TestBestF1:
    @given(problems())
    def test_no_label_set_has_a_larger_expected_f1(self, problem):
        examples, points, weight = problem
        counts = oracle.count_sets(examples)
        decoder = BestF1(weight).fit(KnownLabelSets.from_labels(examples))
        decoded = decoder.decode(points, VOTES)
        for i, chosen in enumerate(to_sets(decoded.is_present)):
            expected = oracle.expected_f1(counts, points[i].tolist(), weight)
            best = max(expected.values())
            assert float(expected[chosen]) == pytest.approx(float(best), abs=1e-9)
            assert decoded.found[i] == pytest.approx(float(best))

    def test_labels_that_exclude_each_other_can_be_predicted_together(self):
        decoder = BestF1(0.0).fit(KnownLabelSets.from_labels(np.repeat(np.eye(4) > 0, 2, axis=0)))
        # One label has F1 1/4; all four have 2/(1 + 4).
        assert decode(decoder, [[0, 0, 0, 0], [0, 0, 0, 900]]) == [[True] * 4, [False] * 3 + [True]]

    def test_the_empty_set_is_predicted_if_it_is_likely(self):
        examples = [[0, 0]] * 3 + [[1, 0]] * 2
        decoder = BestF1(0.0).fit(KnownLabelSets.from_labels(np.array(examples) > 0))
        assert decode(decoder, [[-1, 0], [1, 0]]) == [[False, False], [True, False]]

    def test_labels_of_small_and_of_large_sets_can_be_predicted_together(self):
        # All four labels have F1 2/5 twice and 4/6 once, more than any two of them.
        known = KnownLabelSets(((0,), (1,), (2, 3)), (2, 2, 2))
        assert decode(BestF1(0.0).fit(known), [[0, 0, 0, 0]]) == [[True] * 4]

    def test_of_equally_good_predictions_the_smallest_is_made(self):
        # The first label alone has F1 2/3, with one partner (1 + ½ + ½)/3, with all of them 4/6.
        known = KnownLabelSets(((0, 1), (0, 2), (0, 3)), (2, 2, 2))
        decoded = BestF1(0.0).fit(known).decode(np.zeros((1, 4)), VOTES)
        assert decoded.is_present.tolist() == [[True, False, False, False]]
        assert decoded.found == pytest.approx([2 / 3])

    def test_of_equally_likely_labels_the_first_are_predicted(self):
        # Sorts of more than 16 numbers may change the order of equal ones.
        by_size = np.zeros((51, 1, 40))
        by_size[1, 0, :39] = 14_360
        by_size[50, 0, 39] = 1_000_000
        (present,), _ = module._maximise_f1(by_size, np.zeros(1))
        n_labels = present.sum()
        assert 2 < n_labels < 20
        assert np.flatnonzero(present).tolist() == [*range(n_labels - 1), 39]

    def test_the_new_set_votes_for_its_labels_or_for_none(self):
        known, counts = KnownLabelSets(((0,), (1,)), (1, 1)), oracle.count_sets([[1, 0], [0, 1]])
        points = [[0, 0], [1, 0], [1, 1], [-1, -1], [2, -1], [-300, -300]]
        decoded = BestF1(0.0).fit(known).decode(np.array(points), VOTES)
        expected = [oracle.expected_f1(counts, row, 0.0) for row in points]
        best = [float(max(f1_of_set.values())) for f1_of_set in expected]
        assert decoded.found.tolist() == pytest.approx(best)

    def test_a_single_vote_is_enough_if_there_are_no_others(self):
        by_size = np.zeros((2, 1, 2))
        by_size[1, 0, 1] = 1
        present, f1 = module._maximise_f1(by_size, np.zeros(1))
        assert (present.tolist(), f1.tolist()) == ([[False, True]], [1])


class TestEnds:
    def test_a_label_of_a_new_set_needs_a_positive_score(self):
        decoder = best_set(np.eye(3))
        assert find(decoder, [[500, 0, 500]]) == [-1]
        assert decode(decoder, [[500, 0, 500]]) == [[True, False, True]]

    def test_half_a_vote_is_missing_to_certainty(self):
        decoder = LabelSetVotes(0.5, 0.0).fit(KnownLabelSets(((0,),), (2,)))
        decoded = decoder.decode(np.array([[7, -1]]), VOTES)
        probability = decoder.to_probability(decoded, VOTES)
        np.testing.assert_allclose(probability, [[1 - 0.5e-6, 0.5e-6]], atol=1e-9)
        decision = decoder.to_decision(decoded, VOTES)
        np.testing.assert_allclose(decision, [[1 - 1e-6, 1e-6 - 1]], atol=1e-9)

    def test_a_block_has_one_row_if_the_sets_of_a_row_fill_it(self, many, monkeypatch):
        known, points = many
        monkeypatch.setattr(module, "_BLOCK_SCORES", 1)
        blocks = BestLabelSet().fit(known)._score_sets(points[:3])
        assert [rows for rows, *_ in blocks] == [slice(0, 1), slice(1, 2), slice(2, 3)]

    def test_the_largest_weight_is_allowed_and_its_points_are_integers(self):
        decoder = BestLabelSet(1_000_000).fit(EITHER)
        assert decoder.set_points.dtype == np.int64
        assert decoder.set_points.tolist() == [round(1e8 * math.log(2))] * 2
