"""Combiners: scores and predictions of every theory are those of a slow oracle in exact numbers."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from reference import decoding as set_oracle
from reference import prediction as oracle
from steelyard.model.combiners import COMBINERS, AnyRule, FirstRule, StrongestVote, SumOfVotes
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BestLabel
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from strategies import body_to_oracle, table_to_rows
from theories import PAIRS, flu_theory, random_cases


def plain_rules(theory):
    """Labels and rules as the oracle reads them."""
    names = [feature.name for feature in theory.features]
    rules = [
        (
            theory.label_names.index(scored.head.label),
            scored.head.target_class,
            body_to_oracle(scored.body, names),
            scored.tp,
            scored.fp,
            scored.points,
        )
        for scored in theory
    ]
    labels = [
        (label.target_class, label.uncovered_positives, label.uncovered_negatives)
        for label in theory.labels
    ]
    return rules, labels


def oracle_scores(theory, X):
    rules, labels = plain_rules(theory)
    combiner = theory.combiner
    score, *more = {
        "any-rule": lambda: (oracle.score_any_rule,),
        "first-rule": lambda: (oracle.score_first_rule, combiner.order),
        "strongest-vote": lambda: (oracle.score_strongest_vote, combiner.start),
        "sum-of-votes": lambda: (oracle.score_sum_of_votes, combiner.start),
    }[combiner.name]()
    return [score(row, rules, labels, *more) for row in table_to_rows(X.astype({"switch": str}))]


def oracle_choice(theory, scores):
    """The labels that the oracle predicts for one row of scores, as a set."""
    decoder = theory.decoder
    if decoder.name == "each-label":
        n_labels, threshold = len(scores), decoder.threshold
        thresholds = threshold if isinstance(threshold, tuple) else [threshold] * n_labels
        is_vote = theory.combiner.gives_log_odds
        cuts = [oracle.probability_to_points(t) if is_vote else 0 for t in thresholds]
        return oracle.choose_each(scores, cuts)
    if decoder.name == "best-label":
        return oracle.choose_best(scores)
    counts = dict(zip(map(frozenset, decoder.known.sets), decoder.known.counts, strict=True))
    if decoder.name == "best-label-set":
        return set_oracle.decode(counts, scores, decoder.frequency_weight, decoder.new_sets)
    if decoder.name == "best-f1":
        expected = set_oracle.expected_f1(counts, scores, decoder.frequency_weight)
        return max(expected, key=expected.get)  # the smallest of equals, which come first
    shares = set_oracle.share_votes(counts, scores, decoder.frequency_weight)
    needed = Fraction(round(1000 * decoder.threshold), 1000)
    return frozenset(j for j, share in enumerate(shares) if share > needed)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
class TestAgainstTheOracle:
    def test_scores_are_those_of_the_firing_rules(self, pair):
        for theory, X in random_cases(*pair):
            found, expected = theory.evaluate(X).scores, oracle_scores(theory, X)
            if theory.combiner.name == "first-rule":  # the oracle only says who is first
                assert ((found > 0) == (np.array(expected) > 0)).all()
            elif theory.combiner.gives_log_odds:
                assert found.tolist() == expected
            else:
                np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-12)

    def test_labels_are_those_that_follow_from_exact_scores(self, pair):
        for theory, X in random_cases(*pair):
            found = [frozenset(np.flatnonzero(row)) for row in theory.evaluate(X).is_present]
            assert found == [oracle_choice(theory, row) for row in oracle_scores(theory, X)]

    def test_rules_may_be_added_to_a_tally_in_parts(self, pair):
        for theory, X in random_cases(*pair):
            combiner, labels = theory.combiner, theory.labels
            bits, n_rows = theory._coded.cover(X)
            tally = np.full((len(labels), n_rows), combiner.empty)
            for part in np.array_split(np.arange(len(theory)), 3):
                combiner.kernel(bits, part, theory._label_of_rule, theory._strength[part], tally)
            scores = combiner.finish_tally(
                tally,
                np.array([label.silent_score for label in labels]),
                np.array([2 * label.target_class - 1 for label in labels]),
            )
            assert scores.T.tolist() == theory.evaluate(X).scores.tolist()

    def test_probabilities_grow_with_scores(self, pair):
        for theory, X in random_cases(*pair):
            scores = np.sort(theory.evaluate(X).scores, axis=0)
            probabilities = theory.combiner.to_probability(scores)
            assert ((probabilities > 0) & (probabilities < 1)).all()
            assert (np.diff(probabilities, axis=0) >= 0).all()
            assert ((probabilities > 0.5) == (scores > 0)).all()


def season_theory(target_classes=(1, 0), **options):
    """Two labels: `warm` if x ≥ 1 or c = red, `dry` (by default its absence) if x < 3."""
    labels = tuple(
        Label(name, t, 4, 6, 1, 5) for name, t in zip(("warm", "dry"), target_classes, strict=True)
    )
    bodies = {
        ("warm", 1, Condition("x", "≥", 1)): (3, 1),
        ("warm", 1, Condition("c", "=", "red")): (1, 0),
        ("dry", target_classes[1], Condition("x", "<", 3)): (3, 1),
    }
    rules = tuple(
        ScoredRule(Rule(Head(name, t), (condition,)), Evidence(*counts), 0.75)
        for (name, t, condition), counts in bodies.items()
    )
    return Theory((Feature("x"), Feature("c", ("blue", "red"))), labels, rules, **options)


class TestByHand:
    def test_any_firing_rule_gives_a_label_its_target_class(self):
        X = pd.DataFrame({"x": [0.0, 1.0, 3.0, np.nan], "c": ["red", "blue", "blue", None]})
        predicted = season_theory().predict(X).to_numpy().tolist()
        assert predicted == [[1, 0], [1, 0], [1, 1], [0, 1]]

    def test_the_most_precise_firing_rule_scores(self):
        # Silent labels: one of six uncovered examples is positive, (1 + 1)/(6 + 2) - 1 = -3/4.
        X = pd.DataFrame({"x": [0.0, 1.0, 5.0, 5.0], "c": ["red", "blue", "red", None]})
        warm = [2 / 3, 4 / 6, max(4 / 6, 2 / 3), 4 / 6]
        dry = [-4 / 6, -4 / 6, 3 / 4, 3 / 4]
        scores = season_theory().decision_function(X)
        np.testing.assert_allclose(scores, np.column_stack([warm, dry]))

    def test_the_best_supported_class_wins_among_several(self):
        theory = season_theory((1, 1), decoder=BestLabel(), classes=("summer", "desert"))
        X = pd.DataFrame({"x": [0.0, 2.0, 9.0], "c": ["blue", "blue", "blue"]})
        # x = 2 fires for both with equal support: the first class.
        assert theory.predict(X).tolist() == ["desert", "summer", "summer"]

    @pytest.mark.parametrize(
        ("order", "expected"),
        [((0, 1), ["desert", "summer", "desert"]), ((1, 0), ["desert", "desert", "summer"])],
    )
    def test_the_first_label_with_a_firing_rule_wins_or_else_the_last(self, order, expected):
        classes = ("summer", "desert")
        theory = season_theory(
            (1, 1), combiner=FirstRule(order), decoder=BestLabel(), classes=classes
        )
        X = pd.DataFrame({"x": [0.0, 2.0, np.nan], "c": ["blue", "blue", "blue"]})
        assert theory.predict(X).tolist() == expected

    def test_a_firing_rule_replaces_the_start_even_if_the_start_says_more(self):
        theory = flu_theory("strongest-vote")
        combiner = StrongestVote((500, -85))
        theory = Theory(theory.features, theory.labels, theory.rules, combiner, theory.decoder)
        patients = pd.DataFrame({"fever": [39.0, 37.0], "nose": ["dry", "runs"]})
        assert theory.evaluate(patients).scores.tolist() == [[152, -85], [500, 110]]

    def test_votes_are_added_to_the_start_and_those_for_absence_are_subtracted(self):
        patients = pd.DataFrame({"fever": [39.0, 37.0], "nose": ["runs", "dry"]})
        scores = flu_theory().evaluate(patients).scores
        assert scores.tolist() == [[-120 + 152 - 30, -85 + 110], [-120, -85]]


class TestProbabilities:
    def test_a_firing_rule_decides_whatever_its_precision(self):
        assert AnyRule().from_probability(0.5) == 0
        with pytest.raises(ValueError, match=r"a threshold of 0\.3 needs rules that vote"):
            AnyRule().from_probability(0.3)

    @pytest.mark.parametrize("combiner", [StrongestVote((0,)), SumOfVotes((0,))], ids=str)
    def test_points_and_probabilities_fit_together(self, combiner):
        for probability in (0.2, 0.5, 0.9):
            points = combiner.from_probability(probability)
            assert type(points) is int
            assert combiner.to_probability(points) == pytest.approx(probability, abs=0.005)


def test_every_combiner_is_listed_under_its_name():
    assert {name: kind.name for name, kind in COMBINERS.items()} == {n: n for n in COMBINERS}
    assert set(COMBINERS) == {combiner for combiner, _ in PAIRS}
