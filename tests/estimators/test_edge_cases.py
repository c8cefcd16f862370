"""Edge cases: each has a defined answer, and input without an answer is rejected in one sentence."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError

from steelyard import MEstimate, RuleSetClassifier, RuleSetClassifierCV, Theory, make_planted_rules
from steelyard.data import DataWarning

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only", "ignore:no rule can test")


def classifier(**options):
    return RuleSetClassifier(**({"n_candidates": 200, "n_trees": 3, "random_state": 0} | options))


@pytest.fixture(scope="module")
def data():
    return make_planted_rules(100, n_labels=2, random_state=0)


class TestLittleToLearn:
    def test_constant_attributes_give_the_empty_theory_and_the_majority(self):
        X = pd.DataFrame({"x": [1.0] * 6, "c": ["red"] * 6})
        Y = pd.DataFrame({"rare": [1, 0, 0, 0, 0, 0], "common": [1, 1, 1, 1, 1, 0]})
        fitted = classifier().fit(X, Y)
        assert len(fitted.theory_) == 0
        assert fitted.predict(X).tolist() == [[0, 1]] * 6
        assert Theory.from_json(fitted.theory_.to_json()) == fitted.theory_
        assert fitted.theory_.to_frame().empty
        assert str(fitted.theory_).count("no rule") == 2
        assert fitted.theory_.covers(X).shape == (6, 0)
        # All that is left to say is how frequent a label is: (1 + 1)/(6 + 2) and its mirror image.
        np.testing.assert_allclose(fitted.decision_function(X)[0], [2 / 8 - 1, 1 - 2 / 8])

    def test_nothing_to_learn_is_a_warning(self):
        with pytest.warns(ConvergenceWarning, match="yields only 0 distinct candidate rules"):
            classifier().fit(pd.DataFrame({"x": [1.0] * 4}), [0, 0, 0, 1])

    def test_a_label_with_one_positive_can_be_learned(self):
        X = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0)[::-1] % 7})
        Y = pd.DataFrame({"once": (X.x == 13).astype(int)})
        fitted = classifier(phi=1.0, n_candidates=2000).fit(X, Y)
        assert fitted.predict(X).ravel().tolist() == Y.once.tolist()

    def test_constant_labels_are_predicted_as_they_are(self, data):
        Y = pd.DataFrame({"never": 0, "always": 1, "real": data.Y.iloc[:, 0]})
        fitted = classifier(phi=1.0).fit(data.X, Y)
        predicted = fitted.predict(data.X)
        assert (predicted[:, 0] == 0).all()
        assert (predicted[:, 1] == 1).all()
        assert [rule.head.label for rule in fitted.theory_] == ["real"] * len(fitted.theory_)
        assert [label.target_class for label in fitted.theory_.labels] == [1, 0, 1]
        assert len(fitted.theory_) > 0

    def test_a_constant_label_that_must_be_present_needs_a_rule_and_gets_none(self, data):
        # Rules for presence only, and nothing to tell apart: the default of such a label is absence.
        fitted = classifier(target="present").fit(data.X, pd.DataFrame({"always": [1] * 100}))
        assert len(fitted.theory_) == 0
        assert (fitted.predict(data.X) == 0).all()

    def test_only_constant_labels(self, data):
        fitted = classifier().fit(data.X, np.zeros((100, 3), dtype=int))
        assert len(fitted.theory_) == 0
        assert not fitted.predict(data.X).any()

    def test_one_class(self, data):
        fitted = classifier().fit(data.X, ["only"] * 100)
        assert fitted.classes_.tolist() == ["only"]
        assert (fitted.predict(data.X) == "only").all()
        assert (fitted.predict_proba(data.X) == 1).all()
        assert fitted.predict_proba(data.X).shape == (100, 1)

    @pytest.mark.parametrize("y", [[0, 1], [1, 1], [[0, 1], [1, 0]], ["a", "b"]])
    def test_two_rows(self, y):
        X = np.array([[0.0], [1.0]])
        fitted = classifier(phi=1.0).fit(X, y)
        assert fitted.predict(X).tolist() == y

    def test_one_row(self):
        fitted = classifier().fit([[1.0, 2.0]], [[1, 0]])
        assert fitted.predict([[1.0, 2.0]]).tolist() == [[1, 0]]

    def test_one_attribute(self):
        X = np.arange(30.0)[:, None]
        Y = np.column_stack([X[:, 0] < 8, X[:, 0] >= 25]).astype(int)
        fitted = classifier(phi=1.0).fit(X, Y)
        assert (fitted.predict(X) == Y).all()
        assert sorted(str(scored.rule) for scored in fitted.theory_) == [
            "y0 ← x0 < 7.5",
            "y1 ← x0 ≥ 24.5",
        ]

    def test_duplicate_rows_with_contradicting_labels(self):
        # The majority decides for rows that cannot be told apart.
        X = pd.DataFrame({"x": [1.0] * 5 + [2.0] * 15})
        y = [1, 1, 1, 1, 0] + [0] * 14 + [1]
        fitted = classifier().fit(X, y)
        assert fitted.predict(X).tolist() == [1] * 5 + [0] * 15
        (rule,) = fitted.theory_.rules
        assert (rule.tp, rule.fp) == (4, 1)


class TestShapesOfY:
    def test_a_frame_with_one_column_is_one_label(self, data):
        fitted = classifier().fit(data.X, data.Y.iloc[:, :1])
        assert fitted.theory_.is_multilabel
        assert fitted.theory_.label_names == (data.Y.columns[0],)
        assert fitted.predict(data.X).shape == (100, 1)

    def test_an_array_with_one_column_is_a_class_with_scikit_learns_warning(self, data):
        with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
            fitted = classifier().fit(data.X, data.Y.iloc[:, :1].to_numpy())
        assert fitted.predict(data.X).shape == (100,)

    def test_a_thousand_labels(self, data):
        rng = np.random.default_rng(0)
        Y = rng.random((100, 1000)) < 0.05
        fitted = classifier(n_candidates=3000, phi=0.5).fit(data.X, Y)
        assert fitted.predict(data.X).shape == (100, 1000)
        assert fitted.decision_function(data.X).shape == (100, 1000)
        assert len({rule.head.label for rule in fitted.theory_}) > 100

    @pytest.mark.parametrize(
        ("Y", "message"),
        [
            (None, "requires y to be passed, but the target y is None"),
            (np.zeros((100, 0)), "0 columns|no label"),
            (np.full((100, 2), 2), "labels must be 0 or 1, but label 'y0' is .*2.* in row 0"),
            (np.full((100, 2), np.nan), "Input y contains NaN: label 'y0', row 0"),
            (np.full(100, np.nan), "Input y contains NaN: row 0"),
            (np.zeros((100, 2, 2)), "y must have one or two dimensions"),
            (np.zeros((99, 2)), "inconsistent numbers of samples"),
            (np.zeros(99), "inconsistent numbers of samples"),
            (
                pd.DataFrame(np.zeros((100, 2)), columns=["a", "a"]),
                "two labels have the same name 'a'",
            ),
            (np.full((100, 2), "yes"), "labels must be 0 or 1"),
        ],
        ids=range(10),
    )
    def test_invalid_labels_are_rejected(self, data, Y, message):
        with pytest.raises(ValueError, match=message):
            classifier().fit(data.X, Y)

    @pytest.mark.parametrize(
        "column",
        [
            pd.array([True, False, None], dtype="boolean"),
            pd.array([1, 0, None], dtype="Int64"),
            pd.Series([1, 0, pd.NA], dtype=object),
            pd.Series([True, False, None], dtype=object),
            pd.Series([1.0, 0.0, np.nan]),
        ],
        ids=["boolean", "Int64", "NA", "None", "NaN"],
    )
    def test_a_missing_label_is_named_whatever_it_is_made_of(self, column):
        Y = pd.DataFrame({"first": [1, 0, 1], "p": column})
        with pytest.raises(ValueError, match="Input y contains NaN: label 'p', row 2"):
            classifier().fit(np.arange(3.0)[:, None], Y)
        with pytest.raises(ValueError, match="Input y contains NaN: label 'y1', row 2"):
            classifier().fit(np.arange(3.0)[:, None], Y.to_numpy(dtype=object))

    @pytest.mark.parametrize(
        "y", [[[1, 0], [1, 0], [0]], [[1, 0], 1, [0, 1]], ["a", ["b", "c"], "d"]], ids=str
    )
    @pytest.mark.parametrize("estimator", [classifier, RuleSetClassifierCV])
    def test_rows_of_different_length_are_rejected(self, estimator, y):
        with pytest.raises(ValueError, match="the rows of y differ in length"):
            estimator().fit(np.arange(3.0)[:, None], y)

    def test_half_a_character_is_rejected_by_name(self):
        half, X, y = "a\ud800", np.arange(4.0)[:, None], [0, 1, 0, 1]
        named = pd.Index([half], dtype=object)
        words = pd.DataFrame({"word": pd.Series([half, "b"] * 2, dtype=object)})
        for table, labels, message in [
            (
                pd.DataFrame(X, columns=named),
                y,
                "the attribute 'a.ud800' contains a lone surrogate",
            ),
            (words, y, "the category 'a.ud800' of the attribute 'word' contains a lone surrogate"),
            (
                X,
                pd.DataFrame([[v] for v in y], columns=named),
                "the label 'a.ud800' contains a lone",
            ),
            (X, pd.Series(y, name=half), "the label 'a.ud800' contains a lone"),
            (X, [half, "b"] * 2, "the class 'a.ud800' contains a lone"),
        ]:
            with pytest.raises(ValueError, match=message):
                classifier().fit(table, labels)
        # Where it was never seen it is one more unseen category.
        fitted = classifier().fit(pd.DataFrame({"word": ["a", "b"] * 4}), y * 2)
        assert not fitted.theory_.covers(words)[0].any()


class TestMissingAndUnseen:
    @pytest.mark.parametrize(
        "empty",
        [
            np.full(100, np.nan),
            pd.Series([None] * 100, dtype=object),
            pd.Categorical([None] * 100),
            pd.Categorical([None] * 100, categories=["a", "b"]),
            pd.array([pd.NA] * 100, dtype="Int64"),
            pd.array([pd.NA] * 100, dtype="string"),
            pd.array([pd.NA] * 100, dtype="boolean"),
        ],
        ids=["numeric", "object", "category", "declared", "Int64", "string", "boolean"],
    )
    def test_a_column_without_values_is_in_no_rule_and_disturbs_none(self, data, empty):
        with_empty = data.X.assign(empty=empty)
        fitted = classifier(phi=1.0).fit(with_empty, data.Y)
        assert len(fitted.theory_) > 0
        assert all(c.feature != "empty" for rule in fitted.theory_ for c in rule.body)
        assert fitted.predict(with_empty).shape == data.Y.shape
        assert Theory.from_json(fitted.theory_.to_json()) == fitted.theory_

    def test_nothing_but_missing_values(self):
        X = np.full((6, 2), np.nan)
        fitted = classifier().fit(X, [0, 0, 0, 0, 1, 1])
        assert len(fitted.theory_) == 0
        assert fitted.predict(X).tolist() == [0] * 6

    def test_a_row_of_missing_values_satisfies_no_rule(self, data):
        fitted = classifier(phi=1.0).fit(data.X, data.Y)
        nothing = data.X.iloc[:1].copy()
        for name in nothing:
            nothing[name] = pd.Series([None], dtype=nothing[name].dtype, index=nothing.index)
        assert not fitted.theory_.covers(nothing).any()
        targets = [label.target_class for label in fitted.theory_.labels]
        assert fitted.predict(nothing).tolist() == [[1 - t for t in targets]]

    @pytest.mark.parametrize("dtype", [object, "category", "string"])
    def test_an_unseen_category_satisfies_no_rule(self, dtype):
        X = pd.DataFrame({"c": ["red", "blue", "blue"] * 5}).astype(dtype)
        fitted = classifier().fit(X, [1, 0, 0] * 5)
        new = pd.DataFrame({"c": ["green", "red", None]}).astype(dtype)
        assert fitted.predict(new).tolist() == [0, 1, 0]

    def test_missing_values_of_every_kind_are_the_same(self, data):
        X = data.X.assign(number=[1.0, 2.0, None, 4.0] * 25, word=["a", "b", None, np.nan] * 25)
        other = X.assign(number=pd.array(X.number, dtype="Float64"), word=X.word.astype("string"))
        known = classifier().fit(X, data.Y).theory_
        assert classifier().fit(other, data.Y).theory_ == known

    @pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=repr)
    def test_in_arrays_of_objects_too(self, missing):
        X = np.array([[1, "a"], [2, "b"], [missing, "b"], [3, missing]] * 5, dtype=object)
        fitted = classifier(phi=1.0).fit(X, [0, 1, 0, 0] * 5)
        assert [f.is_nominal for f in fitted.theory_.features] == [False, True]
        assert fitted.predict(X).tolist() == [0, 1, 0, 0] * 5
        numbers = classifier().fit(X[:, :1], [0, 1, 0, 0] * 5)
        assert numbers.predict(X[:, :1]).tolist() == [0, 1, 0, 0] * 5


class TestColumns:
    def test_two_columns_of_the_same_name_are_rejected(self, data):
        X = data.X.set_axis(["twice", "twice", *data.X.columns[2:]], axis=1)
        with pytest.raises(ValueError, match="two attributes have the same name 'twice'"):
            classifier().fit(X, data.Y)

    def test_names_that_are_partly_text_are_scikit_learns_error(self, data):
        X = data.X.iloc[:, :2].set_axis(["1", 1], axis=1)
        with pytest.raises(
            TypeError, match="only supported if all input features have string names"
        ):
            classifier().fit(X, data.Y)

    @pytest.mark.parametrize("infinity", [np.inf, -np.inf])
    def test_infinity_is_rejected_in_frames_arrays_and_sparse_matrices(self, infinity):
        from scipy import sparse

        X = np.array([[1.0], [infinity], [2.0]])
        for form in (X, sparse.csr_array(X), pd.DataFrame(X, columns=["x"])):
            with pytest.raises(ValueError, match="infinity"):
                classifier().fit(form, [0, 1, 0])
        fitted = classifier().fit(pd.DataFrame({"x": [1.0, 5.0, 2.0, 6.0]}), [0, 1, 0, 0])
        with pytest.raises(ValueError, match="infinity"):
            fitted.predict(pd.DataFrame({"x": [infinity]}))

    def test_periods_are_rejected_by_name(self, data):
        X = data.X.assign(picked=pd.period_range("2020-01-01", periods=100))
        with pytest.raises(
            ValueError, match=r"attribute 'picked' has type period.*convert or drop"
        ):
            classifier().fit(X, data.Y)

    def test_identifiers_and_constants_are_named_in_a_warning(self, data):
        X = data.X.assign(fruit=[f"fruit {i}" for i in range(100)], fruit_id=range(100))
        message = "look like identifiers: 'fruit', 'fruit_id'; rules about them do not hold"
        with pytest.warns(DataWarning, match=message):
            classifier().fit(X, data.Y)
        tuned = RuleSetClassifierCV(phis=[1.0], n_candidates=100, cv=2, random_state=0)
        for clf in (classifier(), tuned):
            with pytest.warns(DataWarning, match="one value in all examples: 'year'"):
                clf.fit(data.X.assign(year=2024), data.Y)

    def test_identifiers_and_constants_among_categories_are_named_too(self, data):
        names = pd.Series([f"fruit {i}" for i in range(100)], index=data.X.index)
        columns = {
            "fruit": names,
            "most": names.where(np.arange(100) % 3 > 0),  # those that are known differ
            "half": pd.Series([f"tree {i // 2}" for i in range(100)], index=data.X.index),
            "few": names.where(np.arange(100) < 15),  # too few to tell
            "year": "2024",
            "unknown": None,
            "gaps": pd.Series(["2024", None] * 50, index=data.X.index),
        }
        X = data.X.assign(**columns)
        categories = [f"fruit {i}" for i in range(200)]  # declared, but most never occur
        X = X.astype(dict.fromkeys(columns, "category"))
        X["fruit"] = X["fruit"].cat.set_categories(categories)
        with pytest.warns(DataWarning) as caught:
            classifier().fit(X, data.Y)
        messages = [str(warning.message) for warning in caught]
        assert any("look like identifiers: 'fruit', 'most';" in message for message in messages)
        assert any(
            message.endswith("one value in all examples: 'year', 'unknown'") for message in messages
        )

    @pytest.mark.parametrize("shape", [(0, 3), (5, 0)])
    def test_an_empty_table_is_rejected(self, shape):
        y = np.zeros(shape[0])
        with pytest.raises(ValueError, match=r"empty|0 sample|0 feature"):
            classifier().fit(np.zeros(shape), y)
        with pytest.raises(ValueError, match=r"empty|0 sample|0 feature"):
            classifier().fit(pd.DataFrame(np.zeros(shape)), y)

    def test_odd_names_are_carried_through(self):
        names = ["a ∧ b", "≥", '"quoted"', "new\nline", ""]
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.random((60, 5)), columns=names)
        Y = pd.DataFrame({"←": (X["≥"] > 0.7).astype(int), 'l"b': (X[""] < 0.3).astype(int)})
        fitted = classifier(phi=1.0).fit(X, Y)
        again = Theory.from_json(fitted.theory_.to_json())
        assert again == fitted.theory_
        assert (again.predict(X).to_numpy() == fitted.predict(X)).all()

    def test_a_column_of_another_kind_at_prediction_is_named(self):
        fitted = classifier().fit(pd.DataFrame({"x": [1.0, 2.0, 3.0] * 4}), [0, 1, 0] * 4)
        with pytest.raises(
            ValueError, match="attribute 'x' is numeric, but one of its values is 'a'"
        ):
            fitted.predict(pd.DataFrame({"x": ["a"]}))

    def test_huge_and_tiny_numbers_are_told_apart(self):
        largest, smallest = np.finfo(float).max, 5e-324
        X = np.array([[-largest], [-smallest], [0.0], [smallest], [1.0], [largest]])
        y = [0, 1, 0, 0, 0, 0]
        fitted = classifier(n_candidates=1000).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
        assert fitted.predict(X).tolist() == y


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"phi": 0}, "phi must be a number above 0 and at most 1, got 0"),
            ({"phi": 1.5}, "phi must be a number above 0 and at most 1, got 1.5"),
            ({"phi": "half"}, "phi must be a number above 0 and at most 1, got 'half'"),
            ({"phi": math.nan}, "phi must be a number above 0 and at most 1, got nan"),
            ({"n_candidates": 0}, "n_candidates must be an integer of at least 1, got 0"),
            (
                {"n_candidates": 1e3},
                "n_candidates must be an integer of at least 1, got 1000.0",
            ),
            ({"n_trees": -1}, "n_trees must be an integer from 1 to 1,000,000, got -1"),
            ({"n_trees": 10**12}, "n_trees must be an integer from 1 to 1,000,000, got 1000"),
            ({"max_depths": ()}, r"max_depths must be one or more depth limits.*got \(\)"),
            ({"max_depths": (0,)}, r"max_depths must be one or more depth limits.*got \(0,\)"),
            ({"max_depths": -1}, r"max_depths must be one or more depth limits.*got \(-1,\)"),
            (
                {"sample_fraction": 0.0},
                "sample_fraction must be a number above 0 and at most 100, got 0.0",
            ),
            (
                {"sample_fraction": 1e9},
                "sample_fraction must be a number above 0 and at most 100, got 1000000000.0",
            ),
            (
                {"max_features": np.array([0.1, 0.2])},
                "max_features must be 'log2', 'sqrt', an int",
            ),
            ({"max_features": "auto"}, "max_features must be 'log2', 'sqrt'.*got 'auto'"),
            ({"max_features": 0}, "max_features must be 'log2', 'sqrt'.*got 0"),
            ({"target": "majority"}, "target must be 'minority' or 'present', got 'majority'"),
            ({"heuristic": "gini"}, "unknown heuristic 'gini'; known heuristics:"),
            ({"threshold_heuristic": "gini"}, "unknown heuristic 'gini'; known heuristics:"),
            ({"min_value": "high"}, "min_value must be a number or None, got 'high'"),
            ({"min_value": math.nan}, "min_value must be a number or None, got nan"),
            ({"min_value": 0.5, "phi": 0.5}, "phi and min_value exclude each other"),
            ({"random_state": -3}, "random_state must be .* got -3"),
        ],
        ids=str,
    )
    def test_invalid_parameters_are_named_in_one_sentence(self, data, parameters, message):
        with pytest.raises(ValueError, match=message):
            classifier(**parameters).fit(data.X, data.Y)

    @pytest.mark.parametrize("parameters", [{"heuristic": 3}, {"heuristic": MEstimate}])
    def test_other_objects_than_heuristics_are_a_type_error(self, data, parameters):
        with pytest.raises(TypeError, match="heuristic must be"):
            classifier(**parameters).fit(data.X, data.Y)

    def test_one_depth_limit_may_stand_alone(self, data):
        alone, listed = (
            classifier(max_depths=depths).fit(data.X, data.Y).theory_ for depths in (2, (2,))
        )
        assert alone == listed
        assert max(len(rule) for rule in alone) <= 2

    def test_before_fit_there_is_no_theory(self, data):
        for estimator in (classifier(), RuleSetClassifierCV()):
            for method in ("predict", "predict_proba", "decision_function"):
                with pytest.raises(NotFittedError):
                    getattr(estimator, method)(data.X)

    def test_a_cut_above_all_values_leaves_the_empty_theory(self, data):
        fitted = classifier(min_value=2.0).fit(data.X, data.Y)
        assert len(fitted.theory_) == 0
        assert not fitted.predict(data.X).any()


class TestTablesForATheory:
    """A theory of an array calls its attributes x0, x1, ...; a DataFrame may have other names."""

    @pytest.fixture(params=[0, 1], ids=["tests x0", "tests x1"])
    def used_and_theory(self, request):
        X = np.full((60, 2), 0.5)  # a constant attribute is in no rule
        X[:, request.param] = np.linspace(0, 1, 60)
        theory = classifier().fit(X, (X[:, request.param] > 0.7).astype(int)).theory_
        assert {c.feature for rule in theory for c in rule.body} == {f"x{request.param}"}
        return request.param, theory

    def test_its_own_names_are_found_by_name_and_others_by_position(self, used_and_theory):
        used, theory = used_and_theory
        row = [[0.0, 1.0]]
        for names, expected in [
            (["x0", "x1"], used),
            (["x1", "x0"], 1 - used),
            (["a", "b"], used),
            ([7, 8], used),
        ]:
            assert theory.predict(pd.DataFrame(row, columns=names)).tolist() == [expected], names
        more = pd.DataFrame([[5.0, 1.0, 0.0]], columns=["more", "x1", "x0"])
        assert theory.predict(more).tolist() == [used]

    def test_what_no_rule_tests_may_be_absent(self, used_and_theory):
        used, theory = used_and_theory
        assert theory.predict(pd.DataFrame({f"x{used}": [1.0]})).tolist() == [1]
        with pytest.raises(ValueError, match=f"no column for 'x{used}'"):
            theory.predict(pd.DataFrame({f"x{1 - used}": [1.0]}))

    @pytest.mark.parametrize("names", [["x1", "x2"], ["x0", "b"], ["b", "x1", "c"]], ids=str)
    def test_a_mixture_is_rejected_whatever_the_rules_test(self, used_and_theory, names):
        _, theory = used_and_theory
        table = pd.DataFrame(np.ones((1, len(names))), columns=names)
        for ask in (theory.predict, theory.explain):
            with pytest.raises(ValueError, match=r"by name or by position: .* but not 'x.'"):
                ask(table)

    def test_by_position_the_number_of_columns_must_fit(self, used_and_theory):
        _, theory = used_and_theory
        with pytest.raises(ValueError, match=r"2 attributes, got shape \(1, 3\)"):
            theory.predict(pd.DataFrame([[1.0, 2.0, 3.0]], columns=list("abc")))

    def test_names_of_ones_own_are_always_found_by_name(self):
        X = pd.DataFrame({"a": np.arange(20.0), "b": 1.0})
        theory = classifier().fit(X, (X["a"] > 14).astype(int)).theory_
        assert theory.predict(pd.DataFrame({"c": [0.0], "a": [19.0]})).tolist() == [1]
        with pytest.raises(ValueError, match="no column for 'a'"):
            theory.predict(pd.DataFrame({"c": [0.0], "d": [19.0]}))

    @pytest.mark.parametrize("example", [None, 3, "abc", set(), np.float64(1.0)], ids=repr)
    def test_only_examples_can_be_explained(self, used_and_theory, example):
        _, theory = used_and_theory
        message = rf"an example .* or a table, got {re.escape(repr(example))}$"
        with pytest.raises(TypeError, match=message):
            theory.explain(example)

    @pytest.mark.parametrize("n_closest", ["a", 1.5, -1, True, None], ids=repr)
    def test_the_number_of_rules_to_compare_with_is_checked(self, used_and_theory, n_closest):
        _, theory = used_and_theory
        with pytest.raises(ValueError, match="n_closest must be a non-negative integer, got"):
            theory.explain([0.0, 0.0], n_closest=n_closest)
        assert theory.explain([0.0, 0.0], n_closest=np.int64(0)).labels[0].closest == ()

    @pytest.mark.parametrize("X", ["abc", {"x0": 1.0, "x1": 2.0}], ids=str)
    def test_only_tables_can_be_predicted(self, used_and_theory, X):
        _, theory = used_and_theory
        with pytest.raises(TypeError, match=r"X must be a DataFrame, .*, got "):
            theory.predict(X)

    def test_rows_of_different_length_are_no_table(self, used_and_theory):
        _, theory = used_and_theory
        with pytest.raises(ValueError, match="the rows of the table differ in length"):
            theory.predict([[1.0, 2.0], [1.0]])

    def test_cells_that_are_no_value_are_named(self, used_and_theory):
        used, theory = used_and_theory
        for bad, message in [([1, 2], "holds a list"), (np.inf, "contains infinity")]:
            row = {"x0": 0.0, "x1": 0.0} | {f"x{used}": bad}
            for ask in (theory.predict, theory.explain):
                with pytest.raises(ValueError, match=f"attribute 'x{used}' {message}"):
                    ask(pd.DataFrame([row]))
