"""Weighting: each round takes the rule that lowers the loss most, and a theory counts its votes."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planted_targets import TARGETS, make_three_labels
from reference.rules import coverage
from reference.weighting import MAX_WEIGHT, replay
from steelyard import MEstimate, RuleSetClassifier, theory_path
from steelyard._kernels.weighting import boost_rules
from steelyard.candidates import ForestSettings, generate_candidates
from steelyard.coverage import index_rows
from steelyard.decoding import EachLabel, LabelSets, probability_to_points
from steelyard.features import code_training_table
from steelyard.measures import MEASURES
from steelyard.path import RankedRules
from steelyard.weighting import (
    GREEDY_ROUNDS,
    STEP,
    count_rounds,
    weigh_for_label,
)
from strategies import (
    bodies_to_table,
    body_to_oracle,
    masks,
    random_generators,
    rule_tables,
    table_to_rows,
    tables,
)

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")


def boost(covered, is_positive, l2, n_rounds, sampling=None):
    """The choices (rule, points) and their gains."""
    n_greedy, n_drawn, row_share, seed = sampling or (n_rounds, 0, 0.0, 0)
    rule, points = np.empty((2, n_rounds), dtype=np.int64)
    gain = np.empty(n_rounds)
    n = boost_rules(
        np.packbits(covered, axis=1, bitorder="little"),
        is_positive,
        l2,
        STEP,
        MAX_WEIGHT,
        100,
        n_greedy,
        n_drawn,
        row_share,
        np.uint64(seed),
        rule,
        points,
        gain,
    )
    return list(zip(rule[:n].tolist(), points[:n].tolist(), strict=True)), gain[:n].tolist()


@st.composite
def coverages(draw, max_rows=40, max_rules=10):
    """Which rows random rules cover, and which rows are positive: some but not all."""
    n_rows = draw(st.integers(2, max_rows))
    n_rules = draw(st.integers(1, max_rules))
    rng = draw(random_generators())
    covered = rng.random((n_rules, n_rows)) < rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], (n_rules, 1))
    is_positive = rng.random(n_rows) < rng.choice([0.1, 0.5, 0.9])
    is_positive[rng.permutation(n_rows)[:2]] = True, False
    return covered, is_positive


def check_rounds(covered, is_positive, l2, n_rounds, sampling=None):
    """Every round must do what the oracle says, and the last one must have a reason to be the last.

    Returns the number of rounds.
    """
    choices, gains = boost(covered, is_positive, l2, n_rounds, sampling)
    seen = replay(covered.tolist(), is_positive.tolist(), l2, choices, 100, sampling)
    for judged, (rule, points), gain in zip(seen, choices, gains, strict=False):
        best = max(gain for gain, _ in judged.values())
        assert gain == pytest.approx(judged[rule][0])
        assert gain == pytest.approx(best)
        assert points != 0
        # Half a point may go either way, by the last digit of a sum.
        assert abs(points - 100 * STEP * judged[rule][1]) <= 0.5 + 1e-6
    if len(choices) < n_rounds:
        judged = list(replay(covered.tolist(), is_positive.tolist(), l2, choices, 100, sampling))[
            -1
        ]
        best = max(gain for gain, _ in judged.values())
        weights = [weight for gain, weight in judged.values() if gain == pytest.approx(best)]
        assert min(map(abs, weights)) * 100 * STEP <= 0.5 + 1e-6
    return len(choices)


strengths = st.sampled_from([0.1, 0.5, 2.0, 30.0])


class TestAgainstTheOracle:
    @settings(max_examples=150)
    @given(coverages(), strengths)
    def test_every_round_takes_the_best_rule_with_a_part_of_its_best_weight(self, problem, l2):
        check_rounds(*problem, l2, n_rounds=12)

    @settings(max_examples=100)
    @given(
        coverages(),
        strengths,
        st.integers(0, 4),
        st.integers(1, 12),
        st.sampled_from([0.5, 1.0]),
        st.integers(0, 2**64 - 1),
    )
    def test_later_ones_of_the_rules_and_rows_that_they_draw(
        self, problem, l2, n_greedy, n_drawn, row_share, seed
    ):
        check_rounds(*problem, l2, 12, (n_greedy, n_drawn, row_share, seed))

    def test_it_goes_on_until_no_rule_has_a_point_to_give(self):
        rng = np.random.default_rng(0)
        covered, is_positive = rng.random((6, 30)) < 0.5, rng.random(30) < 0.4
        n_rounds = check_rounds(covered, is_positive, 1.0, 1000)
        assert 6 < n_rounds < 1000

    @pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
    def test_of_rules_that_gain_the_same_the_first_is_taken(self, order):
        covered = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]], dtype=bool)[order]
        ((rule, _),), _ = boost(covered, np.array([True, True, False, False]), 1.0, 1)
        assert rule == np.flatnonzero(covered[:, 1])[0]

    def test_a_rule_that_covers_nothing_or_tells_nothing_gains_nothing(self):
        covered = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]], dtype=bool)
        assert boost(covered, np.array([True, True, False, False]), 1.0, 5) == ([], [])


@st.composite
def problems(draw):
    """Candidates of one label with both classes, and an order of the rows."""
    X = draw(tables(min_rows=4))
    training = code_training_table(X)
    table = draw(rule_tables(training.coded))
    is_present = draw(masks(len(X)))
    is_present[:2] = True, False
    order = np.array(draw(st.permutations(range(len(X)))), dtype=np.int64)
    return X, training, table, is_present, order


def weigh(problem, ms, n_rounds=10, seed=0):
    _, training, table, is_present, order = problem
    return weigh_for_label(table, index_rows(training.coded), is_present, order, ms, n_rounds, seed)


def bodies_of(table, X, training):
    return [body_to_oracle(table.body(i, training.coder), list(X)) for i in range(len(table))]


class TestOfOneLabel:
    # Eight rows, two of them positive; the first rule covers just these.
    X = pd.DataFrame({"x": np.arange(8.0), "y": np.arange(8.0)})
    training = code_training_table(X)
    is_present = np.arange(8) < 2

    def weigh_one(self, m, *bodies):
        problem = (self.X, self.training, bodies_to_table(bodies), self.is_present, np.arange(8))
        return weigh(problem, [m], n_rounds=1)

    @pytest.mark.parametrize("m", [1, 4, 100])
    def test_m_counts_as_many_examples_of_the_prior_distribution(self, m):
        # Each of the two has p = 1/4: G = 2 · 3/4, H = 2 · 3/16; m of them add m · 3/16.
        (votes,) = self.weigh_one(m, [(0, 0, 2)]).votes
        curvature = 2 * 3 / 16 + m * 3 / 16
        assert votes.gain.tolist() == pytest.approx([1.5**2 / curvature])
        assert votes.points.tolist() == [round(100 * STEP * 1.5 / curvature)]

    def test_without_a_prior_a_pure_rule_gets_its_share_of_the_whole_step(self):
        (votes,) = self.weigh_one(0, [(0, 0, 2)]).votes
        assert votes.points.tolist() == [round(100 * STEP * 1.5 / (2 * 3 / 16))]

    def test_a_prior_that_outweighs_all_examples_leaves_no_vote(self):
        (votes,) = self.weigh_one(1e9, [(0, 0, 2)]).votes
        assert len(votes.rule_idx) == len(votes.points) == len(votes.gain) == 0

    def test_a_rule_that_covers_negatives_votes_against(self):
        selection = self.weigh_one(1, [(0, 2, 8)])
        (votes,) = selection.votes
        assert votes.points.tolist() == [round(100 * STEP * -1.5 / (7 * 3 / 16))]
        assert (selection.tp.tolist(), selection.fp.tolist()) == ([0], [6])

    def test_of_rules_with_equal_coverage_the_shortest_votes(self):
        selection = self.weigh_one(1, [(0, 0, 2), (1, 0, 2)], [(1, 0, 2)], [(0, 0, 2)])
        assert selection.table.feature.tolist() == [1]
        assert selection.n_conditions.tolist() == [1]

    @settings(max_examples=60)
    @given(problems(), st.sampled_from([0.5, 4, 64]))
    def test_every_vote_is_the_best_of_all_candidates(self, problem, m):
        X, training, table, is_present, _ = problem
        selection = weigh(problem, [m])
        (votes,) = selection.votes
        bodies = bodies_of(table, X, training) + bodies_of(selection.table, X, training)
        choices = list(zip(len(table) + votes.rule_idx, votes.points.tolist(), strict=True))
        l2 = m * is_present.mean() * (1 - is_present.mean())
        covered = coverage(bodies, table_to_rows(X))
        seen = replay(covered, is_present.tolist(), l2, choices, 100)
        for judged, (rule, points) in zip(seen, choices, strict=False):
            gain, weight = judged[rule]
            assert gain == pytest.approx(max(gain for gain, _ in judged.values()))
            assert abs(points - 100 * STEP * weight) <= 0.5 + 1e-6

    @settings(max_examples=60)
    @given(problems())
    def test_several_ms_at_once_are_several_runs(self, problem):
        ms = [0.5, 4, 64]
        together = weigh(problem, ms)
        for m, votes in zip(ms, together.votes, strict=True):
            alone = weigh(problem, [m])
            for mine, other in zip(votes[1:], alone.votes[0][1:], strict=True):
                assert mine.tolist() == other.tolist()
            chosen = together.table.take(votes.rule_idx)
            expected = alone.table.take(alone.votes[0].rule_idx)
            assert bodies_of(chosen, *problem[:2]) == bodies_of(expected, *problem[:2])

    @settings(max_examples=60)
    @given(problems(), st.sampled_from([5, GREEDY_ROUNDS + 30]))
    def test_counts_are_those_on_all_examples(self, problem, n_rounds):
        X, training, _, is_present, _ = problem
        selection = weigh(problem, [1, 16], n_rounds)
        covered = coverage(bodies_of(selection.table, X, training), table_to_rows(X))
        for mask, tp, fp in zip(covered, selection.tp, selection.fp, strict=True):
            assert tp == (np.array(mask) & is_present).sum()
            assert fp == (np.array(mask) & ~is_present).sum()
        assert selection.n_positives == is_present.sum()
        assert selection.n_negatives == (~is_present).sum()
        # Nothing is there that nobody chose.
        chosen = np.concatenate([votes.rule_idx for votes in selection.votes])
        assert sorted(set(chosen.tolist())) == list(range(len(selection.table)))

    @settings(max_examples=60)
    @given(problems())
    def test_gains_never_rise_so_that_prefixes_of_all_are_prefixes_of_each(self, problem):
        for votes in weigh(problem, [0.5, 16], GREEDY_ROUNDS + 30).votes:
            assert (np.diff(votes.gain) <= 0).all()

    @pytest.mark.parametrize("is_present", [np.zeros(4, bool), np.ones(4, bool), np.arange(4) < 2])
    def test_no_candidates_give_no_votes(self, is_present):
        training = code_training_table(pd.DataFrame({"x": np.arange(4.0)}))
        problem = (None, training, bodies_to_table([]), is_present, np.arange(4))
        selection = weigh(problem, [1, 16])
        assert len(selection.table) == 0
        assert [len(votes.rule_idx) for votes in selection.votes] == [0, 0]


class TestHowMuch:
    def test_labels_can_share_the_rules_unevenly(self):
        assert count_rounds(100, 5) == 60
        assert count_rounds(1, 50) == 15
        assert count_rounds(10_000, 1) == 100


HEURISTICS = [MEstimate(1), MEstimate(16), MEstimate(128)]
PHIS = [1.0, 0.5, 0.2, 0.05]
FOREST = {"n_candidates": 200, "n_trees": 2, "max_depths": (1, 2, 3), "random_state": 4}


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.1)


@pytest.fixture(scope="module", params=[12, 60], ids=["few rules", "many rules"])
def path(request, data):
    """Sampled where there are many."""
    return theory_path(
        *data, HEURISTICS, PHIS, combine="weighted", max_rules=request.param, **FOREST
    )


def cells(path):
    for h, (j, phi) in itertools.product(range(path.shape[0]), enumerate(path.phis)):
        yield h, j, path.theory(h, phi)


class TestTheories:
    @pytest.mark.parametrize("output", TARGETS)
    def test_a_cell_is_what_a_fit_of_its_own_gives(self, data, output):
        X, y = data[0], TARGETS[output](data[1])
        options = {"combine": "weighted", "max_rules": 60, **FOREST}
        path = theory_path(X, y, HEURISTICS, PHIS, **options)
        for heuristic, phi in itertools.product(HEURISTICS, PHIS[:2]):
            fitted = RuleSetClassifier(heuristic, phi, **options).fit(X, y)
            assert fitted.theory_.combine == "weighted"
            assert fitted.theory_ == path.theory(heuristic, phi)

    @pytest.mark.parametrize("combine", ["weighted", "any"])
    @pytest.mark.parametrize(
        ("output", "decoding"),
        [
            *itertools.product(TARGETS, [EachLabel(), EachLabel(0.3)]),
            *itertools.product(["multilabel"], [LabelSets(), LabelSets(0, 0.1), LabelSets(1)]),
        ],
        ids=str,
    )
    def test_cells_predict_what_their_theories_predict(self, data, output, combine, decoding):
        X, y = data[0], TARGETS[output](data[1])
        path = theory_path(X, y, HEURISTICS, PHIS, combine=combine, max_rules=60, **FOREST)
        seen = set()
        for h, j, predicted in path.predict_cells(X, decoding):
            theory = path.theory(h, path.phis[j], decoding=decoding)
            assert predicted.tolist() == theory.predict(X).to_numpy().tolist()
            seen.add((h, j))
        assert seen == set(itertools.product(range(3), range(4)))

    @pytest.mark.parametrize("decoding", [EachLabel(), EachLabel(0.3), LabelSets()], ids=str)
    def test_measures_are_those_of_the_predictions(self, data, path, decoding):
        X, Y = data
        measures = list(MEASURES.values())
        values = path.evaluate(X, Y, measures, decoding)
        for h, j, predicted in path.predict_cells(X, decoding):
            for measure in measures:
                assert values[measure.name][h, j] == pytest.approx(measure(Y, predicted))

    def test_points_are_the_start_and_every_firing_vote(self, data, path):
        X, Y = data
        prior = Y.mean().to_numpy()
        for _, _, theory in cells(path):
            assert list(theory.start_points) == probability_to_points(prior).tolist()
            fires = theory.covers(X)
            expected = np.tile(theory.start_points, (len(X), 1))
            for r, scored in enumerate(theory.scored_rules):
                sign = 1 if scored.rule.head.target_class else -1
                label = theory.label_names.index(scored.rule.head.label)
                expected[:, label] += sign * scored.points * fires[:, r]
            assert theory.count_points(X).tolist() == expected.tolist()

    def test_a_lower_probability_starts_every_label_higher(self, path):
        half, low = (path.theory(0, 1.0, decoding=EachLabel(p)) for p in (0.5, 0.2))
        raised = np.subtract(low.start_points, half.start_points)
        assert raised.tolist() == [round(100 * math.log(4))] * 3
        assert half.scored_rules == low.scored_rules

    def test_a_rule_is_counted_for_its_own_head(self, data, path):
        X, Y = data
        heads = set()
        for _, _, theory in cells(path):
            fires = theory.covers(X)
            for r, scored in enumerate(theory.scored_rules):
                head = scored.rule.head
                is_right = Y[head.label].to_numpy() == head.target_class
                assert scored.tp == (fires[:, r] & is_right).sum()
                assert scored.fp == (fires[:, r] & ~is_right).sum()
                heads.add(head.target_class)
        assert heads == {0, 1}

    def test_every_rule_stands_once_and_has_points_for_its_head(self, path):
        for h, j, theory in cells(path):
            assert all(scored.points > 0 for scored in theory.scored_rules)
            bodies = [(rule.head.label, rule.body) for rule in theory]
            assert len(set(bodies)) == len(bodies)
            assert len(theory) == path.n_rules[h, j]
            assert theory.n_conditions == path.total_conditions[h, j]

    def test_a_rule_whose_votes_cancel_is_no_rule_and_is_not_counted(self, path):
        best = path.ranked[0]
        again = RankedRules(
            np.append(best.rule_idx, best.rule_idx[0]),
            np.append(best.values, best.values[-1] / 2),
            np.append(best.new_tp, 0),
            np.append(best.new_fp, 0),
            np.append(best.points, -best.points[best.rule_idx == best.rule_idx[0]].sum()),
        )
        taken_back = replace(path, ranked=(again, *path.ranked[1:]))
        whole, rest = path.theory(0), taken_back.theory(0)
        assert len(rest) == len(whole) - 1
        assert set(rest) < set(whole)
        assert taken_back.n_rules[0, 0] == len(rest)
        assert taken_back.total_conditions[0, 0] == rest.n_conditions

    @pytest.mark.parametrize("max_rules", [1, 2, 7, 30, 300])
    def test_there_are_never_more_rules_than_allowed(self, data, max_rules):
        path = theory_path(
            *data, HEURISTICS, PHIS, combine="weighted", max_rules=max_rules, **FOREST
        )
        assert path.n_rules.max() <= max_rules
        assert all(len(theory) <= max_rules for _, _, theory in cells(path))
        if max_rules <= 30:
            assert path.n_rules.max() == max_rules

    def test_a_smaller_share_is_a_part_of_a_larger_one(self, path):
        for h in range(3):
            of_label = [
                [votes for _, votes in sorted(self.votes_by_label(path, h, n).items())]
                for n in sorted(path.n_kept[h])
            ]
            for few, many in itertools.pairwise(of_label):
                for short, long in zip(few, many, strict=True):
                    assert long[: len(short)] == short

    def votes_by_label(self, path, h, n_kept):
        ranked = path.ranked[h]
        votes = {label: [] for label in range(3)}
        for rule, points in zip(ranked.rule_idx[:n_kept], ranked.points[:n_kept], strict=True):
            votes[int(path.label_of_rule[rule])].append((int(rule), int(points)))
        return votes


class TestReproducibility:
    OPTIONS = FOREST | {"combine": "weighted", "max_rules": 60}

    def fit(self, data, **options):
        return RuleSetClassifier(MEstimate(4), **(self.OPTIONS | options)).fit(*data).theory_

    def test_rounds_are_sampled_here(self, data):
        path = theory_path(*data, [MEstimate(4)], **self.OPTIONS)
        label_of_vote = path.label_of_rule[path.ranked[0].rule_idx]
        assert np.bincount(label_of_vote).max() > GREEDY_ROUNDS

    def test_the_first_votes_do_not_depend_on_the_seed_of_samples(self):
        rng = np.random.default_rng(0)
        covered, is_positive = rng.random((40, 60)) < 0.4, rng.random(60) < 0.4
        one, two = (boost(covered, is_positive, 1.0, 30, (20, 4, 0.5, seed))[0] for seed in (0, 1))
        assert one[:20] == two[:20]
        assert one[20:] != two[20:]

    @pytest.mark.parametrize("entropy", [2**64 + 3, 2**70 + 3])
    def test_a_seed_of_any_size_is_a_seed(self, data, entropy):
        X, Y = data
        training = code_training_table(X)
        (table, *_) = generate_candidates(
            training, Y.to_numpy(dtype=bool).T, ForestSettings(100), entropy
        )
        problem = (X, training, table, Y.to_numpy(dtype=bool)[:, 0], np.arange(len(X)))
        one, two, other = (
            weigh(problem, [1], 40, seed).votes[0].points.tolist() for seed in (entropy, 3, 4)
        )
        assert len(one) > GREEDY_ROUNDS
        assert one == two
        assert one[:GREEDY_ROUNDS] == other[:GREEDY_ROUNDS]
        assert one != other

    def test_the_seed_decides(self, data):
        theory = self.fit(data)
        assert theory.to_json() == self.fit(data).to_json()
        assert theory != self.fit(data, random_state=5)

    def test_the_number_of_workers_does_not(self, data):
        assert self.fit(data, n_jobs=1).to_json() == self.fit(data, n_jobs=2).to_json()

    @pytest.mark.parametrize("seed", range(3))
    def test_nor_does_the_order_of_the_rows(self, data, seed):
        X, Y = data
        order = np.random.default_rng(seed).permutation(len(X))
        assert self.fit((X.iloc[order], Y.iloc[order])) == self.fit(data)

    def test_nor_do_the_labels_beside_a_label(self, data):
        X, Y = data
        own = FOREST | {"n_candidates": 1}  # one pass, however many labels share the number
        other = Y.copy()
        other.iloc[:, 2] = 1 - Y.iloc[::-1, 2].to_numpy()
        paths = [
            theory_path(X, labels, [MEstimate(4)], combine="weighted", max_rules=900, **own)
            for labels in (Y, other)
        ]
        for name in Y.columns[:2]:
            one, two = (path.theory(0).rules_of(name) for path in paths)
            assert len(one) > 0
            assert one == two


class TestNothingToDo:
    @pytest.mark.parametrize("value", [0, 1])
    @pytest.mark.parametrize("decode", ["any", "label-sets"])
    def test_a_label_of_one_class_has_no_rule_and_is_predicted_as_it_is(self, data, value, decode):
        X, Y = data
        Y = Y.assign(constant=value)
        fitted = RuleSetClassifier(combine="weighted", decode=decode, **FOREST).fit(X, Y)
        assert fitted.theory_.rules_of("constant") == ()
        assert len(fitted.theory_) > 0
        assert (fitted.predict(X)[:, 3] == value).all()

    @pytest.mark.parametrize("decode", ["any", "label-sets"])
    def test_a_table_that_tells_nothing_apart_predicts_the_majority(self, decode):
        X = pd.DataFrame({"x": np.ones(10)})
        Y = pd.DataFrame({"rare": [1] + [0] * 9, "common": [1] * 8 + [0] * 2})
        fitted = RuleSetClassifier(combine="weighted", decode=decode, **FOREST).fit(X, Y)
        assert len(fitted.theory_) == 0
        assert (fitted.predict(X) == [0, 1]).all()

    def test_one_class_for_all_is_predicted_for_all(self, data):
        fitted = RuleSetClassifier(combine="weighted", **FOREST).fit(data[0], ["only"] * 120)
        assert len(fitted.theory_) == 0
        assert set(fitted.predict(data[0])) == {"only"}

    def test_only_the_m_estimate_knows_a_prior(self, data):
        fitted = RuleSetClassifier("wra", combine="weighted", **FOREST)
        with pytest.raises(
            ValueError, match=r"weighs rules by the m-estimate's m; it knows no wra"
        ):
            fitted.fit(*data)
