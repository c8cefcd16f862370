"""Measures agree with scikit-learn where the empty-set conventions do, and with ours elsewhere."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn import metrics
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from steelyard.measures import (
    MEASURES,
    SCORE_MEASURES,
    confusion_counts,
    get_measure,
    get_scorer,
)

SCORE_FUNCTIONS = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
}


@st.composite
def label_pairs(draw, max_examples=8, min_labels=2):
    # scikit-learn takes a single column for a binary problem, hence at least two labels.
    shape = (draw(st.integers(1, max_examples)), draw(st.integers(min_labels, 5)))
    labels = hnp.arrays(np.int8, shape, elements=st.integers(0, 1))
    return draw(labels), draw(labels)


class TestAgainstScikitLearn:
    @settings(max_examples=30)
    @given(label_pairs())
    @pytest.mark.parametrize("average", ["micro", "macro"])
    @pytest.mark.parametrize("name", SCORE_FUNCTIONS)
    def test_micro_and_macro_are_zero_division_0(self, name, average, pair):
        expected = SCORE_FUNCTIONS[name](*pair, average=average, zero_division=0)
        assert MEASURES[f"{name}_{average}"](*pair) == pytest.approx(expected)

    @given(label_pairs())
    @pytest.mark.parametrize("name", ["f1", "jaccard"])
    def test_example_based_f1_and_jaccard_are_zero_division_1(self, name, pair):
        expected = SCORE_FUNCTIONS[name](*pair, average="samples", zero_division=1)
        assert MEASURES[f"{name}_examples"](*pair) == pytest.approx(expected)

    @given(label_pairs())
    @pytest.mark.parametrize("name", ["precision", "recall"])
    def test_example_based_precision_and_recall_where_nothing_is_empty(self, name, pair):
        Y_true, Y_pred = (np.column_stack([Y, np.ones(len(Y), dtype=Y.dtype)]) for Y in pair)
        expected = SCORE_FUNCTIONS[name](Y_true, Y_pred, average="samples")
        assert MEASURES[f"{name}_examples"](Y_true, Y_pred) == pytest.approx(expected)

    @given(label_pairs())
    def test_hamming_and_subset_accuracy(self, pair):
        assert MEASURES["hamming"](*pair) == pytest.approx(1 - metrics.hamming_loss(*pair))
        assert MEASURES["subset"](*pair) == pytest.approx(metrics.accuracy_score(*pair))

    @settings(max_examples=30)
    @given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1))
    def test_a_vector_of_classes(self, pairs):
        y_true, y_pred = (list(y) for y in zip(*pairs, strict=True))
        assert MEASURES["subset"](y_true, y_pred) == metrics.accuracy_score(y_true, y_pred)
        for name, function in SCORE_FUNCTIONS.items():
            for average in ("micro", "macro"):
                expected = function(y_true, y_pred, average=average, zero_division=0)
                assert MEASURES[f"{name}_{average}"](y_true, y_pred) == pytest.approx(expected)


class TestEmptySets:
    """The module's docstring, line by line."""

    NOTHING = np.zeros((2, 3), dtype=int)
    SOMETHING = np.array([[1, 0, 0], [0, 1, 1]])

    @pytest.mark.parametrize("average", ["micro", "macro"])
    @pytest.mark.parametrize("name", SCORE_FUNCTIONS)
    def test_nothing_over_nothing_is_zero(self, name, average):
        measure = MEASURES[f"{name}_{average}"]
        assert measure(self.NOTHING, self.NOTHING) == 0
        assert measure(self.SOMETHING, self.NOTHING) == 0
        assert measure(self.NOTHING, self.SOMETHING) == 0

    @pytest.mark.parametrize("name", SCORE_FUNCTIONS)
    def test_an_example_with_neither_true_nor_predicted_labels_is_a_perfect_match(self, name):
        measure = MEASURES[f"{name}_examples"]
        assert measure(self.NOTHING, self.NOTHING) == 1
        assert measure(self.SOMETHING, self.NOTHING) == 0
        assert measure(self.NOTHING, self.SOMETHING) == 0

    def test_a_label_without_positives_counts_as_zero_in_a_macro_average(self):
        Y = [[1, 0], [1, 0]]
        assert MEASURES["f1_macro"](Y, Y) == 0.5
        assert MEASURES["f1_micro"](Y, Y) == 1
        assert MEASURES["f1_examples"](Y, Y) == 1

    @given(label_pairs(min_labels=1))
    def test_no_example_based_measure_is_below_subset_accuracy(self, pair):
        subset = MEASURES["subset"](*pair)
        for measure in MEASURES.values():
            if measure.per == "example":
                assert measure(*pair) >= subset - 1e-12


class TestWorkedByHand:
    # tp 3, fp 2, fn 1, tn 3; by label (tp, fp, fn): (2, 0, 0), (1, 0, 1), (0, 2, 0);
    # by example: (1, 1, 0), (2, 1, 0), (0, 0, 1).
    Y_TRUE = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    Y_PRED = np.array([[1, 0, 1], [1, 1, 1], [0, 0, 0]])

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("precision_micro", 3 / 5),
            ("recall_micro", 3 / 4),
            ("f1_micro", 6 / 9),
            ("jaccard_micro", 3 / 6),
            ("hamming", 6 / 9),
            ("subset", 0),
            ("precision_macro", (1 + 1 + 0) / 3),
            ("recall_macro", (1 + 1 / 2 + 0) / 3),
            ("f1_macro", (1 + 2 / 3 + 0) / 3),
            ("jaccard_macro", (1 + 1 / 2 + 0) / 3),
            ("precision_examples", (1 / 2 + 2 / 3 + 0) / 3),
            ("recall_examples", (1 + 1 + 0) / 3),
            ("f1_examples", (2 / 3 + 4 / 5 + 0) / 3),
            ("jaccard_examples", (1 / 2 + 2 / 3 + 0) / 3),
        ],
    )
    def test_value(self, name, value):
        result = MEASURES[name](self.Y_TRUE, self.Y_PRED)
        assert type(result) is float
        assert result == pytest.approx(value)

    def test_this_table_knows_every_measure(self):
        (mark,) = (m for m in self.test_value.pytestmark if m.name == "parametrize")
        assert {name for name, _ in mark.args[1]} == set(MEASURES)


CONTAINERS = {
    "list": lambda Y: Y.tolist(),
    "bool": lambda Y: Y.astype(bool),
    "float": lambda Y: Y.astype(float),
    "frame": lambda Y: pd.DataFrame(Y).add_prefix("label "),
    "mixed frame": lambda Y: pd.DataFrame(Y).astype({0: bool}),
    "nullable frame": lambda Y: pd.DataFrame(Y).astype("boolean"),
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "lil_matrix": sparse.lil_matrix,
}


class TestInput:
    @settings(max_examples=20)
    @given(label_pairs(min_labels=1))
    @pytest.mark.parametrize("container", CONTAINERS)
    def test_the_container_does_not_matter(self, container, pair):
        Y_true, Y_pred = pair
        wrapped_true, wrapped_pred = CONTAINERS[container](Y_true), CONTAINERS[container](Y_pred)
        for per in ("all", "label", "example"):
            expected = confusion_counts(Y_true, Y_pred, per=per)
            for other in (
                confusion_counts(wrapped_true, wrapped_pred, per=per),
                confusion_counts(wrapped_true, Y_pred, per=per),
                confusion_counts(Y_true, wrapped_pred, per=per),
            ):
                np.testing.assert_array_equal(other, expected)

    def test_sparse_input_is_left_as_it_was(self):
        # The same cell stored twice, an explicit zero, and indices out of order.
        indices, data = np.array([1, 1, 0]), np.array([1.0, 0.0, 0.0])
        Y = sparse.csr_array((data, indices, np.array([0, 3])), shape=(1, 2))
        assert MEASURES["f1_micro"](Y, [[0, 1]]) == 1
        assert Y.data.tolist() == [1.0, 0.0, 0.0]
        assert Y.indices.tolist() == [1, 1, 0]

    def test_one_label_may_be_a_vector(self):
        column, vector = np.array([[1], [0], [0]]), np.array([1, 1, 0])
        assert MEASURES["f1_micro"](column, vector) == pytest.approx(2 / 3)
        assert MEASURES["f1_micro"](vector, column) == pytest.approx(2 / 3)

    @pytest.mark.parametrize(
        ("Y_true", "Y_pred", "message"),
        [
            ([[1, 0]], [[1, 0, 0]], r"shape \(1, 2\), but Y_pred has \(1, 3\)"),
            ([[1, 0], [1, 0]], [1, 0], r"shape \(2, 2\), but Y_pred has \(2,\)"),
            ([[1, 2]], [[1, 0]], "Y_true must hold only 0 and 1, but holds 2"),
            ([[1, 0]], [[0.5, 0]], r"Y_pred must hold only 0 and 1, but holds 0\.5"),
            ([[1, np.nan]], [[1, 0]], "Y_true must hold only 0 and 1, but holds nan"),
            ([[1, None]], [[1, 0]], "Y_true must hold only 0 and 1"),
            ([["yes", "no"]], [[1, 0]], "Y_true must hold only 0 and 1, but holds yes"),
            (sparse.csr_array([[3, 0]]), [[1, 0]], "Y_true must hold only 0 and 1, but holds 3"),
            (np.zeros((0, 2)), np.zeros((0, 2)), "nothing to compare"),
            ([], [], "nothing to compare"),
            (np.zeros((1, 1, 1)), np.zeros((1, 1, 1)), "one or two dimensions"),
        ],
    )
    def test_bad_input_is_refused(self, Y_true, Y_pred, message):
        with pytest.raises(ValueError, match=message):
            MEASURES["f1_micro"](Y_true, Y_pred)

    def test_missing_labels_of_a_nullable_frame_are_refused(self):
        Y = pd.DataFrame({"a": pd.array([True, None], dtype="boolean")})
        with pytest.raises(ValueError, match="no missing values"):
            MEASURES["f1_micro"](Y, [[1], [0]])

    def test_frames_with_the_same_columns_in_another_order_are_refused(self):
        Y = pd.DataFrame({"a": [1], "b": [0]})
        with pytest.raises(ValueError, match="different order"):
            MEASURES["f1_micro"](Y, Y[["b", "a"]])

    def test_an_unknown_group_is_refused(self):
        with pytest.raises(ValueError, match="per must be"):
            confusion_counts([[1]], [[1]], per="row")


def from_counts(name):
    """The measure of this name as a function of counts that are 0 unless given."""
    none = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    return lambda **counts: MEASURES[name].from_counts(**none | counts)


precision, recall, f1 = map(from_counts, ("precision_micro", "recall_micro", "f1_micro"))
jaccard, hamming = from_counts("jaccard_micro"), from_counts("hamming")


class TestCounts:
    @given(label_pairs(min_labels=1))
    @pytest.mark.parametrize("per", ["all", "label", "example"])
    def test_the_four_counts_add_up_to_the_cells(self, per, pair):
        Y_true, Y_pred = pair
        counts = confusion_counts(Y_true, Y_pred, per=per)
        axis = {"all": None, "label": 0, "example": 1}[per]
        for count, true, pred in zip(counts, (1, 0, 1, 0), (1, 1, 0, 0), strict=True):
            expected = np.sum((Y_true == true) & (Y_pred == pred), axis=axis)
            np.testing.assert_array_equal(count, expected)

    def test_many_predictions_at_once_equal_each_on_its_own(self):
        rng = np.random.default_rng(0)
        Y_true = rng.integers(0, 2, (20, 5))
        predictions = rng.integers(0, 2, (7, 20, 5)) * (rng.random((7, 1, 5)) < 0.7)
        for measure in MEASURES.values():
            counts = [confusion_counts(Y_true, Y_pred, per=measure.per) for Y_pred in predictions]
            tp, fp, fn, tn = (np.stack(column) for column in zip(*counts, strict=True))
            np.testing.assert_array_equal(
                measure.from_counts(tp=tp, fp=fp, fn=fn, tn=tn),
                [measure(Y_true, Y_pred) for Y_pred in predictions],
            )

    def test_counts_are_broadcast(self):
        assert precision(tp=np.ones((4, 1)), fp=np.ones(3)).shape == (4, 3)
        assert recall(tp=[1, 2]).tolist() == [1, 1]
        assert f1(fp=[0, 1], fn=[[0], [2]]).shape == (2, 2)
        assert hamming(tp=1, fp=[0, 1]).tolist() == [1, 0.5]

    def test_scalars_in_scalar_out(self):
        assert np.ndim(jaccard(tp=1, fp=1, fn=2)) == 0
        assert jaccard(tp=1, fp=1, fn=2) == 0.25

    def test_small_integers_do_not_overflow(self):
        count = np.array([200], dtype=np.uint8)
        assert f1(tp=count, fp=count, fn=count).tolist() == [0.5]
        assert hamming(tp=count, fp=count, fn=count, tn=count).tolist() == [0.5]

    @pytest.mark.parametrize("dtype", [np.int64, np.float64])
    def test_integers_and_floats(self, dtype):
        assert precision(tp=np.array([1], dtype), fp=np.array([3], dtype)).tolist() == [0.25]


class TestNames:
    def test_every_key_is_its_measures_name(self):
        assert all(name == measure.name for name, measure in MEASURES.items())
        assert len({measure.title for measure in MEASURES.values()}) == len(MEASURES)

    @pytest.mark.parametrize(
        ("alias", "name"),
        [("hamming_accuracy", "hamming"), ("subset_accuracy", "subset"), ("accuracy", "subset")],
    )
    def test_aliases(self, alias, name):
        assert get_measure(alias) is MEASURES[name]

    def test_an_unknown_name_lists_the_known_ones(self):
        with pytest.raises(ValueError, match="did you mean 'hamming'") as error:
            get_measure("haming")
        assert all(name in str(error.value) for name in MEASURES)
        with pytest.raises(ValueError, match="'zzz'; known are f1_micro"):
            get_measure("zzz")

    def test_a_measure_is_pickled_and_is_immutable(self):
        measure = MEASURES["f1_macro"]
        assert pickle.loads(pickle.dumps(measure)) == measure
        with pytest.raises(AttributeError):
            measure.name = "other"


class TestScorers:
    X = np.arange(8.0).reshape(-1, 1)
    Y = np.array([[1, 0]] * 6 + [[0, 1]] * 2)

    @pytest.mark.parametrize("name", [*MEASURES, "hamming_accuracy"])
    def test_a_scorer_scores_the_predictions(self, name):
        estimator = DummyClassifier(strategy="most_frequent").fit(self.X, self.Y)
        expected = get_measure(name)(self.Y, estimator.predict(self.X))
        assert get_scorer(name)(estimator, self.X, self.Y) == expected

    def test_our_names_come_first_and_do_not_warn(self):
        estimator = DummyClassifier(strategy="most_frequent").fit(self.X, 0 * self.Y)
        # scikit-learn's own scorer of this name warns here, and the test suite fails on warnings.
        assert get_scorer("f1_micro")(estimator, self.X, 0 * self.Y) == 0

    def test_then_come_scikit_learns(self):
        assert get_scorer("f1_samples") is not None
        assert repr(get_scorer("roc_auc")) == repr(metrics.get_scorer("roc_auc"))

    def test_a_measure_and_a_callable_will_do(self):
        estimator = DummyClassifier(strategy="most_frequent").fit(self.X, self.Y)
        assert get_scorer(MEASURES["subset"])(estimator, self.X, self.Y) == 0.75

        def scorer(estimator, X, Y):
            return 1.0

        assert get_scorer(scorer) is scorer

    @pytest.mark.parametrize("name", SCORE_MEASURES)
    def test_measures_of_scores_look_at_probabilities_and_losses_are_negated(self, name):
        estimator = DummyClassifier(strategy="prior").fit(self.X, self.Y)
        prior = np.tile([0.75, 0.25], (len(self.X), 1))
        measure = SCORE_MEASURES[name]
        expected = measure(self.Y, prior) * (-1 if measure.is_loss else 1)
        for scoring in (name, measure):
            assert get_scorer(scoring)(estimator, self.X, self.Y) == pytest.approx(expected)
        scorer = pickle.loads(pickle.dumps(get_scorer(name)))
        assert scorer(estimator, self.X, self.Y) == pytest.approx(expected)

    def test_measures_of_scores_take_sparse_tables_and_labels(self):
        estimator = DummyClassifier(strategy="prior").fit(self.X, self.Y)
        scorer = get_scorer("brier")
        found = scorer(estimator, sparse.csr_matrix(self.X), sparse.csr_matrix(self.Y))
        assert found == scorer(estimator, self.X, self.Y)
        assert get_scorer(scorer) is scorer

    def test_measures_of_scores_reject_other_labels_than_0_and_1(self):
        estimator = DummyClassifier(strategy="prior").fit(self.X, self.Y)
        with pytest.raises(ValueError, match="must hold only 0 and 1, but holds -1"):
            get_scorer("brier")(estimator, self.X, 2 * self.Y - 1)

    def test_measures_of_scores_say_what_they_need(self):
        estimator = DummyClassifier(strategy="prior").fit(self.X, self.Y[:, 0])
        with pytest.raises(
            ValueError, match="'lrap' measures several labels, but this target is one"
        ):
            get_scorer("lrap")(estimator, self.X, self.Y[:, 0])
        with pytest.raises(ValueError, match="'brier' takes no fractional sample weights"):
            get_scorer("brier")(estimator, self.X, self.Y, sample_weight=np.ones(8))
        margins = MultiOutputClassifier(LinearSVC()).fit(self.X, self.Y)
        with pytest.raises(
            ValueError, match="brier cannot be computed for MultiOutputClassifier: no"
        ):
            get_scorer("brier")(margins, self.X, self.Y)

    def test_unknown_scoring(self):
        with pytest.raises(ValueError, match="did you mean 'brier'"):
            get_scorer("brierr")
        with pytest.raises(ValueError, match="did you mean 'f1_micro'"):
            get_scorer("f1_mirco")
        with pytest.raises(TypeError, match="a name, a measure or a callable"):
            get_scorer(3)

    def test_in_scikit_learns_tools(self):
        scorer = get_scorer("jaccard_examples")
        assert "jaccard_examples" in repr(scorer)
        tree = DecisionTreeClassifier(random_state=0)
        restored = pickle.loads(pickle.dumps(scorer))
        assert (
            cross_val_score(tree, self.X, self.Y, scoring=restored, cv=2).tolist()
            == cross_val_score(tree, self.X, self.Y, scoring=scorer, cv=2).tolist()
        )
        search = GridSearchCV(
            tree,
            {"max_depth": [1, 2]},
            scoring={name: get_scorer(name) for name in ("hamming", "subset")},
            refit="subset",
            cv=2,
        )
        assert clone(search).fit(self.X, self.Y).best_score_ >= 0

    def test_one_dimensional_classes(self):
        y = np.array(["a", "b"] * 4)
        tree = DecisionTreeClassifier(random_state=0).fit(self.X, y)
        for name in ("accuracy", "f1_macro", "f1_micro"):
            expected = metrics.get_scorer(name)(tree, self.X, y)
            assert get_scorer(name)(tree, self.X, y) == expected
