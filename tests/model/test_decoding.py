"""Decoding: the set of labels is the best of all there are, however they are looked through."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steelyard.model.decoding import (
    EachLabel,
    KnownLabelSets,
    LabelSets,
    confidence_to_points,
    count_label_sets,
    get_decoding,
    points_to_probability,
    probability_to_points,
)

from points_theories import flu_theory
from reference import decoding as oracle
from steelyard import MEstimate, RuleSetClassifier, make_planted_rules, theory_path
from steelyard.model import decoding as decoding_module
from strategies import random_generators

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")

WEIGHTS = [0.0, 0.01, 0.5, 1.0]


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


def to_sets(predicted):
    return [frozenset(np.flatnonzero(row).tolist()) for row in predicted]


class TestAgainstBruteForce:
    @settings(max_examples=300)
    @given(problems())
    def test_the_set_is_the_best_of_all_sets(self, problem):
        examples, points, weight = problem
        counts = oracle.count_sets(examples.tolist())
        predicted = count_label_sets(examples, weight).decode(points)
        assert to_sets(predicted) == [oracle.decode(counts, row, weight) for row in points.tolist()]

    @settings(max_examples=100)
    @given(problems())
    def test_a_position_is_that_of_the_set_and_none_means_it_counts_as_new(self, problem):
        examples, points, weight = problem
        known = count_label_sets(examples, weight)
        for position, labels in zip(
            known.find_best(points).tolist(), to_sets(known.decode(points)), strict=True
        ):
            if position >= 0:
                assert labels == frozenset(known.sets[position])
            else:
                assert known.unseen_points is not None
                if labels in (sets := list(map(frozenset, known.sets))):
                    assert known.points[sets.index(labels)] < known.unseen_points

    @settings(max_examples=100)
    @given(problems())
    def test_sets_are_counted_the_most_frequent_first(self, problem):
        examples, _, weight = problem
        known = count_label_sets(examples, weight)
        expected = oracle.count_sets(examples.tolist())
        assert dict(zip(map(frozenset, known.sets), known.counts, strict=True)) == expected
        assert list(known.counts) == sorted(known.counts, reverse=True)
        assert known.n_examples == len(examples)
        assert known.points.tolist() == [
            oracle.frequency_points(expected, labels, weight)
            for labels in map(frozenset, known.sets)
        ]
        assert known.unseen_points == oracle.new_points(expected, weight)

    @settings(max_examples=200)
    @given(problems(), st.sampled_from([0.001, 0.25, 1 / 3, 0.4, 0.5, 0.999]))
    def test_labels_have_their_share_of_the_votes_of_all_sets(self, problem, min_share):
        examples, points, weight = problem
        counts = oracle.count_sets(examples.tolist())
        known = count_label_sets(examples, weight, min_share)
        expected = [oracle.share_votes(counts, row, weight) for row in points.tolist()]
        votes, n_votes = known.share_votes(points)
        shares = [
            [Fraction(vote, n) for vote in row]
            for row, n in zip(votes.tolist(), n_votes.tolist(), strict=True)
        ]
        assert shares == expected
        needed = Fraction(round(1000 * min_share), 1000)
        predicted = [[share > needed for share in row] for row in expected]
        assert known.decode(points).tolist() == predicted


class TestShares:
    def test_no_exponential_is_so_near_to_a_half_that_a_language_could_round_it_otherwise(self):
        # A double is right to 1e-16 of its value, of at most a million: 1e-5 leaves a wide margin.
        half = Decimal("0.5")
        for lack in range(1501):
            votes = 1_000_000 * (Decimal(-lack) / 100).exp()
            assert abs(votes % 1 - half) > Decimal("1e-5")
            assert round(1_000_000 * math.exp(-lack / 100)) == oracle.exact_votes(lack)
        assert oracle.exact_votes(decoding_module.POINTS_WITHOUT_VOTE) == 0

    @settings(max_examples=100)
    @given(problems(), st.sampled_from([0.25, 0.4, 0.5, 0.9]))
    def test_what_shares_weigh_is_positive_where_a_label_is_predicted(self, problem, min_share):
        examples, points, weight = problem
        known = count_label_sets(examples, weight, min_share)
        weighed = known.weigh_shares(points)
        assert ((weighed > 0) == known.decode(points)).all()
        assert (((1 + weighed) / 2 > 0.5) == known.decode(points)).all()
        assert (abs(weighed) < 1).all()
        votes, n_votes = known.share_votes(points)
        share = np.clip(
            votes / n_votes[:, None], 0.5 / n_votes[:, None], 1 - 0.5 / n_votes[:, None]
        )
        log_odds = np.log(share / (1 - share)) - math.log(min_share / (1 - min_share))
        np.testing.assert_allclose(weighed, 2 / (1 + np.exp(-log_odds)) - 1, atol=1e-9)

    def test_a_share_that_is_just_met_is_not_enough(self):
        known = KnownLabelSets(((0,), (1,)), (2, 2), 0.0, min_share=0.5)
        assert known.share_votes(np.array([[7, 7]]))[1].tolist() == [2_000_000]
        assert not known.decode(np.array([[7, 7]])).any()
        assert known.weigh_shares(np.array([[7, 7]])).tolist() == [[0, 0]]

    def test_where_labels_exclude_each_other_neither_may_have_enough(self):
        examples = np.array([[1, 0]] * 2 + [[0, 1]] * 2 + [[0, 0]] * 2, dtype=bool)
        points = np.array([[1, 1]])
        assert not count_label_sets(examples, 0.0, 0.5).decode(points).any()
        assert count_label_sets(examples, 0.0, 0.3).decode(points).all()

    def test_the_more_is_asked_for_the_fewer_labels_are_predicted(self, many):
        known, points = many
        numbers = [
            replace(known, min_share=share).decode(points).sum() for share in (0.1, 0.3, 0.5, 0.9)
        ]
        assert numbers == sorted(numbers, reverse=True)
        assert numbers[0] > numbers[-1]

    def test_a_share_counts_to_three_digits_and_is_never_nothing_or_all(self):
        shares = (1e-9, 0.0014, 0.3333, 0.9999)
        thousandths = [KnownLabelSets(((),), (1,), 0.5, s).min_share_in_thousandths for s in shares]
        assert thousandths == [1, 1, 333, 999]

    def test_no_share_is_needed_where_sets_do_not_vote(self):
        with pytest.raises(ValueError, match="the label sets do not vote"):
            _ = KnownLabelSets(((),), (1,)).min_share_in_thousandths

    @pytest.mark.parametrize("block", [1, 5_000])
    def test_blocks_are_invisible(self, many, block, monkeypatch):
        known, points = many
        expected = [part.tolist() for part in known.share_votes(points)]
        monkeypatch.setattr(decoding_module, "_BLOCK_SCORES", block)
        assert [part.tolist() for part in known.share_votes(points)] == expected

    def test_no_rows_give_no_rows(self, many):
        known, points = many
        assert replace(known, min_share=0.4).decode(points[:0]).shape == (0, 14)

    def test_probabilities_of_a_theory_are_on_the_side_of_its_prediction(self, data, path):
        X, _ = data
        for share in (0.2, 0.4, 0.6):
            theory = path.theory(0, 0.5, decoding=LabelSets(0.5, min_share=share))
            assert theory.label_sets.min_share == share
            predicted = theory.predict(X).to_numpy() == 1
            assert ((theory.decision_function(X) > 0) == predicted).all()
            assert 0 < predicted.mean() < 1


class TestTies:
    def test_of_sets_that_fit_alike_the_more_frequent_wins(self):
        # Without a weight of frequencies both sets score 5.
        known = KnownLabelSets(((1,), (0,)), (3, 2), frequency_weight=0.0)
        assert known.decode(np.array([[5, 5]])).tolist() == [[False, True]]

    def test_of_equally_frequent_ones_the_one_with_the_first_label(self):
        known = count_label_sets(np.array([[0, 1], [0, 1], [1, 0], [1, 0]], dtype=bool), 0.0)
        assert known.decode(np.array([[5, 5]])).tolist() == [[True, False]]

    def test_a_known_set_wins_over_a_new_one(self):
        known = KnownLabelSets(((0,),), (1,), frequency_weight=0.0)
        assert known.find_best(np.array([[5, 0], [5, 1]])).tolist() == [0, -1]


# Two labels of a tenth of the examples each, always together.
BOTH_OR_NONE = np.array([[0, 0]] * 18 + [[1, 1]] * 2, dtype=bool)


class TestFrequencies:
    def test_a_set_above_chance_wins_over_one_that_fits_a_little_better(self):
        # Both is 0.1/0.01 times as often as by chance, none 0.9/0.81 times: half of ln 9 is 110
        # hundredths.
        known = count_label_sets(BOTH_OR_NONE, 0.5)
        points = np.array([[0, -109], [0, -111]])
        assert known.decode(points).tolist() == [[True, True], [False, False]]

    def test_the_weight_of_frequencies_decides_how_much(self):
        points = np.array([[0, -150]])
        chosen = [
            int(count_label_sets(BOTH_OR_NONE, weight).find_best(points)[0])
            for weight in (0, 0.5, 1)
        ]
        assert chosen == [0, 0, 1]

    @settings(max_examples=50)
    @given(random_generators(), st.sampled_from(WEIGHTS))
    def test_where_labels_are_independent_frequencies_are_worth_nothing(self, rng, weight):
        n_rows, n_columns = rng.integers(1, 4, 2)
        examples = np.array(
            [[a, b] for a in [1] * n_rows + [0] * 2 for b in [1] * n_columns + [0] * 3], dtype=bool
        )
        assert count_label_sets(examples, weight).points.tolist() == [0, 0, 0, 0]


class TestNewSets:
    def test_none_is_expected_where_no_set_was_seen_just_once(self):
        known = count_label_sets(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool))
        assert known.unseen_points is None
        points = np.array([[900, 900], [-900, -900], [900, -900]])
        assert (known.find_best(points) >= 0).all()

    @settings(max_examples=100)
    @given(random_generators(), st.sampled_from(WEIGHTS))
    def test_where_every_set_was_seen_once_a_new_one_counts_as_by_chance(self, rng, weight):
        examples = np.unique(rng.random((6, 4)) < 0.5, axis=0)
        known = count_label_sets(examples, weight)
        assert known.unseen_points == 0
        # So strong a set is predicted, whatever the known ones count.
        strong = np.where(rng.random(4) < 0.5, 2_000, -2_000)
        assert (known.decode(strong[None])[0] == (strong > 0)).all()

    def test_a_new_set_counts_as_the_part_of_examples_that_have_a_set_of_their_own(self):
        # One of four examples has a set of its own: a new set is a quarter as frequent as by chance.
        known = count_label_sets(np.array([[1, 0]] * 3 + [[0, 1]], dtype=bool), 1.0)
        assert known.unseen_points == round(100 * math.log(1 / 4))
        # The first label alone is 4/3 times as frequent, 29 + 139 = 168 hundredths more.
        assert known.find_best(np.array([[500, 168], [500, 169]])).tolist() == [0, -1]
        assert known.decode(np.array([[500, 169]])).tolist() == [[True, True]]

    def test_what_counts_as_new_can_be_known_and_rarer_than_by_chance(self):
        # The first two labels come together, and alone, once in 45 examples: by chance it were ten
        # times. Five sets were seen once, so that a new set is a ninth as frequent as by chance.
        unique = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
        known = count_label_sets(np.array([[1, 0, 0], [0, 1, 0]] * 20 + unique, dtype=bool), 2.0)
        points = np.array([[700, 700, -700]])
        assert known.points[known.sets.index((0, 1))] < known.unseen_points
        assert known.find_best(points).tolist() == [-1]
        assert known.decode(points).tolist() == [[True, True, False]]

    def test_what_is_new_need_not_have_any_label(self):
        known = count_label_sets(np.array([[1, 0], [0, 1]], dtype=bool))
        assert known.find_best(np.array([[-50, -50]])).tolist() == [-1]
        assert known.decode(np.array([[-50, -50]])).tolist() == [[False, False]]


@pytest.fixture(scope="module")
def many():
    """More than a thousand sets, and points to be decoded."""
    rng = np.random.default_rng(0)
    known = count_label_sets(rng.random((3000, 14)) < 0.3)
    assert len(known.sets) > 1000
    return known, rng.integers(-200, 200, (97, 14))


class TestManySets:
    @pytest.mark.parametrize("block", [1, 5_000, 10**9])
    def test_blocks_are_invisible(self, many, block, monkeypatch):
        known, points = many
        expected = [known.find_best(row[None]).item() for row in points]
        assert len(set(expected)) > 10
        monkeypatch.setattr(decoding_module, "_BLOCK_SCORES", block)
        assert known.find_best(points).tolist() == expected

    def test_scores_are_never_held_for_more_rows_than_a_block_has(self, many, monkeypatch):
        known, points = many
        sizes = []
        argmax = np.argmax

        def watch(scores, **options):
            sizes.append(scores.shape)
            return argmax(scores, **options)

        monkeypatch.setattr(decoding_module, "_BLOCK_SCORES", 10 * len(known.sets))
        monkeypatch.setattr(decoding_module.np, "argmax", watch)
        known.find_best(points)
        assert sizes == [(10, len(known.sets))] * 9 + [(7, len(known.sets))]

    def test_no_rows_give_no_rows(self, many):
        known, points = many
        assert known.decode(points[:0]).shape == (0, 14)


class TestParameters:
    @pytest.mark.parametrize("wrong", [0, 1, -0.1, 2, math.nan, math.inf, "0.5", True, [0.5], 0.5j])
    @pytest.mark.parametrize(
        ("kind", "name"), [(EachLabel, "min_probability"), (LabelSets, "min_share")]
    )
    def test_probabilities_and_shares_are_numbers_between_0_and_1(self, kind, name, wrong):
        with pytest.raises(ValueError, match=rf"^{name} must be a number between 0 and 1, got"):
            kind(**{name: wrong})

    def test_no_share_is_the_set_that_fits_best(self):
        assert LabelSets(min_share=None) == LabelSets()

    @pytest.mark.parametrize("name", ["frequency_weight", "silence"])
    @pytest.mark.parametrize(
        "wrong", [-0.1, -1, 1e7, math.nan, math.inf, "0.5", None, True, [0.5], np.complex128(0.5)]
    )
    def test_weights_are_numbers_whose_points_can_be_added(self, name, wrong):
        with pytest.raises(ValueError, match=rf"^{name} must be a number from 0 to 1,000,000, got"):
            LabelSets(**{name: wrong})

    def test_numpys_numbers_are_numbers(self):
        assert LabelSets(np.float32(0.5), np.int64(1)) == LabelSets()
        assert str(EachLabel(np.float64(0.25))) == "any(p > 0.25)"

    def test_a_decoding_by_its_name_or_itself(self):
        assert get_decoding("any") == EachLabel()
        assert get_decoding("label-sets") == LabelSets()
        assert get_decoding(LabelSets(0.1)) == LabelSets(0.1)

    @pytest.mark.parametrize("wrong", ["all", "auto", None, 0.5, ["any"]])
    def test_no_other_name_is_known(self, wrong):
        with pytest.raises(
            ValueError, match=r"^decode must be 'any', 'label-sets', an EachLabel or"
        ):
            get_decoding(wrong)


class TestPoints:
    @given(st.integers(-900, 900))
    def test_a_probability_knows_its_points(self, points):
        # Beyond 1e-4 and 1 - 1e-4 all probabilities count alike.
        assert probability_to_points(points_to_probability(points)) == points

    def test_sure_is_as_sure_as_a_few_thousand_examples_allow(self):
        assert probability_to_points([0.0, 1e-4, 1 - 1e-4, 1.0]).tolist() == [-921, -921, 921, 921]

    def test_a_rule_without_examples_says_what_the_prior_says(self):
        assert confidence_to_points(0, 0, 0.3) == probability_to_points(0.3)

    def test_more_of_the_same_precision_says_more(self):
        points = confidence_to_points(np.array([1, 10, 100]), 0, 0.1)
        assert (np.diff(points) > 0).all()


@pytest.fixture(scope="module")
def data():
    """Three labels of which the second is present in most examples, so that its rules deny it."""
    data = make_planted_rules(150, n_labels=3, noise=0.1, random_state=2)
    Y = data.Y.copy()
    Y.iloc[:, 1] = 1 - Y.iloc[:, 1]
    return data.X, Y


@pytest.fixture(scope="module")
def path(data):
    return theory_path(*data, [MEstimate(4)], n_candidates=300, n_trees=2, random_state=0)


class TestOfFiringRules:
    """Theories without votes that predict label sets."""

    @pytest.mark.parametrize("silence", [0.1, 1.0, 5.0])
    @pytest.mark.parametrize("phi", [1.0, 0.3])
    def test_the_surest_of_the_firing_rules_speaks_for_its_label(self, data, path, phi, silence):
        X, Y = data
        theory = path.theory(0, phi, decoding=LabelSets(0.5, silence))
        assert [label.target_class for label in theory.labels] == [1, 0, 1]
        fires = theory.covers(X)
        n_silent = 0
        for j, label in enumerate(theory.labels):
            sign = 1 if label.target_class else -1
            prior = float((Y[label.name] == label.target_class).mean())
            mine = [r for r, rule in enumerate(theory) if rule.head.label == label.name]
            for scored in theory.rules_of(label.name):
                assert scored.points == confidence_to_points(scored.tp, scored.fp, prior)
            silent = sign * int(probability_to_points(min(silence * prior, 1)))
            assert theory.start_points[j] == silent
            for row, found in enumerate(theory.count_points(X)[:, j].tolist()):
                said = [theory.scored_rules[r].points for r in mine if fires[row, r]]
                n_silent += not said
                assert found == (sign * max(said) if said else silent)
        assert 0 < n_silent < 3 * len(X)

    def test_a_firing_rule_speaks_though_silence_would_say_more(self):
        theory = replace(flu_theory("any"), start_points=(500, -85))
        patients = pd.DataFrame({"fever": [39.0, 37.0], "nose": ["dry", "runs"]})
        assert theory.count_points(patients).tolist() == [[152, -85], [500, 110]]

    def test_it_predicts_the_best_of_the_sets(self, data, path):
        X, Y = data
        counts = oracle.count_sets(Y.to_numpy().tolist())
        for weight in WEIGHTS:
            theory = path.theory(0, 0.5, decoding=LabelSets(weight))
            expected = [oracle.decode(counts, p, weight) for p in theory.count_points(X).tolist()]
            assert to_sets(theory.predict(X).to_numpy()) == expected

    def test_known_sets_are_those_of_the_labels_not_of_their_targets(self, data, path):
        counts = oracle.count_sets(data[1].to_numpy().tolist())
        known = path.label_sets
        assert dict(zip(map(frozenset, known.sets), known.counts, strict=True)) == counts

    def test_rules_and_their_counts_are_the_same_with_and_without_sets(self, path):
        plain, sets = (path.theory(0, 0.5, decoding=d) for d in (EachLabel(), LabelSets()))
        assert list(plain) == list(sets)
        assert all(scored.points is None for scored in plain.scored_rules)
        assert plain.start_points is None
        assert plain.label_sets is None

    def test_without_votes_a_probability_changes_nothing(self, path):
        plain, low = (path.theory(0, 0.5, decoding=d) for d in (EachLabel(), EachLabel(0.1)))
        assert plain == low

    def test_one_class_a_row_is_no_set_of_labels(self, data):
        X, Y = data
        path = theory_path(X, Y.iloc[:, 0].to_numpy(), [MEstimate(4)], n_candidates=50)
        with pytest.raises(ValueError, match="label sets are for multi-label targets; this y has"):
            path.theory(0, decoding=LabelSets())

    def test_an_estimator_that_is_told_so_predicts_known_sets_only_where_none_is_unique(self, data):
        X, Y = data
        twice = np.repeat(np.arange(len(X)), 2)
        fitted = RuleSetClassifier(decode="label-sets", n_candidates=300, random_state=0)
        predicted = fitted.fit(X.iloc[twice], Y.iloc[twice]).predict(X)
        assert set(to_sets(predicted)) <= set(to_sets(Y.to_numpy()))
