"""Rules have the names of attributes and labels, whatever library or pipeline the data comes from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.fixes import parse_version

from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    MEstimate,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    make_planted_rules,
)
from steelyard.model.theory import Theory

TEXTS = [
    "the licence is gpl free software",
    "gpl and more gpl for linux",
    "linux kernel patch",
    "windows patch and a fee",
    "a gpl patch",
    "windows is not free",
    "linux is free",
    "windows fee",
] * 8
LABELS = np.array([["gpl" in text, "windows" in text] for text in TEXTS]).astype(int)
NAMES = ["open licence", "closed system"]

SMALL = [
    RuleSetClassifier(n_candidates=300, preset="paper", random_state=0),
    RuleSetClassifierCV(
        heuristics=[MEstimate(4)], phis=[0.5, 1.0], n_candidates=300, preset="paper", random_state=0
    ),
    BoostedRulesClassifier(max_rules=10, random_state=0),
    BoostedRulesClassifierCV(ms=[4, 16], max_rules=10, random_state=0),
    RipperClassifier(random_state=0),
]
ESTIMATORS = pytest.mark.parametrize("clf", SMALL, ids=lambda clf: type(clf).__name__)

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only")


@pytest.fixture(scope="module")
def planted():
    return make_planted_rules(150, random_state=0)


@pytest.fixture(scope="module")
def words():
    vectorizer = CountVectorizer()
    return vectorizer.fit_transform(TEXTS), vectorizer.get_feature_names_out()


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (300, 6))
    Y = np.column_stack([(X[:, 0] > 0) & (X[:, 1] == 0), X[:, 2] > 1]).astype(int)
    return X, Y


def used_names(theory: Theory) -> set[str]:
    return {condition.feature for scored in theory for condition in scored.body}


class TestFrames:
    @ESTIMATORS
    def test_every_library_teaches_what_pandas_teaches(self, clf, planted):
        X = planted.X.assign(
            **{c: planted.X[c].astype(str) for c in planted.X.select_dtypes("category")}
        )
        X = X.where(planted.X.notna(), None)
        Y = planted.Y
        expected = sklearn.clone(clf).fit(X, Y)
        in_polars = pl.from_pandas(X), pl.from_pandas(Y)
        libraries = {
            "polars": in_polars,
            "pyarrow": tuple(frame.to_arrow() for frame in in_polars),
            "nullable": (X.convert_dtypes(), Y.astype("Int64")),
            "arrow types": tuple(
                frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype) for frame in in_polars
            ),
        }
        for library, (X, Y) in libraries.items():
            found = sklearn.clone(clf).fit(X, Y)
            assert str(found.theory_) == str(expected.theory_), library
            assert found.theory_ == expected.theory_, library
            assert found.feature_names_in_.tolist() == planted.feature_names
            assert found.theory_.label_names == tuple(planted.label_names)
            np.testing.assert_array_equal(found.predict(X), expected.predict(planted.X))
            assert found.score(X, Y) == expected.score(planted.X, planted.Y), library

    @pytest.mark.parametrize("tune", [False, True])
    def test_true_labels_to_score_are_matched_by_name(self, planted, tune):
        options = {"max_rules": 10, "random_state": 0}
        clf = (
            BoostedRulesClassifierCV("hamming", cv=2, condense=False, **options)
            if tune
            else BoostedRulesClassifier(**options)
        )
        X, Y = planted.X, planted.Y
        expected = clf.fit(X, Y).score(X, Y)
        assert clf.score(X, Y.iloc[:, ::-1]) == expected
        assert clf.score(X, Y.to_numpy()) == expected
        assert clf.score(X, Y.to_numpy()[:, ::-1]) != expected
        renamed = Y.rename(columns={Y.columns[0]: "else"})
        with pytest.raises(ValueError, match=f"^Y has no label {Y.columns[0]!r}"):
            clf.score(X, renamed)
        numbered = Y.set_axis([f"y{j}" for j in range(Y.shape[1])], axis=1)
        for labels in (Y.to_numpy(), numbered):  # those without names are called y0, y1, ...
            assert clf.fit(X, labels).score(X, renamed) == expected
            assert clf.score(X, numbered.iloc[:, ::-1]) == expected

    def test_a_polars_series_of_classes_is_a_target(self):
        X = pl.DataFrame({"size": np.arange(40.0)})
        y = pl.Series("fruit", ["plum"] * 15 + ["melon"] * 25)
        clf = RipperClassifier(random_state=0).fit(X, y)
        assert set(clf.predict(X)) == {"plum", "melon"}
        assert "plum ← size ≤ 14" in str(clf.theory_)

    def test_sample_weights_work_with_polars(self, planted):
        X, Y = pl.from_pandas(planted.X), pl.from_pandas(planted.Y)
        weight = np.arange(len(planted)) % 3
        clf = RipperClassifier(random_state=0)
        by_polars = sklearn.clone(clf).fit(X, Y, weight).theory_
        assert by_polars == sklearn.clone(clf).fit(planted.X, planted.Y, weight).theory_

    @pytest.mark.parametrize("output", ["pandas", "polars"])
    def test_set_output_of_a_transformer_keeps_names(self, output, planted):
        if output == "polars" and parse_version(sklearn.__version__) < parse_version("1.9"):
            pytest.skip("a ColumnTransformer rejects its own frames of polars before 1.9")
        numbers = planted.X.select_dtypes("number").columns.tolist()
        encode = OneHotEncoder(sparse_output=False)
        transform = ColumnTransformer([("numbers", StandardScaler(), numbers)], remainder=encode)
        pipe = make_pipeline(
            transform.set_output(transform=output), RipperClassifier(random_state=0)
        )
        theory = pipe.fit(planted.X, planted.Y)[-1].theory_
        assert used_names(theory) <= set(transform.get_feature_names_out())
        assert any("colour_" in name for name in used_names(theory))
        assert pipe.predict(planted.X).shape == planted.Y.shape


class TestGivenNames:
    @ESTIMATORS
    @pytest.mark.parametrize("form", ["sparse", "array"])
    def test_rules_over_a_matrix_read_words(self, clf, form, words):
        X, names = words
        table = X if form == "sparse" else X.toarray()
        Y = sparse.csr_array(LABELS) if form == "sparse" else LABELS
        fitted = sklearn.clone(clf).fit(table, Y, feature_names=names, label_names=NAMES)
        assert fitted.theory_.label_names == tuple(NAMES)
        assert used_names(fitted.theory_) <= set(names)
        # A dense count is a number like any other.
        test = "has gpl" if form == "sparse" else "gpl ≥ "
        assert f"open licence ← {test}" in str(fitted.theory_)
        unnamed = sklearn.clone(clf).fit(table, Y)
        np.testing.assert_array_equal(fitted.predict(table), unnamed.predict(table))

    def test_a_pipeline_passes_the_names_on(self):
        pipe = Pipeline([("words", CountVectorizer()), ("rules", RipperClassifier(random_state=0))])
        pipe.fit(
            TEXTS,
            LABELS,
            rules__feature_names=pipe["words"].get_feature_names_out,
            rules__label_names=NAMES,
        )
        assert "open licence ← has gpl" in str(pipe["rules"].theory_)

    def test_metadata_routing_passes_the_names_on_in_cross_validation(self):
        vectorizer = CountVectorizer()
        names = vectorizer.fit(TEXTS).get_feature_names_out()
        with sklearn.config_context(enable_metadata_routing=True):
            rules = RipperClassifier(random_state=0)
            rules.set_fit_request(feature_names=True, label_names=True)
            pipe = make_pipeline(CountVectorizer(vocabulary=names), rules)
            pipe.fit(TEXTS, LABELS, feature_names=names, label_names=NAMES)
            assert "closed system ← has windows" in str(pipe[-1].theory_)
            params = {"feature_names": names, "label_names": NAMES}
            scores = cross_validate(pipe, TEXTS, LABELS, params=params, return_estimator=True)
        for fitted in scores["estimator"]:
            assert used_names(fitted[-1].theory_) <= set(names)

    def test_names_of_another_fit_are_forgotten(self, words):
        X, names = words
        clf = RipperClassifier(random_state=0).fit(X, LABELS, feature_names=names)
        assert used_names(clf.fit(X, LABELS).theory_) <= {f"x{j}" for j in range(X.shape[1])}

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"feature_names": ["a"]}, "feature_names has 1 names for 15 attributes"),
            ({"feature_names": ["a"] * 15}, "feature_names has the name 'a' twice"),
            ({"feature_names": "gpl"}, "feature_names must be a list of names, got 'gpl'"),
            ({"label_names": ["a"]}, "label_names has 1 names for 2 labels"),
        ],
    )
    def test_wrong_names_are_rejected(self, options, problem, words):
        with pytest.raises(ValueError, match=problem):
            RipperClassifier().fit(words[0], LABELS, **options)

    def test_a_frame_has_names_of_its_own(self, planted):
        names = [f"a{j}" for j in range(planted.X.shape[1])]
        with pytest.raises(ValueError, match="X has names of its own: 'weight'"):
            RipperClassifier().fit(planted.X, planted.Y, feature_names=names)
        labels = [f"y{j}" for j in range(planted.Y.shape[1])]
        with pytest.raises(ValueError, match="y has names of its own: 'for juice'"):
            RipperClassifier().fit(planted.X, planted.Y, label_names=labels)

    def test_classes_have_no_label_names(self, words):
        with pytest.raises(ValueError, match="label_names name the columns of a multi-label y"):
            RipperClassifier().fit(words[0], LABELS[:, 0], label_names=["a"])


class TestPresenceOnly:
    """Rules over words can be restricted to words that are present."""

    @pytest.mark.parametrize("preset", ["paper", "short"])
    def test_no_condition_holds_for_an_absent_word(self, preset, counts):
        X, Y = sparse.csr_array(counts[0]), counts[1]
        options = {"n_candidates": 500, "preset": preset, "random_state": 0}
        free = RuleSetClassifier(**options).fit(X, Y).theory_
        bound = RuleSetClassifier(presence_only=True, **options).fit(X, Y).theory_
        assert any(condition.test(0.0) for scored in free for condition in scored.body)
        assert len(bound) > 0
        assert all(len(scored) > 0 for scored in bound)
        assert not any(condition.test(0.0) for scored in bound for condition in scored.body)
        # The counts beside a shortened rule are its own.
        fires = bound.covers(X)
        for i, scored in enumerate(bound):
            is_right = Y[:, bound.label_names.index(scored.head.label)] == scored.head.target_class
            assert (scored.tp, scored.fp) == (
                (fires[:, i] & is_right).sum(),
                (fires[:, i] & ~is_right).sum(),
            )

    def test_it_concerns_dense_zeros_and_ones_but_no_other_numbers(self, counts):
        X = pd.DataFrame({"word": np.minimum(counts[0][:, 1], 1), "size": np.arange(300) % 50})
        y = ((X["word"] == 0) & (X["size"] < 20)).astype(int).to_frame("y")
        options = {"n_candidates": 300, "preset": "paper", "random_state": 0}
        theory = RuleSetClassifier(presence_only=True, **options).fit(X, y).theory_
        assert used_names(theory) == {"size"}
        assert used_names(RuleSetClassifier(**options).fit(X, y).theory_) == {"word", "size"}

    def test_the_tuned_estimator_has_the_option_too(self, counts):
        X, Y = sparse.csr_array(counts[0]), counts[1]
        clf = RuleSetClassifierCV(presence_only=True, n_candidates=300, cv=2, random_state=0)
        theory = clf.fit(X, Y).theory_
        assert not any(condition.test(0.0) for scored in theory for condition in scored.body)

    def test_it_is_a_boolean(self, counts):
        with pytest.raises(ValueError, match="presence_only must be True or False, got 'yes'"):
            RuleSetClassifier(presence_only="yes").fit(*counts)
