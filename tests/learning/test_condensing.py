"""Condensing: a few of many rules that vote, with votes that fit what all rules predict, or labels."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from threadpoolctl import threadpool_info

from planted_targets import make_three_labels
from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    Constraints,
    Rule,
    make_planted_rules,
)
from steelyard.learning.boosted_rules import grow_boosted_rules
from steelyard.learning.condensing import _choose_bodies, expect_memory, find_pace
from steelyard.learning.paths import Bounds
from steelyard.learning.settings import TEACHERS, BoostingSettings
from steelyard.learning.targets import encode_targets

pytestmark = pytest.mark.filterwarnings("ignore:no rule can test")

N_RULES = 20
GROWN_PER_KEPT = find_pace(shares_bodies=False).grown_per_kept
BODIES_PER_KEPT = find_pace(shares_bodies=True).grown_per_kept
SMALL = {"max_rules": N_RULES, "n_tries": 3, "random_state": 0}
M = 4.0
each_teacher = pytest.mark.parametrize("teacher", TEACHERS)


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.1)


def boosted(**options):
    return BoostedRulesClassifier(M, **(SMALL | {"decode": "each-label"} | options))


@pytest.fixture(scope="module")
def every(data):
    """All rules that are condensed."""
    return boosted(max_rules=GROWN_PER_KEPT * N_RULES).fit(*data).theory_


@pytest.fixture(scope="module")
def condensed(data):
    return {teacher: boosted(condense=teacher).fit(*data).theory_ for teacher in TEACHERS}


def votes_of(theory):
    return {str(scored.rule): scored.vote for scored in theory}


def wanted_of(teacher, every, X, Y):
    """The probabilities that the votes are fitted to."""
    if teacher == "labels":
        return np.asarray(Y, dtype=float)
    return 1 / (1 + np.exp(-every.evaluate(X).scores / 100))


def mean_loss(theory, wanted, X):
    log_odds = theory.evaluate(X).scores / 100
    return (np.logaddexp(0, log_odds) - wanted * log_odds).mean()


class Task:
    """The votes of one label as a general optimiser sees them."""

    def __init__(self, theory, j, wanted, X, Y):
        name = theory.label_names[j]
        self.own = [r for r, scored in enumerate(theory) if scored.head.label == name]
        self.fires = theory.evaluate(X).fires
        self.start, self.wanted = theory.combiner.start[j] / 100, wanted[:, j]
        share = np.asarray(Y)[:, j].mean()
        self.l2 = M * share * (1 - share)

    def solve(self, rules):
        def penalised(votes):
            z = self.fires[:, rules] @ votes + self.start
            return (np.logaddexp(0, z) - self.wanted * z).sum() + self.l2 / 2 * votes @ votes

        return minimize(penalised, np.zeros(len(rules)), method="BFGS")


@each_teacher
def test_the_rules_are_some_of_those_that_were_grown_and_keep_their_signs(
    condensed, every, teacher
):
    before, after = votes_of(every), votes_of(condensed[teacher])
    assert len(every) == GROWN_PER_KEPT * N_RULES
    assert N_RULES - 2 <= len(after) <= N_RULES
    assert set(after) < set(before)
    assert all(vote * before[rule] > 0 for rule, vote in after.items())


@each_teacher
def test_they_come_close_to_what_they_are_fitted_to(data, condensed, every, teacher):
    """At least halfway from as many rules of boosting alone to all rules."""
    wanted = wanted_of(teacher, every, *data)
    few = boosted().fit(*data).theory_
    losses = [mean_loss(theory, wanted, data[0]) for theory in (few, condensed[teacher], every)]
    assert losses[1] < (losses[0] + losses[2]) / 2


@each_teacher
def test_the_votes_are_those_of_a_general_optimiser(data, condensed, every, teacher):
    theory, wanted = condensed[teacher], wanted_of(teacher, every, *data)
    for j in range(len(theory.label_names)):
        task = Task(theory, j, wanted, *data)
        found = [list(theory)[r].vote / 100 for r in task.own]
        assert found == pytest.approx(task.solve(task.own).x, abs=0.0051 + 1e-3)


def test_the_value_of_a_rule_is_twice_the_loss_without_it(data, condensed, every):
    theory = condensed["predictions"]
    task = Task(theory, 0, wanted_of("predictions", every, *data), *data)
    least = task.solve(task.own).fun
    costs = [2 * (task.solve([r for r in task.own if r != out]).fun - least) for out in task.own]
    values = [list(theory)[r].value for r in task.own]
    # The value is that of a quadratic loss.
    assert values == pytest.approx(costs, rel=0.5)
    assert np.corrcoef(costs, values)[0, 1] > 0.9


def few_needed():
    """Two labels that one attribute tells: they need fewer rules than they may have."""
    x = np.linspace(0, 1, 60)
    return pd.DataFrame({"x": x}), np.column_stack((x > 0.5, x < 0.2)).astype(int)


def test_rules_within_the_bounds_predict_what_they_predicted():
    X, Y = few_needed()
    every = boosted(max_rules=GROWN_PER_KEPT * 200).fit(X, Y).theory_
    assert len(every) < 200
    assert votes_of(boosted(max_rules=200, condense="predictions").fit(X, Y).theory_) == (
        votes_of(every)
    )


def test_rules_within_the_bounds_are_fitted_to_the_labels():
    X, Y = few_needed()
    every = boosted(max_rules=GROWN_PER_KEPT * 200).fit(X, Y).theory_
    fitted = boosted(max_rules=200, condense="labels").fit(X, Y).theory_
    assert set(votes_of(fitted)) <= set(votes_of(every))
    task = Task(fitted, 0, Y.astype(float), X, Y)
    assert [list(fitted)[r].vote / 100 for r in task.own] == (
        pytest.approx(task.solve(task.own).x, abs=0.0051 + 1e-3)
    )


@each_teacher
@pytest.mark.parametrize("bound", [12, 30])
def test_the_conditions_of_all_rules_are_bounded(data, teacher, bound):
    theory = boosted(max_total_conditions=bound, condense=teacher).fit(*data).theory_
    assert 0.6 * bound <= theory.n_conditions <= bound


@each_teacher
def test_labels_keep_the_rules_that_they_are_promised(data, teacher):
    theory = boosted(max_rules=6, min_rules_per_label=2, condense=teacher).fit(*data).theory_
    assert all(len(theory.rules_of(name)) == 2 for name in theory.label_names)


@each_teacher
def test_a_given_rule_stays_and_votes_for_its_head(teacher):
    data = make_planted_rules(200, random_state=0)
    label = data.Y.columns[0]
    wrong = Rule.parse(f"{label} ← diameter < 100")  # it covers everything, so it says nothing
    constraints = Constraints(given=[wrong])
    clf = boosted(constraints=constraints, condense=teacher).fit(data.X, data.Y)
    (given,) = [scored for scored in clf.theory_ if scored.provenance.source == "given"]
    assert given.points >= 1
    assert len(clf.theory_) <= N_RULES


@each_teacher
def test_twice_the_weights_and_twice_the_prior_are_the_same(data, teacher):
    X, Y = data
    settings = BoostingSettings(max_rules=N_RULES, n_tries=3, condense=teacher)
    targets = encode_targets(Y)
    one = grow_boosted_rules(X, targets, [M], settings)
    two = grow_boosted_rules(X, targets.weigh(np.full(len(X), 2.0)), [2 * M], settings)
    theories = [grown.to_path(teacher).theory() for grown in (one, two)]
    assert votes_of(theories[0]) == votes_of(theories[1])


@each_teacher
def test_the_result_does_not_depend_on_the_order_of_rows_or_on_jobs(data, condensed, teacher):
    X, Y = (pd.DataFrame(part) for part in data)
    order = np.random.default_rng(3).permutation(len(X))
    clf = boosted(condense=teacher)
    assert clf.fit(X.iloc[order], Y.iloc[order]).theory_ == condensed[teacher]
    assert boosted(condense=teacher, n_jobs=2).fit(X, Y).theory_ == condensed[teacher]


def test_tuning_tries_all_and_finds_the_theory_of_the_best(data):
    options = {
        "cv": 3,
        "calibrate": False,
        "decode": "each-label",
        "ms": [M],
        "phis": [1.0],
        "max_labels_per_rule": 1,
    } | SMALL
    tuned = BoostedRulesClassifierCV("hamming", **options).fit(*data)
    results = tuned.cv_results_
    scores = dict(zip(results["condense"], results["mean_test_score"], strict=True))
    assert list(scores) == [False, *TEACHERS]
    for condense, score in scores.items():
        one = BoostedRulesClassifierCV("hamming", condense=condense, **options).fit(*data)
        assert one.best_score_ == score
        if condense == tuned.best_params_["condense"]:
            assert one.theory_.to_json() == tuned.theory_.to_json()


def bodies_of(theory):
    return {rule.body for rule in theory}


each_sharing = pytest.mark.parametrize("max_labels", [2, None])


@each_teacher
@each_sharing
class TestBodiesForSeveralLabels:
    @pytest.fixture
    def grown(self, data, max_labels):
        """Those that are condensed: more bodies than are kept."""
        settings = BoostingSettings(
            max_rules=N_RULES, n_tries=3, max_labels_per_rule=max_labels, condense="labels"
        )
        return grow_boosted_rules(data[0], encode_targets(data[1]), [M], settings).to_path()

    @pytest.fixture
    def kept(self, data, max_labels, teacher):
        return boosted(max_labels_per_rule=max_labels, condense=teacher).fit(*data).theory_

    def test_whole_bodies_are_dropped_and_votes_keep_their_signs(self, grown, kept):
        before, after = votes_of(grown.theory()), votes_of(kept)
        assert len(bodies_of(grown.theory())) == BODIES_PER_KEPT * N_RULES
        assert N_RULES - 2 <= len(bodies_of(kept)) <= N_RULES
        assert len(kept) > N_RULES
        assert all(vote * before[rule] > 0 for rule, vote in after.items())

    def test_the_votes_are_those_of_a_general_optimiser(self, data, grown, kept, teacher):
        wanted = wanted_of(teacher, grown.theory(), *data)
        for j in range(len(kept.label_names)):
            task = Task(kept, j, wanted, *data)
            found = [list(kept)[r].vote / 100 for r in task.own]
            assert found == pytest.approx(task.solve(task.own).x, abs=0.0051 + 1e-3)

    def test_they_come_close_to_what_they_are_fitted_to(
        self, data, grown, kept, teacher, max_labels
    ):
        """Closer than as many bodies of boosting alone."""
        wanted = wanted_of(teacher, grown.theory(), *data)
        few = boosted(max_labels_per_rule=max_labels).fit(*data).theory_
        assert mean_loss(kept, wanted, data[0]) < mean_loss(few, wanted, data[0])

    def test_the_order_of_rows_does_not_matter(self, data, kept, teacher, max_labels):
        order = np.random.default_rng(3).permutation(len(data[0]))
        clf = boosted(max_labels_per_rule=max_labels, condense=teacher)
        moved = (pd.DataFrame(part).iloc[order] for part in data)
        assert clf.fit(*moved).theory_ == kept

    def test_a_given_rule_stays_and_counts_as_a_body(self, teacher, max_labels):
        data = make_planted_rules(200, random_state=0)
        label = data.Y.columns[0]
        given = Rule.parse(f"{label} ← diameter < 100")
        constraints = Constraints(given=[given])
        clf = boosted(
            constraints=constraints,
            max_rules=5,
            max_labels_per_rule=max_labels,
            condense=teacher,
        ).fit(data.X, data.Y)
        sources = [scored.provenance.source for scored in clf.theory_]
        assert sources.count("given") == 1
        assert len(bodies_of(clf.theory_)) <= 5


def test_a_body_is_worth_what_its_rules_are_together():
    rng = np.random.default_rng(0)
    for _ in range(50):
        first = np.sort(rng.choice(30, 8, replace=False))
        first[0] = 0
        body = first[np.searchsorted(first, np.arange(30), side="right") - 1]
        body = np.where(rng.random(30) < 0.5, body, np.arange(30))
        body = np.array([body[i] if body[body[i]] == body[i] else i for i in range(30)])
        is_given = (rng.random(30) < 0.1) & (np.bincount(body, minlength=30)[body] == 1)
        worth = np.where(rng.random(30) < 0.3, -1.0, rng.random(30).round(1))
        worth[is_given] = 0.0
        n_kept = int(rng.integers(is_given.sum() + 1, 20))
        found = _choose_bodies(body, is_given, worth, Bounds(n_kept))
        together = {}
        for i in np.flatnonzero(worth >= 0):
            together[body[i]] = together.get(body[i], 0) + worth[i]
        ranked = sorted(together, key=lambda b: (not is_given[b], -round(together[b], 9), b))
        expected = [i for i in range(30) if worth[i] >= 0 and body[i] in ranked[:n_kept]]
        assert sorted(found.tolist()) == expected
        assert (np.diff(worth[found][~is_given[found]]) <= 0).all()


@pytest.mark.parametrize("kind", [BoostedRulesClassifier, BoostedRulesClassifierCV])
@pytest.mark.parametrize("wrong", [True, "yes", 3])
def test_anything_else_is_rejected(kind, wrong, data):
    message = f"condense must be False, 'predictions' or 'labels', got {wrong!r}"
    with pytest.raises(ValueError, match=message):
        kind(condense=wrong).fit(*data)


def test_wider_bounds_have_more_of_everything_but_promised_rules():
    assert Bounds(10, 2, 40).widen(3) == Bounds(30, 2, 120)
    assert Bounds().widen(3) == Bounds()


def test_an_array_of_names_is_rejected(data):
    with pytest.raises(ValueError, match="condense must be False"):
        boosted(condense=np.array(["labels"])).fit(*data)


def test_matrix_products_have_their_threads_again_after_parallel_fits(data):
    def count_threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = count_threads()
    BoostedRulesClassifierCV(cv=4, n_jobs=2, **SMALL).fit(*data)
    assert count_threads() == before


@each_teacher
def test_extreme_weights_leave_finite_votes(data, teacher):
    X, Y = data
    weights = np.where(np.arange(len(X)) < 3, 1e100, 0.5)
    theory = boosted(condense=teacher).fit(X, Y, sample_weight=weights).theory_
    assert all(np.isfinite(scored.value) for scored in theory)


def test_a_given_rule_of_a_constant_label_has_no_absurd_vote(data):
    X, Y = data
    given = Rule.parse(f"¬y0 ← {X.columns[0]} ≥ 0")
    Y = np.column_stack((np.zeros(len(X), dtype=int), np.asarray(Y)[:, 1]))
    options = {"constraints": Constraints(given=[given])}
    plain, fitted = (boosted(condense=c, **options).fit(X, Y).theory_ for c in (False, "labels"))
    votes = [
        abs(next(s.vote for s in t if s.provenance.source == "given")) for t in (plain, fitted)
    ]
    assert 0 < votes[1] <= 2 * votes[0]


@pytest.mark.parametrize(
    ("n_labels", "n_rows", "max_rules"), [(1, 20_000, 40), (3, 20_000, 40), (3, 500, 500)]
)
def test_the_expected_memory_is_not_below_what_condensing_takes(n_labels, n_rows, max_rules):
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 4))
    Y = (X[:, :1] + rng.random((n_rows, n_labels)) > 1).astype(int)
    most = 1 if n_labels == 1 else None
    settings = BoostingSettings(
        max_rules=max_rules, n_tries=2, condense="labels", max_labels_per_rule=most
    )
    grown = grow_boosted_rules(X, encode_targets(Y.squeeze()), [16.0], settings)
    tracemalloc.start()
    grown.to_path("labels")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    n_grown = max_rules * (GROWN_PER_KEPT if n_labels == 1 else BODIES_PER_KEPT)
    # The path itself comes on top.
    assert peak < 1.1 * expect_memory(n_grown, len(X), n_labels)


def test_tuning_does_not_try_to_condense_very_many_rules():
    assert {cell["condense"] for cell in BoostedRulesClassifierCV(max_rules=2000).list_cells()} == {
        False
    }
