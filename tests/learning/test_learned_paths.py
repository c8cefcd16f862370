"""Paths: every cell of the grid is what a fit of its own would give."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import heuristics as oracle
from reference.covering import cover
from reference.rules import confusion, coverage
from reference.thresholding import keep
from steelyard import (
    WRA,
    Accuracy,
    FMeasure,
    Laplace,
    MEstimate,
    Precision,
    RuleSetClassifier,
    TheoryPath,
    make_planted_rules,
    theory_path,
)
from steelyard.heuristics import M_GRID, get_heuristic
from steelyard.learning.candidates import grow_candidates
from steelyard.learning.settings import ForestSettings
from steelyard.learning.targets import encode_targets
from steelyard.learning.training_table import code_training_table
from steelyard.measures import MEASURES
from steelyard.model.thresholding import PHI_GRID
from strategies import body_to_oracle, data_sets, table_to_rows

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only", "ignore:no rule can test")

HEURISTICS = [MEstimate(0), MEstimate(2), MEstimate(512), FMeasure(1), WRA(), Accuracy(), Laplace()]
EXACT = [
    *(lambda *c, m=m: oracle.m_estimate(*c, m=m) for m in (0, 2, 512)),
    *(oracle.f_measure, oracle.wra, oracle.accuracy, oracle.laplace),
]
PHIS = [1.0, 0.55, 0.3, 0.05]
FOREST = {"n_candidates": 60, "n_trees": 2, "max_depths": (None, 1, 2)}


def binary_target(Y):
    return np.where(Y.iloc[:, 0] == 1, "yes", "no")


def multiclass_target(Y):
    return np.array(["neither", "first", "second", "both"])[Y.iloc[:, 0] + 2 * Y.iloc[:, 1]]


@pytest.fixture(scope="module")
def data():
    return make_planted_rules(120, n_labels=3, noise=0.1, missing=0.1, random_state=1)


@pytest.fixture(scope="module")
def path(data):
    return theory_path(data.X, data.Y, HEURISTICS, PHIS, n_candidates=400, random_state=0)


class TestAgainstTheOracle:
    @settings(max_examples=40)
    @given(data_sets(max_rows=20, max_columns=3), st.booleans())
    def test_covering_and_threshold_are_the_papers(self, data, revalidate):
        """From the same candidates: the rules that the definitions choose, for every cell."""
        X, Y = data
        options = {"preset": "paper", "random_state": 7, "revalidate": revalidate}
        path = theory_path(X, Y, HEURISTICS, PHIS, **options, **FOREST)
        targets = encode_targets(Y)
        training = code_training_table(X)
        grown = grow_candidates(training, targets.is_target, ForestSettings(**FOREST), entropy=7)
        tables = [found.table for found in grown]
        rows, names = table_to_rows(X), list(X)
        bodies = [
            [body_to_oracle(t.body(i, training.coder), names) for i in range(len(t))]
            for t in tables
        ]
        covered = [coverage(b, rows) for b in bodies]
        for h, exact in enumerate(EXACT):
            rules, values = [], []
            for label, is_target in enumerate(targets.is_target.tolist()):
                lengths = [len(body) for body in bodies[label]]
                for r in cover(covered[label], lengths, is_target, exact, revalidate):
                    rules.append((Y.columns[label], bodies[label][r]))
                    values.append(exact(*confusion(covered[label][r], is_target, True)))
            for phi in PHIS:
                expected = [rules[i] for i in keep(values, phi)]
                theory = path.theory(h, phi)
                found = [(rule.head.label, body_to_oracle(rule.body, names)) for rule in theory]
                assert sorted(map(repr, found)) == sorted(map(repr, expected))
                for scored in theory.rules:
                    body = body_to_oracle(scored.body, names)
                    value = values[rules.index((scored.head.label, body))]
                    assert abs(Fraction(scored.value) - value) < Fraction(1, 10**12)


def without_held_out(theory):
    """The theory without its held-out counts, which the cells of a path do not have."""
    rules = tuple(replace(scored, held_out=None) for scored in theory)
    return replace(theory, rules=rules)


class TestCellsAreSeparateFits:
    @settings(max_examples=15)
    @given(data_sets(max_rows=25))
    def test_on_random_data(self, data):
        X, Y = data
        path = theory_path(X, Y, HEURISTICS, PHIS, random_state=3, **FOREST)
        for h, heuristic in enumerate(HEURISTICS):
            for phi in PHIS:
                options = {"decode": "each-label", "random_state": 3} | FOREST
                classifier = RuleSetClassifier(heuristic, phi, **options)
                assert without_held_out(classifier.fit(X, Y).theory_) == path.theory(h, phi)

    def test_all_400_cells_of_the_papers_grid(self):
        data = make_planted_rules(60, n_labels=3, noise=0.1, random_state=2)
        options = {"n_candidates": 150, "n_trees": 2, "random_state": 5}
        path = theory_path(data.X, data.Y, **options)
        assert path.shape == (20, 20)
        for m in M_GRID:
            for phi in PHI_GRID:
                classifier = RuleSetClassifier(MEstimate(m), phi, **options)
                theory = classifier.fit(data.X, data.Y).theory_
                assert without_held_out(theory) == path.theory(MEstimate(m), phi)

    @pytest.mark.parametrize("to_target", [binary_target, multiclass_target])
    @pytest.mark.parametrize("threshold", [None, Precision()])
    def test_for_one_dimensional_targets_and_another_threshold_heuristic(
        self, data, to_target, threshold
    ):
        y = to_target(data.Y)
        options = {"threshold_heuristic": threshold, "n_candidates": 300, "random_state": 5}
        path = theory_path(data.X, y, HEURISTICS, PHIS, **options)
        for h, heuristic in enumerate(HEURISTICS):
            for phi in PHIS:
                classifier = RuleSetClassifier(heuristic, phi, **options).fit(data.X, y)
                assert without_held_out(classifier.theory_) == path.theory(h, phi)

    def test_an_absolute_cut(self, data, path):
        classifier = RuleSetClassifier(
            HEURISTICS[1], min_value=0.8, n_candidates=400, random_state=0
        ).fit(data.X, data.Y)
        assert without_held_out(classifier.theory_) == path.theory(1, min_value=0.8)
        kept = [scored.value for scored in classifier.theory_.rules]
        every = [scored.value for scored in path.theory(1, 1.0).rules]
        assert sorted(kept) == sorted(value for value in every if value >= 0.8)
        assert 0 < len(kept) < len(every)

    def test_another_threshold_heuristic_changes_which_rules_stay_and_not_which_are_selected(
        self, data
    ):
        options = {"n_candidates": 400, "random_state": 0}
        own = theory_path(data.X, data.Y, [WRA()], PHIS, **options)
        other = theory_path(
            data.X, data.Y, [WRA()], PHIS, threshold_heuristic=Precision(), **options
        )
        for phi, same in ((1.0, True), (0.3, False)):
            rules = ({scored.rule for scored in path.theory(0, phi)} for path in (own, other))
            assert (next(rules) == next(rules)) == same


class TestPredictingCells:
    @pytest.mark.parametrize("to_target", [lambda Y: Y, binary_target, multiclass_target])
    def test_all_at_once_are_what_each_theory_predicts(self, data, to_target):
        path = theory_path(
            data.X, to_target(data.Y), HEURISTICS, PHIS, n_candidates=300, random_state=0
        )
        other = make_planted_rules(80, n_labels=3, noise=0.1, missing=0.2, random_state=9).X
        cells = list(path.predict_cells(other))
        assert sorted((h, j) for h, j, _ in cells) == list(np.ndindex(path.shape))
        for h, j, predicted in cells:
            expected = np.asarray(path.theory(h, PHIS[j]).predict(other))
            assert predicted.tolist() == expected.tolist()

    @settings(max_examples=25)
    @given(data_sets(max_rows=25), st.sampled_from([1, 2, 3, 4]))
    def test_on_random_data(self, data, n_classes):
        X, Y = data
        y = Y if n_classes == 1 else np.arange(len(X)) % n_classes
        path = theory_path(X, y, HEURISTICS, PHIS, random_state=0, **FOREST)
        for h, j, predicted in path.predict_cells(X):
            expected = np.asarray(path.theory(h, PHIS[j]).predict(X))
            assert predicted.tolist() == expected.tolist()


class TestEvaluating:
    def test_every_measure_of_every_cell_is_the_measure_of_its_predictions(self, data, path):
        other = make_planted_rules(80, n_labels=3, noise=0.1, missing=0.2, random_state=9)
        assert other.Y.shape[1] == data.Y.shape[1]
        values = path.evaluate(other.X, other.Y, list(MEASURES.values()))
        for h, j, predicted in path.predict_cells(other.X):
            for name, measure in MEASURES.items():
                expected = measure(other.Y.to_numpy(), predicted)
                assert values[name][h, j] == pytest.approx(expected, abs=1e-12), name

    @settings(max_examples=25)
    @given(data_sets(max_rows=25), st.sampled_from(["minority", "present"]))
    def test_on_random_data_with_both_target_classes(self, data, target):
        X, Y = data
        path = theory_path(X, Y, HEURISTICS, PHIS, random_state=0, target=target, **FOREST)
        values = path.evaluate(X, Y, list(MEASURES.values()))
        for h, j, predicted in path.predict_cells(X):
            for name, measure in MEASURES.items():
                expected = measure(Y.to_numpy(), predicted)
                assert values[name][h, j] == pytest.approx(expected, abs=1e-12), name

    def test_sparse_labels(self, data, path):
        from scipy import sparse

        f1 = MEASURES["f1_micro"]
        dense = path.evaluate(data.X, data.Y, [f1])
        other = path.evaluate(data.X, sparse.csr_array(data.Y.to_numpy()), [f1])
        assert dense[f1.name].tolist() == other[f1.name].tolist()


class TestShape:
    def test_fewer_rules_as_phi_falls(self, path):
        assert (np.diff(path.n_kept, axis=1) <= 0).all()
        assert (
            path.n_kept[:, 0] == [len(path.theory(h, 1.0)) for h in range(len(HEURISTICS))]
        ).all()

    def test_rules_of_a_smaller_share_are_among_those_of_a_larger_one(self, path):
        for h in range(len(HEURISTICS)):
            sets = [set(path.theory(h, phi)) for phi in PHIS]
            assert sets[3] <= sets[2] <= sets[1] <= sets[0]

    def test_counts_are_those_of_the_theories(self, path):
        theories = [path.theory(h, phi) for h in range(len(HEURISTICS)) for phi in PHIS]
        assert path.n_rules.ravel().tolist() == [len(theory) for theory in theories]
        assert path.total_conditions.ravel().tolist() == [t.n_conditions for t in theories]

    def test_a_share_need_not_be_on_the_grid(self, path):
        assert len(path.theory(0, 0.3)) <= len(path.theory(0, 0.4)) <= len(path.theory(0, 0.55))

    def test_a_heuristic_is_found_by_itself_its_name_or_its_place(self, path):
        assert path.theory(WRA(), 0.3) == path.theory("wra", 0.3) == path.theory(4, 0.3)
        assert path.theory(-1, 0.3) == path.theory(Laplace(), 0.3)
        with pytest.raises(ValueError, match=r"no m-estimate\(m=3\); it has m-estimate\(m=0\)"):
            path.theory(MEstimate(3))
        with pytest.raises(IndexError):
            path.theory(99)

    def test_a_users_function_is_found_again(self, data):
        def youden(tp, fp, fn, tn):
            return tp / (tp + fn) - fp / (fp + tn)

        path = theory_path(data.X, data.Y, [youden], [1.0], n_candidates=200, random_state=0)
        assert path.theory(youden) == path.theory(get_heuristic(youden)) == path.theory(0)

    @pytest.mark.parametrize("phi", [0, -0.1, 1.1, True, "all"])
    def test_a_share_is_above_zero_and_at_most_one(self, data, phi):
        with pytest.raises(ValueError, match="phi must be a number above 0 and at most 1"):
            theory_path(data.X, data.Y, HEURISTICS, [phi], n_candidates=10)


class TestSaving:
    @pytest.mark.parametrize("to_target", [lambda Y: Y, binary_target, multiclass_target])
    def test_read_again_every_cell_is_the_same(self, data, to_target):
        path = theory_path(
            data.X, to_target(data.Y), HEURISTICS, PHIS, n_candidates=300, random_state=0
        )
        again = TheoryPath.from_json(path.to_json())
        assert again.heuristics == path.heuristics
        assert again.phis == path.phis
        assert again.n_kept.tolist() == path.n_kept.tolist()
        assert again.total_conditions.tolist() == path.total_conditions.tolist()
        for h, j in np.ndindex(path.shape):
            assert again.theory(h, PHIS[j]) == path.theory(h, PHIS[j])
        for known, other in zip(
            path.predict_cells(data.X), again.predict_cells(data.X), strict=True
        ):
            assert known[:2] == other[:2]
            assert known[2].tolist() == other[2].tolist()
        assert again.to_json() == path.to_json()

    def test_what_is_no_path_is_refused(self):
        with pytest.raises(ValueError, match="the text is not a steelyard path"):
            TheoryPath.from_json('{"format": "steelyard theory"}')

    @pytest.mark.parametrize("text", ['{"format": "steelyard path", "schema_version": 1}'])
    def test_a_damaged_path_is_said_in_one_sentence(self, text):
        with pytest.raises(ValueError, match="damaged path"):
            TheoryPath.from_json(text)


def test_a_path_without_any_rule():
    X = pd.DataFrame({"x": [1.0] * 6})
    Y = pd.DataFrame({"a": [0, 1] * 3, "b": [0] * 6})
    path = theory_path(X, Y, HEURISTICS, PHIS, n_candidates=50, random_state=0)
    assert path.n_kept.tolist() == np.zeros(path.shape).tolist()
    assert all(predicted.shape == (6, 2) for _, _, predicted in path.predict_cells(X))
    again = TheoryPath.from_json(path.to_json())
    assert again.theory(0, 1.0) == path.theory(0, 1.0)


@settings(max_examples=60)
@given(data_sets(max_rows=30))
def test_counts_of_a_theory_are_those_of_the_training_set(data):
    X, Y = data
    theory = theory_path(X, Y, [MEstimate(4)], [1.0], random_state=0, **FOREST).theory(0)
    fires = theory.covers(X)
    for mask, scored in zip(fires.T, theory, strict=True):
        positive = (Y[scored.head.label] == scored.head.target_class).to_numpy()
        assert (scored.tp, scored.fp) == ((mask & positive).sum(), (mask & ~positive).sum())
    for label in theory.labels:
        positive = (Y[label.name] == label.target_class).to_numpy()
        own = [scored.head.label == label.name for scored in theory]
        silent = ~fires[:, own].any(axis=1)
        assert label.n_positives == positive.sum()
        assert label.n_negatives == (~positive).sum()
        assert label.uncovered_positives == (silent & positive).sum()
        assert label.uncovered_negatives == (silent & ~positive).sum()
