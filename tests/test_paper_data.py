"""The learner on the paper's data sets: fold 1 as held-out rows, fewer candidates than the paper."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from steelyard import MEstimate, RuleSetClassifier, RuleSetClassifierCV, Theory, load_mulan
from steelyard.data import read_folds


@pytest.fixture(scope="module")
def split(paper_data):
    cache = {}

    def split(name):
        if name not in cache:
            data = load_mulan(paper_data / name / f"{name}.arff")
            is_test = read_folds(paper_data / name / "folds.csv") == 1
            cache[name] = data.X[~is_test], data.Y[~is_test], data.X[is_test], data.Y[is_test]
        return cache[name]

    return split


def learn(X, Y, **options):
    return RuleSetClassifier(**({"n_candidates": 30_000, "random_state": 0} | options)).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "least"), [("emotions", 0.58), ("flags", 0.60), ("genbase", 0.94)]
)
def test_defaults_reach_a_useful_f1(split, name, least):
    X, Y, X_test, Y_test = split(name)
    theory = learn(X, Y, n_candidates=10_000).theory_
    assert f1_score(Y_test, theory.predict(X_test), average="micro") > least


def test_words_make_rules_for_medical(split):
    X, Y, X_test, Y_test = split("medical")
    theory = learn(X, Y, n_candidates=5000).theory_
    assert f1_score(Y_test, theory.predict(X_test), average="micro") > 0.7
    # The paper's example: the rules of this label are around one word.
    cough = theory.rules_of("786.2:Cough")
    assert any(c.feature == "cough" for scored in cough for c in scored.rule.body)


def test_sparse_and_dense_words_give_the_same_theory(split):
    X, Y, *_ = split("medical")
    X, Y = X.iloc[:300], Y.iloc[:300, :10]
    known = learn(X, Y, n_candidates=1000)
    dense = X.sparse.to_dense()
    assert learn(dense, Y, n_candidates=1000).theory_ == known.theory_
    as_csr = X.sparse.to_coo().tocsr()
    other = learn(as_csr, Y.to_numpy(), n_candidates=1000)
    assert (other.predict(as_csr) == known.predict(X)).all()


def test_an_attribute_with_a_value_for_every_row_does_no_harm(split):
    X, Y, X_test, Y_test = split("genbase")
    theory = learn(X, Y, n_candidates=3000).theory_
    proteins = dict(zip((f.name for f in theory.features), theory.features, strict=True))["protein"]
    assert len(proteins.categories) == len(X)
    again = Theory.from_json(theory.to_json())
    assert (again.predict(X_test).to_numpy() == theory.predict(X_test).to_numpy()).all()
    assert Y_test.shape == again.predict(X_test).shape


def test_labels_of_the_majority_get_rules_for_their_absence(split):
    X, Y, *_ = split("flags")
    theory = learn(X, Y, n_candidates=2000).theory_
    expected = [int(2 * n < len(Y)) for n in Y.sum()]
    assert [label.target_class for label in theory.labels] == expected
    assert 0 in expected


@pytest.mark.parametrize("name", ["emotions", "flags"])
def test_one_and_two_workers_write_the_same_file(split, name):
    X, Y, *_ = split(name)
    one, two = (learn(X, Y, n_candidates=10_000, n_jobs=n).theory_ for n in (1, 2))
    assert one.to_json() == two.to_json()


def test_precision_and_recall_compete(split):
    """The paper's first finding: small m and a small share against large m and everything kept."""
    X, Y, X_test, Y_test = split("emotions")
    strict = learn(X, Y, heuristic=MEstimate(8), phi=0.1).predict(X_test).astype(bool)
    lax = learn(X, Y, heuristic=MEstimate(2**19), phi=1.0).predict(X_test).astype(bool)
    truth = Y_test.to_numpy(dtype=bool)

    def precision_and_recall(predicted):
        hits = (predicted & truth).sum()
        return hits / predicted.sum(), hits / truth.sum()

    (strict_precision, strict_recall), (lax_precision, lax_recall) = map(
        precision_and_recall, (strict, lax)
    )
    assert strict_precision > lax_precision + 0.1
    assert strict_recall < lax_recall - 0.1


def test_tuned_for_f1(split):
    X, Y, X_test, Y_test = split("flags")
    tuned = RuleSetClassifierCV("f1_micro", n_candidates=3000, cv=3, random_state=0).fit(X, Y)
    assert tuned.cv_results_["mean_test_score"].shape == (13 * 20,)
    assert tuned.best_score_ == np.max(tuned.cv_results_["mean_test_score"])
    assert tuned.score(X_test, Y_test) > 0.6
