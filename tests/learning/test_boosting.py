"""Boosting: rules of a label are grown for what the ones before them left over."""

import _thread
import functools
import itertools
import math
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boosting_problems import problems, store_dense, to_oracle
from planted_targets import make_three_labels
from reference import weighting as oracle
from reference.rules import coverage
from reference.weighting import Options, count_ends
from steelyard._kernels.boosting import boost_rules
from steelyard.learning.boosted_rules import REUSE, share_rules
from steelyard.learning.boosting import STEP, Budget, LabelTask, finish_label, grow_label
from steelyard.learning.settings import BoostingSettings
from steelyard.learning.training_table import code_training_table
from steelyard.model.coverage import index_rows
from strategies import (
    body_to_oracle,
    table_to_rows,
)


@st.composite
def runs(draw):
    """A problem and options: bags smaller and larger than the table, room that fills up or does not."""
    problem = draw(problems())
    return problem, Options(
        bag_size=draw(st.integers(1, 2 * len(problem[0]))),
        n_drawn=draw(st.integers(1, 4)),
        n_tries=draw(st.integers(1, 3)),
        l2=draw(st.sampled_from([1e-9, 0.1, 0.5, 2.0, 30.0])),
        reuse=draw(st.sampled_from([math.inf, 0.7, 1.0])),
        seed=draw(st.integers(0, 2**64 - 1)),
        n_rounds=draw(st.integers(1, 20)),
        most_rules=draw(st.integers(1, 8)),
        most_conditions=draw(st.integers(1, 4)),
        step=draw(st.sampled_from([0.3, 1.0])),
    )


def boost(coded, is_present, order, options):
    """What the kernel does: the choices (rule, points, gain), and the bodies of the rules."""
    rule, points = np.empty((2, options.n_rounds), dtype=np.int64)
    gain = np.empty(options.n_rounds)
    length = np.empty(options.most_rules, dtype=np.int64)
    body = np.empty((options.most_rules, options.most_conditions, 3), dtype=np.int32)
    n_choices, n_rules, _ = boost_rules(
        coded,
        is_present,
        order,
        options.bag_size,
        options.n_drawn,
        options.n_tries,
        options.l2,
        options.step,
        options.max_weight,
        options.points_per_log_odd,
        options.reuse,
        np.uint64(options.seed),
        rule,
        points,
        gain,
        length,
        body,
        np.empty(options.most_rules, dtype=np.uint64),
        np.empty(options.most_rules, dtype=np.uint8),
        np.flatnonzero(coded.n_codes > 1).astype(np.int64),
        np.full(len(is_present), np.log(is_present.sum() / (~is_present).sum())),
    )
    choices = np.column_stack([rule, points, gain]).tolist()[:n_choices]
    bodies = [list(map(tuple, body[r, : length[r]].tolist())) for r in range(n_rules)]
    return [(int(rule), int(points), gain) for rule, points, gain in choices], bodies


def replay(problem, options):
    """What the oracle does."""
    X, training, is_present, order = problem
    return oracle.boost(to_oracle(X, training), is_present.tolist(), order.tolist(), options)


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.1)


class TestAgainstTheOracle:
    @settings(max_examples=300)
    @given(runs())
    def test_every_round_grows_chooses_and_weighs_as_the_oracle_does(self, run):
        problem, options = run
        assert boost(problem[1].coded, *problem[2:], options) == replay(problem, options)

    def test_an_example_that_is_surely_and_wrongly_predicted_is_worth_a_rule(self):
        # A positive that is like every group of negatives in one feature: when all groups have been
        # voted down, its gradient is 1 and its curvature rounds to 0. Its z tells it from all others.
        n_groups, size = 14, 8
        groups = np.repeat(np.eye(n_groups), size, axis=0)
        X = pd.DataFrame(np.vstack([np.ones(n_groups), groups, np.zeros_like(groups)]))
        X["z"] = np.arange(len(X)) > 0
        X = X.astype(float)
        is_present = np.r_[True, np.zeros(len(groups), bool), np.ones(len(groups), bool)]
        problem = X, code_training_table(X), is_present, np.arange(len(X))
        options = Options(len(X), 4, 2, 0.1, math.inf, 0, 60, 60, 1, step=1.0, max_weight=1.0)
        choices, bodies = boost(problem[1].coded, *problem[2:], options)
        gains = [gain for rule, _, gain in choices if bodies[rule] == [(n_groups, 0, 1)]]
        assert max(gains) == 2 - options.l2
        assert (choices, bodies) == replay(problem, options)

    def test_it_goes_on_until_no_rule_has_a_point_to_give(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"x": rng.integers(0, 2, 30), "y": rng.integers(0, 3, 30)})
        problem = X, code_training_table(X), rng.random(30) < 0.4, np.arange(30)
        options = Options(30, 2, 3, 1.0, 0.7, 0, 1000, 4, 2)
        choices, bodies = boost(problem[1].coded, *problem[2:], options)
        assert (choices, bodies) == replay(problem, options)
        assert len(bodies) < len(choices) < 1000

    def test_it_can_be_interrupted(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.random((2000, 20)))
        options = Options(2000, 20, 50, 1.0, math.inf, 0, 10_000, 10_000, 5)  # takes minutes
        threading.Timer(0.1, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            boost(code_training_table(X).coded, rng.random(2000) < 0.4, np.arange(2000), options)


class TestARun:
    @settings(max_examples=60)
    @given(runs())
    def test_does_not_depend_on_how_a_feature_is_stored(self, run):
        (_, training, *label), options = run
        stored = training.coded, store_dense(training.coded)
        one, two = (boost(coded, *label, options) for coded in stored)
        assert one == two

    @settings(max_examples=60)
    @given(runs(), st.randoms(use_true_random=False))
    def test_does_not_depend_on_where_a_row_stands(self, run, random):
        (X, training, is_present, order), options = run
        moved = list(range(len(X)))
        random.shuffle(moved)
        coded = code_training_table(X.iloc[moved]).coded
        same_order = np.argsort(moved)[order]
        assert boost(coded, is_present[moved], same_order, options) == boost(
            training.coded, is_present, order, options
        )

    @settings(max_examples=60)
    @given(runs())
    def test_never_raises_a_known_rule_where_there_is_no_reuse(self, run):
        (_, training, *label), options = run
        choices, bodies = boost(training.coded, *label, options._replace(reuse=math.inf))
        assert [rule for rule, _, _ in choices] == list(range(len(bodies)))

    @settings(max_examples=60)
    @given(runs())
    def test_keeps_to_its_room(self, run):
        (_, training, *label), options = run
        choices, bodies = boost(training.coded, *label, options)
        assert len(choices) <= options.n_rounds
        assert len(bodies) <= options.most_rules
        assert all(1 <= len(body) <= options.most_conditions for body in bodies)
        # Rules are numbered as they come.
        seen = list(dict.fromkeys(rule for rule, _, _ in choices))
        assert seen == list(range(len(bodies)))

    @pytest.mark.parametrize(("most_rules", "n_rules"), [(1, 1), (2, 2), (5, 2)])
    def test_goes_on_with_known_rules_when_it_has_no_room_for_new_ones(self, most_rules, n_rules):
        # One feature of two values has two rules to give.
        X = pd.DataFrame({"x": [0.0, 1.0] * 10})
        is_present = np.arange(20) % 5 < 2
        is_present[:6] = False
        options = Options(20, 1, 4, 1.0, 1.0, 0, 12, most_rules, 3)
        choices, bodies = boost(code_training_table(X).coded, is_present, np.arange(20), options)
        assert len(bodies) == n_rules
        assert len(choices) > n_rules


# Settings of a label's run where a test has no others.
GROWN = {"n_tries": 2, "max_conditions": 3, "max_features": 2, "sample_fraction": 1.0}
SCARCE = Budget(5, 12, REUSE)
MANY = Budget(12, 12, math.inf)
budgets = st.sampled_from([SCARCE, MANY])


def weigh(problem, ms, budget=SCARCE, seed=0, **options):
    _, training, is_present, order = problem
    grown = BoostingSettings(**(GROWN | options))
    index = index_rows(training.coded)
    label = LabelTask(is_present, order)
    of_ms = [grow_label(index, m, grown, seed, budget, label) for m in ms]
    return finish_label(index, ms, grown, None, label, of_ms)


def bodies_of(table, X, training):
    return [body_to_oracle(table.body(i, training.coder), list(X)) for i in range(len(table))]


class TestOfOneLabel:
    # Eight rows, of which the first two are positive.
    X = pd.DataFrame({"x": np.arange(8.0), "y": np.arange(8.0)})

    def weigh_first(self, m, X=X):
        """The best rule of one condition, after as many tries as it takes to find it."""
        problem = X, code_training_table(X), np.arange(len(X)) < 2, np.arange(len(X))
        selection = weigh(problem, [m], Budget(1, 1, math.inf), max_conditions=1, n_tries=50)
        return selection, bodies_of(selection.table, *problem[:2]), selection.choices[0]

    @pytest.mark.parametrize("m", [1, 4, 100])
    def test_m_counts_as_many_examples_of_the_prior_distribution(self, m):
        # Each of the two has p = 1/4: G = 2 · 3/4, H = 2 · 3/16; m of them add m · 3/16.
        selection, (((_, operator, value),),), votes = self.weigh_first(m)
        assert (operator, value) == ("<", 1.5)
        curvature = 2 * 3 / 16 + m * 3 / 16
        assert votes.gain.tolist() == pytest.approx([1.5**2 / curvature])
        assert votes.points.tolist() == [round(100 * STEP * 1.5 / curvature)]
        assert (selection.tp.tolist(), selection.fp.tolist()) == ([2], [0])

    def test_without_a_prior_a_pure_rule_gets_its_share_of_the_whole_step(self):
        _, _, votes = self.weigh_first(0)
        assert votes.points.tolist() == [round(100 * STEP * 1.5 / (2 * 3 / 16))]

    def test_but_no_more_than_four_log_odds_of_it(self):
        # Two of 20: the best weight would be (2 · 9/10) / (2 · 9/100) = 10.
        _, _, votes = self.weigh_first(0, pd.DataFrame({"x": np.arange(20.0)}))
        assert votes.points.tolist() == [round(100 * STEP * 4)]
        assert votes.gain.tolist() == pytest.approx([2 * 1.8 * 4 - 0.18 * 4**2])

    def test_a_prior_that_outweighs_all_examples_leaves_no_vote(self):
        selection, _, votes = self.weigh_first(1e9)
        assert len(votes.rule_idx) == len(votes.points) == len(votes.gain) == 0
        assert len(selection.table) == 0

    def test_a_rule_that_covers_negatives_votes_against(self):
        # Nothing is known of the positives, so that no condition covers them.
        X = pd.DataFrame({"x": [np.nan, np.nan, 0, 0, 0, 1, 1, 1]})
        selection, _, votes = self.weigh_first(1, X)
        assert votes.points.tolist() == [round(100 * STEP * -0.75 / (4 * 3 / 16))]
        assert (selection.tp.tolist(), selection.fp.tolist()) == ([0], [3])

    @settings(max_examples=100)
    @given(problems(), st.sampled_from([0, 0.5, 4, 64]), budgets, st.sampled_from([0.4, 1.0, 1.7]))
    def test_votes_are_those_of_the_oracle(self, problem, m, budget, share):
        X, training, is_present, _ = problem
        selection = weigh(problem, [m], budget, seed=5, sample_fraction=share)
        (votes,) = selection.choices
        prior = is_present.mean()
        options = Options(
            bag_size=max(1, round(share * len(X))),
            n_drawn=2,
            n_tries=2,
            l2=max(m, 1e-9) * prior * (1 - prior),
            reuse=budget.reuse,
            seed=5,
            n_rounds=budget.n_choices,
            most_rules=budget.n_rules,
            most_conditions=3,
            step=STEP,
        )
        choices, bodies = replay(problem, options)
        assert votes.points.tolist() == [points for _, points, _ in choices]
        assert votes.gain.tolist() == list(itertools.accumulate([g for _, _, g in choices], min))
        # Rules of equal coverage stand once, as the shortest of them.
        table = to_oracle(X, training)
        shortest = {}
        for body in bodies:
            covered = tuple(oracle.covers(body, table, row) for row in range(len(X)))
            shortest[covered] = min(count_ends(body, table), shortest.get(covered, 9))
        mine = [*map(tuple, coverage(bodies_of(selection.table, X, training), table_to_rows(X)))]
        assert len(set(mine)) == len(mine)
        assert dict(zip(mine, selection.n_conditions.tolist(), strict=True)) == shortest
        for rule, (other, _, _) in zip(votes.rule_idx, choices, strict=True):
            assert list(mine[rule]) == [
                oracle.covers(bodies[other], table, row) for row in range(len(X))
            ]

    @settings(max_examples=100)
    @given(problems(), budgets)
    def test_several_ms_at_once_are_several_runs(self, problem, budget):
        ms = [0.5, 4, 64]
        together = weigh(problem, ms, budget)
        for m, votes in zip(ms, together.choices, strict=True):
            alone = weigh(problem, [m], budget)
            for mine, other in zip(votes[1:], alone.choices[0][1:], strict=True):
                assert mine.tolist() == other.tolist()
            chosen = together.table.take(votes.rule_idx)
            expected = alone.table.take(alone.choices[0].rule_idx)
            assert bodies_of(chosen, *problem[:2]) == bodies_of(expected, *problem[:2])

    @settings(max_examples=60)
    @given(problems(), budgets)
    def test_counts_are_those_on_all_examples(self, problem, budget):
        X, training, is_present, _ = problem
        selection = weigh(problem, [1, 16], budget)
        covered = coverage(bodies_of(selection.table, X, training), table_to_rows(X))
        for mask, tp, fp in zip(covered, selection.tp, selection.fp, strict=True):
            assert tp == (np.array(mask) & is_present).sum()
            assert fp == (np.array(mask) & ~is_present).sum()
        # Nothing is there that nobody chose.
        chosen = np.concatenate([votes.rule_idx for votes in selection.choices])
        assert sorted(set(chosen.tolist())) == list(range(len(selection.table)))

    @settings(max_examples=60)
    @given(problems(), budgets)
    def test_gains_never_rise_so_that_prefixes_of_all_are_prefixes_of_each(self, problem, budget):
        for votes in weigh(problem, [0.5, 16], budget).choices:
            assert (np.diff(votes.gain) <= 0).all()

    @settings(max_examples=60)
    @given(problems(), st.randoms(use_true_random=False))
    def test_a_feature_of_one_value_is_never_drawn(self, problem, random):
        X, training, *label = problem
        wider = X.copy()
        for i, value in enumerate([7.0, np.nan, "red", None]):
            constant = pd.Series([value] * len(X), dtype=float if i < 2 else object)
            constant[: random.choice([0, 1])] = None  # missing is no value
            wider.insert(random.randrange(wider.shape[1] + 1), f"constant {i}", constant)
        with_constants = wider, code_training_table(wider), *label
        one, two = (weigh(p, [4], max_features=0.5) for p in (problem, with_constants))
        for mine, other in zip(one.choices[0], two.choices[0], strict=True):
            assert mine.tolist() == other.tolist()
        for i in range(len(one.table)):
            other = two.table.body(i, with_constants[1].coder)
            assert one.table.body(i, training.coder) == other

    def test_several_conditions_on_a_feature_are_one_interval(self):
        X = pd.DataFrame({"x": np.arange(12.0)})
        training = code_training_table(X)
        is_present = (np.arange(12) >= 4) & (np.arange(12) < 7)
        problem = X, training, is_present, np.arange(12)
        selection = weigh(problem, [1], max_conditions=4, n_tries=50, budget=Budget(1, 1, math.inf))
        assert [str(c) for c in selection.table.body(0, training.coder)] == ["3.5 ≤ x < 6.5"]
        assert selection.table.feature.tolist() == [0]
        assert selection.n_conditions.tolist() == [2]

    @settings(max_examples=60)
    @given(problems(), st.integers(1, 4))
    def test_a_rule_has_no_more_conditions_than_the_limit(self, problem, limit):
        selection = weigh(problem, [0.5, 16], max_conditions=limit)
        assert selection.n_conditions.max(initial=0) <= limit
        for first, last in itertools.pairwise(selection.table.indptr):
            features = selection.table.feature[first:last].tolist()
            assert 1 <= len(features) == len(set(features))

    @pytest.mark.parametrize(("limit", "most"), [(None, 20), (7, 7), (24, 24)])
    def test_no_limit_is_a_limit_of_twenty(self, limit, most):
        # Positives have 1 everywhere, most negatives 0, and the others a 0 on one feature each: every
        # condition takes a few of them away.
        lacking = np.repeat(1 - np.eye(30), 4, axis=0)
        X = pd.DataFrame(np.vstack([np.ones((60, 30)), lacking, np.zeros((300, 30))]))
        X.columns = [f"x{j}" for j in range(30)]
        problem = X, code_training_table(X), np.arange(480) < 60, np.arange(480)
        selection = weigh(problem, [1], max_conditions=limit, max_features=1.0)
        assert selection.n_conditions.max() == most

    @pytest.mark.parametrize("is_present", [np.zeros(4, bool), np.ones(4, bool), np.arange(4) < 2])
    @pytest.mark.parametrize("values", [np.arange(4.0), np.ones(4), np.full(4, np.nan)], ids=str)
    def test_one_class_or_one_value_gives_no_votes(self, is_present, values):
        X = pd.DataFrame({"x": values})
        selection = weigh((X, code_training_table(X), is_present, np.arange(4)), [1, 16])
        has_votes = 0 < is_present.mean() < 1 and len(np.unique(values)) > 1
        assert (len(selection.table) > 0) == has_votes
        assert [len(votes.rule_idx) > 0 for votes in selection.choices] == [has_votes] * 2

    @pytest.mark.parametrize("entropy", [2**64 + 3, 2**70 + 3])
    def test_a_seed_of_any_size_is_a_seed(self, data, entropy):
        X, Y = data
        problem = X, code_training_table(X), Y.to_numpy(dtype=bool)[:, 0], np.arange(len(X))
        one, two, other = (
            weigh(problem, [1], seed=seed).choices[0].points.tolist() for seed in (entropy, 3, 4)
        )
        assert one == two
        assert one != other


class TestInStages:
    @pytest.mark.parametrize("budget", [Budget(5, 40, REUSE), Budget(40, 40, math.inf)])
    def test_boosting_goes_on_as_if_it_had_not_stopped(self, data, budget):
        X, Y = data
        is_present = Y.to_numpy(dtype=bool)[:, 0]
        index, grown = index_rows(code_training_table(X).coded), BoostingSettings(**GROWN)
        grow = functools.partial(grow_label, index, 16, grown, 3)
        label = LabelTask(is_present, np.arange(len(X)))
        known = None
        for n_choices in (1, 2, 7, 30, 40):
            known = grow(budget.at_most(n_choices), label, known=known)
        whole = grow(budget, label)
        assert known.seed == whole.seed
        assert known.is_done == whole.is_done
        assert known.window.tolist() == whole.window.tolist()
        for arrays in (*zip(known[:4], whole[:4], strict=True), (known[5], whole[5])):
            assert arrays[0].tolist() == arrays[1].tolist()
        for arrays in zip(vars(known.table).values(), vars(whole.table).values(), strict=True):
            assert arrays[0].tolist() == arrays[1].tolist()


def test_where_rules_are_scarce_there_are_more_votes_than_rules(data):
    X, Y = data
    problem = X, code_training_table(X), Y.to_numpy(dtype=bool)[:, 0], np.arange(len(X))
    budget = share_rules(10, 3)
    selection = weigh(problem, [16], budget)
    n_votes = len(selection.choices[0].rule_idx)
    assert len(selection.table) <= budget.n_rules < n_votes <= budget.n_choices
