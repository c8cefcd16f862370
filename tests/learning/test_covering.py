"""Covering: the same rules in the same order as the oracle, every tie broken as the paper says."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import heuristics as oracle
from reference.covering import cover
from reference.rules import coverage
from steelyard import WRA, Accuracy, FMeasure, Heuristic, Laplace, MEstimate, Precision, Recall
from steelyard._kernels.covering import evaluate_fraction
from steelyard.heuristics import describe, get_heuristic
from steelyard.learning import covering
from steelyard.learning.budget import MemoryLimitError
from steelyard.learning.category_sets import CategoryCodes
from steelyard.learning.covering import prepare_candidates, select_for_label, select_rules
from steelyard.learning.limits import Limits
from steelyard.learning.training_table import code_training_table
from steelyard.learning.weights import LabelWeights
from steelyard.model.coverage import index_rows
from strategies import (
    FORMS,
    bodies_to_table,
    body_to_oracle,
    kept_as,
    masks,
    rule_tables,
    table_to_rows,
    tables,
)

HEURISTICS = {
    Precision(): oracle.precision,
    Recall(): oracle.recall,
    WRA(): oracle.wra,
    Accuracy(): oracle.accuracy,
    Laplace(): oracle.laplace,
    **{
        MEstimate(m): (lambda *c, m=m: oracle.m_estimate(*c, m=m))
        for m in (0, 1, 2, 16, 4096, 2**19)
    },
    **{
        FMeasure(b): (lambda *c, b=b: oracle.f_measure(*c, beta=b))
        for b in (0, 0.5, 1, 2, math.inf)
    },
}


@st.composite
def problems(draw, max_rows=20, max_rules=14):
    """Candidates of one label: table, index of its rows, and which rows are positive."""
    X = draw(tables(max_rows=max_rows))
    training = code_training_table(X)
    table = draw(rule_tables(training.coded, max_rules=max_rules))
    is_target = draw(masks(len(X)))
    names = list(X)
    bodies = [body_to_oracle(table.body(i, training.coder), names) for i in range(len(table))]
    return table, index_rows(training.coded), is_target, bodies, table_to_rows(X)


def ranges(table):
    triples = np.column_stack([table.feature, table.low, table.high]).tolist()
    return [triples[a:b] for a, b in zip(table.indptr[:-1], table.indptr[1:], strict=True)]


def select(problem, heuristic, **options):
    """The selected rules as ranges of codes, in order; the same in whatever form rows are kept."""
    table, index, is_target, *_ = problem
    one_tree = np.zeros(len(table), dtype=np.int64)
    selected = []
    for form in FORMS:
        with kept_as(form):
            candidates = prepare_candidates(table, index, is_target, tree_of_rule=one_tree)
        (chosen,) = select_rules(candidates, [heuristic], **options)
        selected.append(ranges(candidates.table.take(chosen)))
    assert all(rules == selected[0] for rules in selected)
    return selected[0]


def expect(problem, exact_heuristic, **options):
    table, _, is_target, bodies, rows = problem
    selected = cover(
        coverage(bodies, rows),
        [len(b) for b in bodies],
        is_target.tolist(),
        exact_heuristic,
        **options,
    )
    return [ranges(table)[i] for i in selected]


def prefer(share):
    """Limits that only say which share of its gain a condition on each feature counts with."""
    every, none = np.full(len(share), 3, np.uint8), np.zeros(len(share) + 1, np.int64)
    empty = np.empty(0, np.int32)
    return Limits(every, every, none, empty, empty, none, empty, share, 0, 0, None)


class TestAgainstTheOracle:
    @pytest.mark.parametrize("heuristic", HEURISTICS, ids=describe)
    @settings(max_examples=40)
    @given(problem=problems())
    def test_the_same_rules_in_the_same_order(self, heuristic, problem):
        assert select(problem, heuristic) == expect(problem, HEURISTICS[heuristic])

    @settings(max_examples=150)
    @given(problems(), st.sampled_from(list(HEURISTICS)))
    def test_ranked_once_on_all_examples(self, problem, heuristic):
        selected = select(problem, heuristic, revalidate=False)
        assert selected == expect(problem, HEURISTICS[heuristic], revalidate=False)

    @settings(max_examples=50)
    @given(problems(max_rows=150, max_rules=20))
    def test_more_rows_than_a_word_has_bits(self, problem):
        for heuristic in (Precision(), MEstimate(16), WRA()):
            assert select(problem, heuristic) == expect(problem, HEURISTICS[heuristic])


def nearly_never(tp, fp, fn, tn):
    """A user's own heuristic: negative values, and none that is 0."""
    return tp - 2 * fp - 0.5 + 0 * (fn + tn)


class TestConstraints:
    """What given rules cover is covered, and preferred attributes are worth more."""

    @settings(max_examples=60)
    @given(problems(), st.data(), st.sampled_from(list(HEURISTICS)), st.booleans(), st.booleans())
    def test_given_rules_leave_the_covering_of_the_other_rows(
        self, problem, data, heuristic, revalidate, weighed
    ):
        table, index, is_target, bodies, rows = problem
        is_given = data.draw(masks(len(rows)))
        ones = LabelWeights.combine(np.ones(len(rows)), None) if weighed else None
        candidates = prepare_candidates(table, index, is_target, given=is_given, weights=ones)
        (found,) = select_rules(candidates, [heuristic], revalidate=revalidate)
        others = np.flatnonzero(~is_given)
        expected = cover(
            [[covered[row] for row in others] for covered in coverage(bodies, rows)],
            [len(body) for body in bodies],
            is_target[others].tolist(),
            HEURISTICS[heuristic],
            revalidate=revalidate,
        )
        assert ranges(candidates.table.take(found)) == [ranges(table)[i] for i in expected]

    @settings(max_examples=60)
    @given(problems(), st.data(), st.booleans(), st.booleans())
    def test_rules_on_other_attributes_lose_a_share_of_their_value(
        self, problem, data, revalidate, weighed
    ):
        table, index, is_target, bodies, rows = problem
        n_features = index.coded.n_features
        halves = st.lists(st.sampled_from([0.5, 1.0]), min_size=n_features, max_size=n_features)
        share = np.array(data.draw(halves.filter(lambda shares: 0.5 in shares)))
        exact = data.draw(st.sampled_from([oracle.precision, nearly_never]))
        heuristic = Precision() if exact is oracle.precision else get_heuristic(exact)
        ones = LabelWeights.combine(np.ones(len(rows)), None) if weighed else None
        candidates = prepare_candidates(table, index, is_target, limits=prefer(share), weights=ones)
        (found,) = select_rules(candidates, [heuristic], revalidate=revalidate)
        expected = cover(
            coverage(bodies, rows),
            [len(body) for body in bodies],
            is_target.tolist(),
            exact,
            revalidate=revalidate,
            shares=[sum(share[f] for f, *_ in body) / max(len(body), 1) for body in ranges(table)],
        )
        assert ranges(candidates.table.take(found)) == [ranges(table)[i] for i in expected]

    @given(problems(), st.integers(0, 4), st.integers(0, 6))
    def test_rules_that_cover_too_little_are_no_candidates(self, problem, min_tp, min_covered):
        table, index, is_target, *_ = problem
        limits = prefer(np.ones(index.coded.n_features))._replace(
            min_tp=min_tp, min_covered=min_covered
        )
        every = prepare_candidates(table, index, is_target)
        fitting = prepare_candidates(table, index, is_target, limits=limits)
        is_against = every.tp * every.n_negatives < every.fp * every.n_positives
        stays = (every.tp >= min_tp) & (every.tp + every.fp >= min_covered)
        stays &= ~is_against | (every.fp >= min_tp)  # a rule that votes could speak against
        assert fitting.position.tolist() == every.position[stays].tolist()
        assert fitting.tp.tolist() == every.tp[stays].tolist()
        assert fitting.fp.tolist() == every.fp[stays].tolist()

    def test_candidates_that_take_too_much_memory_say_what_to_change(self):
        training = code_training_table(pd.DataFrame({"x": np.arange(400.0)}))
        table = bodies_to_table([[(0, 0, high)] for high in range(1, 300)])
        problem = (table, index_rows(training.coded), np.arange(400) < 200)
        assert len(prepare_candidates(*problem).tp) == 299
        message = "400 examples the 299 candidates .* 1 kB that max_memory .*sample_fraction"
        with pytest.raises(MemoryLimitError, match=message):
            prepare_candidates(*problem, max_bytes=1)

    def test_without_a_limit_the_machine_is_the_limit(self, monkeypatch):
        def run_out(*_):
            raise MemoryError

        training = code_training_table(pd.DataFrame({"x": np.arange(4.0)}))
        monkeypatch.setattr("steelyard.learning.covering.collect", run_out)
        message = (
            "^which of 4 examples the 1 candidates of a label cover takes more memory than there is: "
            r"smaller bags \(sample_fraction\) and shallower trees \(max_depths\) give fewer rules "
            r"per pass, and fewer jobs \(n_jobs\) leave more memory for each$"
        )
        with pytest.raises(MemoryLimitError, match=message):
            prepare_candidates(
                bodies_to_table([[(0, 2, 4)]]), index_rows(training.coded), np.arange(4) < 2
            )


class TestUsersOwn:
    @settings(max_examples=150)
    @given(problems(), st.sampled_from(list(HEURISTICS)), st.booleans())
    def test_a_function_selects_what_the_heuristic_it_mimics_selects(
        self, problem, heuristic, revalidate
    ):
        def mimic(tp, fp, fn, tn):
            return heuristic(tp, fp, fn, tn)

        own = select(problem, get_heuristic(mimic), revalidate=revalidate)
        assert own == select(problem, heuristic, revalidate=revalidate)

    @given(problems())
    def test_a_subclass_selects_what_its_formula_says(self, problem):
        class Coverage(Heuristic):
            def __call__(self, tp, fp, fn, tn):
                return tp + fp + 0 * (fn + tn)

        assert select(problem, Coverage()) == expect(problem, Coverage())

    @given(problems())
    def test_a_built_in_with_another_formula_selects_by_that_formula(self, problem):
        class Skewed(Precision):
            def __call__(self, tp, fp, fn, tn):
                return tp - 2.0 * fp + 0 * (fn + tn)

        assert select(problem, Skewed()) == expect(problem, Skewed())

    @given(problems())
    def test_values_that_are_all_worse_than_any_number_still_select(self, problem):
        def never(tp, fp, fn, tn):
            return np.full(np.shape(tp), -np.inf)

        assert select(problem, get_heuristic(never)) == expect(problem, lambda *_: -math.inf)


class TestGuarantees:
    @given(problems(), st.sampled_from(list(HEURISTICS)), st.booleans())
    def test_every_positive_that_a_candidate_covers_is_covered(
        self, problem, heuristic, revalidate
    ):
        table, index, is_target, bodies, rows = problem
        candidates = prepare_candidates(table, index, is_target)
        (chosen,) = select_rules(candidates, [heuristic], revalidate=revalidate)
        selected = candidates.table.take(chosen)
        kept = [bodies[ranges(table).index(body)] for body in ranges(selected)]
        coverable = np.any([np.zeros(len(rows)), *coverage(bodies, rows)], axis=0) & is_target
        covered = np.any([np.zeros(len(rows)), *coverage(kept, rows)], axis=0) & is_target
        assert covered.tolist() == coverable.tolist()

    @given(problems())
    def test_several_heuristics_at_once_are_several_runs(self, problem):
        table, index, is_target, *_ = problem
        heuristics = list(HEURISTICS)
        alone = [select(problem, heuristic) for heuristic in heuristics]
        one_tree = np.zeros(len(table), dtype=np.int64)
        for form in FORMS:
            with kept_as(form):
                options = {"tree_of_rule": one_tree}
                together = select_for_label(index, heuristics, True, table, is_target, **options)
            rules = [ranges(together.table.take(chosen)) for chosen in together.choices]
            assert rules == alone


class TestTies:
    # Six positives, two negatives; every candidate below has precision 1.
    X = pd.DataFrame({"x": np.arange(8.0), "y": np.arange(8.0)})
    is_target = np.arange(8) < 6
    training = code_training_table(X)

    def choose_first(self, *bodies):
        candidates = prepare_candidates(
            bodies_to_table(bodies), index_rows(self.training.coded), self.is_target
        )
        first = select_rules(candidates, [Precision()])[0][:1]
        return tuple(map(tuple, ranges(candidates.table.take(first))[0]))

    def test_more_true_positives_win(self):
        assert self.choose_first([(0, 0, 2)], [(0, 1, 4)]) == ((0, 1, 4),)

    def test_then_fewer_conditions(self):
        # [1, 3) has two ends, [0, 2) only one.
        assert self.choose_first([(0, 1, 3)], [(0, 0, 2)]) == ((0, 0, 2),)

    def test_then_the_first_generated(self):
        assert self.choose_first([(1, 0, 2)], [(0, 0, 2)]) == ((1, 0, 2),)

    def test_of_rules_with_equal_coverage_the_shortest_stays(self):
        candidates = prepare_candidates(
            bodies_to_table([[(0, 0, 2), (1, 0, 2)], [(1, 0, 2)], [(0, 0, 2)]]),
            index_rows(self.training.coded),
            self.is_target,
        )
        assert ranges(candidates.table) == [[[1, 0, 2]]]
        assert candidates.tp.tolist() == [2]
        assert candidates.fp.tolist() == [0]


class TestWeighed:
    def test_a_heuristic_gets_the_weights_of_uncovered_positives_and_negatives_that_a_rule_misses(
        self,
    ):
        # Ten positives, then ten negatives, each of weight 2. The first rule has an accuracy of
        # (10 + 3)/20, the second one of (2 + 10)/20. Of the rows it covers and all rows, the first
        # would have (10 + 10)/37, the second (2 + 10)/22, which is more.
        training = code_training_table(pd.DataFrame({"x": np.arange(20.0)}))
        candidates = prepare_candidates(
            bodies_to_table([[(0, 0, 17)], [(0, 0, 2)]]),
            index_rows(training.coded),
            np.arange(20) < 10,
            weights=LabelWeights.combine(np.full(20, 2.0), None),
        )
        for revalidate in (True, False):
            (chosen,) = select_rules(candidates, [Accuracy()], revalidate=revalidate)
            assert ranges(candidates.table.take(chosen))[0] == [[0, 0, 17]]


class TestNothingToDo:
    @pytest.mark.parametrize("is_target", [np.zeros(4, bool), np.ones(4, bool)])
    def test_no_candidates_select_nothing(self, is_target):
        training = code_training_table(pd.DataFrame({"x": np.arange(4.0)}))
        index, heuristics = index_rows(training.coded), [MEstimate(4), WRA()]
        rules = select_for_label(index, heuristics, True, bodies_to_table([]), is_target)
        assert len(rules.table) == 0
        assert [len(chosen) for chosen in rules.choices] == [0, 0]

    def test_candidates_that_cover_no_positive_are_not_selected(self):
        training = code_training_table(pd.DataFrame({"x": np.arange(4.0)}))
        candidates = prepare_candidates(
            bodies_to_table([[(0, 2, 4)]]), index_rows(training.coded), np.arange(4) < 2
        )
        for heuristic in HEURISTICS:
            assert len(select_rules(candidates, [heuristic])[0]) == 0


# Ten rows; features x, y and z all have the number of the row.
ROWS = index_rows(
    code_training_table(pd.DataFrame(dict.fromkeys("xyz", np.arange(10.0)))).coded,
)
ONES = LabelWeights.combine(np.ones(10), None)
WAYS = pytest.mark.parametrize(
    ("weights", "revalidate"), [(None, True), (None, False), (ONES, True), (ONES, False)]
)


def choose(bodies, is_target, heuristic, revalidate, **options):
    """The positions of the selected rules, in order."""
    candidates = prepare_candidates(bodies_to_table(bodies), ROWS, is_target, **options)
    (chosen,) = select_rules(candidates, [heuristic], revalidate=revalidate)
    return candidates.position[chosen].tolist()


@WAYS
class TestWithAndWithoutWeights:
    """What the properties say, in examples small enough to compute by hand."""

    IS_TARGET = np.arange(10) < 8

    @pytest.mark.parametrize(("n_other", "first"), [(5, 0), (7, 1)])
    def test_a_rule_on_another_attribute_counts_half(self, weights, revalidate, n_other, first):
        # 3 positives against half of 5 or of 7.
        bodies, limits = [[(0, 0, 3)], [(1, 1, 1 + n_other)]], prefer(np.array([1, 0.5, 1]))
        options = {"limits": limits, "weights": weights}
        assert choose(bodies, self.IS_TARGET, Recall(), revalidate, **options)[0] == first

    def test_rows_that_given_rules_cover_need_no_rule(self, weights, revalidate):
        bodies, is_given = [[(0, 0, 4)], [(0, 4, 8)]], np.arange(10) < 4
        assert choose(bodies, self.IS_TARGET, Precision(), revalidate, weights=weights) == [0, 1]
        options = {"given": is_given, "weights": weights}
        assert choose(bodies, self.IS_TARGET, Precision(), revalidate, **options) == [1]

    @pytest.mark.parametrize(
        "bodies",
        [
            [[(0, 0, 2)], [(0, 1, 4)]],  # more true positives
            [[(0, 1, 3)], [(0, 0, 2)]],  # fewer conditions: one end instead of two
        ],
    )
    def test_of_equally_precise_rules_the_second_is_better(self, weights, revalidate, bodies):
        assert choose(bodies, self.IS_TARGET, Precision(), revalidate, weights=weights)[0] == 1
        assert (
            choose(bodies[::-1], self.IS_TARGET, Precision(), revalidate, weights=weights)[0] == 0
        )


class TestCandidates:
    IS_TARGET = np.arange(10) < 5

    def test_of_rules_with_equal_coverage_a_longer_one_on_preferred_attributes_stays(self):
        bodies = [[(1, 0, 2)], [(0, 0, 2), (2, 0, 2)]]
        for share, stays in (([1, 0.5, 1], 1), ([1, 1, 1], 0)):
            limits = prefer(np.array(share, dtype=float))
            found = prepare_candidates(bodies_to_table(bodies), ROWS, self.IS_TARGET, limits=limits)
            assert found.position.tolist() == [stays]

    def test_limits_and_weights_of_classes_both_leave_rules_out(self):
        # An average example weighs 1, a positive 0.2: it takes 3 to weigh half as much.
        of_class = np.where(self.IS_TARGET, 0.2, 1.8)
        weights = LabelWeights.combine(np.ones(10), of_class)
        limits = prefer(np.ones(3))._replace(min_covered=5)
        # 3 positives; 2 positives and 3 negatives; 5 positives and 1 negative.
        table = bodies_to_table([[(0, 0, 3)], [(0, 3, 8)], [(0, 0, 6)]])
        options = ({"weights": weights}, {"limits": limits}, {"weights": weights, "limits": limits})
        found = [prepare_candidates(table, ROWS, self.IS_TARGET, **o).position for o in options]
        assert [positions.tolist() for positions in found] == [[0, 2], [1, 2], [2]]

    def test_without_given_rules_nothing_is_given(self):
        table = bodies_to_table([[(0, 0, 3)]])
        assert prepare_candidates(table, ROWS, self.IS_TARGET).given is None

    def test_lengths_are_ranked_in_the_order_of_generation(self):
        # Sorts of more than 16 numbers may change the order of equal ones.
        rank = covering._rank_by_length(np.array([2, 1] * 50))
        assert rank.tolist() == [i // 2 if i % 2 else 50 + i // 2 for i in range(100)]

    def test_the_kernel_evaluates_fractions_and_python_all_else(self):
        assert covering._make_evaluation(WRA()).func is evaluate_fraction
        assert covering._make_evaluation(get_heuristic("klosgen")).func is not evaluate_fraction


class TestSelectedForALabel:
    IS_TARGET = np.arange(10) < 6
    # By precision the first rule wins. Ranked once, the second and the third have 2/3, and the second
    # has more positives; on rows 4 to 9 the second has 2/4 left. The last one covers all rows.
    BODIES = [[(0, 0, 4)], [(0, 2, 8)], [(0, 4, 7)], [(0, 0, 10)]]

    def select(self, revalidate, *counting, **options):
        heuristics = [Recall(), Precision()]
        table = bodies_to_table(self.BODIES)
        return select_for_label(
            ROWS, heuristics, revalidate, table, self.IS_TARGET, *counting, **options
        )

    @pytest.mark.parametrize(("revalidate", "expected"), [(True, [0, 2, 3]), (False, [0, 1, 3])])
    def test_rules_that_any_heuristic_chose_are_kept_once(self, revalidate, expected):
        known = CategoryCodes({})
        rules = self.select(revalidate, categories=known)
        assert rules.candidate_idx.tolist() == expected
        assert rules.candidate_idx.dtype == np.int64
        assert [chosen.tolist() for chosen in rules.choices] == [[2], [0, 1]]
        assert rules.n_conditions.tolist() == [1, 2, 0]
        tp, fp = rules.rows.counts()
        assert (rules.tp.tolist(), rules.fp.tolist()) == (tp.tolist(), fp.tolist())
        assert rules.categories is known
        assert rules.held_out is None
        assert rules.weighed is None

    @pytest.mark.parametrize("revalidate", [True, False])
    def test_the_rules_of_one_heuristic_get_held_out_counts(self, revalidate):
        def count(candidates, is_target, selected, again):
            assert is_target is self.IS_TARGET
            assert again(candidates).tolist() == selected.tolist()
            return np.array([[1, 2], [3, 4]])[:, : len(selected)]

        by_precision = self.select(revalidate, count, 1).held_out
        assert by_precision.tolist() == [[1, 2, 0], [3, 4, 0]]
        assert by_precision.dtype == np.int64
        # The first heuristic, unless another is asked for.
        assert self.select(revalidate, count).held_out.tolist() == [[0, 0, 1], [0, 0, 3]]

    def test_heuristics_that_disagree_from_the_start_all_go_on(self):
        table = bodies_to_table([[(0, 0, 3)], [(0, 3, 8)], [(0, 2, 10)]])
        is_target = np.arange(10) < 8
        candidates = prepare_candidates(table, ROWS, is_target)
        chosen = select_rules(candidates, [Recall(), Precision()])
        # Six positives of eight rows against five of five; then the two or three that are left.
        assert [rules.tolist() for rules in chosen] == [[2, 0], [1, 0]]
