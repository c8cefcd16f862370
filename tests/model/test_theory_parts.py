"""A theory whose parts do not fit together cannot be made."""

from dataclasses import replace

import pytest

from steelyard.model.combiners import AnyRule, FirstRule, StrongestVote, SumOfVotes
from steelyard.model.conditions import Condition
from steelyard.model.decoders import BestLabel, BestLabelSet, EachLabel, LabelSetVotes
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.label_sets import KnownLabelSets
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory
from theories import FEVER, flu_theory, rule, theory_of

KNOWN = KnownLabelSets(((0,), (0, 1)), (3, 2))


def label_sets(kind=BestLabelSet, known=KNOWN):
    return kind().fit(known)


INVALID = {
    "unknown attribute": (
        lambda: theory_of(rule(condition=("fevr", "≥", 1))),
        r"rule 1 tests an unknown attribute 'fevr' \(did you mean 'fever'\?\)",
    ),
    "bounds of a nominal attribute": (
        lambda: theory_of(rule(), rule(condition=("nose", "≥", 1))),
        "rule 2: the attribute 'nose' is nominal and needs categories, got 'nose ≥ 1'",
    ),
    "categories of a numeric attribute": (
        lambda: theory_of(rule(condition=("fever", "=", "high"))),
        "rule 1: the attribute 'fever' is numeric and needs bounds, got 'fever = high'",
    ),
    "unknown category": (
        lambda: theory_of(rule(condition=("nose", "=", "blue"))),
        "rule 1: the attribute 'nose' has no category 'blue'; it has 'dry', 'runs'",
    ),
    "unknown label": (
        lambda: theory_of(rule("flue")),
        r"rule 1 predicts an unknown label 'flue' \(did you mean 'flu'\?\)",
    ),
    "equal labels": (
        lambda: theory_of(labels=("flu", "flu")),
        "two labels have the same name 'flu'",
    ),
    "equal attributes": (
        lambda: Theory((FEVER, FEVER), (Label("flu"),), ()),
        "two attributes have the same name 'fever'",
    ),
    "no label": (lambda: theory_of(labels=()), "a theory needs at least one label"),
    "superfluous points": (
        lambda: theory_of(rule(points=5)),
        "rule 1 has points, but a firing rule decides by itself",
    ),
    "missing points": (
        lambda: theory_of(rule(points=5), rule(), combiner=SumOfVotes((1, 2))),
        "points of rule 2 must be an integer, got None",
    ),
    "points that are no integer": (
        lambda: theory_of(rule(points=0.5), combiner=StrongestVote((1, 2))),
        r"points of rule 1 must be an integer, got 0\.5",
    ),
    "points that are too large": (
        lambda: theory_of(rule(points=2**40), combiner=SumOfVotes((1, 2))),
        "points of rule 1 must be an integer, got 1099511627776",
    ),
    "rules numbered as given": (
        lambda: theory_of(rule("cold", points=1), rule("flu"), combiner=SumOfVotes((1, 2))),
        "points of rule 2 must be an integer, got None",
    ),
    "too few start points": (
        lambda: theory_of(combiner=SumOfVotes((1,))),
        "1 start points for 2 labels",
    ),
    "too many start points": (
        lambda: theory_of(combiner=StrongestVote((1, 2, 3))),
        "3 start points for 2 labels",
    ),
    "start points that are no integers": (
        lambda: theory_of(combiner=SumOfVotes((1, 0.5))),
        r"start points must be integers, got 0\.5",
    ),
    "a rule for the other class": (
        lambda: theory_of(rule(target=0)),
        "rule 1 predicts class 0 of 'flu', whose target class is 1",
    ),
    "a strongest vote for the other class": (
        lambda: theory_of(rule(target=0, points=1), combiner=StrongestVote((1, 2))),
        "rule 1 predicts class 0 of 'flu', whose target class is 1",
    ),
    "a threshold without votes": (
        lambda: theory_of(decoder=EachLabel(0.3)),
        r"a threshold of 0\.3 needs rules that vote",
    ),
    "label sets without votes": (
        lambda: theory_of(decoder=label_sets()),
        "the decoder best-label-set needs rules that vote, not any-rule",
    ),
    "label sets beyond the labels": (
        lambda: theory_of(
            combiner=SumOfVotes((1, 2)),
            decoder=label_sets(LabelSetVotes, KnownLabelSets(((2,),), (1,))),
        ),
        "a label set has label 2, but the last of the 2 labels is 1",
    ),
    "label sets that are not known": (
        lambda: theory_of(combiner=SumOfVotes((1, 2)), decoder=BestLabelSet()),
        "the decoder best-label-set has no label sets: fit it first",
    ),
    "label sets for classes": (
        lambda: theory_of(
            labels=("flu",),
            combiner=SumOfVotes((1,)),
            decoder=label_sets(known=KnownLabelSets(((0,),), (1,))),
            classes=("no", "yes"),
        ),
        "the decoder best-label-set predicts several labels, not classes",
    ),
    "no classes": (
        lambda: theory_of(decoder=BestLabel()),
        "the decoder best-label needs one class per label",
    ),
    "too few classes": (
        lambda: theory_of(decoder=BestLabel(), classes=("a",)),
        "1 classes for 2 labels with the decoder best-label",
    ),
    "equal classes": (
        lambda: theory_of(decoder=BestLabel(), classes=(1, True)),
        r"two classes are equal: \[1, True\]",
    ),
    "classes for each label": (
        lambda: theory_of(classes=("a", "b")),
        "2 classes for 2 labels with the decoder each-label",
    ),
    "three classes for one label": (
        lambda: theory_of(labels=("flu",), classes=("a", "b", "c")),
        "3 classes for 1 labels with the decoder each-label",
    ),
    "classes and rules for absence": (
        lambda: Theory((FEVER,), (Label("flu", 0),), (), classes=("a", "b")),
        "the rules of a theory of classes must predict presence",
    ),
    "an order that lacks a label": (
        lambda: theory_of(combiner=FirstRule((0,)), decoder=BestLabel(), classes=("a", "b")),
        r"order must list the positions of the 2 labels, got \(0,\)",
    ),
    "an order that is repeated": (
        lambda: theory_of(combiner=FirstRule((0, 0)), decoder=BestLabel(), classes=("a", "b")),
        r"order must list the positions of the 2 labels, got \(0, 0\)",
    ),
    "a list of rules for several labels": (
        lambda: theory_of(combiner=FirstRule((0, 1)), decoder=EachLabel()),
        "the combiner first-rule needs a decoder that predicts one class per example, not each",
    ),
    "a share beyond 1": (lambda: theory_of(phi=5), "phi must be a number from 0 to 1, got 5"),
    "a heuristic without a name": (
        lambda: theory_of(heuristic=None),
        "heuristic must be text, got None",
    ),
    "a rule without evidence": (
        lambda: theory_of(rule().rule),
        "rule 1 must be a ScoredRule, got",
    ),
}


class TestInvariants:
    @pytest.mark.parametrize("name", INVALID)
    def test_what_does_not_fit_is_rejected_in_one_sentence(self, name):
        make, message = INVALID[name]
        with pytest.raises(ValueError, match=f"^{message}") as rejection:
            make()
        assert "\n" not in str(rejection.value)

    def test_a_copy_with_changes_is_checked_again(self):
        theory = flu_theory()
        for changes, message in (
            ({"features": theory.features[:1]}, "rule 2 tests an unknown attribute 'nose'"),
            ({"labels": theory.labels[:1]}, "rule 3 predicts an unknown label 'cold'"),
            ({"combiner": AnyRule()}, "predicts class 0 of 'flu'|has points"),
            ({"combiner": SumOfVotes(())}, "0 start points for 2 labels"),
            ({"decoder": BestLabel()}, "needs one class per label"),
            ({"rules": (rule(),)}, "points of rule 1 must be an integer"),
        ):
            with pytest.raises(ValueError, match=message):
                replace(theory, **changes)

    def test_rules_are_grouped_by_label_in_the_order_of_the_labels(self):
        cold, flu = rule("cold"), rule("flu")
        theory = theory_of(cold, flu, cold)
        assert theory.rules == (flu, cold, cold)
        assert list(theory) == list(theory.rules)
        assert theory.rules_of("cold") == (cold, cold)

    def test_sequences_become_tuples(self):
        theory = Theory([FEVER], [Label("flu")], [rule()], classes=[])
        assert theory == Theory((FEVER,), (Label("flu"),), (rule(),))

    def test_a_theory_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            flu_theory().rules = ()


class TestTypes:
    """Hand-made parts of the wrong type are rejected when they are made, in one sentence."""

    RULE = Rule(Head("flu"), Condition("fever", "≥", 38.5))

    def test_a_single_condition_is_a_body(self):
        assert Rule(Head("flu"), (Condition("fever", "≥", 38.5),)) == self.RULE

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: Rule("flu", ()), "head of a rule must be a Head, got 'flu'"),
            (lambda: Rule(Head("flu"), ("fever ≥ 38",)), "Conditions, got 'fever ≥ 38'"),
            (
                lambda: ScoredRule(Rule(Head("flu")), (9, 2), 0.8),
                r"evidence .* Evidence, got \(9, 2\)",
            ),
            (lambda: ScoredRule("flu", Evidence(9, 2), 0.8), "rule .* Rule, got 'flu'"),
            (lambda: Theory(("fever",), (Label("flu"),), ()), "a Feature, got 'fever'"),
            (lambda: Theory((Feature("fever"),), ("flu",), ()), "a Label, got 'flu'"),
            (
                lambda: Theory((Feature("x"),), (Label("y"),), (), decoder="each-label"),
                "a Decoder, got 'each-label'",
            ),
            (lambda: Condition("colour", "in", "red,blue"), "must be a list, got 'red,blue'"),
        ],
    )
    def test_a_wrong_type_is_named(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()
