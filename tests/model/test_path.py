"""Paths: all cells at once are what the theory of each cell predicts, measures and counts."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from steelyard.heuristics import WRA, MEstimate, get_heuristic
from steelyard.measures import MEASURES
from steelyard.model.calibrating import find_points
from steelyard.model.combiners import AnyRule, StrongestVote, SumOfVotes
from steelyard.model.decoders import BestLabel, BestLabelSet, EachLabel, LabelSetVotes
from steelyard.model.label_sets import KnownLabelSets
from steelyard.model.log_odds import confidence_to_points, probability_to_points
from steelyard.model.path import RankedRules
from theories import FEATURES, PATHS, random_path, random_table

SEEDS = range(4)


@cache
def make(seed, combiner="any-rule", target="labels"):
    """A random path with the table that its rules are counted on."""
    path = random_path(np.random.default_rng(seed), combiner, target)
    return path, random_table(np.random.default_rng(seed), 60)


def cells(path, **options):
    for h, (j, phi) in itertools.product(range(path.shape[0]), enumerate(path.phis)):
        yield h, j, path.theory(h, phi, **options)


#: A combiner and decoders of its cells, where there are several labels.
OF_LABELS = [
    ("any-rule", None),
    ("any-rule", BestLabelSet()),
    ("any-rule", BestLabelSet(0, silence=0.1)),
    ("any-rule", LabelSetVotes(0.4, 0.1)),
    ("sum-of-votes", None),
    ("sum-of-votes", EachLabel(0.3)),
    ("sum-of-votes", BestLabelSet()),
    ("sum-of-votes", LabelSetVotes(0.4, 0.1)),
]


class TestCells:
    @pytest.mark.parametrize(
        ("combiner", "target", "decoder"),
        [
            *((combiner, "labels", decoder) for combiner, decoder in OF_LABELS),
            *((*path, None) for path in PATHS if path[1] != "labels"),
            ("sum-of-votes", "binary", EachLabel(0.3)),
        ],
        ids=str,
    )
    def test_all_at_once_predict_what_each_theory_predicts(self, combiner, target, decoder):
        for seed in SEEDS:
            path, X = make(seed, combiner, target)
            found = {(h, j): p.tolist() for h, j, p in path.predict_cells(X, decoder)}
            for h, j, theory in cells(path, decoder=decoder):
                assert found.pop((h, j)) == np.asarray(theory.predict(X)).tolist()
            assert not found

    @pytest.mark.parametrize("combiner", ["any-rule", "sum-of-votes"])
    def test_probabilities_are_those_of_each_theory(self, combiner):
        path, X = make(1, combiner)
        found = list(path.predict_proba_cells(X))
        for h, j, theory in cells(path):
            np.testing.assert_array_equal(found[h][j], theory.predict_proba(X))

    @pytest.mark.parametrize("kind", PATHS, ids="-".join)
    def test_scores_are_those_of_each_theory(self, kind):
        path, X = make(1, *kind)
        found = {(h, j): points.tolist() for h, j, points in path.score_cells(X)}
        for h, j, theory in cells(path):
            assert found.pop((h, j)) == find_points(theory, X).tolist()
        assert not found

    @pytest.mark.parametrize(("combiner", "decoder"), OF_LABELS, ids=str)
    def test_measures_are_those_of_the_predictions(self, combiner, decoder):
        for seed in SEEDS:
            path, X = make(seed, combiner)
            Y = np.random.default_rng(seed).random((len(X), len(path.labels))) < 0.4
            values = path.evaluate(X, Y, list(MEASURES.values()), decoder)
            for h, j, predicted in path.predict_cells(X, decoder):
                for name, measure in MEASURES.items():
                    expected = measure(Y.astype(int), predicted)
                    assert values[name][h, j] == pytest.approx(expected, abs=1e-12), name


def test_labels_may_be_sparse():
    path, X = make(0)
    Y = np.random.default_rng(0).random((len(X), len(path.labels))) < 0.4
    f1 = MEASURES["f1_micro"]
    dense, other = (path.evaluate(X, form, [f1]) for form in (Y, sparse.csr_array(Y)))
    assert dense[f1.name].tolist() == other[f1.name].tolist()


@pytest.mark.parametrize("kind", PATHS, ids="-".join)
class TestTheories:
    def test_numbers_of_rules_and_conditions_are_those_of_the_theories(self, kind):
        for seed in SEEDS:
            path, _ = make(seed, *kind)
            theories = [theory for _, _, theory in cells(path)]
            assert path.n_rules.ravel().tolist() == [len(theory) for theory in theories]
            assert path.total_conditions.ravel().tolist() == [t.n_conditions for t in theories]

    def test_a_shorter_path_has_the_rules_of_a_share(self, kind):
        for seed in SEEDS:
            path, _ = make(seed, *kind)
            for h, j, theory in cells(path):
                whole = path.shorten(path.phis[j]).theory(h)
                assert (whole.rules, whole.labels) == (theory.rules, theory.labels)

    def test_fewer_rules_as_phi_falls(self, kind):
        for seed in SEEDS:
            path, _ = make(seed, *kind)
            assert (np.diff(path.n_kept, axis=1) <= 0).all()
            for h in range(2):
                if kind[0] == "any-rule":
                    sets = [set(path.theory(h, phi)) for phi in path.phis]
                    assert sets[3] <= sets[2] <= sets[1] <= sets[0]

    def test_counts_are_those_of_the_rules_on_the_training_table(self, kind):
        for seed in SEEDS:
            path, X = make(seed, *kind)
            for _, _, theory in cells(path):
                fires = theory.covers(X)
                assert [s.tp + s.fp for s in theory] == fires.sum(axis=0).tolist()
                if kind[0] == "any-rule":  # votes that cancel still count as covering
                    for label in theory.labels:
                        own = [s.head.label == label.name for s in theory]
                        n_silent = (~fires[:, own].any(axis=1)).sum()
                        assert label.uncovered_positives + label.uncovered_negatives == n_silent

    def test_a_theory_names_its_heuristic_and_its_share(self, kind):
        path, _ = make(0, *kind)
        theory = path.theory(WRA(), 0.3)
        assert (theory.heuristic, theory.phi) == ("wra", 0.3)
        assert theory.classes == path.classes
        assert theory.features == FEATURES
        default = BestLabel() if kind[1] == "classes" else EachLabel()
        assert theory.decoder == default


class TestChoosing:
    def test_a_share_need_not_be_on_the_grid(self):
        path, _ = make(1)
        lengths = [len(path.theory(0, phi)) for phi in (0.3, 0.4, 0.55)]
        assert lengths == sorted(lengths)

    def test_a_heuristic_is_found_by_itself_its_name_or_its_place(self):
        path, _ = make(1)
        assert path.theory(WRA(), 0.3) == path.theory("wra", 0.3) == path.theory(1, 0.3)
        assert path.theory(-1, 0.3) == path.theory(1, 0.3) == path.theory(np.int64(1), 0.3)
        with pytest.raises(
            ValueError, match=r"no m-estimate\(m=3\); it has m-estimate\(m=2\), wra"
        ):
            path.theory(MEstimate(3))
        with pytest.raises(IndexError):
            path.theory(99)

    def test_a_users_function_is_found_again(self):
        def youden(tp, fp, fn, tn):
            return tp / (tp + fn) - fp / (fp + tn)

        path, _ = make(1)
        path = replace(path, heuristics=(get_heuristic(youden), WRA()))
        assert path.theory(youden) == path.theory(get_heuristic(youden)) == path.theory(0)

    @pytest.mark.parametrize("phi", [0, -0.1, 1.1])
    def test_a_share_is_above_zero_and_at_most_one(self, phi):
        path, _ = make(1)
        with pytest.raises(ValueError, match="phi must be a number above 0 and at most 1"):
            path.theory(0, phi)

    def test_an_absolute_cut_keeps_what_is_not_below_it(self):
        path, _ = make(1)
        every = path.theory(0)
        cut = float(np.median([scored.value for scored in every]))
        kept = path.theory(0, min_value=cut)
        assert set(kept) == {scored for scored in every if scored.value >= cut}
        assert 0 < len(kept) < len(every)
        assert kept.phi == len(kept) / len(every)


class TestVotes:
    def test_every_rule_stands_once_with_positive_points_for_its_head(self):
        heads = set()
        for seed in SEEDS:
            path, _ = make(seed, "sum-of-votes")
            for _, _, theory in cells(path):
                assert all(scored.points > 0 for scored in theory)
                heads |= {scored.head.target_class for scored in theory}
        assert heads == {0, 1}

    def test_votes_of_a_rule_that_was_selected_again_are_added_up(self):
        for seed in SEEDS:
            path, _ = make(seed, "sum-of-votes")
            for h, j, theory in cells(path):
                n_kept = path.n_kept[h, j]
                ranked = path.ranked[h]
                votes = np.zeros(len(path.coded), dtype=int)
                np.add.at(votes, ranked.rule_idx[:n_kept], ranked.votes[:n_kept])
                names = [path.labels[label].name for label in path.label_of_rule]
                expected = [(names[r], path.coded.body(r), votes[r]) for r in np.flatnonzero(votes)]
                found = [(s.head.label, s.body, s.vote) for s in theory]
                assert sorted(found, key=repr) == sorted(expected, key=repr)

    def test_a_rule_whose_votes_cancel_is_dropped_and_not_counted(self):
        path, _ = make(1, "sum-of-votes")
        best = path.ranked[0]
        first = best.rule_idx[0]
        again = RankedRules(
            np.append(best.rule_idx, first),
            np.append(best.values, best.values[-1]),
            np.append(best.new_tp, 0),
            np.append(best.new_fp, 0),
            np.append(best.votes, -best.votes[best.rule_idx == first].sum()),
        )
        cancelled = replace(path, ranked=(again, path.ranked[1]))
        whole, rest = path.theory(0), cancelled.theory(0)
        assert len(rest) == len(whole) - 1
        assert set(rest) < set(whole)
        assert cancelled.n_rules[0, 0] == len(rest)
        assert cancelled.total_conditions[0, 0] == rest.n_conditions

    def test_a_negative_vote_is_a_vote_for_absence_with_its_counts(self):
        path, _ = make(1, "sum-of-votes")
        counts = {
            (path.labels[label].name, path.coded.body(r)): (path.tp[r], path.fp[r])
            for r, label in enumerate(path.label_of_rule)
        }
        for scored in path.theory(0):
            tp, fp = counts[scored.head.label, scored.body]
            right = (tp, fp) if scored.head.target_class else (fp, tp)
            assert (scored.tp, scored.fp) == right

    def test_a_threshold_changes_the_decoder_and_nothing_else(self):
        path, _ = make(1, "sum-of-votes")
        half, low = (path.theory(0, decoder=EachLabel(p)) for p in (0.5, 0.2))
        assert replace(low, decoder=EachLabel()) == half
        assert low != half


class TestFiringRulesAndLabelSets:
    """Where any rule decides, label sets are compared by the strongest firing rule of each label."""

    @pytest.mark.parametrize("silence", [0.1, 1.0, 5.0])
    def test_rules_vote_with_their_confidence_and_silence_with_the_prior(self, silence):
        for seed in SEEDS:
            path, _ = make(seed)
            theory = path.theory(0, 0.55, decoder=BestLabelSet(0.5, silence))
            for j, label in enumerate(theory.labels):
                prior = label.n_positives / label.n_examples
                for scored in theory.rules_of(label.name):
                    assert scored.points == confidence_to_points(scored.tp, scored.fp, prior)
                silent = int(probability_to_points(min(silence * prior, 1)))
                assert theory.combiner.start[j] == (silent if label.target_class else -silent)
            assert isinstance(theory.combiner, StrongestVote)
            assert theory.decoder.known == path.label_sets

    def test_rules_and_their_counts_are_the_same_with_and_without_label_sets(self):
        path, _ = make(1)
        plain, sets = (path.theory(0, 0.55, decoder=d) for d in (EachLabel(), BestLabelSet()))
        assert plain.labels == sets.labels
        assert [replace(scored, points=None) for scored in sets] == list(plain)
        assert plain.combiner == AnyRule()


class TestRejections:
    @pytest.mark.parametrize("target", ["binary", "classes"])
    def test_label_sets_need_several_labels(self, target):
        path, X = make(0, "sum-of-votes", target)
        with pytest.raises(ValueError, match="label sets need several labels"):
            path.theory(0, decoder=BestLabelSet())
        with pytest.raises(ValueError, match="label sets need several labels"):
            list(path.predict_cells(X, BestLabelSet()))

    def test_silence_does_not_apply_to_votes(self):
        path, _ = make(0, "sum-of-votes")
        with pytest.raises(ValueError, match=r"silence=0\.5 does not apply to boosted rules"):
            path.theory(0, decoder=BestLabelSet(silence=0.5))

    def test_a_threshold_needs_votes(self):
        path, X = make(0)
        with pytest.raises(ValueError, match=r"a threshold of 0\.3 needs rules that vote"):
            path.theory(0, decoder=EachLabel(0.3))
        with pytest.raises(ValueError, match=r"a threshold of 0\.3 needs rules that vote"):
            list(path.predict_cells(X, EachLabel(0.3)))
        Y = np.zeros((len(X), len(path.labels)))
        with pytest.raises(ValueError, match=r"a threshold of 0\.3 needs rules that vote"):
            path.evaluate(X, Y, [MEASURES["f1_micro"]], EachLabel(0.3))

    @pytest.mark.parametrize(
        ("combiner", "changes", "message"),
        [
            ("sum-of-votes", {"combiner": SumOfVotes((1,))}, "1 start points for"),
            ("sum-of-votes", {"combiner": AnyRule()}, "votes do not fit the combiner any-rule"),
            ("any-rule", {"combiner": SumOfVotes((0,) * 4)}, "start points|votes do not fit"),
            ("any-rule", {"label_sets": KnownLabelSets(((9,),), (1,))}, "a label set has label 9"),
        ],
    )
    def test_parts_that_do_not_fit_together_are_rejected(self, combiner, changes, message):
        path, _ = make(1, combiner)
        with pytest.raises(ValueError, match=message):
            replace(path, **changes)


def test_a_path_without_any_rule():
    path, X = make(1)
    none = np.empty(0, dtype=np.int64)
    empty = RankedRules(none.astype(np.intp), np.empty(0), none, none)
    path = replace(path, ranked=(empty, empty))
    assert path.n_kept.tolist() == np.zeros(path.shape).tolist()
    predicted = [p.tolist() for _, _, p in path.predict_cells(X)]
    assert len({str(p) for p in predicted}) == 1
    assert len(path.theory(0, 1.0)) == 0


def test_printed_it_says_how_large_it_is():
    path, _ = make(1)
    assert repr(path) == "<TheoryPath: 2 × 4 theories from 20 rules for 4 labels>"
