"""Decoders: every prediction is the one of a slow oracle in exact numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import decoding as oracle
from reference.prediction import choose_best, choose_each, probability_to_points
from steelyard.model import label_set_decoders as module
from steelyard.model.combiners import AnyRule, SumOfVotes
from steelyard.model.decoders import (
    DECODERS,
    BestF1,
    BestLabel,
    BestLabelSet,
    EachLabel,
    LabelSetVotes,
    get_decoder,
)
from steelyard.model.evidence import Label
from steelyard.model.label_sets import KnownLabelSets
from strategies import random_generators

WEIGHTS = [0.0, 0.01, 0.5, 1.0]
THRESHOLDS = [0.001, 0.25, 1 / 3, 0.4, 0.5, 0.6, 0.999]
VOTES = SumOfVotes((0,))  # scores are points; decoders do not look at its start


@st.composite
def problems(draw, max_labels=5, max_rows=8):
    """Label sets of a few examples and points to be decoded; both coarse, so that ties are common."""
    n_labels = draw(st.integers(1, max_labels))
    rng = draw(random_generators())
    examples = rng.random((rng.integers(1, 15), n_labels)) < rng.choice([0.1, 0.4, 0.8])
    if rng.random() < 0.3:
        examples = np.repeat(examples, 2, axis=0)  # no set is seen just once
    spread = int(rng.choice([1, 3, 120, 400]))
    points = rng.integers(-spread, spread + 1, (rng.integers(1, max_rows + 1), n_labels))
    return examples, points, float(rng.choice(WEIGHTS))


# Two sets of two examples each, so that no new set is expected.
EITHER = KnownLabelSets(((0,), (1,)), (2, 2))


def best_set(examples, weight=0.5):
    return BestLabelSet(weight).fit(KnownLabelSets.from_labels(np.array(examples, dtype=bool)))


def set_votes(examples, threshold, weight=0.5):
    known = KnownLabelSets.from_labels(np.array(examples, dtype=bool))
    return LabelSetVotes(threshold, weight).fit(known)


def decode(decoder, points):
    return decoder.decode(np.array(points), VOTES).is_present.tolist()


def find(decoder, points):
    """Positions of the best sets; -1 is a new one."""
    return decoder.decode(np.array(points), VOTES).found.tolist()


def to_sets(predicted):
    return [frozenset(np.flatnonzero(row).tolist()) for row in np.asarray(predicted)]


class TestEachLabel:
    @given(problems(), st.sampled_from(THRESHOLDS))
    def test_labels_above_the_threshold_are_predicted(self, problem, threshold):
        _, points, _ = problem
        cut = probability_to_points(threshold)
        expected = [choose_each(row, [cut] * len(row)) for row in points.tolist()]
        assert to_sets(decode(EachLabel(threshold), points)) == expected

    @given(problems(), st.sampled_from(THRESHOLDS))
    def test_the_decision_is_positive_where_a_label_is_predicted(self, problem, threshold):
        decoder = EachLabel(threshold)
        decoded = decoder.decode(problem[1], VOTES)
        decision = decoder.to_decision(decoded, VOTES)
        assert ((decision > 0) == decoded.is_present).all()
        assert (abs(decision) < 1).all()

    @given(problems(), st.sampled_from(THRESHOLDS))
    def test_a_threshold_does_not_change_probabilities(self, problem, threshold):
        one, other = (
            decoder.to_probability(decoder.decode(problem[1], VOTES), VOTES)
            for decoder in (EachLabel(), EachLabel(threshold))
        )
        assert one.tolist() == other.tolist()

    @given(problems(), st.integers(0, 2**32 - 1))
    def test_each_label_can_have_a_threshold_of_its_own(self, problem, seed):
        _, points, _ = problem
        thresholds = np.random.default_rng(seed).uniform(0.1, 0.9, points.shape[1])
        alone = [decode(EachLabel(t), points[:, [j]]) for j, t in enumerate(thresholds.tolist())]
        together = decode(EachLabel(tuple(thresholds.tolist())), points)
        assert together == np.concatenate(alone, axis=1).tolist()

    def test_there_is_one_threshold_per_label(self):
        decoder = EachLabel([0.3, 0.2])
        assert decoder == EachLabel((0.3, 0.2))
        assert (
            decoder.describe() == "a label needs a probability above 20 to 30 %, each label its own"
        )
        with pytest.raises(ValueError, match="EachLabel has 2 thresholds for 1 labels: give one"):
            decoder.check((Label("a"),), SumOfVotes((0,)))
        with pytest.raises(ValueError, match="threshold must be a number between 0 and 1, got 1"):
            EachLabel((0.3, 1))

    def test_a_score_at_the_threshold_is_not_enough(self):
        cut = probability_to_points(0.3)
        assert decode(EachLabel(0.3), [[cut, cut + 1]]) == [[False, True]]


class TestBestLabel:
    @given(problems())
    def test_the_label_with_the_highest_score_is_predicted_the_first_of_equals(self, problem):
        _, points, _ = problem
        assert to_sets(decode(BestLabel(), points)) == [choose_best(row) for row in points.tolist()]

    def test_no_rows_give_no_rows(self):
        assert BestLabel().decode(np.empty((0, 3)), AnyRule()).is_present.shape == (0, 3)


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

    @pytest.mark.parametrize("kind", DECODERS.values(), ids=list(DECODERS))
    def test_predictions_are_booleans(self, kind):
        decoded = kind().fit(EITHER).decode(np.array([[3, 4]]), VOTES)
        assert decoded.is_present.dtype == np.bool_


class TestParameters:
    @pytest.mark.parametrize(
        "wrong", [0, 1, -0.1, 2, math.nan, math.inf, "0.5", True, [[0.5]], 0.5j]
    )
    @pytest.mark.parametrize("kind", [EachLabel, LabelSetVotes])
    def test_a_threshold_is_a_number_between_0_and_1(self, kind, wrong):
        with pytest.raises(ValueError, match=r"^threshold must be a number between 0 and 1, got"):
            kind(threshold=wrong)

    @pytest.mark.parametrize("kind", [BestLabelSet, LabelSetVotes])
    @pytest.mark.parametrize("name", ["frequency_weight", "silence"])
    @pytest.mark.parametrize(
        "wrong", [-0.1, 1e7, math.nan, math.inf, "0.5", None, True, [0.5], np.complex128(0.5)]
    )
    def test_weights_are_numbers_whose_points_can_be_added(self, kind, name, wrong):
        with pytest.raises(ValueError, match=rf"^{name} must be a number from 0 to 1,000,000, got"):
            kind(**{name: wrong})

    def test_numpys_numbers_are_numbers(self):
        assert BestLabelSet(np.float32(0.5), np.int64(1)) == BestLabelSet()
        assert str(EachLabel(np.float64(0.25))) == "each-label(p > 0.25)"

    def test_a_decoder_by_its_name_or_itself(self):
        for name, kind in DECODERS.items():
            assert get_decoder(name) == kind()
            assert str(kind()).startswith(name)
        assert get_decoder(BestLabelSet(0.1)) == BestLabelSet(0.1)

    @pytest.mark.parametrize("wrong", ["any", "auto", None, 0.5, ["each-label"]], ids=str)
    def test_no_other_name_is_known(self, wrong):
        with pytest.raises(ValueError, match=r"^decode must be a decoder or one of 'each-label', "):
            get_decoder(wrong)

    @pytest.mark.parametrize("kind", [BestLabelSet, LabelSetVotes])
    def test_label_sets_have_to_be_known_before_one_is_chosen(self, kind):
        with pytest.raises(ValueError, match="has no label sets: fit it first"):
            kind().decode(np.array([[1]]), VOTES)
        with pytest.raises(ValueError, match="label sets need several labels"):
            kind().fit(None)

    def test_decoders_that_look_at_single_labels_need_no_label_sets(self):
        known = KnownLabelSets(((0,),), (1,))
        for decoder in (EachLabel(0.3), BestLabel()):
            assert decoder.fit(known) == decoder.fit(None) == decoder


class TestPageNumbers:
    """The page computes no logarithm: it gets every number that it adds or compares."""

    def test_each_label_has_the_score_of_its_threshold(self):
        low, high = probability_to_points(0.3), probability_to_points(0.6)
        assert EachLabel(0.3).page_numbers(VOTES, 3) == {"cuts": [low] * 3}
        assert EachLabel((0.3, 0.6)).page_numbers(VOTES, 2) == {"cuts": [low, high]}

    def test_the_best_label_needs_none(self):
        assert BestLabel().page_numbers(VOTES, 2) == {}

    @pytest.mark.parametrize(
        ("decoder", "min_share", "aim"),
        [
            (BestLabelSet(1.0), None, "set"),
            (LabelSetVotes(0.4, 1.0), 400, "share"),
            (BestF1(1.0), None, "f1"),
        ],
        ids=["set", "share", "f1"],
    )
    def test_label_sets_have_the_points_of_their_frequencies(self, decoder, min_share, aim):
        # Each set is twice as frequent as under independent labels: ln 2 is 69 hundredths.
        fitted = decoder.fit(EITHER)
        numbers = {"set_points": [69, 69], "unseen_points": None, "min_share": min_share}
        assert fitted.page_numbers(VOTES, 2) == numbers
        assert fitted.aim == aim

    def test_whether_signs_suffice(self):
        assert EachLabel().follows_signs(VOTES)
        assert not EachLabel(0.3).follows_signs(VOTES)
        assert not EachLabel((0.5, 0.3)).follows_signs(VOTES)
        assert not BestLabel().follows_signs(VOTES)


def decoded_as(decoder, *points):
    """The decoder and what it makes of one row of points."""
    return decoder, decoder.decode(np.array([points]), VOTES)


class TestWords:
    NAMES = ("red", "green", "blue", "white", "black")

    @pytest.mark.parametrize(
        ("decoder", "text", "described"),
        [
            (EachLabel(), "each-label", ""),
            (
                EachLabel(0.3),
                "each-label(p > 0.3)",
                "a label needs a probability above 30 %",
            ),
            (
                EachLabel((0.2, 0.3, 0.25)),
                "each-label(p > 0.2 to 0.3)",
                "a label needs a probability above 20 to 30 %, each label its own",
            ),
            (
                EachLabel((0.2, 0.2)),
                "each-label(p > 0.2)",
                "a label needs a probability above 20 %, each label its own",
            ),
            (
                BestLabelSet(0.25, 0.1).fit(EITHER),
                "best-label-set(0.25, 0.1)",
                "label sets: 2 known, frequency weight 0.25",
            ),
            (
                LabelSetVotes(0.4, 0.25, 0.1).fit(EITHER),
                "label-set-votes(0.25, 0.1, share > 0.4)",
                "label sets: 2 known, frequency weight 0.25, a label needs more than 40 % of the votes",
            ),
            (
                BestF1(0.25, 0.1).fit(EITHER),
                "best-f1(0.25, 0.1)",
                "label sets: 2 known, frequency weight 0.25, the best expected F1 of an example",
            ),
        ],
        ids=str,
    )
    def test_a_decoder_says_what_it_is(self, decoder, text, described):
        assert str(decoder) == text
        assert decoder.describe() == described

    def test_votes_name_the_predicted_labels_and_three_more(self):
        known = KnownLabelSets(((0,), (1,), (2,), (3,), (4,)), (2, 2, 2, 2, 2))
        decoder, decoded = decoded_as(LabelSetVotes(0.5, 0.0).fit(known), 300, 0, -10, -20, 0)
        # The votes are e³ = 20.09, 1, 0.90, 0.82 and 1; of equal shares the first label comes first.
        assert decoder.explain_row(decoded, 0, self.NAMES) == (
            "the 5 label sets seen in training vote, each as well as it fits the rules: red 84.4%, "
            "green 4.2%, black 4.2%, blue 3.8%, others no more; a label needs more than 50.0%; each "
            "label by itself would give the same"
        )

    def test_where_all_labels_are_named_there_are_no_others(self):
        decoder, decoded = decoded_as(LabelSetVotes(0.4, 0.0).fit(EITHER), 7, 7)
        assert decoder.explain_row(decoded, 0, self.NAMES[:2]) == (
            "the 2 label sets seen in training vote, each as well as it fits the rules: red 50.0%, "
            "green 50.0%; a label needs more than 40.0%; each label by itself would give the same"
        )

    def test_the_best_expected_f1_is_named(self):
        decoder, decoded = decoded_as(BestF1(0.0).fit(EITHER), 0, 0)
        # Both labels: one of two is right, so F1 is 2/3 in either case.
        assert decoder.explain_row(decoded, 0, self.NAMES[:2]) == (
            "as the 2 label sets seen in training vote, {red, green} has the best expected F1, 66.7%; "
            "each label by itself would give the empty set"
        )
        for j in range(2):
            clause = ", but the expected F1 is better with it"
            assert decoder.explain_label(decoded, 0, j, VOTES) == clause

    def test_a_known_set_that_is_chosen_as_a_new_one_is_not_called_new(self):
        # As above: the first two labels come together, and alone, once in 45 examples.
        unique = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
        fitted = best_set([[1, 0, 0], [0, 1, 0]] * 20 + unique, 2.0)
        decoder, decoded = decoded_as(fitted, 700, 700, -700)
        assert decoded.found.tolist() == [-1]
        assert decoder.explain_row(decoded, 0, self.NAMES[:3]) == (
            "of the 7 label sets seen in training, {red, green} (1 of 45 examples) fits the rules best; "
            "each label by itself would give the same"
        )

    def test_the_best_set_is_named_also_if_that_of_each_label_by_itself_is_known(self):
        # Both labels together are rarer than by chance.
        fitted = best_set([[1, 0]] * 10 + [[0, 1]] * 10 + [[1, 1]], 1.0)
        decoder, decoded = decoded_as(fitted, 100, 90)
        assert decoder.explain_row(decoded, 0, self.NAMES[:2]) == (
            "of the 3 label sets seen in training, {red} (10 of 21 examples) fits the rules best; each "
            "label by itself would give {red, green}"
        )

    def test_a_score_of_zero_is_not_enough_for_a_label_by_itself(self):
        decoder, decoded = decoded_as(BestLabelSet(0.0).fit(EITHER), 5, 0)
        assert decoder.explain_row(decoded, 0, self.NAMES[:2]).endswith("would give the same")

    @pytest.mark.parametrize("decoder", [BestLabelSet(0.0), LabelSetVotes(0.6, 0.0), BestF1(0.0)])
    def test_a_hundredth_of_log_odds_is_enough_for_a_label_by_itself(self, decoder):
        fitted, decoded = decoded_as(decoder.fit(EITHER), 1, 0)
        said = fitted.explain_row(decoded, 0, self.NAMES[:2]).rpartition("; ")[2]
        same = to_sets(decoded.is_present) == [{0}]
        assert said == f"each label by itself would give {'the same' if same else '{red}'}"

    def test_a_label_that_lowers_the_expected_f1_says_so(self):
        decoder, decoded = decoded_as(BestF1(0.0).fit(EITHER), 900, 1)
        assert decoded.is_present.tolist() == [[True, False]]
        clause = ", but the expected F1 is better without it"
        assert decoder.explain_label(decoded, 0, 1, VOTES) == clause

    def test_a_label_says_where_the_best_set_differs_from_its_score(self):
        decoder, decoded = decoded_as(BestLabelSet(0.0).fit(EITHER), 5, 4)
        assert decoder.explain_label(decoded, 0, 0, VOTES) == ""
        clause = ", but the label set that fits best is without it"
        assert decoder.explain_label(decoded, 0, 1, VOTES) == clause
        decoder, decoded = decoded_as(BestLabelSet(0.0).fit(EITHER), -5, -4)
        clause = ", but the label set that fits best is with it"
        assert decoder.explain_label(decoded, 0, 1, VOTES) == clause

    def test_a_label_says_its_share_of_the_votes(self):
        decoder, decoded = decoded_as(LabelSetVotes(0.4, 0.0).fit(EITHER), -1, -1)
        clause = ", but it has 50.0% of the label sets' votes"
        assert decoder.explain_label(decoded, 0, 0, VOTES) == clause
        decoder, decoded = decoded_as(LabelSetVotes(0.6, 0.0).fit(EITHER), 1, 1)
        clause = ", but it has only 50.0% of the label sets' votes"
        assert decoder.explain_label(decoded, 0, 0, VOTES) == clause

    def test_a_label_says_where_a_threshold_makes_the_difference(self):
        decoder, decoded = decoded_as(EachLabel((0.3, 0.6)), -20, 20)
        clauses = [decoder.explain_label(decoded, 0, j, VOTES) for j in range(2)]
        # The log-odds of 30 % and 60 %.
        assert clauses == [
            ", above the threshold of -0.85",
            ", not above the threshold of +0.41",
        ]

    def test_a_class_says_why_it_wins_or_loses(self):
        decoder, decoded = decoded_as(BestLabel(), -20, -30)
        assert decoder.explain_label(decoded, 0, 0, VOTES) == ", and no class has more"
        decoder, decoded = decoded_as(BestLabel(), 20, 30)
        clause = ", but another class is better supported"
        assert decoder.explain_label(decoded, 0, 0, VOTES) == clause

    def test_labels_without_rules_say_when_they_are_predicted(self):
        decoder, decoded = decoded_as(BestLabel(), 20, 30)
        said = [
            decoder.describe_silence(decoded, j, combiner)
            for j in range(2)
            for combiner in (VOTES, AnyRule())
        ]
        assert said == [
            "predicted only where all other classes have fewer votes",
            "never predicted",
            "predicted where no rule fires",
            "predicted where no rule fires",
        ]
        decoder, decoded = decoded_as(BestLabelSet(0.0).fit(EITHER), 5, 4)
        clause = "predicted only with label sets that contain it"
        assert decoder.describe_silence(decoded, 0, VOTES) == clause
        decoder, decoded = decoded_as(EachLabel(), 5, -4)
        said = [decoder.describe_silence(decoded, j, VOTES) for j in range(2)]
        assert said == ["always predicted", "never predicted"]

    def test_exports_that_cannot_express_a_decoder_say_what_to_do_instead(self):
        pmml = "PMML cannot compare label sets: export this theory as Python or JSON"
        sql = (
            "SQL cannot {}: export this theory as Python or JSON, or use decode='best-label-set' or "
            "'each-label'"
        )
        assert EachLabel.declines == {}
        assert BestLabelSet.declines == {"pmml": pmml}
        assert LabelSetVotes.declines == {"pmml": pmml, "sql": sql.format("let label sets vote")}
        assert BestF1.declines == {"pmml": pmml, "sql": sql.format("maximise an expected F1")}


class TestChecks:
    LABELS = (Label("red"), Label("green"))

    def test_label_sets_need_rules_that_vote(self):
        for kind in (BestLabelSet, LabelSetVotes, BestF1):
            kind().fit(EITHER).check(self.LABELS, VOTES)
            message = f"^the decoder {kind.name} needs rules that vote, not any-rule$"
            with pytest.raises(ValueError, match=message):
                kind().fit(EITHER).check(self.LABELS, AnyRule())

    def test_label_sets_have_only_labels_that_exist(self):
        message = "a label set has label 1, but the last of the 1 labels is 0"
        with pytest.raises(ValueError, match=message):
            BestLabelSet().fit(EITHER).check(self.LABELS[:1], VOTES)

    def test_rules_that_decide_need_the_threshold_one_half(self):
        EachLabel().check(self.LABELS, AnyRule())
        with pytest.raises(ValueError, match="threshold"):
            EachLabel(0.3).check(self.LABELS, AnyRule())

    def test_one_threshold_per_label_may_be_an_array(self):
        assert EachLabel(np.array([0.3, 0.2])) == EachLabel((0.3, 0.2))
        EachLabel((0.3, 0.2)).check(self.LABELS, VOTES)
        message = (
            "^EachLabel has 1 thresholds for 2 labels: give one per label, or one number for all$"
        )
        with pytest.raises(ValueError, match=message):
            EachLabel((0.3,)).check(self.LABELS, VOTES)

    def test_what_is_missing_is_named(self):
        with pytest.raises(
            ValueError, match="^the decoder best-f1 has no label sets: fit it first$"
        ):
            BestF1().describe()
        message = "^label sets need several labels; this target has one class per example$"
        with pytest.raises(ValueError, match=message):
            BestF1().fit(None)
        assert BestF1().fit(EITHER).known == EITHER
