"""Theories that count votes: what they predict, how many rules they have, what they depend on."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planted_targets import TARGETS, make_three_labels
from steelyard import BoostedRulesClassifier, MEstimate, theory_path
from steelyard.learning import boosted_rules
from steelyard.learning.boosted_rules import REUSE, grow_boosted_rules, share_rules
from steelyard.learning.settings import BoostingSettings
from steelyard.learning.targets import encode_targets
from steelyard.learning.training_table import spread_mid_points
from steelyard.measures import MEASURES
from steelyard.model.combiners import SumOfVotes
from steelyard.model.decoders import BestLabel, BestLabelSet, EachLabel, LabelSetVotes
from steelyard.model.log_odds import probability_to_points
from steelyard.model.path import RankedRules
from strategies import (
    data_sets,
    to_csr,
    to_sparse_frame,
)

pytestmark = pytest.mark.filterwarnings("ignore:no rule can test")

MS = [1, 16, 128]
PHIS = (1.0, 0.5, 0.2, 0.05)
GROWN = {"n_tries": 2, "max_conditions": 3, "sample_fraction": 1.0, "max_features": "log2"}


def boosted_path(X, y, phis=PHIS, **options):
    """Theories of several m, and prefixes of their votes."""
    settings = BoostingSettings(**(GROWN | options))
    path = grow_boosted_rules(X, encode_targets(y), MS, settings, entropy=4).to_path()
    return replace(path, phis=phis)


def boosted(m=16.0, **options):
    return BoostedRulesClassifier(m, **(GROWN | {"random_state": 4} | options))


@pytest.fixture(scope="module")
def data():
    return make_three_labels(missing=0.1)


@pytest.fixture(scope="module", params=[12, 60], ids=["few rules", "many rules"])
def path(request, data):
    """Known rules are raised where there are few."""
    return boosted_path(*data, max_rules=request.param)


def cells(path):
    for h, (j, phi) in itertools.product(range(path.shape[0]), enumerate(path.phis)):
        yield h, j, path.theory(h, phi)


class TestTheories:
    @pytest.mark.parametrize("max_rules", [12, 60])
    @pytest.mark.parametrize("output", TARGETS)
    def test_a_cell_is_what_a_fit_of_its_own_gives(self, data, output, max_rules):
        X, y = data[0], TARGETS[output](data[1])
        path = boosted_path(X, y, max_rules=max_rules)
        for h, m in enumerate(MS):
            decode = "best-label" if output == "multiclass" else "each-label"
            fitted = boosted(m, max_rules=max_rules, decode=decode).fit(X, y)
            assert isinstance(fitted.theory_.combiner, SumOfVotes)
            assert fitted.theory_ == path.theory(h)

    @pytest.mark.filterwarnings("ignore:the data yields only")
    @pytest.mark.parametrize(
        ("rules", "output", "decoder"),
        [
            *itertools.product(
                ["voting", "deciding"],
                ["multilabel"],
                [
                    EachLabel(),
                    BestLabelSet(),
                    BestLabelSet(0),
                    BestLabelSet(1),
                    LabelSetVotes(0.4),
                ],
            ),
            *itertools.product(["voting", "deciding"], ["binary"], [EachLabel()]),
            *itertools.product(["voting", "deciding"], ["multiclass"], [BestLabel()]),
            ("deciding", "multilabel", BestLabelSet(0, 0.1)),
            *itertools.product(["voting"], ["multilabel", "binary"], [EachLabel(0.3)]),
        ],
        ids=str,
    )
    def test_cells_predict_what_their_theories_predict(self, data, rules, output, decoder):
        X, y = data[0], TARGETS[output](data[1])
        if rules == "voting":
            path = boosted_path(X, y, max_rules=60)
        else:
            forest = {"n_candidates": 200, "n_trees": 2, "max_depths": (1, 2, 3)}
            path = theory_path(X, y, map(MEstimate, MS), PHIS, random_state=4, **forest)
        seen = set()
        for h, j, predicted in path.predict_cells(X, decoder):
            theory = path.theory(h, path.phis[j], decoder=decoder)
            assert predicted.tolist() == theory.predict(X).to_numpy().tolist()
            seen.add((h, j))
        assert seen == set(itertools.product(range(3), range(4)))

    def test_silence_of_rules_that_vote_is_what_they_start_from(self, path):
        with pytest.raises(ValueError, match=r"silence=0\.1 does not apply to boosted rules"):
            path.theory(0, 1.0, decoder=BestLabelSet(0, 0.1))

    @pytest.mark.parametrize("decoder", [EachLabel(), EachLabel(0.3), BestLabelSet()], ids=str)
    def test_measures_are_those_of_the_predictions(self, data, path, decoder):
        X, Y = data
        measures = list(MEASURES.values())
        values = path.evaluate(X, Y, measures, decoder)
        for h, j, predicted in path.predict_cells(X, decoder):
            for measure in measures:
                assert values[measure.name][h, j] == pytest.approx(measure(Y, predicted))

    def test_points_are_the_start_and_every_firing_vote(self, data, path):
        X, Y = data
        prior = Y.mean().to_numpy()
        for _, _, theory in cells(path):
            assert list(theory.combiner.start) == probability_to_points(prior).tolist()
            fires = theory.covers(X)
            expected = np.tile(theory.combiner.start, (len(X), 1))
            for r, scored in enumerate(theory.rules):
                sign = 1 if scored.head.target_class else -1
                label = theory.label_names.index(scored.head.label)
                expected[:, label] += sign * scored.points * fires[:, r]
            assert theory.evaluate(X).scores.tolist() == expected.tolist()

    def test_a_lower_threshold_asks_for_fewer_points_of_the_same_rules(self, data, path):
        half, low = (path.theory(0, 1.0, decoder=EachLabel(p)) for p in (0.5, 0.2))
        assert half.rules == low.rules
        assert half.combiner == low.combiner
        points = half.evaluate(data[0]).scores
        assert (half.predict(data[0]) == (points > 0)).all(axis=None)
        assert (low.predict(data[0]) == (points > -round(100 * math.log(4)))).all(axis=None)

    def test_a_rule_is_counted_for_its_own_head(self, data, path):
        X, Y = data
        heads = set()
        for _, _, theory in cells(path):
            fires = theory.covers(X)
            for r, scored in enumerate(theory.rules):
                head = scored.head
                is_right = Y[head.label].to_numpy() == head.target_class
                assert scored.tp == (fires[:, r] & is_right).sum()
                assert scored.fp == (fires[:, r] & ~is_right).sum()
                heads.add(head.target_class)
        assert heads == {0, 1}

    def test_every_rule_stands_once_and_has_points_for_its_head(self, data, path):
        for h, j, theory in cells(path):
            assert all(scored.points > 0 for scored in theory.rules)
            bodies = [(rule.head.label, rule.body) for rule in theory]
            assert len(set(bodies)) == len(bodies)
            assert len(theory) == path.n_rules[h, j]
            assert theory.n_conditions == path.total_conditions[h, j]
            # Once is once for what it covers, however it is written.
            fires = theory.covers(data[0])
            covered = [(r.head.label, fires[:, i].tobytes()) for i, r in enumerate(theory)]
            assert len(set(covered)) == len(covered)

    def test_a_rule_whose_votes_cancel_is_no_rule_and_is_not_counted(self, path):
        best = path.ranked[0]
        again = RankedRules(
            np.append(best.rule_idx, best.rule_idx[0]),
            np.append(best.values, best.values[-1] / 2),
            np.append(best.new_tp, 0),
            np.append(best.new_fp, 0),
            np.append(best.votes, -best.votes[best.rule_idx == best.rule_idx[0]].sum()),
        )
        taken_back = replace(path, ranked=(again, *path.ranked[1:]))
        whole, rest = path.theory(0), taken_back.theory(0)
        assert len(rest) == len(whole) - 1
        assert set(rest) < set(whole)
        assert taken_back.n_rules[0, 0] == len(rest)
        assert taken_back.total_conditions[0, 0] == rest.n_conditions

    @pytest.mark.parametrize("max_rules", [1, 2, 7, 30, 300])
    def test_there_are_never_more_rules_than_allowed(self, data, max_rules):
        path = boosted_path(*data, max_rules=max_rules)
        assert path.n_rules.max() <= max_rules
        assert all(len(theory) <= max_rules for _, _, theory in cells(path))
        if max_rules <= 30:
            assert path.n_rules.max() == max_rules

    @pytest.mark.parametrize("max_rules", [1, 4, 9, 30])
    def test_a_limit_ends_the_votes_at_the_first_rule_too_many(self, data, max_rules):
        few, many = (boosted_path(*data, (1.0,), max_rules=n) for n in (max_rules, 50))
        for short, long in zip(few.ranked, many.ranked, strict=True):
            n_kept = len(short.rule_idx)
            assert [few.rule(i) for i in short.rule_idx] == [
                many.rule(i) for i in long.rule_idx[:n_kept]
            ]
            for mine, whole in zip(short[1:], long[1:], strict=True):
                assert mine.tolist() == whole[:n_kept].tolist()
            assert len(set(short.rule_idx)) == max_rules
            kept = {few.rule(i) for i in short.rule_idx}
            assert many.rule(long.rule_idx[n_kept]) not in kept

    def test_a_smaller_share_is_a_part_of_a_larger_one(self, path):
        for h in range(3):
            of_label = [
                [votes for _, votes in sorted(self.votes_by_label(path, h, n).items())]
                for n in sorted(path.n_kept[h])
            ]
            for few, many in itertools.pairwise(of_label):
                for short, long in zip(few, many, strict=True):
                    assert long[: len(short)] == short

    def votes_by_label(self, path, h, n_kept):
        ranked = path.ranked[h]
        votes = {label: [] for label in range(3)}
        for rule, vote in zip(ranked.rule_idx[:n_kept], ranked.votes[:n_kept], strict=True):
            votes[int(path.label_of_rule[rule])].append((int(rule), int(vote)))
        return votes

    def test_a_value_in_a_condition_is_one_of_the_spread_cut_points(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"x": rng.random(400), "y": rng.random(400)})
        y = (X["x"] > 0.6) ^ (X["y"] > 0.2) ^ (rng.random(400) < 0.1)
        fitted = boosted(1).fit(X, y)
        allowed = {name: set(spread_mid_points(np.unique(X[name]))) for name in X}
        conditions = [condition for rule in fitted.theory_ for condition in rule.body]
        bounds = {(c.feature, bound) for c in conditions for bound in (c.low, c.high)}
        used = {(feature, bound) for feature, bound in bounds if math.isfinite(bound)}
        assert len(used) > 30
        assert all(value in allowed[feature] for feature, value in used)

    def test_the_number_of_labels_done_is_told(self, data):
        X, Y = data
        calls = []
        grow_boosted_rules(
            X,
            encode_targets(Y),
            MS,
            BoostingSettings(**GROWN),
            progress=lambda done, total: calls.append((done, total)),
        )
        assert calls == sorted(calls)
        assert calls[-1] == (3, 3)


class TestReproducibility:
    def fit(self, data, **options):
        return (
            boosted(4, **({"max_rules": 60, "decode": "each-label"} | options)).fit(*data).theory_
        )

    def test_the_seed_decides(self, data):
        theory = self.fit(data)
        assert theory.to_json() == self.fit(data).to_json()
        assert theory != self.fit(data, random_state=5)

    def test_the_number_of_workers_does_not(self, data):
        assert self.fit(data, n_jobs=1).to_json() == self.fit(data, n_jobs=2).to_json()

    @pytest.mark.parametrize("max_rules", [12, 60])
    @pytest.mark.parametrize("seed", range(3))
    def test_nor_does_the_order_of_the_rows(self, data, seed, max_rules):
        X, Y = data
        order = np.random.default_rng(seed).permutation(len(X))
        moved = X.iloc[order], Y.iloc[order]
        assert self.fit(moved, max_rules=max_rules) == self.fit(data, max_rules=max_rules)

    @settings(max_examples=25)
    @given(data_sets(), st.randoms(use_true_random=False))
    def test_nor_of_rows_that_are_repeated(self, small, random):
        X, Y = small
        order = random.choices(range(len(X)), k=3 * len(X))
        twice = [(X.iloc[o], Y.iloc[o]) for o in (order, sorted(order))]
        one, two = (self.fit(part, max_rules=9).to_json() for part in twice)
        assert one == two

    @settings(max_examples=25)
    @given(data_sets(nominal=False))
    def test_nor_does_the_form_of_the_table(self, small):
        X, Y = small
        # Equal, though a sparse column may read as a word.
        assert self.fit((to_sparse_frame(X), Y)) == self.fit((X, Y))
        array, matrix = (self.fit((form, Y)) for form in (X.to_numpy(), to_csr(X)))
        assert array == matrix

    def test_nor_do_the_labels_beside_a_label_or_its_place_among_them(self, data):
        X, Y = data
        other = Y.copy()
        other.iloc[:, 2] = 1 - Y.iloc[::-1, 2].to_numpy()
        theories = [
            self.fit((X, labels), max_rules=150) for labels in (Y, other, Y.iloc[:, [2, 1, 0]])
        ]
        for name in Y.columns[:2]:
            one, two, three = (theory.rules_of(name) for theory in theories)
            # The other labels decide only how many rules are kept, the best first.
            n_common = min(map(len, (one, two, three)))
            assert n_common > 20
            assert one[:n_common] == two[:n_common] == three[:n_common]


class TestSharing:
    @pytest.mark.parametrize(("max_rules", "n_labels"), [(999, 5), (300, 20), (7, 14)])
    def test_one_label_can_have_all_rules(self, max_rules, n_labels):
        assert share_rules(max_rules, n_labels).n_rules >= max_rules

    @pytest.mark.parametrize("n_labels", [1, 3, 14])
    def test_known_rules_are_raised_just_where_a_label_has_less_than_twenty(self, n_labels):
        enough, scarce = (
            share_rules(20 * n_labels, n_labels),
            share_rules(20 * n_labels - 1, n_labels),
        )
        assert enough.reuse == math.inf
        assert enough.n_choices == enough.n_rules
        assert scarce.reuse == REUSE < 1
        assert scarce.n_choices > scarce.n_rules


class TestNothingToDo:
    @pytest.mark.parametrize("value", [0, 1])
    @pytest.mark.parametrize("decode", ["each-label", "best-label-set"])
    def test_a_label_of_one_class_has_no_rule_and_is_predicted_as_it_is(self, data, value, decode):
        X, Y = data
        Y = Y.assign(constant=value)
        fitted = boosted(decode=decode).fit(X, Y)
        assert fitted.theory_.rules_of("constant") == ()
        assert len(fitted.theory_) > 0
        assert (fitted.predict(X)[:, 3] == value).all()

    @pytest.mark.parametrize("decode", ["each-label", "best-label-set"])
    def test_a_table_that_tells_nothing_apart_predicts_the_majority(self, decode):
        X = pd.DataFrame({"x": np.ones(10)})
        Y = pd.DataFrame({"rare": [1] + [0] * 9, "common": [1] * 8 + [0] * 2})
        fitted = boosted(decode=decode).fit(X, Y)
        assert len(fitted.theory_) == 0
        assert (fitted.predict(X) == [0, 1]).all()

    def test_one_class_for_all_is_predicted_for_all(self, data):
        fitted = boosted().fit(data[0], ["only"] * 120)
        assert len(fitted.theory_) == 0
        assert set(fitted.predict(data[0])) == {"only"}


@pytest.mark.parametrize("options", [{}, {"min_rules_per_label": 1}, {"min_rules_per_label": 2}])
@pytest.mark.parametrize("max_rules", [20, 40])
def test_rules_that_the_limit_drops_are_not_grown_and_nothing_else_changes(
    monkeypatch, max_rules, options
):
    """Ten labels that need few rules or many; most of the rules of those that need few are dropped."""
    rng = np.random.default_rng(0)
    X = rng.random((150, 6))
    Y = (
        X[:, [0, 1, 2, 3, 4] * 2] + rng.random((150, 10)) * np.arange(10) > 0.8 * np.arange(2, 12)
    ) + 0
    n_grown = []
    pool_rules = boosted_rules.pool_rules

    def count(rules_of_label, *rest):
        n_grown.append(sum(len(rules.table) for rules in rules_of_label))
        return pool_rules(rules_of_label, *rest)

    monkeypatch.setattr(boosted_rules, "pool_rules", count)
    path = boosted_path(X, Y, max_rules=max_rules, **options)
    monkeypatch.setattr(boosted_rules, "_find_least_gain", lambda *_: -math.inf)
    expected = boosted_path(X, Y, max_rules=max_rules, **options)
    for (*_, theory), (*_, whole) in zip(cells(path), cells(expected), strict=True):
        assert theory.to_json() == whole.to_json()
    assert n_grown[0] < n_grown[1]


def test_labels_that_need_few_rules_get_new_ones_instead_of_larger_votes(monkeypatch):
    """Ten labels that one attribute tells each: 199 rules are fewer than 20 per label, but plenty."""
    rng = np.random.default_rng(0)
    X = rng.random((150, 10))
    Y = (X > 0.5) + 0
    grown = {"max_rules": 199, "max_conditions": 1, "n_tries": 20}
    path = boosted_path(X, Y, **grown)
    plenty = share_rules(199, 1)
    monkeypatch.setattr(boosted_rules, "share_rules", lambda *_: plenty)
    expected = boosted_path(X, Y, **grown)
    for (*_, theory), (*_, with_new_rules) in zip(cells(path), cells(expected), strict=True):
        assert len(theory) < 199
        assert theory.to_json() == with_new_rules.to_json()


def test_whether_rules_are_scarce_is_known_before_all_of_them_are_grown(monkeypatch):
    """If some labels need many rules, all go on; otherwise few rounds tell that there are plenty."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 10))
    clear = (X > 0.5) + 0
    noisy = np.where(np.arange(10) < 5, clear, rng.integers(0, 2, clear.shape))
    n_rounds = []
    grow_in_stages = boosted_rules._grow_in_stages

    def count(*arguments):
        grown = grow_in_stages(*arguments)
        n_rounds.append(sum(len(label.rule_idx) for label in grown))
        return grown

    monkeypatch.setattr(boosted_rules, "_grow_in_stages", count)
    found = {}
    for gain in (boosted_rules.NEEDED_GAIN, 0.0):
        monkeypatch.setattr(boosted_rules, "NEEDED_GAIN", gain)
        for name, Y in (("noisy", noisy), ("clear", clear)):
            n_rounds.clear()
            path = boosted_path(X, Y, max_rules=150, max_conditions=2)
            found[name, gain > 0] = [t.to_json() for *_, t in cells(path)], sum(n_rounds)
    for name in ("noisy", "clear"):
        assert found[name, True][0] == found[name, False][0]
    assert found["clear", True][1] < found["clear", False][1] / 2


@pytest.mark.parametrize("weight", [None, 0.001])
def test_labels_that_gain_next_to_nothing_end(monkeypatch, weight):
    """What a label could still gain then changes no prediction; light examples gain less."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((150, 4)))
    Y = pd.DataFrame((X > 0.5) + 0)
    weights = None if weight is None else np.full(150, weight)
    model = BoostedRulesClassifier(max_rules=70, max_conditions=1, random_state=0)
    n_rounds = []
    grow_in_stages = boosted_rules._grow_in_stages

    def count(*arguments):
        grown = grow_in_stages(*arguments)
        n_rounds.append(sum(len(label.rule_idx) for label in grown))
        return grown

    monkeypatch.setattr(boosted_rules, "NEEDED_GAIN", 0.0)
    monkeypatch.setattr(boosted_rules, "_grow_in_stages", count)
    few = model.fit(X, Y, sample_weight=weights).theory_
    monkeypatch.setattr(boosted_rules, "_LEAST_GAIN", -math.inf)
    many = model.fit(X, Y, sample_weight=weights).theory_
    assert {rule.head.label for rule in few} == {rule.head.label for rule in many}
    assert (few.predict(X).to_numpy() == many.predict(X).to_numpy()).all()
    if weight is None:
        assert n_rounds[0] < n_rounds[len(n_rounds) // 2] / 2, n_rounds
