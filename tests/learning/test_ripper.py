"""Ripper: its parts equal the oracle."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reference import ripper as oracle
from reference.rules import covers
from steelyard._kernels import description_length as bits_kernels
from steelyard._kernels import ripper as growing_kernels
from steelyard.learning.ripper_rules import (
    RuleListLearner,
    count_possible_conditions,
    remove_covered,
)
from steelyard.learning.settings import RipperSettings
from steelyard.learning.training_table import code_training_table, value_cuts
from strategies import table_to_rows, tables

NOTHING = np.empty((0, 3), dtype=np.int32)
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


def to_oracle(training, body):
    """A kernel's body as the oracle writes it: each range has the one bound it was grown with."""
    conditions = []
    for f, low, high in body:
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
        gain = growing_kernels.foil_gain(7, np.log2(8 / 8), np.log2(9 / 16))
        assert gain == pytest.approx(7 * (4 - np.log2(9)))

    @given(problems())
    def test_body_equals_the_oracle(self, given_problem):
        training, is_target, problem = given_problem
        space = growing_kernels.Workspace(training.coded, is_target)
        rows = np.arange(len(is_target)).astype(np.uint32)
        body = growing_kernels.grow_body(space, rows, NOTHING, problem.min_weight)
        assert to_oracle(training, body) == oracle.grow(problem, rows.tolist())

    @given(problems(), st.data())
    def test_pruned_body_equals_the_oracle(self, given_problem, data):
        training, is_target, problem = given_problem
        space = growing_kernels.Workspace(training.coded, is_target)
        every = np.arange(len(is_target)).astype(np.uint32)
        body = growing_kernels.grow_body(space, every, NOTHING, 1.0)
        chosen = data.draw(st.sets(st.sampled_from(every.tolist())))
        rows = np.array(sorted(chosen), dtype=np.uint32)
        for whole_theory, measure in ((False, oracle.worth), (True, oracle.accuracy)):
            pruned = growing_kernels.prune_body(space, rows, body, whole_theory)
            expected = oracle.prune(problem, to_oracle(training, body), rows.tolist(), measure)
            assert to_oracle(training, pruned) == expected

    @given(problems())
    def test_mask_is_what_the_oracle_covers(self, given_problem):
        training, is_target, problem = given_problem
        space = growing_kernels.Workspace(training.coded, is_target)
        rows = np.arange(len(is_target)).astype(np.uint32)
        body = growing_kernels.grow_body(space, rows, NOTHING, 1.0)
        mask = growing_kernels.cover_body(space, body)
        expected = [covers(to_oracle(training, body), row) for row in problem.rows]
        assert mask.tolist() == expected

    def test_a_rule_counts_only_what_earlier_rules_leave_over(self):
        masks = np.array([[1, 1, 0, 0], [1, 1, 1, 1]], dtype=np.bool_)
        rest = np.array([0, 1, 1, 1], dtype=np.bool_)
        is_target = np.array([1, 1, 1, 0], dtype=np.uint8)
        tp, fp = growing_kernels.count_in_turn(list(masks), rest, is_target)
        assert (tp.tolist(), fp.tolist()) == ([1, 1], [0, 1])
        assert rest.tolist() == [False, True, True, True]

    @given(
        st.lists(st.booleans(), min_size=1, max_size=60), st.integers(2, 5), st.integers(0, 2**32)
    )
    def test_each_class_gives_its_share_for_pruning(self, classes, n_folds, seed):
        is_target = np.array(classes, dtype=np.uint8)
        rows = np.arange(len(classes)).astype(np.uint32)
        state = np.array([seed], dtype=np.uint64)
        growing, pruning = growing_kernels.split_rows(rows, is_target, n_folds, state)
        assert sorted([*growing, *pruning]) == rows.tolist()
        n_positives = int(is_target.sum())
        assert is_target[pruning].sum() == n_positives // n_folds
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
        order = np.arange(len(rules) - 1, -1, -1)
        deleted = np.zeros(len(rules), dtype=np.bool_)
        bits = bits_kernels.delete_costly_rules(
            tp,
            fp,
            np.array([bits_kernels.rule_bits(k, 50) for k in lengths], dtype=np.float64),
            order,
            totals,
            fp_share,
            check_error,
            deleted,
        )
        kept, expected = oracle.delete_costly(
            list(zip(tp.tolist(), fp.tolist(), strict=True)),
            lengths.tolist(),
            order.tolist(),
            totals,
            fp_share,
            50,
            check_error,
        )
        assert np.flatnonzero(~deleted).tolist() == kept
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
        state = np.array([seed], dtype=np.uint64)

        def split(examples):
            rows = np.array(examples, dtype=np.uint32)
            return [
                part.tolist()
                for part in growing_kernels.split_rows(rows, is_target, n_folds, state)
            ]

        problem.split, problem.prune, problem.optimizations = split, prune, optimizations
        bodies = oracle.learn(problem)
        learner = RuleListLearner(
            training.coded,
            RipperSettings(prune, optimizations, n_folds, problem.min_weight, problem.check_error),
            is_target.view(np.bool_),
            np.ones(len(is_target), dtype=np.bool_),
            np.arange(len(is_target)),
            float(is_target.mean()),
            np.array([seed], dtype=np.uint64),
        )
        rules = learner.learn()
        masks = [rule.mask.tolist() for rule in rules]
        assert masks == [[covers(body, row) for row in problem.rows] for body in bodies]
        assert [to_oracle(training, rule.body) for rule in rules] == bodies
        rest = np.flatnonzero(remove_covered(rules, learner.every)).tolist()
        assert rest == problem.uncovered(bodies, range(len(is_target)))
