"""Held-out counts: on examples that did not make a rule, it is right as often as on any others."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.pruning import rows_outside_bag
from steelyard import (
    BoostedRulesClassifier,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    Theory,
    make_planted_rules,
)
from steelyard._kernels.held_out import remove_bags
from steelyard._kernels.row_store import RowStore, find_most_similar
from steelyard.learning import held_out
from steelyard.learning.held_out import deal_folds, group_equal_rows
from steelyard.learning.training_table import code_training_table
from steelyard.model.coverage import order_bits, rows_to_bits

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")

shapes = st.tuples(st.integers(1, 150), st.integers(0, 2**32 - 1))


def draw_masks(n_rules, n_rows, seed):
    return np.random.default_rng(seed).random((n_rules, n_rows)) < 0.4


def to_store(masks, bits, most_listed):
    store = RowStore(bits.n_positive_words, bits.n_words, most_listed)
    store.add_bits(np.array([rows_to_bits(mask, bits) for mask in masks], dtype=np.uint64))
    return store


class TestKernels:
    @given(shapes, st.integers(1, 200), st.integers(1, 3))
    def test_a_bag_takes_away_what_the_oracle_draws_and_all_equal_rows(self, shape, size, repeats):
        n_rows, seed = shape
        rng = np.random.default_rng(seed)
        order, group_of_row = rng.permutation(n_rows), np.arange(n_rows) // repeats
        rows, is_target = draw_masks(2, n_rows, seed)
        seeds = rng.integers(2**64, size=3, dtype=np.uint64)
        bits = order_bits(is_target)
        about_rows = (rows_to_bits(rows, bits), bits.bit_of_row, group_of_row)
        left = remove_bags(*about_rows, order, size, seeds)
        for words, tree_seed in zip(left, seeds, strict=True):
            outside = set(rows_outside_bag(order.tolist(), size, int(tree_seed)))
            seen = set(group_of_row[[row for row in range(n_rows) if row not in outside]])
            expected = rows & np.array([group not in seen for group in group_of_row])
            assert words.tolist() == rows_to_bits(expected, bits).tolist()

    @given(shapes, st.integers(0, 150), st.integers(0, 150))
    def test_the_most_similar_rule_shares_the_largest_part_of_both(
        self, shape, listed, others_listed
    ):
        n_rows, seed = shape
        rules, others = draw_masks(4, n_rows, seed), draw_masks(6, n_rows, seed + 1)
        others[:2] &= draw_masks(2, n_rows, seed + 2)
        among, is_target = draw_masks(2, n_rows, seed + 3)
        bits = order_bits(is_target)
        stores = to_store(rules, bits, listed), to_store(others, bits, others_listed)
        found = zip(*find_most_similar(*stores, rows_to_bits(among, bits)), strict=True)
        for mask, (position, share) in zip(rules & among, found, strict=True):
            similarity = [(mask & o).sum() / max(1, (mask | o).sum()) for o in others & among]
            assert position == np.argmax(similarity)
            assert share == max(similarity)


class TestFolds:
    @given(shapes, st.integers(1, 4))
    def test_equal_rows_are_in_one_fold_and_folds_have_as_many_groups(self, shape, repeats):
        n_rows, seed = shape
        group_of_row = np.arange(n_rows) // repeats
        (is_target,) = draw_masks(1, n_rows, seed)
        fold_of_row = deal_folds(is_target, group_of_row, 2)
        folds = [set(group_of_row[fold_of_row == fold]) for fold in range(2)]
        assert not folds[0] & folds[1]
        with_positives = set(group_of_row[is_target])
        for groups in (with_positives, set(group_of_row)):
            assert abs(len(folds[0] & groups) - len(folds[1] & groups)) <= 1

    @settings(max_examples=20)
    @given(shapes)
    def test_rows_have_the_same_group_if_they_are_equal(self, shape):
        n_rows, seed = shape
        rows = np.random.default_rng(seed).integers(0, 3, (n_rows, 2))
        X = pd.DataFrame({"number": rows[:, 0].astype(float), "name": rows[:, 1].astype(str)})
        group_of_row = group_equal_rows(code_training_table(X).coded)
        keys = list(map(tuple, rows.tolist()))
        pairs = set(zip(keys, group_of_row.tolist(), strict=True))
        assert len(pairs) == len(set(keys)) == len(set(group_of_row.tolist()))


CLASSIFIERS = {
    "paper": RuleSetClassifier(preset="paper", n_candidates=20_000, random_state=0),
    "short": RuleSetClassifier(preset="short", n_candidates=20_000, random_state=0),
    "prefix": RuleSetClassifier(prune="prefix", n_candidates=20_000, random_state=0),
    "boosted": BoostedRulesClassifier(random_state=0),
}


def sum_counts(evidence):
    """Precision of all rules together."""
    found = [e for e in evidence if e is not None]
    return sum(e.tp for e in found) / sum(e.covered for e in found)


@pytest.fixture(params=CLASSIFIERS)
def classifier(request):
    return CLASSIFIERS[request.param]


@pytest.mark.parametrize("prior", [0.3, 0.45])
def test_rules_for_labels_of_pure_chance_are_right_as_often_as_chance(classifier, prior):
    """The attributes say nothing, so whatever a rule gains on its examples is luck."""
    rng = np.random.default_rng(1)
    X, Y = rng.random((400, 8)), (rng.random((400, 10)) < prior).astype(int)
    theory = classifier.fit(X, Y).theory_
    rules = [scored for scored in theory if scored.head.target_class == 1]
    assert sum_counts(scored.evidence for scored in rules) > prior + 0.1
    assert abs(sum_counts(scored.held_out for scored in rules) - prior) < 0.07


def test_rules_that_hold_are_right_on_unseen_examples(classifier):
    data = make_planted_rules(600, random_state=0)
    theory = classifier.fit(data.X, data.Y).theory_
    rules = [scored for scored in theory if scored.precision > 0.98]
    assert sum_counts(scored.held_out for scored in rules) > 0.9


def test_held_out_examples_are_some_of_the_training_examples(classifier):
    data = make_planted_rules(300, noise=0.1, random_state=0)
    for scored in classifier.fit(data.X, data.Y).theory_:
        assert scored.held_out is None or 0 < scored.held_out.covered < len(data.X)


def test_a_rule_is_counted_less_the_more_similar_its_substitute_has_to_be(monkeypatch):
    data = make_planted_rules(200, noise=0.2, random_state=0)
    covered = []
    for least in (0.0, 0.2, 0.5, 1.01):
        monkeypatch.setattr(held_out, "LEAST_SIMILARITY", least)
        theory = CLASSIFIERS["short"].fit(data.X, data.Y).theory_
        covered.append([s.held_out.covered if s.held_out else 0 for s in theory])
    for looser, stricter in itertools.pairwise(np.array(covered)):
        assert (looser >= stricter).all()
    assert sum(covered[0]) > sum(covered[1]) > sum(covered[2]) > sum(covered[3]) == 0
    assert "unseen: " not in str(theory)


def test_examples_that_equal_one_of_the_bag_are_not_unseen(classifier):
    data = make_planted_rules(60, noise=0.1, random_state=0)
    often = pd.concat([data.X] * 30), pd.concat([data.Y] * 30)
    assert all(scored.held_out is None for scored in classifier.fit(*often).theory_)


def test_counts_depend_neither_on_the_order_of_the_rows_nor_on_the_workers():
    data = make_planted_rules(200, noise=0.1, random_state=0)
    order = np.random.default_rng(0).permutation(200)
    make = RuleSetClassifier(n_candidates=2000, random_state=0)
    known = make.fit(data.X, data.Y).theory_
    assert any(scored.held_out is not None for scored in known)
    assert make.fit(data.X.iloc[order], data.Y.iloc[order]).theory_ == known
    assert make.set_params(n_jobs=2).fit(data.X, data.Y).theory_ == known


def test_tuned_rules_have_held_out_counts_and_ripper_has_none():
    data = make_planted_rules(200, noise=0.1, random_state=0)
    tuned = RuleSetClassifierCV(n_candidates=500, cv=2, random_state=0).fit(data.X, data.Y)
    assert any(scored.held_out is not None for scored in tuned.theory_)
    ripper = RipperClassifier(random_state=0).fit(data.X, data.Y)
    assert all(scored.held_out is None for scored in ripper.theory_)


def test_counts_are_printed_explained_and_saved(classifier, tmp_path):
    data = make_planted_rules(200, noise=0.1, random_state=0)
    theory = classifier.fit(data.X, data.Y).theory_
    first = next(scored for scored in theory if scored.held_out is not None)
    words = f"unseen: {first.held_out.tp} of {first.held_out.covered} right"
    assert words in str(theory)
    assert words in str(first)
    row = int(np.argmax(first.rule.covers(data.X)))
    assert words in str(classifier.explain(data.X.iloc[row]))
    theory.to_json(tmp_path / "theory.json")
    assert Theory.from_json(tmp_path / "theory.json") == theory
