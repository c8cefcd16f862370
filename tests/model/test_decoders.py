"""Decoders: labels one by one as an oracle predicts them; parameters, words and checks of all."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decoding import EITHER, THRESHOLDS, VOTES, best_set, decode, problems, to_sets
from reference.prediction import choose_best, choose_each, probability_to_points
from steelyard.model.combiners import AnyRule, SumOfVotes
from steelyard.model.decoders import (
    DECODERS,
    BestF1,
    BestLabel,
    BestLabelSet,
    EachLabel,
    LabelSetVotes,
    get_decoder,
)
from steelyard.model.evidence import Label
from steelyard.model.formulas import Above, LabelFormulas, LabelSetSearch, Largest, Sum
from steelyard.model.label_sets import KnownLabelSets


class TestEachLabel:
    @given(problems(), st.sampled_from(THRESHOLDS))
    def test_labels_above_the_threshold_are_predicted(self, problem, threshold):
        _, points, _ = problem
        cut = probability_to_points(threshold)
        expected = [choose_each(row, [cut] * len(row)) for row in points.tolist()]
        assert to_sets(decode(EachLabel(threshold), points)) == expected

    @given(problems(), st.sampled_from(THRESHOLDS))
    def test_the_decision_is_positive_where_a_label_is_predicted(self, problem, threshold):
        decoder = EachLabel(threshold)
        decoded = decoder.decode(problem[1], VOTES)
        decision = decoder.to_decision(decoded, VOTES)
        assert ((decision > 0) == decoded.is_present).all()
        assert (abs(decision) < 1).all()

    @given(problems(), st.sampled_from(THRESHOLDS))
    def test_a_threshold_does_not_change_probabilities(self, problem, threshold):
        one, other = (
            decoder.to_probability(decoder.decode(problem[1], VOTES), VOTES)
            for decoder in (EachLabel(), EachLabel(threshold))
        )
        assert one.tolist() == other.tolist()

    @given(problems(), st.integers(0, 2**32 - 1))
    def test_each_label_can_have_a_threshold_of_its_own(self, problem, seed):
        _, points, _ = problem
        thresholds = np.random.default_rng(seed).uniform(0.1, 0.9, points.shape[1])
        alone = [decode(EachLabel(t), points[:, [j]]) for j, t in enumerate(thresholds.tolist())]
        together = decode(EachLabel(tuple(thresholds.tolist())), points)
        assert together == np.concatenate(alone, axis=1).tolist()

    def test_there_is_one_threshold_per_label(self):
        decoder = EachLabel([0.3, 0.2])
        assert decoder == EachLabel((0.3, 0.2))
        assert (
            decoder.describe() == "a label needs a probability above 20 to 30 %, each label its own"
        )
        with pytest.raises(ValueError, match="EachLabel has 2 thresholds for 1 labels: give one"):
            decoder.check((Label("a"),), SumOfVotes((0,)))
        with pytest.raises(ValueError, match="threshold must be a number between 0 and 1, got 1"):
            EachLabel((0.3, 1))

    def test_a_score_at_the_threshold_is_not_enough(self):
        cut = probability_to_points(0.3)
        assert decode(EachLabel(0.3), [[cut, cut + 1]]) == [[False, True]]


class TestBestLabel:
    @given(problems())
    def test_the_label_with_the_highest_score_is_predicted_the_first_of_equals(self, problem):
        _, points, _ = problem
        assert to_sets(decode(BestLabel(), points)) == [choose_best(row) for row in points.tolist()]

    def test_no_rows_give_no_rows(self):
        assert BestLabel().decode(np.empty((0, 3)), AnyRule()).is_present.shape == (0, 3)


@pytest.mark.parametrize("kind", DECODERS.values(), ids=list(DECODERS))
def test_predictions_are_booleans(kind):
    decoded = kind().fit(EITHER).decode(np.array([[3, 4]]), VOTES)
    assert decoded.is_present.dtype == np.bool_


class TestParameters:
    @pytest.mark.parametrize(
        "wrong", [0, 1, -0.1, 2, math.nan, math.inf, "0.5", True, [[0.5]], 0.5j]
    )
    @pytest.mark.parametrize("kind", [EachLabel, LabelSetVotes])
    def test_a_threshold_is_a_number_between_0_and_1(self, kind, wrong):
        with pytest.raises(ValueError, match=r"^threshold must be a number between 0 and 1, got"):
            kind(threshold=wrong)

    @pytest.mark.parametrize("kind", [BestLabelSet, LabelSetVotes])
    @pytest.mark.parametrize("name", ["frequency_weight", "silence"])
    @pytest.mark.parametrize(
        "wrong", [-0.1, 1e7, math.nan, math.inf, "0.5", None, True, [0.5], np.complex128(0.5)]
    )
    def test_weights_are_numbers_whose_points_can_be_added(self, kind, name, wrong):
        with pytest.raises(ValueError, match=rf"^{name} must be a number from 0 to 1,000,000, got"):
            kind(**{name: wrong})

    @pytest.mark.parametrize("wrong", [None, 0, "no", np.array([True])], ids=str)
    def test_new_sets_are_allowed_or_not(self, wrong):
        with pytest.raises(ValueError, match=r"^new_sets must be True or False, got"):
            BestLabelSet(new_sets=wrong)

    @pytest.mark.parametrize("kind", [BestLabelSet, LabelSetVotes])
    def test_known_sets_are_known_sets(self, kind):
        with pytest.raises(ValueError, match=r"^known must be KnownLabelSets or None, got False"):
            kind(known=False)

    def test_numpys_numbers_are_numbers(self):
        assert BestLabelSet(np.float32(0.5), np.int64(1)) == BestLabelSet()
        assert str(EachLabel(np.float64(0.25))) == "each-label(p > 0.25)"

    def test_a_decoder_by_its_name_or_itself(self):
        for name, kind in DECODERS.items():
            assert get_decoder(name) == kind()
            assert str(kind()).startswith(name)
        assert get_decoder(BestLabelSet(0.1)) == BestLabelSet(0.1)

    @pytest.mark.parametrize("wrong", ["any", "auto", None, 0.5, ["each-label"]], ids=str)
    def test_no_other_name_is_known(self, wrong):
        with pytest.raises(ValueError, match=r"^decode must be a decoder or one of 'each-label', "):
            get_decoder(wrong)

    @pytest.mark.parametrize("kind", [BestLabelSet, LabelSetVotes])
    def test_label_sets_have_to_be_known_before_one_is_chosen(self, kind):
        with pytest.raises(ValueError, match="has no label sets: fit it first"):
            kind().decode(np.array([[1]]), VOTES)
        with pytest.raises(ValueError, match="label sets need several labels"):
            kind().fit(None)

    def test_decoders_that_look_at_single_labels_need_no_label_sets(self):
        known = KnownLabelSets(((0,),), (1,))
        for decoder in (EachLabel(0.3), BestLabel()):
            assert decoder.fit(known) == decoder.fit(None) == decoder


class TestPageNumbers:
    """The page computes no logarithm: it gets every number that it adds or compares."""

    def test_each_label_has_the_score_of_its_threshold(self):
        low, high = probability_to_points(0.3), probability_to_points(0.6)
        assert EachLabel(0.3).page_numbers(VOTES, 3) == {"cuts": [low] * 3}
        assert EachLabel((0.3, 0.6)).page_numbers(VOTES, 2) == {"cuts": [low, high]}

    def test_the_best_label_needs_none(self):
        assert BestLabel().page_numbers(VOTES, 2) == {}

    @pytest.mark.parametrize(
        ("decoder", "min_share", "aim"),
        [
            (BestLabelSet(1.0), None, "set"),
            (LabelSetVotes(0.4, 1.0), 400, "share"),
            (BestF1(1.0), None, "f1"),
        ],
        ids=["set", "share", "f1"],
    )
    def test_label_sets_have_the_points_of_their_frequencies(self, decoder, min_share, aim):
        # Each set is twice as frequent as under independent labels: ln 2 is 69 hundredths.
        fitted = decoder.fit(EITHER)
        numbers = {"set_points": [69, 69], "unseen_points": None, "min_share": min_share}
        assert fitted.page_numbers(VOTES, 2) == numbers
        assert fitted.aim == aim

    def test_whether_signs_suffice(self):
        assert EachLabel().follows_signs(VOTES)
        assert not EachLabel(0.3).follows_signs(VOTES)
        assert not EachLabel((0.5, 0.3)).follows_signs(VOTES)
        assert not BestLabel().follows_signs(VOTES)


def decoded_as(decoder, *points):
    """The decoder and what it makes of one row of points."""
    return decoder, decoder.decode(np.array([points]), VOTES)


class TestWords:
    NAMES = ("red", "green", "blue", "white", "black")

    @pytest.mark.parametrize(
        ("decoder", "text", "described"),
        [
            (EachLabel(), "each-label", ""),
            (
                EachLabel(0.3),
                "each-label(p > 0.3)",
                "a label needs a probability above 30 %",
            ),
            (
                EachLabel((0.2, 0.3, 0.25)),
                "each-label(p > 0.2 to 0.3)",
                "a label needs a probability above 20 to 30 %, each label its own",
            ),
            (
                EachLabel((0.2, 0.2)),
                "each-label(p > 0.2)",
                "a label needs a probability above 20 %, each label its own",
            ),
            (
                BestLabelSet(0.25, 0.1).fit(EITHER),
                "best-label-set(0.25, 0.1)",
                "label sets: 2 known, frequency weight 0.25",
            ),
            (
                LabelSetVotes(0.4, 0.25, 0.1).fit(EITHER),
                "label-set-votes(0.25, 0.1, share > 0.4)",
                "label sets: 2 known, frequency weight 0.25, a label needs more than 40 % of the votes",
            ),
            (
                BestF1(0.25, 0.1).fit(EITHER),
                "best-f1(0.25, 0.1)",
                "label sets: 2 known, frequency weight 0.25, the best expected F1 of an example",
            ),
        ],
        ids=str,
    )
    def test_a_decoder_says_what_it_is(self, decoder, text, described):
        assert str(decoder) == text
        assert decoder.describe() == described

    def test_votes_name_the_predicted_labels_and_three_more(self):
        known = KnownLabelSets(((0,), (1,), (2,), (3,), (4,)), (2, 2, 2, 2, 2))
        decoder, decoded = decoded_as(LabelSetVotes(0.5, 0.0).fit(known), 300, 0, -10, -20, 0)
        # The votes are e³ = 20.09, 1, 0.90, 0.82 and 1; of equal shares the first label comes first.
        assert decoder.explain_row(decoded, 0, self.NAMES) == (
            "the 5 label sets seen in training vote, each as well as it fits the rules: red 84.4%, "
            "green 4.2%, black 4.2%, blue 3.8%, others no more; a label needs more than 50.0%; each "
            "label by itself would give the same"
        )

    def test_where_all_labels_are_named_there_are_no_others(self):
        decoder, decoded = decoded_as(LabelSetVotes(0.4, 0.0).fit(EITHER), 7, 7)
        assert decoder.explain_row(decoded, 0, self.NAMES[:2]) == (
            "the 2 label sets seen in training vote, each as well as it fits the rules: red 50.0%, "
            "green 50.0%; a label needs more than 40.0%; each label by itself would give the same"
        )

    def test_the_best_expected_f1_is_named(self):
        decoder, decoded = decoded_as(BestF1(0.0).fit(EITHER), 0, 0)
        # Both labels: one of two is right, so F1 is 2/3 in either case.
        assert decoder.explain_row(decoded, 0, self.NAMES[:2]) == (
            "as the 2 label sets seen in training vote, {red, green} has the best expected F1, 66.7%; "
            "each label by itself would give the empty set"
        )
        for j in range(2):
            clause = ", but the expected F1 is better with it"
            assert decoder.explain_label(decoded, 0, j, VOTES) == clause

    def test_a_known_set_that_is_chosen_as_a_new_one_is_not_called_new(self):
        # The first two labels come together, and alone, once in 45 examples.
        unique = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
        fitted = best_set([[1, 0, 0], [0, 1, 0]] * 20 + unique, 2.0)
        decoder, decoded = decoded_as(fitted, 700, 700, -700)
        assert decoded.found.tolist() == [-1]
        assert decoder.explain_row(decoded, 0, self.NAMES[:3]) == (
            "of the 7 label sets seen in training, {red, green} (1 of 45 examples) fits the rules best; "
            "each label by itself would give the same"
        )

    def test_the_best_set_is_named_also_if_that_of_each_label_by_itself_is_known(self):
        # Both labels together are rarer than by chance.
        fitted = best_set([[1, 0]] * 10 + [[0, 1]] * 10 + [[1, 1]], 1.0)
        decoder, decoded = decoded_as(fitted, 100, 90)
        assert decoder.explain_row(decoded, 0, self.NAMES[:2]) == (
            "of the 3 label sets seen in training, {red} (10 of 21 examples) fits the rules best; each "
            "label by itself would give {red, green}"
        )

    def test_a_score_of_zero_is_not_enough_for_a_label_by_itself(self):
        decoder, decoded = decoded_as(BestLabelSet(0.0).fit(EITHER), 5, 0)
        assert decoder.explain_row(decoded, 0, self.NAMES[:2]).endswith("would give the same")

    @pytest.mark.parametrize("decoder", [BestLabelSet(0.0), LabelSetVotes(0.6, 0.0), BestF1(0.0)])
    def test_a_hundredth_of_log_odds_is_enough_for_a_label_by_itself(self, decoder):
        fitted, decoded = decoded_as(decoder.fit(EITHER), 1, 0)
        said = fitted.explain_row(decoded, 0, self.NAMES[:2]).rpartition("; ")[2]
        same = to_sets(decoded.is_present) == [{0}]
        assert said == f"each label by itself would give {'the same' if same else '{red}'}"

    def test_a_label_that_lowers_the_expected_f1_says_so(self):
        decoder, decoded = decoded_as(BestF1(0.0).fit(EITHER), 900, 1)
        assert decoded.is_present.tolist() == [[True, False]]
        clause = ", but the expected F1 is better without it"
        assert decoder.explain_label(decoded, 0, 1, VOTES) == clause

    def test_a_label_says_where_the_best_set_differs_from_its_score(self):
        decoder, decoded = decoded_as(BestLabelSet(0.0).fit(EITHER), 5, 4)
        assert decoder.explain_label(decoded, 0, 0, VOTES) == ""
        clause = ", but the label set that fits best is without it"
        assert decoder.explain_label(decoded, 0, 1, VOTES) == clause
        decoder, decoded = decoded_as(BestLabelSet(0.0).fit(EITHER), -5, -4)
        clause = ", but the label set that fits best is with it"
        assert decoder.explain_label(decoded, 0, 1, VOTES) == clause

    def test_a_label_says_its_share_of_the_votes(self):
        decoder, decoded = decoded_as(LabelSetVotes(0.4, 0.0).fit(EITHER), -1, -1)
        clause = ", but it has 50.0% of the label sets' votes"
        assert decoder.explain_label(decoded, 0, 0, VOTES) == clause
        decoder, decoded = decoded_as(LabelSetVotes(0.6, 0.0).fit(EITHER), 1, 1)
        clause = ", but it has only 50.0% of the label sets' votes"
        assert decoder.explain_label(decoded, 0, 0, VOTES) == clause

    def test_a_label_says_where_a_threshold_makes_the_difference(self):
        decoder, decoded = decoded_as(EachLabel((0.3, 0.6)), -20, 20)
        clauses = [decoder.explain_label(decoded, 0, j, VOTES) for j in range(2)]
        # The log-odds of 30 % and 60 %.
        assert clauses == [
            ", above the threshold of -0.85",
            ", not above the threshold of +0.41",
        ]

    def test_a_class_says_why_it_wins_or_loses(self):
        decoder, decoded = decoded_as(BestLabel(), -20, -30)
        assert decoder.explain_label(decoded, 0, 0, VOTES) == ", and no class has more"
        decoder, decoded = decoded_as(BestLabel(), 20, 30)
        clause = ", but another class is better supported"
        assert decoder.explain_label(decoded, 0, 0, VOTES) == clause

    def test_labels_without_rules_say_when_they_are_predicted(self):
        decoder, decoded = decoded_as(BestLabel(), 20, 30)
        said = [
            decoder.describe_silence(decoded, j, combiner)
            for j in range(2)
            for combiner in (VOTES, AnyRule())
        ]
        assert said == [
            "predicted only where all other classes have fewer votes",
            "never predicted",
            "predicted where no rule fires",
            "predicted where no rule fires",
        ]
        decoder, decoded = decoded_as(BestLabelSet(0.0).fit(EITHER), 5, 4)
        clause = "predicted only with label sets that contain it"
        assert decoder.describe_silence(decoded, 0, VOTES) == clause
        decoder, decoded = decoded_as(EachLabel(), 5, -4)
        said = [decoder.describe_silence(decoded, j, VOTES) for j in range(2)]
        assert said == ["always predicted", "never predicted"]

    def test_exports_that_cannot_express_a_decoder_say_what_to_do_instead(self):
        pmml = "PMML cannot compare label sets: export this theory as Python or JSON"
        sql = (
            "SQL cannot {}: export this theory as Python or JSON, or use decode='best-label-set' or "
            "'each-label'"
        )
        assert EachLabel.declines == {}
        assert BestLabelSet.declines == {"pmml": pmml}
        assert LabelSetVotes.declines == {"pmml": pmml, "sql": sql.format("let label sets vote")}
        assert BestF1.declines == {"pmml": pmml, "sql": sql.format("maximise an expected F1")}


class TestChecks:
    LABELS = (Label("red"), Label("green"))

    def test_label_sets_need_rules_that_vote(self):
        for kind in (BestLabelSet, LabelSetVotes, BestF1):
            kind().fit(EITHER).check(self.LABELS, VOTES)
            message = f"^the decoder {kind.name} needs rules that vote, not any-rule$"
            with pytest.raises(ValueError, match=message):
                kind().fit(EITHER).check(self.LABELS, AnyRule())

    def test_label_sets_have_only_labels_that_exist(self):
        message = "a label set has label 1, but the last of the 1 labels is 0"
        with pytest.raises(ValueError, match=message):
            BestLabelSet().fit(EITHER).check(self.LABELS[:1], VOTES)

    def test_rules_that_decide_need_the_threshold_one_half(self):
        EachLabel().check(self.LABELS, AnyRule())
        with pytest.raises(ValueError, match="threshold"):
            EachLabel(0.3).check(self.LABELS, AnyRule())

    def test_one_threshold_per_label_may_be_an_array(self):
        assert EachLabel(np.array([0.3, 0.2])) == EachLabel((0.3, 0.2))
        EachLabel((0.3, 0.2)).check(self.LABELS, VOTES)
        message = (
            "^EachLabel has 1 thresholds for 2 labels: give one per label, or one number for all$"
        )
        with pytest.raises(ValueError, match=message):
            EachLabel((0.3,)).check(self.LABELS, VOTES)

    def test_what_is_missing_is_named(self):
        with pytest.raises(
            ValueError, match="^the decoder best-f1 has no label sets: fit it first$"
        ):
            BestF1().describe()
        message = "^label sets need several labels; this target has one class per example$"
        with pytest.raises(ValueError, match=message):
            BestF1().fit(None)
        assert BestF1().fit(EITHER).known == EITHER


class TestNamedSets:
    NAMES = ("red", "green")

    def test_a_new_set_is_called_new(self):
        decoder, decoded = decoded_as(best_set([[1, 0], [0, 1]]), 500, 500)
        assert decoded.found.tolist() == [-1]
        assert decoder.explain_row(decoded, 0, self.NAMES) == (
            "{red, green}, each label by itself, is new and fits the rules better than the 2 label "
            "sets seen in training"
        )

    def test_where_a_new_set_is_expected_it_votes_too(self):
        fitted = LabelSetVotes(0.5, 0.0).fit(KnownLabelSets(((0,), (1,)), (1, 1)))
        decoder, decoded = decoded_as(fitted, 300, -300)
        assert decoder.explain_row(decoded, 0, self.NAMES).startswith(
            "the 2 label sets seen in training and that of each label by itself vote, each as well as "
        )

    def test_one_threshold_is_that_of_every_label(self):
        decoder, decoded = decoded_as(EachLabel(0.3), 20, -20)
        assert decoder.explain_label(decoded, 0, 1, VOTES) == ", above the threshold of -0.85"


class TestAnswers:
    """What exports write: the names, scores and outcomes as given, the numbers of the decoder."""

    SCORES = LabelFormulas(("red", "green"), (Sum(7, ()), Sum(-1, ())), ("no", "yes"))

    def test_each_label_is_compared_with_its_own_threshold(self):
        low, high = probability_to_points(0.3), probability_to_points(0.6)
        assert EachLabel((0.3, 0.6)).answers(self.SCORES, VOTES) == [
            Above("red", Sum(7, ()), low, ("no", "yes")),
            Above("green", Sum(-1, ()), high, ("no", "yes")),
        ]
        cuts = [answer.cut for answer in EachLabel(0.3).answers(self.SCORES, VOTES)]
        assert cuts == [low, low]

    def test_no_label_is_lost_without_an_error(self):
        with pytest.raises(ValueError, match="zip"):
            EachLabel((0.3,)).answers(self.SCORES, VOTES)

    def test_one_class_is_one_answer(self):
        (answer,) = BestLabel().answers(self.SCORES, VOTES)
        assert answer == Largest("red", self.SCORES.formulas, ("no", "yes"))

    @pytest.mark.parametrize(
        ("decoder", "min_share", "aim"),
        [(BestLabelSet(1.0), None, "set"), (LabelSetVotes(0.4, 1.0), 400, "share")],
        ids=["set", "share"],
    )
    def test_all_labels_are_found_by_one_search(self, decoder, min_share, aim):
        # Each set is twice as frequent as under independent labels, and half of the examples have a
        # set of their own.
        known = KnownLabelSets(((0,), (1,)), (1, 1))
        (answer,) = decoder.fit(known).answers(self.SCORES, VOTES)
        sets = (((0,), 69), ((1,), 69))
        expected = (self.SCORES.names, self.SCORES.formulas, sets, 0, min_share, aim)
        assert answer == LabelSetSearch(*expected)
