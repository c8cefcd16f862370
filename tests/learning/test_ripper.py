"""Ripper: its parts equal the oracle."""

import _thread
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reference import ripper as oracle
from reference.rules import covers
from steelyard._kernels import description_length as bits_kernels
from steelyard._kernels.ripper import RuleListLearner, foil_gain, order_by_code
from steelyard.learning.ripper import count_possible_conditions
from steelyard.learning.settings import RipperSettings
from steelyard.learning.training_table import code_training_table, value_cuts
from strategies import table_to_rows, tables

counts = st.integers(0, 60)
shares = st.floats(0.01, 0.5)


@st.composite
def problems(draw, **options):
    """A coded table, its target class, the same for the oracle."""
    X = draw(tables(**{"min_rows": 4, "max_rows": 24} | options))
    is_target = np.array(
        draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))), dtype=bool
    )
    training = code_training_table(X, None, value_cuts)
    problem = oracle.Problem(
        rows=table_to_rows(X),
        is_positive=is_target.tolist(),
        is_nominal=[feature.is_nominal for feature in training.coder.features],
        n_possible=count_possible_conditions(training.coded),
        split=None,
        min_weight=draw(st.sampled_from([1, 2])),
        check_error=draw(st.booleans()),
    )
    return training, is_target.astype(np.uint8), problem


def make_large_problem(seed):
    """The same with hundreds of rows: numbers with few and many values, some missing, and categories."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(200, 400))
    first, second = rng.normal(size=(2, n_rows))
    is_target = (first > 0.3) & (second < 0.8) ^ (rng.random(n_rows) < 0.05 * (seed % 4))
    first[rng.random(n_rows) < 0.05 * (seed % 3)] = np.nan
    X = pd.DataFrame(
        {
            "few": np.round(4 * first) / 4,
            "many": np.round(rng.normal(size=n_rows), 1),
            "again": np.round(second, 1),
            "colour": rng.choice(["red", "green", "blue"], size=n_rows),
        }
    )
    training = code_training_table(X, None, value_cuts)
    problem = oracle.Problem(
        rows=table_to_rows(X),
        is_positive=is_target.tolist(),
        is_nominal=[feature.is_nominal for feature in training.coder.features],
        n_possible=count_possible_conditions(training.coded),
        split=None,
        min_weight=1,
        check_error=True,
    )
    return training, is_target.astype(np.uint8), problem


def make_learner(
    coded, is_target, problem=None, *, prune=True, optimizations=2, n_folds=3, seed=0, limits=None
):
    """A learner of all rows in their order; with the parameters of a problem."""
    min_weight, check_error = (problem.min_weight, problem.check_error) if problem else (1, True)
    return RuleListLearner(
        coded,
        order_by_code(coded),
        RipperSettings(prune, optimizations, n_folds, min_weight, check_error),
        count_possible_conditions(coded),
        seed,
        np.ones(len(is_target), dtype=np.uint8),
        is_target,
        np.arange(len(is_target)),
        float(is_target.mean()),
        limits,
    )


def to_oracle(training, body):
    """A kernel's body as the oracle writes it: each range has the one bound it was grown with."""
    conditions = []
    for condition in body:
        f, low, high = condition.values() if isinstance(condition, dict) else condition
        feature, cuts = training.coder.features[f], training.coder.cuts[f]
        if feature.is_nominal:
            conditions.append((f, "=", feature.categories[low]))
        elif high == training.coder.n_codes(f):
            conditions.append((f, ">=", cuts[low - 1]))
        else:
            conditions.append((f, "<=", cuts[high - 2]))
    return conditions


class TestGrowing:
    def test_gain_worked_by_hand(self):
        # 8 of 15 examples are positive: 9/16. The condition keeps 7 positives and no negative: 1.
        gain = foil_gain(7, np.log2(8 / 8), np.log2(9 / 16))
        assert gain == pytest.approx(7 * (4 - np.log2(9)))

    @given(problems())
    def test_body_equals_the_oracle(self, given_problem):
        training, is_target, problem = given_problem
        rows = list(range(len(is_target)))
        body = make_learner(training.coded, is_target, problem).grow(rows, [])
        assert to_oracle(training, body) == oracle.grow(problem, rows)

    @pytest.mark.parametrize("seed", range(12))
    def test_body_of_many_rows_equals_the_oracle(self, seed):
        # Nodes of 128 rows and more are counted in blocks of codes.
        training, is_target, problem = make_large_problem(seed)
        rows = list(range(len(is_target)))
        body = make_learner(training.coded, is_target, problem).grow(rows, [])
        assert to_oracle(training, body) == oracle.grow(problem, rows)

    @pytest.mark.parametrize("seed", range(4))
    def test_limits_that_forbid_nothing_change_no_body_of_many_rows(self, seed):
        training, is_target, _ = make_large_problem(seed)
        rows = range(len(is_target))
        n_features = len(training.coder.features)
        nothing = np.zeros(1, dtype=np.int32)
        limits = SimpleNamespace(
            lower=np.full(n_features, 3, dtype=np.uint8),
            upper=np.full(n_features, 3, dtype=np.uint8),
            banned_indptr=np.zeros(n_features + 1, dtype=np.int64),
            banned_low=nothing,
            banned_high=nothing,
            apart_indptr=np.zeros(n_features + 1, dtype=np.int64),
            apart=nothing,
            share=np.ones(n_features),
            min_covered=0,
            min_tp=0,
            least_conditions=lambda most: most,
        )
        free = make_learner(training.coded, is_target).grow(rows, [])
        limited = make_learner(training.coded, is_target, limits=limits).grow(rows, [])
        assert limited == free != []

    @given(problems(), st.data())
    def test_pruned_body_equals_the_oracle(self, given_problem, data):
        training, is_target, problem = given_problem
        learner = make_learner(training.coded, is_target)
        every = range(len(is_target))
        body = learner.grow(every, [])
        rows = sorted(data.draw(st.sets(st.sampled_from(every))))
        for whole_theory, measure in ((False, oracle.worth), (True, oracle.accuracy)):
            pruned = learner.prune(rows, body, whole_theory)
            expected = oracle.prune(problem, to_oracle(training, body), rows, measure)
            assert to_oracle(training, pruned) == expected

    @given(problems())
    def test_mask_is_what_the_oracle_covers(self, given_problem):
        training, is_target, problem = given_problem
        learner = make_learner(training.coded, is_target)
        body = learner.grow(range(len(is_target)), [])
        expected = [covers(to_oracle(training, body), row) for row in problem.rows]
        assert learner.cover(body) == expected

    @given(problems(), st.integers(2, 5), st.integers(0, 2**32))
    def test_each_class_gives_its_share_for_pruning(self, given_problem, n_folds, seed):
        training, is_target, _ = given_problem
        rows = range(len(is_target))
        learner = make_learner(training.coded, is_target, n_folds=n_folds, seed=seed)
        growing, pruning = learner.split(rows)
        assert sorted([*growing, *pruning]) == list(rows)
        assert is_target[pruning].sum() == is_target.sum() // n_folds
        assert len(pruning) == len(rows) // n_folds


class TestDescriptionLength:
    def test_worked_by_hand(self):
        # One of 8 elements, expected to be one of 8: log₂(8) + 7·log₂(8/7).
        assert bits_kernels.subset_bits(8, 1, 1 / 8) == pytest.approx(3 + 7 * np.log2(8 / 7))
        # One condition of two: half of the two bits that say which are in; the number 1 is free.
        assert bits_kernels.rule_bits(1, 2) == pytest.approx(0.5 * 2)
        # No error among 7 examples: only their number is sent.
        assert bits_kernels.exception_bits(0.5, 3, 4, 0, 0) == pytest.approx(3)

    @given(counts, st.integers(1, 1000))
    def test_rule_equals_the_oracle(self, n_conditions, n_possible):
        value = bits_kernels.rule_bits(n_conditions, n_possible)
        assert value == pytest.approx(oracle.rule_bits(n_conditions, n_possible))

    @given(counts, counts, counts, counts, shares)
    def test_exceptions_equal_the_oracle(self, tp, fp, fn, tn, fp_share):
        arguments = (fp_share, tp + fp, fn + tn, fp, fn)
        value = bits_kernels.exception_bits(*arguments)
        assert value == pytest.approx(oracle.exception_bits(*arguments))

    @given(counts, counts, counts, counts)
    def test_bits_are_not_negative(self, tp, fp, fn, tn):
        assert bits_kernels.exception_bits(0.4, tp + fp, fn + tn, fp, fn) >= 0

    @given(
        st.lists(st.tuples(counts, counts, st.integers(0, 4)), max_size=6),
        counts,
        counts,
        st.booleans(),
        shares,
    )
    def test_deleting_equals_the_oracle(self, rules, fn, tn, check_error, fp_share):
        tp, fp, lengths = (np.array([r[i] for r in rules], dtype=np.int64) for i in range(3))
        totals = (int(tp.sum()) + fn, int(fp.sum()) + tn)
        order = range(len(rules) - 1, -1, -1)
        bits_of_rule = [bits_kernels.rule_bits(k, 50) for k in lengths]
        bits, deleted = bits_kernels.delete_costly_rules(
            tp, fp, bits_of_rule, order, *totals, fp_share, check_error
        )
        kept, expected = oracle.delete_costly(
            list(zip(tp.tolist(), fp.tolist(), strict=True)),
            lengths.tolist(),
            list(order),
            totals,
            fp_share,
            50,
            check_error,
        )
        assert np.flatnonzero(np.logical_not(deleted)).tolist() == kept
        assert bits == pytest.approx(expected, abs=1e-6)


class TestLearning:
    @settings(max_examples=300)
    @given(
        problems(max_rows=40, max_columns=6),
        st.booleans(),
        st.integers(0, 2),
        st.integers(2, 4),
        st.integers(0, 99),
    )
    def test_rules_equal_the_oracle(self, given_problem, prune, optimizations, n_folds, seed):
        training, is_target, problem = given_problem
        assume(0 < is_target.sum() <= len(is_target) / 2)
        options = {"prune": prune, "optimizations": optimizations, "n_folds": n_folds, "seed": seed}
        problem.split = make_learner(training.coded, is_target, problem, **options).split
        problem.prune, problem.optimizations = prune, optimizations
        bodies = oracle.learn(problem)
        learner = make_learner(training.coded, is_target, problem, **options)
        rules = learner.learn()
        assert [to_oracle(training, ranges) for ranges, _ in rules] == bodies
        masks = [mask.tolist() for _, mask in rules]
        assert masks == [[covers(body, row) for row in problem.rows] for body in bodies]

    def test_it_can_be_interrupted(self):
        X = pd.DataFrame({"x": np.arange(1000.0)})
        training = code_training_table(X, None, value_cuts)
        is_target = (np.arange(1000) < 300).astype(np.uint8)
        learner = make_learner(training.coded, is_target, optimizations=10_000_000)  # takes minutes
        threading.Timer(0.1, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            learner.learn()
