"""Sets of categories: sorted by their share of positives, the best set of all is a range of codes."""

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.growing import add, impurity
from steelyard import (
    BoostedRulesClassifier,
    Constraints,
    MEstimate,
    RuleSetClassifier,
    RuleSetClassifierCV,
    Theory,
)
from steelyard.learning.category_sets import MOST_CATEGORIES, sort_categories
from steelyard.learning.training_table import code_training_table
from steelyard.model.tables import table_to_columns

pytestmark = pytest.mark.filterwarnings("ignore:the data yields only", "ignore:no rule for")


@st.composite
def labelled_columns(draw):
    """A nominal column, sometimes with gaps or mostly of one category, and which rows are positive."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_categories = draw(st.integers(3, 6))
    n_rows = draw(st.integers(5 * n_categories, 60))
    shares = rng.dirichlet(np.full(n_categories, draw(st.sampled_from([0.3, 3.0]))))
    column = rng.choice(list("abcdef"[:n_categories]), n_rows, p=shares).astype(object)
    column[:n_categories] = list("abcdef"[:n_categories])
    column[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.2]))] = None
    is_target = rng.random(n_rows) < rng.random()
    is_target[:2] = True, False
    return pd.DataFrame({"c": column}), is_target


def count_by_category(X, is_target):
    known = X["c"].dropna()
    return [
        [int((~is_target[X["c"] == text]).sum()), int(is_target[X["c"] == text].sum())]
        for text in sorted(known.unique())
    ]


def subsets(n):
    return chain.from_iterable(combinations(range(n), size) for size in range(1, n))


def prefixes(order):
    """The sets that a boundary makes, on either side of it."""
    return [side for i in range(1, len(order)) for side in (order[:i], order[i:])]


class TestAgainstBruteForce:
    @settings(max_examples=60)
    @given(labelled_columns(), st.sampled_from([0.0, 0.5, 8.0]))
    def test_no_set_is_better_than_the_best_range(self, data, l2):
        """For information gain, and for the gain of boosting at the start: G²/(H + l2)."""
        X, is_target = data
        coded = code_training_table(X).coded
        codes = sort_categories(coded, is_target)
        if not codes.places:  # gaps have left two categories
            return
        counts = count_by_category(X, is_target)
        order = np.argsort(codes.places[0]).tolist()
        prior = is_target.mean()

        def inside(members):
            return add([0, 0], *(counts[code] for code in members))

        def children(members):
            rest = [code for code in range(len(counts)) if code not in members]
            return impurity(inside(members)) + impurity(inside(rest))

        def boosted(members):
            negative, positive = inside(members)
            gradient = positive * (1 - prior) - negative * prior
            return gradient**2 / ((positive + negative) * prior * (1 - prior) + l2 + 1e-9)

        every, ranges = list(subsets(len(counts))), prefixes(order)
        assert min(map(children, ranges)) == pytest.approx(min(map(children, every)), abs=1e-9)
        assert max(map(boosted, ranges)) == pytest.approx(max(map(boosted, every)))

    @settings(max_examples=40)
    @given(labelled_columns())
    def test_new_codes_mean_the_same_categories(self, data):
        X, is_target = data
        training = code_training_table(X)
        codes = sort_categories(training.coded, is_target)
        columns = list(table_to_columns(X)) * (2 if codes.places else 1)
        again = codes.recode_coder(training.coder).encode_columns(columns, len(X))
        new = codes.recode(training.coded)
        for found, expected in zip(new[2:], again[2:], strict=True):
            np.testing.assert_array_equal(found, expected)
        assert new.is_nominal.tolist() == [True, False][: len(columns)]


@pytest.fixture(scope="module")
def data():
    """Labels that need sets of categories, an attribute of many categories, and gaps."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "c": rng.choice(list("abcdefgh"), 300),
            "d": rng.choice(list("uvwxyz"), 300),
            "id": [f"row{i}" for i in range(300)],
            "x": rng.random(300).round(2),
        }
    )
    p = X["c"].isin(list("adg")) & X["d"].isin(list("uwz"))
    q = X["c"].isin(list("bce")) & (X["x"] > 0.4)
    X.loc[::17, "c"] = None
    return X, pd.DataFrame({"p": p, "q": q}).astype(int)


FOREST = {"n_candidates": 1000, "n_trees": 5, "random_state": 0, "category_sets": True}
ESTIMATORS = {
    "paper": RuleSetClassifier(MEstimate(4), 1.0, preset="paper", max_depths=(4,), **FOREST),
    "short": RuleSetClassifier(MEstimate(4), 1.0, preset="short", **FOREST),
    "boosted": BoostedRulesClassifier(max_rules=8, category_sets=True, random_state=0),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request, data):
    return ESTIMATORS[request.param].fit(*data)


class TestTheories:
    def test_planted_sets_are_found(self, fitted):
        bodies = [sorted(map(str, s.body)) for s in fitted.theory_]
        assert any(body[0] == "c in {a, d, g}" and body[1][0] == "d" for body in bodies)
        assert any(body[0] == "c in {b, c, e}" and body[1][:4] == "x ≥ " for body in bodies)

    def test_evidence_is_that_of_the_examples(self, fitted, data):
        again = fitted.theory_.recount(*data)
        assert [(s.tp, s.fp) for s in again] == [(s.tp, s.fp) for s in fitted.theory_]

    def test_they_predict_the_same_when_read_from_a_file(self, fitted, data):
        read = Theory.from_json(fitted.theory_.to_json())
        np.testing.assert_array_equal(read.covers(data[0]), fitted.theory_.covers(data[0]))

    def test_exports_and_explanations_name_the_sets(self, fitted, data):
        namespace = {}
        exec(fitted.theory_.to_python(), namespace)
        predicted = [namespace["predict"](row) for row in data[0].to_dict("records")]
        expected = [dict(zip(["p", "q"], row, strict=True)) for row in fitted.predict(data[0])]
        assert predicted == expected
        row = data[0][data[0]["c"].eq("a") & data[0]["d"].eq("u")].iloc[0]
        assert "{a, d, g}" in str(fitted.explain(row))

    def test_many_categories_are_tested_one_by_one(self, fitted):
        tested = [c for s in fitted.theory_ for c in s.body if c.feature == "id"]
        assert all(len(c.categories) == 1 for c in tested)
        assert MOST_CATEGORIES < 300


def test_other_labels_and_the_order_of_rows_change_nothing(data):
    X, Y = data
    clf = ESTIMATORS["boosted"]
    rules = [s.rule for s in clf.fit(X, Y).theory_.rules_of("p")]
    rows = np.random.default_rng(1).permutation(len(X))
    assert [s.rule for s in clf.fit(X.iloc[rows], Y.iloc[rows]).theory_.rules_of("p")] == rules


def test_tuned_rule_sets_have_them_too(data):
    options = FOREST | {"heuristics": [MEstimate(4)], "phis": [1.0], "cv": 2}
    clf = RuleSetClassifierCV("subset", preset="short", **options).fit(*data)
    assert clf.best_score_ > 0.9


def test_constraints_keep_single_categories(data):
    clf = BoostedRulesClassifier(
        max_rules=8, category_sets=True, constraints=Constraints(forbidden=["id"]), random_state=0
    )
    theory = clf.fit(*data).theory_
    assert all(len(c.categories or "x") == 1 for s in theory for c in s.body)
