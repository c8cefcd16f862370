"""Bodies that vote for several labels, against the formulas of the votes and what they promise."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from boosting_problems import problems, store_dense, to_oracle
from planted_targets import make_three_labels
from reference import weighting as oracle
from reference.weighting import Options
from steelyard import (
    BoostedRulesClassifier,
    BoostedRulesClassifierCV,
    Constraints,
    Theory,
    load_segments,
)
from steelyard._kernels.boosting_together import grow_body
from steelyard.learning.boosting import MAX_WEIGHT, STEP
from steelyard.learning.constraints import ConstraintWarning
from steelyard.learning.shared_bodies import SIGNIFICANCE, Candidate, Losses, grow_together
from steelyard.learning.training_table import code_training_table
from steelyard.learning.weights import LabelWeights
from steelyard.model.conditions import describe_body

M = 16.0


def fit(X, Y, max_labels=3, **options):
    grown = {"n_tries": 2, "max_rules": 20, "random_state": 0, "decode": "each-label"}
    clf = BoostedRulesClassifier(M, max_labels_per_rule=max_labels, **(grown | options))
    return clf.fit(X, Y).theory_


def bodies_of(theory):
    return {rule.body for rule in theory}


@pytest.fixture(scope="module")
def data():
    """Three labels and a fourth that is the opposite of the first."""
    X, Y = make_three_labels(missing=0.1)
    return X, Y.assign(opposite=1 - Y.iloc[:, 0])


@pytest.fixture(scope="module")
def theory(data):
    return fit(*data)


def draw_votes(reuse):
    """Labels, curvatures of the prior and votes of three labels, for candidates drawn at random."""
    rng = np.random.default_rng(0)
    masks = rng.random((60, 80)) < 0.3
    is_present = np.array([masks[0], masks[0] ^ (rng.random(80) < 0.1), masks[1]])
    l2 = np.array([0.1, 1.0, 4.0])
    drawn = iter(masks)

    def find(j):
        covered = next(drawn, None)
        if covered is None:
            return None
        return Candidate(covered, covered, float(losses.weigh(covered, [j])[0][0]))

    losses = Losses(is_present, np.zeros((3, 80)), l2)
    return is_present, l2, grow_together(find, losses, np.array([True, True, False]), 30, 2, reuse)


@pytest.fixture(scope="module")
def votes():
    return draw_votes(math.inf)


class TestVotes:
    @pytest.mark.parametrize("reuse", [math.inf, 0.7])
    def test_points_and_gains_are_those_of_the_formulas(self, reuse):
        for is_present, l2, of_label in zip(*draw_votes(reuse), strict=True):
            log_odds = np.zeros(80)
            assert len(of_label) > 3
            for covered, points, gain in of_label:
                p = 1 / (1 + np.exp(-log_odds[covered]))
                slope, bend = (is_present[covered] - p).sum(), (p * (1 - p)).sum() + l2
                weight = np.clip(slope / bend, -MAX_WEIGHT, MAX_WEIGHT)
                assert gain == pytest.approx(2 * slope * weight - bend * weight**2, abs=1e-6)
                assert points == round(100 * STEP * weight)
                log_odds[covered] += points / 100

    def test_a_label_that_may_not_share_has_no_body_of_another(self, votes):
        first, second, third = ({vote.rule.tobytes() for vote in of} for of in votes[2])
        assert first & second
        assert not third & (first | second)

    def test_there_are_no_more_bodies_than_allowed(self, votes):
        bodies = [vote.rule.tobytes() for of_label in votes[2] for vote in of_label]
        assert len(set(bodies)) == 30 < len(bodies)
        assert max(map(bodies.count, bodies)) == 2

    def test_known_bodies_are_raised_where_they_gain_almost_as_much(self, votes):
        _, _, raised = draw_votes(0.7)
        labels_of = [{vote.rule.tobytes() for vote in of_label} for of_label in raised]
        assert not set.intersection(*labels_of)  # no body votes for more than two labels
        first = [vote.rule.tobytes() for vote in raised[0]]
        assert len(set(first)) < len(first)
        assert len(votes[2][0]) == len({vote.rule.tobytes() for vote in votes[2][0]})

    def test_a_further_label_is_helped_significantly(self, votes):
        least = chi2.isf(SIGNIFICANCE / 3, 1)
        own = [{v.rule.tobytes(): v.gain for v in of_label} for of_label in votes[2][:2]]
        both = own[0].keys() & own[1].keys()
        assert all(max(own[0][body], own[1][body]) >= least for body in both)

    @pytest.mark.parametrize("least", [0.0, 2.0])
    def test_a_common_body_votes_for_further_labels_that_gain_enough(self, least):
        rng, n_labels = np.random.default_rng(0), 31
        is_present = rng.random((n_labels, 80)) < 0.4
        losses = Losses(is_present, np.zeros(is_present.shape), np.ones(n_labels))

        class Drawn:
            def find(self, _):
                covered = rng.random(80) < 0.3
                return Candidate(covered, covered, 1.0)

        may_share = np.ones(n_labels, dtype=bool)
        limits = (20, None, math.inf, Drawn(), least)
        of_label = grow_together(lambda _: None, losses, may_share, *limits)
        gains = {}
        for votes in of_label:
            for vote in votes:
                gains.setdefault(vote.rule.tobytes(), []).append(vote.gain)
        assert len(gains) == 20
        others = [gain for body in gains.values() for gain in sorted(body)[:-1]]
        assert least <= min(others) < least + 0.1


class TestTheories:
    def test_a_body_votes_against_the_opposite_of_what_it_votes_for(self, data, theory):
        first, other = (theory.rules_of(name) for name in (data[1].columns[0], "opposite"))
        for_first, for_other = ({rule.body: rule.weight for rule in of} for of in (first, other))
        both = for_first.keys() & for_other.keys()
        assert len(both) >= 2
        assert all(for_first[body] * for_other[body] < 0 for body in both)

    def test_max_rules_counts_bodies(self, data, theory):
        assert len(bodies_of(theory)) == 20 < len(theory)
        per_body = [sum(rule.body == body for rule in theory) for body in bodies_of(theory)]
        assert 2 <= max(per_body) <= 3
        assert len(fit(*data, max_labels=99, max_rules=5)) <= 5 * 4

    def test_of_many_labels_a_body_votes_for_those_that_need_it(self, data):
        X, _ = data

        def count_others(n_labels, n_constant=0):
            """Votes beyond one per body."""
            rng = np.random.default_rng(0)
            many = pd.DataFrame(rng.random((len(X), n_labels)) < 0.3).astype(int)
            many = many.assign(**{f"never {k}": 0 for k in range(n_constant)})
            theory = fit(X, many.add_prefix("label "), max_labels=None)
            return len(theory) - theory.n_bodies

        assert 0 < count_others(31) < count_others(30) / 2
        # Labels that never vary share nothing, so they are not counted.
        assert count_others(30, n_constant=1) == count_others(30)

    def test_many_classes_have_all_their_votes(self, data):
        X, _ = data
        y = np.arange(len(X)) % 40
        theory = fit(X, y, max_labels=None, decode="best-label")
        assert len(theory) > 20 * theory.n_bodies

    def test_labels_share_the_body_itself_so_that_it_is_coded_once(self, theory):
        assert len({id(rule.body) for rule in theory}) == len(bodies_of(theory)) == 20

    def test_a_line_per_body_names_all_its_labels(self, theory):
        head, starts, _, *lines = theory.to_text(by="body").splitlines()
        assert head == theory.summary
        assert starts.startswith("20 different bodies; ")
        for j, label in enumerate(theory.labels):
            assert f"{label.name}: {theory.combiner.describe_label(j)}" in starts
        assert len(lines) == 20
        for rule in theory:
            (line,) = [ln for ln in lines if ln.endswith(f"← {describe_body(rule.body)}")]
            assert f"{rule.head.label} {rule.weight:+.2f}" in line
            assert line.split()[:2] == ["covers", str(rule.tp + rule.fp)]

    @pytest.mark.parametrize("export", ["to_markdown", "to_latex", "to_html"])
    def test_views_for_readers_have_a_title_per_body_and_a_row_per_label(self, theory, export):
        text = getattr(theory, export)(by="body")
        titles = {"to_markdown": "## ", "to_latex": r"\multicolumn", "to_html": "<tbody>"}
        assert text.count(titles[export]) == 20
        ends = {"to_markdown": " right |", "to_latex": r"\quad", "to_html": "</td></tr>"}
        assert text.count(ends[export]) == len(theory)
        with pytest.raises(ValueError, match="by must be 'label' or 'body', got 'rule'"):
            getattr(theory, export)(by="rule")

    def test_an_explanation_by_body_has_the_votes_of_the_one_by_label(self, data, theory):
        explanation = theory.explain(data[0].iloc[[0]])
        assert explanation.to_text() == f"{explanation}\n"
        text = explanation.to_text(by="body")
        lines = [line for line in text.splitlines() if line.startswith("  ✓ ")]
        fired = [rule for label in explanation for rule in label.fired]
        assert len(lines) == len({rule.body for rule in fired}) < len(fired)
        heads = [head for line in lines for head in line[4:].split(" ← ")[0].split(", ")]
        assert sorted(heads) == sorted(f"{r.head.label} {r.weight:+.2f}" for r in fired)
        assert [label.reason in text for label in explanation] == [True] * len(theory.labels)

    def test_neither_the_order_of_rows_nor_workers_matter(self, data, theory):
        order = np.random.default_rng(0).permutation(len(data[0]))
        moved = fit(data[0].iloc[order], data[1].iloc[order], n_jobs=2)
        assert moved == theory

    def test_it_is_saved_and_predicts_like_every_theory(self, data, theory):
        loaded = Theory.from_json(theory.to_json())
        pd.testing.assert_frame_equal(loaded.predict(data[0]), theory.predict(data[0]))
        scores = np.tile(theory.combiner.start, (len(data[0]), 1))
        position = {name: j for j, name in enumerate(theory.label_names)}
        for rule, covered in zip(theory, theory.covers(data[0]).T, strict=True):
            scores[covered, position[rule.head.label]] += round(100 * rule.weight)
        assert ((scores > 0) == theory.predict(data[0])).all(axis=None)

    def test_a_minimum_per_label_is_rejected(self, data):
        with pytest.raises(ValueError, match="min_rules_per_label does not apply"):
            fit(*data, min_rules_per_label=1)

    def test_a_view_that_does_not_exist_is_rejected(self, theory):
        with pytest.raises(ValueError, match="by must be 'label' or 'body', got 'rule'"):
            theory.to_text(by="rule")


@st.composite
def common_runs(draw):
    """A problem, the loss of one to three labels at random log-odds, and options."""
    X, training, _, order = draw(problems())
    n_labels = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    l2 = draw(st.lists(st.sampled_from([1e-9, 0.5, 2.0]), min_size=n_labels, max_size=n_labels))
    is_present = rng.random((n_labels, len(X))) < 0.4
    losses = Losses(is_present, rng.normal(size=is_present.shape), np.array(l2))
    return (X, training, order, losses), Options(
        bag_size=draw(st.integers(1, 2 * len(X))),
        n_drawn=draw(st.integers(1, 4)),
        n_tries=draw(st.integers(1, 3)),
        l2=l2,
        reuse=math.inf,
        seed=draw(st.integers(0, 2**64 - 1)),
        n_rounds=1,
        most_rules=1,
        most_conditions=draw(st.integers(1, 4)),
    )


def grow(coded, order, losses, options, labels=None, most_labels=20, **draws):
    """What the kernel does: the body, its gain, and the rows that it covers."""
    body = np.empty((options.most_conditions, 3), dtype=np.int32)
    covered = np.zeros(len(order), dtype=np.uint8)
    length, gain, *_ = grow_body(
        coded,
        losses.loss,
        losses.drawn_loss,
        losses.l2,
        losses.unit,
        np.arange(len(losses.l2)) if labels is None else np.array(labels),
        order,
        options.bag_size,
        options.n_drawn,
        options.n_tries,
        most_labels,
        MAX_WEIGHT,
        np.uint64(options.seed),
        np.flatnonzero(coded.n_codes > 1).astype(np.int64),
        body,
        covered,
        **draws,
    )
    return list(map(tuple, body[:length].tolist())), gain, covered.astype(bool)


class TestBodiesForSeveralLabels:
    @settings(max_examples=300)
    @given(common_runs())
    def test_a_body_is_grown_and_chosen_as_the_oracle_does(self, run):
        (X, training, order, losses), options = run
        body, gain, covered = grow(training.coded, order, losses, options)
        rows = np.concatenate(losses.loss).T.tolist()
        table = to_oracle(X, training)
        expected, expected_gain = oracle.grow_together(table, rows, order.tolist(), options)
        assert (body or None, gain) == (expected, expected_gain)
        if body:
            assert covered.tolist() == [oracle.covers(body, table, row) for row in range(len(X))]

    @settings(max_examples=60)
    @given(common_runs())
    def test_it_does_not_depend_on_how_a_feature_is_stored(self, run):
        (_, training, order, losses), options = run
        stored = training.coded, store_dense(training.coded)
        one, two = (grow(coded, order, losses, options) for coded in stored)
        assert one[:2] == two[:2]

    @settings(max_examples=60)
    @given(common_runs())
    def test_only_the_given_labels_count(self, run):
        (_, training, order, losses), options = run
        labels = list(range(len(losses.l2)))[::2]
        fewer = Losses(losses.is_present[labels], losses.log_odds[labels], losses.l2[labels])
        some = grow(training.coded, order, losses, options, labels)
        assert some[:2] == grow(training.coded, order, fewer, options)[:2]

    def test_of_many_labels_those_with_something_left_are_grown_for(self):
        # Four labels of which one is not yet explained: a body for a single label is for that one.
        X = pd.DataFrame({"x": np.arange(40.0), "y": np.arange(40.0) % 7, "z": np.arange(40.0) % 5})
        is_present = np.array([X["x"] < 20, X["y"] < 3, X["z"] < 2, X["x"] > 30])
        log_odds = np.where(is_present, 30.0, -30.0)
        log_odds[1] = 0
        losses = Losses(is_present, log_odds, np.ones(4))
        coded = code_training_table(X).coded
        for seed in range(5):
            options = Options(40, 3, 3, 1.0, math.inf, seed, 1, 1, 1)
            body, *_ = grow(coded, np.arange(40), losses, options, most_labels=1)
            assert [feature for feature, *_ in body] == [1]

    def test_weights_draw_and_count_rows_like_copies(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.integers(0, 5, (30, 3)).astype(float))
        is_present, copies = rng.random((2, 30)) < 0.4, rng.integers(1, 4, 30)
        rows = np.repeat(np.arange(30), copies)
        weights = [LabelWeights.combine(copies.astype(float), None)] * 2
        options = Options(len(rows), 3, 3, 1.0, math.inf, 7, 1, 1, 2)
        weighed = Losses(is_present, np.zeros((2, 30)), np.ones(2), weights, len(rows))
        copied = Losses(is_present[:, rows], np.zeros((2, len(rows))), np.ones(2))
        order = np.arange(30)
        body, gain, _ = grow(
            code_training_table(X).coded,
            order,
            weighed,
            options._replace(bag_size=30),
            draw_ends=weights[0].draw_ends(order),
        )
        other, other_gain, _ = grow(
            code_training_table(X.iloc[rows]).coded,
            np.arange(len(rows)),
            copied,
            options._replace(bag_size=30),
        )
        assert body == other
        assert gain == pytest.approx(other_gain, rel=1e-6)


@pytest.fixture(scope="module")
def twins():
    """Two attributes that are the same, and two labels that depend on them."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200).astype(float)
    # The bodies of q come first, so those of p could be taken from it.
    noise = {"p": 0.1, "q": 0.05}
    Y = pd.DataFrame({name: (a > 0) ^ (rng.random(200) < noise[name]) for name in noise})
    return pd.DataFrame({"a": a, "b": a}), Y.astype(int)


@pytest.mark.parametrize("max_labels", [2, None])
class TestConstraints:
    """Labels with constraints have bodies of their own; those without share theirs."""

    def test_a_body_of_another_label_with_the_same_rows_is_not_taken(self, twins, max_labels):
        constraints = Constraints(for_label={"p": Constraints(forbidden=["a"])})
        options = {"max_labels": max_labels, "max_rules": 60, "constraints": constraints}
        for seed in range(6):  # which of the twins q tests is drawn
            theory = fit(*twins, random_state=seed, **options)
            assert {c.feature for rule in theory.rules_of("p") for c in rule.body} == {"b"}

    @pytest.mark.parametrize("max_rules", [6, 60])
    def test_known_bodies_are_raised_only_if_they_satisfy_them(self, data, max_labels, max_rules):
        X, Y = data
        name, forbidden = Y.columns[0], list(X.columns[:3])
        constraints = Constraints(for_label={name: Constraints(forbidden=forbidden)})
        options = {"max_rules": max_rules, "constraints": constraints}
        theory = fit(X, Y, max_labels=max_labels, **options)
        assert theory.rules_of(name)
        assert not {c.feature for rule in theory.rules_of(name) for c in rule.body} & {*forbidden}
        others = [rule for rule in theory if rule.head.label != name]
        assert {c.feature for rule in others for c in rule.body} & {*forbidden}

    def test_labels_without_constraints_share_bodies(self, data, max_labels):
        name = data[1].columns[0]
        constraints = Constraints(for_label={name: Constraints(min_covered=2)})
        theory = fit(*data, max_labels=max_labels, max_rules=30, constraints=constraints)
        others = [rule.body for rule in theory if rule.head.label != name]
        assert len(others) > len(set(others))

    def test_constraints_on_all_labels_leave_nothing_to_share(self, data, max_labels):
        constraints = Constraints(min_covered=2)
        with pytest.warns(ConstraintWarning, match="no body votes for several"):
            theory = fit(*data, max_labels=max_labels, max_rules=30, constraints=constraints)
        assert len(theory) <= 30

    def test_a_label_can_have_shorter_rules_than_the_others(self, data, max_labels):
        name = data[1].columns[0]
        constraints = Constraints(for_label={name: Constraints(max_conditions=1)})
        theory = fit(*data, max_labels=max_labels, max_rules=30, constraints=constraints)
        assert {len(rule.rule.body) for rule in theory.rules_of(name)} == {1}
        assert max(len(rule.body) for rule in theory) > 1


class TestBodiesThatVoteForAllLabels:
    def test_every_body_votes_for_every_label(self, data):
        theory = fit(*data, max_labels=None)
        heads = {(rule.body, rule.head.label) for rule in theory}
        n_bodies = len(bodies_of(theory))
        assert n_bodies == theory.n_bodies == 20
        assert len(theory) == len(heads) > 0.9 * n_bodies * len(theory.labels)  # some round to 0
        assert theory.summary.startswith(f"{len(theory)} rules with 20 different bodies for")

    def test_neither_the_order_of_rows_nor_workers_matter(self, data):
        order = np.random.default_rng(0).permutation(len(data[0]))
        moved = fit(data[0].iloc[order], data[1].iloc[order], max_labels=None, n_jobs=2)
        assert moved == fit(*data, max_labels=None)

    def test_labels_are_more_likely_than_with_as_many_bodies_for_one_label(self):
        data = load_segments()
        train, test = slice(None, None, 2), slice(1, None, 2)
        is_present = data.Y[test].to_numpy() == 1
        losses = []
        for most in (1, None):
            clf = BoostedRulesClassifier(max_rules=60, max_labels_per_rule=most, random_state=0)
            found = clf.fit(data.X[train], data.Y[train]).predict_proba(data.X[test])
            losses.append(-np.log(np.where(is_present, found, 1 - found)).mean())
        assert losses[1] < 0.95 * losses[0]

    def test_a_label_with_one_class_has_no_rule(self, data):
        theory = fit(data[0], data[1].assign(never=0), max_labels=None)
        assert theory.rules_of("never") == ()
        assert len(theory) > len(bodies_of(theory))

    def test_the_tuning_can_choose_them(self, data):
        clf = BoostedRulesClassifierCV(
            "hamming", max_labels_per_rule=[1, None], max_rules=20, cv=3, random_state=0
        ).fit(*data)
        results = clf.cv_results_
        names = ("max_labels_per_rule", "condense")
        tried = set(zip(*(results[name].tolist() for name in names), strict=True))
        alone = {(1, condense) for condense in (False, "predictions", "labels")}
        assert tried == alone | {(None, False), (None, "labels")}
        lengths = dict(zip(results["max_labels_per_rule"], results["max_conditions"], strict=True))
        assert lengths == {1: 4, None: 8}

    @pytest.mark.parametrize("wrong", [0, True, "all", [1, [2]], [1, 2.0], [1, "auto"]])
    def test_other_numbers_of_labels_are_rejected(self, wrong):
        with pytest.raises(ValueError, match="an integer of at least 1, or None for all labels"):
            BoostedRulesClassifierCV(max_labels_per_rule=wrong).list_cells()


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(0)
    is_present, log_odds = rng.random((2, 30)) < 0.4, rng.normal(size=(2, 30))
    copies, covered = rng.integers(1, 4, 30), rng.random(30) < 0.5
    rows, l2 = np.repeat(np.arange(30), copies), np.ones(2)
    weights = [LabelWeights.combine(copies.astype(float), None)] * 2
    weighed = Losses(is_present, log_odds.copy(), l2, weights)
    copied = Losses(is_present[:, rows], log_odds[:, rows].copy(), l2)
    assert np.allclose(weighed.weigh(covered), copied.weigh(covered[rows]), atol=1e-6)
