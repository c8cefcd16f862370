"""Iterative stratification: the same folds as the paper's loop, and the properties it promises."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.tree import DecisionTreeClassifier

from reference import stratification
from steelyard.splitting import IterativeStratifiedKFold, assign_folds


@st.composite
def label_matrices(draw):
    shape = (draw(st.integers(2, 25)), draw(st.integers(1, 6)))
    return draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1)))


def skewed_labels(n_examples=1000, seed=0):
    """Twelve labels, from one positive in two examples to one in a hundred."""
    rng = np.random.default_rng(seed)
    return (rng.random((n_examples, 12)) < np.geomspace(0.5, 0.01, 12)).astype(int)


def held_out(cv, Y):
    """The test indices of every fold."""
    return [test for _, test in cv.split(np.zeros(len(Y)), Y)]


def spread(folds, Y):
    """Per label, by how many positives the richest and the poorest fold differ."""
    n_positives = np.array([Y[test].sum(axis=0) for test in folds])
    return n_positives.max(axis=0) - n_positives.min(axis=0)


class TestAssignFolds:
    @given(label_matrices(), st.integers(2, 5))
    def test_one_sort_a_label_equals_one_example_at_a_time(self, Y, n_splits):
        n_splits = min(n_splits, len(Y))
        label_sets = [set(np.flatnonzero(row)) for row in Y]
        expected = stratification.assign_folds(label_sets, n_splits)
        assert assign_folds(Y, n_splits, shuffle=False).tolist() == expected

    @given(label_matrices(), st.integers(2, 5), st.integers(0, 99))
    def test_no_fold_is_empty(self, Y, n_splits, seed):
        # A fold without examples has fewest of everything, so it is always served first.
        n_splits = min(n_splits, len(Y))
        sizes = np.bincount(assign_folds(Y, n_splits, random_state=seed), minlength=n_splits)
        assert len(sizes) == n_splits
        assert sizes.min() >= 1

    @pytest.mark.parametrize("shuffle", [True, False])
    def test_the_rarest_label_is_spread_to_within_one(self, shuffle):
        Y = skewed_labels()
        rarest = Y.sum(axis=0).argmin()
        fold = assign_folds(Y, 10, shuffle=shuffle, random_state=0 if shuffle else None)
        n_positives = np.bincount(fold[Y[:, rarest] == 1], minlength=10)
        assert n_positives.max() - n_positives.min() <= 1

    def test_examples_without_labels_are_spread_evenly(self):
        Y = np.zeros((100, 3), dtype=int)
        Y[:30] = np.repeat(np.eye(3, dtype=int), 10, axis=0)
        fold = assign_folds(Y, 5, random_state=0)
        assert np.bincount(fold[30:]).tolist() == [14] * 5

    def test_without_any_label_the_folds_are_equal_and_random(self):
        Y = np.zeros((50, 2), dtype=int)
        fold = assign_folds(Y, 5, random_state=0)
        assert np.bincount(fold).tolist() == [10] * 5
        assert fold.tolist() != assign_folds(Y, 5, random_state=1).tolist()
        assert assign_folds(Y, 5, shuffle=False).tolist() == [0, 1, 2, 3, 4] * 10

    @pytest.mark.parametrize("seed", range(5))
    def test_a_label_with_fewer_positives_than_folds_has_each_in_another(self, seed):
        Y = np.zeros((40, 2), dtype=int)
        Y[:3, 0] = 1
        Y[:20, 1] = 1
        fold = assign_folds(Y, 5, random_state=seed)
        assert len(set(fold[:3])) == 3
        assert np.bincount(fold[:20]).tolist() == [4] * 5

    def test_ties_are_broken_by_the_seed(self):
        Y = skewed_labels(100)
        folds = {tuple(assign_folds(Y, 5, random_state=seed)) for seed in range(5)}
        assert len(folds) == 5
        # Which folds get the odd example varies as well: no fold is favoured.
        first = [assign_folds([[1]] * 6, 5, random_state=seed) for seed in range(40)]
        assert len({np.bincount(fold).argmax() for fold in first}) == 5

    def test_data_sorted_by_label_are_no_obstacle(self):
        Y = np.repeat(np.eye(4, dtype=int), 25, axis=0)
        fold = assign_folds(Y, 5, random_state=0)
        assert np.all(spread([np.flatnonzero(fold == k) for k in range(5)], Y) == 0)

    @pytest.mark.parametrize(
        "container",
        [
            lambda Y: Y.tolist(),
            lambda Y: Y.astype(bool),
            lambda Y: Y.astype(float),
            pd.DataFrame,
            lambda Y: pd.DataFrame(Y).astype({0: bool}),
            lambda Y: pd.DataFrame(Y).astype("boolean"),
            sparse.csr_matrix,
            sparse.csc_array,
            sparse.coo_array,
        ],
    )
    def test_the_container_does_not_matter(self, container):
        Y = skewed_labels(60)
        expected = assign_folds(Y, 3, random_state=0).tolist()
        assert assign_folds(container(Y), 3, random_state=0).tolist() == expected

    def test_explicit_zeros_are_no_labels_and_the_input_is_left_as_it_was(self):
        Y = sparse.csc_array(
            (np.array([1, 0, 1]), np.array([2, 1, 0]), np.array([0, 3])), shape=(3, 1)
        )
        expected = assign_folds([[1], [0], [1]], 2, shuffle=False).tolist()
        assert assign_folds(Y, 2, shuffle=False).tolist() == expected
        assert Y.data.tolist() == [1, 0, 1]
        assert Y.indices.tolist() == [2, 1, 0]

    @pytest.mark.parametrize(
        ("Y", "n_splits", "message"),
        [
            ([[1, 2]] * 4, 2, "only 0 and 1"),
            ([[1, np.nan]] * 4, 2, "only 0 and 1"),
            ([["yes", "no"]] * 4, 2, "only 0 and 1"),
            ([[1, pd.NA]] * 4, 2, "only 0 and 1"),
            (np.linspace(0, 1, 9), 2, "continuous"),
            (np.zeros((4, 2, 1)), 2, "one or two dimensions"),
            ([[1]] * 4, 5, "cannot make 5 folds of 4 examples"),
            ([[1]] * 4, 0, "cannot make 0 folds"),
        ],
    )
    def test_bad_input_is_refused(self, Y, n_splits, message):
        with pytest.raises(ValueError, match=message):
            assign_folds(Y, n_splits)


class TestVectorOfClasses:
    @pytest.mark.parametrize(
        "y", [np.repeat([0, 1], [70, 30]), np.repeat(list("abc"), [5, 40, 55])]
    )
    def test_every_class_is_spread_to_within_one(self, y):
        folds = held_out(IterativeStratifiedKFold(4, random_state=0), y)
        Y = y[:, None] == np.unique(y)
        assert np.all(spread(folds, Y) <= 1)
        sizes = [len(test) for test in folds]
        assert max(sizes) - min(sizes) <= 1


class TestSplitter:
    @pytest.mark.parametrize("n_splits", [2, 5, 10])
    def test_every_example_is_in_exactly_one_test_fold(self, n_splits):
        Y = skewed_labels(203)
        cv = IterativeStratifiedKFold(n_splits, random_state=0)
        folds = list(cv.split(np.zeros(203), Y))
        assert len(folds) == cv.get_n_splits() == n_splits
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(203))
        for train, test in folds:
            assert sorted(np.concatenate([train, test])) == list(range(203))
            assert np.all(np.diff(test) > 0)

    @pytest.mark.parametrize("seed", range(3))
    def test_folds_are_of_similar_size(self, seed):
        Y = skewed_labels(seed=seed)
        sizes = [len(test) for test in held_out(IterativeStratifiedKFold(10, random_state=0), Y)]
        assert max(sizes) - min(sizes) <= 5

    @pytest.mark.parametrize("seed", range(3))
    def test_proportions_are_closer_than_those_of_plain_folds(self, seed):
        Y = skewed_labels(seed=seed)
        is_rare = Y.mean(axis=0) < 0.1
        stratified = spread(held_out(IterativeStratifiedKFold(10, random_state=seed), Y), Y)
        plain = spread(held_out(KFold(10, shuffle=True, random_state=seed), Y), Y)
        assert np.all(stratified[is_rare] < plain[is_rare])
        assert stratified.sum() < plain.sum() / 3

    def test_the_same_seed_gives_the_same_folds(self):
        Y = skewed_labels(100)
        cv = IterativeStratifiedKFold(5, random_state=3)
        first, second = held_out(cv, Y), held_out(cv, Y)
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
        other = held_out(IterativeStratifiedKFold(5, random_state=4), Y)
        assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))

    def test_without_shuffling_nothing_is_random(self):
        Y = skewed_labels(100)
        cv = IterativeStratifiedKFold(5, shuffle=False)
        fold = assign_folds(Y, 5, shuffle=False)
        for k, test in enumerate(held_out(cv, Y)):
            np.testing.assert_array_equal(test, np.flatnonzero(fold == k))

    def test_a_random_state_is_drawn_from(self):
        Y = skewed_labels(100)
        cv = IterativeStratifiedKFold(5, random_state=np.random.RandomState(0))
        first, second = held_out(cv, Y), held_out(cv, Y)
        assert not all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))

    def test_bad_parameters_are_refused_as_scikit_learn_does(self):
        with pytest.raises(ValueError, match="n_splits=2 or more"):
            IterativeStratifiedKFold(1)
        with pytest.raises(ValueError, match="random_state has no effect"):
            IterativeStratifiedKFold(shuffle=False, random_state=0)
        with pytest.raises(ValueError, match="greater than the number of samples"):
            next(IterativeStratifiedKFold(5).split(np.zeros(4), np.ones((4, 1))))
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            next(IterativeStratifiedKFold(2).split(np.zeros(4), np.ones((5, 1))))

    def test_labels_are_needed(self):
        with pytest.raises(ValueError, match="pass y"):
            next(IterativeStratifiedKFold(2).split(np.zeros(4), None))

    def test_groups_are_ignored_with_a_warning(self):
        with pytest.warns(UserWarning, match="ignores groups"):
            list(IterativeStratifiedKFold(2).split(np.zeros(4), np.ones((4, 1)), [0, 0, 1, 1]))


class TestInScikitLearn:
    X, Y = make_multilabel_classification(n_samples=60, n_classes=4, random_state=0)
    tree = DecisionTreeClassifier(random_state=0)

    @pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
    def test_cross_validate(self, container):
        cv = IterativeStratifiedKFold(3, random_state=0)
        scores = cross_validate(self.tree, self.X, container(self.Y), cv=cv)
        assert scores["test_score"].shape == (3,)

    def test_sparse_labels(self):
        # cross_validate refuses them, a splitter called by hand need not.
        cv = IterativeStratifiedKFold(3, random_state=0)
        for dense, from_sparse in zip(
            cv.split(self.X, self.Y), cv.split(self.X, sparse.csr_matrix(self.Y)), strict=True
        ):
            np.testing.assert_array_equal(dense[1], from_sparse[1])

    def test_grid_search(self):
        cv = IterativeStratifiedKFold(3, random_state=0)
        search = GridSearchCV(self.tree, {"max_depth": [1, 3]}, cv=cv)
        assert clone(search).fit(self.X, self.Y).n_splits_ == 3

    def test_printed_and_pickled(self):
        cv = IterativeStratifiedKFold(3, random_state=0)
        assert repr(cv) == "IterativeStratifiedKFold(n_splits=3, random_state=0, shuffle=True)"
        assert repr(pickle.loads(pickle.dumps(cv))) == repr(cv)
