"""Constraints by themselves: what they mean, what they reject, and what learners make of each kind."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from steelyard import (
    BoostedRulesClassifier,
    Condition,
    Constraints,
    ConstraintWarning,
    Evidence,
    Head,
    MEstimate,
    Provenance,
    RipperClassifier,
    Rule,
    RuleSetClassifier,
    RuleSetClassifierCV,
    ScoredRule,
    TheoryPath,
    make_planted_rules,
    theory_path,
)
from steelyard.learning.constraints import implies

DATA = make_planted_rules(300, noise=0.05, random_state=0)
X, Y = DATA.X, DATA.Y
NUMERIC = [name for name in X if X[name].dtype.kind == "f"]
JAM = Rule(Head("for jam"), (Condition("weight", "≥", 123.456), Condition("skin", "=", "fuzzy")))
METHODS = {
    "rule set": RuleSetClassifier(n_candidates=2000, phi=1.0, random_state=0),
    "boosted": BoostedRulesClassifier(max_rules=40, random_state=0),
    "Ripper": RipperClassifier(random_state=0),
}


@pytest.fixture(params=METHODS)
def method(request):
    """An estimator of each kind."""
    return METHODS[request.param]


def learn(method, constraints, X=X, Y=Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "no rule for")
        return clone(method).set_params(constraints=constraints).fit(X, Y)


def attributes_of(theory):
    return [{condition.feature for condition in scored.body} for scored in theory]


class TestMeaning:
    def test_the_constraints_of_a_label_add_to_those_of_all(self):
        own = Constraints(forbidden=["b"], max_conditions=2, min_tp=3)
        both = Constraints(forbidden=["a"], max_conditions=4, min_tp=5, for_label={"y": own})
        assert both.of("y") == Constraints(forbidden=["a", "b"], max_conditions=2, min_tp=5)
        assert both.of("z") == Constraints(forbidden=["a"], max_conditions=4, min_tp=5)

    @pytest.mark.parametrize(
        ("condition", "banned", "is_implied"),
        [
            (("x", "<", 3), ("x", "<", 3), True),
            (("x", "<", 3), ("x", "≤", 3), True),
            (("x", "≤", 3), ("x", "<", 3), False),
            (("x", "≥", 4), ("x", "≥", 3), True),
            (("x", "≥", 2), ("x", "≥", 3), False),
            (("x", "≥", 4), ("x", "<", 9), False),
            (("x", "=", "a"), ("x", "in", ["a", "b"]), True),
            (("x", "in", ["a", "c"]), ("x", "in", ["a", "b"]), False),
            (("x", "=", "a"), ("z", "=", "a"), False),
        ],
    )
    def test_a_condition_implies_another_if_its_values_are_some_of_the_others(
        self, condition, banned, is_implied
    ):
        assert implies(Condition(*condition), Condition(*banned)) is is_implied

    @pytest.mark.parametrize(
        ("constraints", "body", "target_class", "problem"),
        [
            ({"forbidden": ["x"]}, [("x", "<", 3)], 1, "tests the forbidden attribute 'x'"),
            ({"increasing": ["x"]}, [("x", "≥", 3)], 1, None),
            ({"increasing": ["x"]}, [("x", "<", 3)], 1, "bounds the increasing attribute"),
            ({"increasing": ["x"]}, [("x", "<", 3)], 0, None),
            ({"increasing": ["x"]}, [("x", "≥", 3)], 0, "'x' from below"),
            ({"decreasing": ["x"]}, [("x", "≥", 3), ("x", "<", 5)], 1, "'x' from below"),
            ({"decreasing": ["x"]}, [("x", "<", 3)], 1, None),
            ({"apart": [["x", "z"]]}, [("x", "<", 3), ("z", "<", 3)], 1, "'x' and 'z' together"),
            ({"apart": [["x", "z"]]}, [("x", "<", 3), ("w", "<", 3)], 1, None),
            ({"max_conditions": 1}, [("x", "≥", 3), ("x", "<", 5)], 1, "has 2 conditions"),
            ({"min_tp": 10}, [("x", "≥", 3)], 1, "has TP 9"),
            ({"min_covered": 12}, [("x", "≥", 3)], 1, "covers 11 examples"),
        ],
    )
    def test_a_violation_is_told_in_a_sentence(self, constraints, body, target_class, problem):
        rule = Rule(Head("y", target_class), tuple(Condition(*parts) for parts in body))
        found = Constraints(**constraints).violations([ScoredRule(rule, Evidence(9, 2), 0.5)])
        assert len(found) == (problem is not None)
        assert problem is None or problem in found[0]

    def test_a_given_rule_may_cover_little_but_must_be_there(self):
        rule = Rule(Head("y"), (Condition("x", "<", 3),))
        constraints = Constraints(given=[rule], min_tp=10)
        assert constraints.violations([ScoredRule(rule, Evidence(1, 0), 0.5)]) == []
        assert constraints.violations([]) == ["'y ← x < 3' is given and missing"]

    def test_they_are_values(self):
        first, second = (Constraints(forbidden=["a"], for_label={"y": Constraints(min_tp=2)}),) * 2
        assert pickle.loads(pickle.dumps(first)) == second
        assert hash(first) == hash(second)
        assert repr(Constraints(min_tp=2, preferred=["a"])) == (
            "Constraints(preferred=['a'], min_tp=2)"
        )
        assert not Constraints()
        assert Constraints(min_tp=1)

    @given(st.lists(st.text(min_size=1), max_size=3), st.integers(0, 9))
    def test_plain_data_gives_them_back(self, names, n):
        own = Constraints(increasing=names)
        banned = [Condition("v", "≤", 0.1 + 0.2)]
        more = {"min_covered": n, "for_label": {"y": own}, "given": [JAM]}
        wanted = Constraints(preferred=names, forbidden_conditions=banned, **more)
        assert Constraints.from_plain(wanted.to_plain()) == wanted

    def test_rules_and_conditions_can_be_texts(self):
        text = "for jam <- weight >= 123.456 and skin = fuzzy"
        assert Constraints(given=[text]) == Constraints(given=[JAM])
        condition = Condition("skin", "in", ["fuzzy", "rough"])
        texts = ["skin in {fuzzy, rough}"]
        assert Constraints(forbidden_conditions=texts).forbidden_conditions == (condition,)


class TestRejection:
    @pytest.mark.parametrize(
        ("constraints", "message"),
        [
            ({"forbidden": "age"}, "forbidden must be a list"),
            ({"forbidden": [3]}, "must be text"),
            ({"max_conditions": 0}, "max_conditions must be an integer of at least 1"),
            ({"min_tp": -1}, "min_tp must be an integer of at least 0"),
            ({"preference": 2}, "preference must be a number from 0 to 1"),
            ({"apart": [["a"]]}, "needs two attributes"),
            ({"given": [3]}, "a given rule must be a Rule"),
            ({"given": [Rule(Head("y"))]}, "needs a condition"),
            (
                {"given": [Rule(Head("y"), (Condition("x", "<", 1), Condition("x", "≥", 2)))]},
                "can never fire",
            ),
            ({"forbidden_conditions": [3]}, "must be a Condition"),
            ({"for_label": {"y": 3}}, "to Constraints"),
            ({"for_label": {"y": Constraints(given=[JAM])}}, "cannot have given"),
            ({"forbidden": ["a"], "preferred": ["a"]}, "'a' is both forbidden and preferred"),
            (
                {"increasing": ["a"], "for_label": {"y": Constraints(decreasing=["a"])}},
                "'a' is both increasing and decreasing for 'y'",
            ),
            ({"given": [JAM], "forbidden": ["skin"]}, "tests the forbidden attribute 'skin'"),
            ({"given": [JAM], "decreasing": ["weight"]}, "bounds the decreasing attribute"),
        ],
    )
    def test_what_contradicts_itself_is_rejected_at_once(self, constraints, message):
        with pytest.raises(ValueError, match=message):
            Constraints(**constraints)

    @pytest.mark.parametrize(
        ("constraints", "message"),
        [
            ({"forbidden": ["firmnes"]}, r"'firmnes' in forbidden \(did you mean 'firmness'\?\)"),
            ({"apart": [["skin", "wait"]]}, "unknown attribute 'wait' in apart"),
            ({"increasing": ["skin"]}, "'skin' is nominal"),
            ({"forbidden_conditions": [Condition("skin", "<", 3)]}, "'skin' is nominal and needs"),
            ({"for_label": {"for jan": Constraints()}}, "unknown label 'for jan'.*'for jam'"),
            ({"given": [Rule(Head("jam"), JAM.body)]}, "unknown label 'jam'"),
        ],
    )
    def test_unknown_names_are_rejected_with_the_nearest_known_one(
        self, method, constraints, message
    ):
        with pytest.raises(ValueError, match=message):
            learn(method, Constraints(**constraints))

    def test_an_unknown_category_is_told(self, method):
        """Forbidding it changes nothing; a given rule that tests it is left out."""
        red = Condition("skin", "=", "red")
        with pytest.warns(ConstraintWarning, match="'skin' has no category 'red'"):
            theory = learn(method, Constraints(forbidden_conditions=[red])).theory_
        assert len(theory) > 0
        rule = Rule(Head("for jam"), (red,))
        message = "the given rule 'for jam ← skin = red' is left out: .* has no category 'red'"
        with pytest.warns(ConstraintWarning, match=message):
            theory = learn(method, Constraints(given=[rule])).theory_
        assert rule not in [scored.rule for scored in theory]

    def test_the_parameter_must_be_constraints(self, method):
        with pytest.raises(ValueError, match="constraints must be Constraints or None"):
            learn(method, {"forbidden": ["skin"]})

    def test_more_given_rules_than_rules_are_rejected(self):
        rules = [JAM, Rule(Head("for jam"), (Condition("weight", "<", 100),))]
        for kind in (RuleSetClassifier, BoostedRulesClassifier, RipperClassifier):
            with pytest.raises(ValueError, match="max_rules=1 is less than the 2 given rules"):
                kind(max_rules=1, constraints=Constraints(given=rules)).fit(X, Y)


class TestLearning:
    def test_a_forbidden_attribute_is_not_tested(self, method):
        free = learn(method, None).theory_
        assert any("firmness" in names for names in attributes_of(free))
        theory = learn(method, Constraints(forbidden=["firmness"])).theory_
        assert len(theory) > 0
        assert not any("firmness" in names for names in attributes_of(theory))

    def test_it_can_be_forbidden_for_one_label(self, method):
        own = {"for jam": Constraints(forbidden=["firmness"])}
        theory = learn(method, Constraints(for_label=own)).theory_
        assert not any("firmness" in names for names in attributes_of(theory.rules_of("for jam")))
        assert theory.rules_of("for juice") == learn(method, None).theory_.rules_of(
            "for juice"
        ) or (
            isinstance(method, BoostedRulesClassifier)  # labels share the number of rules
        )

    @pytest.mark.parametrize("direction", ["increasing", "decreasing"])
    def test_predictions_are_monotone_in_an_attribute_with_a_direction(self, method, direction):
        """Raising an increasing attribute takes no predicted label away."""
        if isinstance(method, BoostedRulesClassifier):
            method = BoostedRulesClassifier(max_rules=40, decode="each-label", random_state=0)
        theory = learn(method, Constraints(**{direction: ["firmness", "sweetness"]})).theory_
        raised = X.assign(firmness=X["firmness"] + 1.7, sweetness=X["sweetness"] + 0.9)
        before, after = (np.asarray(theory.predict(table)) for table in (X, raised))
        assert len(theory) > 0
        assert (after >= before if direction == "increasing" else after <= before).all()

    def test_enough_examples_are_still_found_to_be_covered(self, method):
        """Rules that cover a fifth of the examples exist, and the search finds some."""
        theory = learn(method, Constraints(min_covered=60, min_tp=30)).theory_
        assert len(theory) > 0
        assert all(scored.tp >= 30 and scored.tp + scored.fp >= 60 for scored in theory)

    def test_attributes_that_are_apart_are_tested_in_different_rules(self, method):
        theory = learn(method, Constraints(apart=[NUMERIC])).theory_
        assert len(theory) > 0
        assert all(len(names & set(NUMERIC)) <= 1 for names in attributes_of(theory))

    def test_a_copy_of_an_attribute_gives_way_to_the_preferred_one(self, method):
        """Two attributes with the same values are exact ties everywhere."""
        again = {f"{name} again": X[name] for name in NUMERIC}
        twins = X.assign(**again)
        n_again = []
        for wanted in (list(again), NUMERIC):
            constraints = Constraints(preferred=wanted, preference=1e-6)
            rules = attributes_of(learn(method, constraints, twins).theory_)
            n_again.append(np.mean([len(names & set(again)) for names in rules]))
        assert n_again[0] > n_again[1]
        if isinstance(method, RipperClassifier):  # it looks at all attributes for each condition
            assert n_again[1] == 0

    def test_preferring_changes_which_of_two_similar_rules_is_taken(self, method):
        theory = learn(method, Constraints(preferred=["skin"], preference=0.9)).theory_
        free = learn(method, None).theory_
        share, before = (
            np.mean(["skin" in names for names in attributes_of(t)]) for t in (theory, free)
        )
        assert share > before

    def test_rules_leave_out_bounds_they_may_not_have(self):
        """x ≥ 2 is all there is to learn; only its opposite is permitted, so no rule is left."""
        table = pd.DataFrame({"x": np.arange(40.0)})
        label = pd.DataFrame({"y": (np.arange(40) >= 25).astype(int)})
        with pytest.warns(ConstraintWarning, match="leave no rule for the label 'y'"):
            learn(METHODS["rule set"], Constraints(decreasing=["x"]), table, label)
        theory = learn(METHODS["rule set"], Constraints(increasing=["x"]), table, label).theory_
        assert [str(scored.rule) for scored in theory] == ["y ← x ≥ 24.5"]

    def test_a_label_left_without_rules_is_told(self, method):
        with pytest.warns(ConstraintWarning, match="leave no rule for the label"):
            theory = learn(method, Constraints(min_tp=280)).theory_
        assert len(theory) < 4

    def test_tuning_warns_once(self):
        tuned = RuleSetClassifierCV(n_candidates=300, cv=2, random_state=0)
        with pytest.warns(ConstraintWarning) as caught:
            learn(tuned, Constraints(min_tp=280))
        assert sum(issubclass(w.category, ConstraintWarning) for w in caught) == 1


class TestGiven:
    def test_they_stay_whatever_the_share(self):
        constraints = Constraints(given=[JAM])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            options = {"n_candidates": 1000, "random_state": 0, "constraints": constraints}
            path = theory_path(X, Y, [MEstimate(1), MEstimate(64)], **options)
        for h in range(2):
            for phi in (0.05, 1.0):
                assert JAM in [scored.rule for scored in path.theory(h, phi)]
        (only,) = path.theory(0, min_value=2.0)
        assert only.rule == JAM
        assert only.provenance.source == "given"
        again = TheoryPath.from_json(path.to_json())
        assert again.theory(1, 0.5) == path.theory(1, 0.5)
        cells = path.predict_cells(X)
        for h, j, predicted in cells:
            theory = path.theory(h, path.phis[j])
            assert (predicted == np.asarray(theory.predict(X))).all()

    def test_further_rules_are_learned_for_what_they_leave_over(self):
        perfect = Rule(Head("y"), (Condition("x", "≥", 24.25),))
        table = pd.DataFrame({"x": np.arange(40.0)})
        label = pd.DataFrame({"y": (np.arange(40) >= 25).astype(int)})
        for name in ("rule set", "Ripper"):
            theory = learn(METHODS[name], Constraints(given=[perfect]), table, label).theory_
            assert [scored.rule for scored in theory] == [perfect]
            assert (theory.rules[0].tp, theory.rules[0].fp) == (15, 0)
            assert theory.rules[0].provenance.source == "given"

    def test_they_decide_which_class_the_rules_of_a_label_predict(self):
        against = Rule(Head("for jam", 0), (Condition("weight", "<", 100),))
        for name in ("rule set", "Ripper"):
            theory = learn(METHODS[name], Constraints(given=[against])).theory_
            assert {scored.head.target_class for scored in theory.rules_of("for jam")} == {0}
        both = Constraints(given=[against, JAM])
        with pytest.raises(ValueError, match="both presence and absence of 'for jam'"):
            learn(METHODS["rule set"], both)
        theory = learn(METHODS["boosted"], both).theory_
        assert {against, JAM} <= {scored.rule for scored in theory}

    def test_rules_that_vote_get_a_weight_for_their_head(self):
        wrong = Rule(Head("for jam", 0), JAM.body)
        theory = learn(METHODS["boosted"], Constraints(given=[wrong])).theory_
        (scored,) = [scored for scored in theory if scored.rule == wrong]
        assert scored.points >= 1

    def test_one_that_covers_nothing_is_told(self, method):
        nothing = Rule(Head("for jam"), (Condition("weight", "≥", 1e9),))
        with pytest.warns(ConstraintWarning, match="given rules cover no examples"):
            theory = learn(method, Constraints(given=[nothing])).theory_
        assert nothing in [scored.rule for scored in theory]

    def test_classes_can_have_them(self, method):
        y = np.array(["a", "b", "c"])[np.arange(len(X)) % 3]
        rule = Rule(Head("c"), (Condition("weight", "≥", 123.456),))
        theory = learn(method, Constraints(given=[rule]), Y=y).theory_
        assert rule in [scored.rule for scored in theory]


class TestOrigins:
    """Given rules say who gave them, when and why."""

    def test_they_survive_plain_data(self):
        wanted = Constraints(
            given=[
                {"rule": "a <- x >= 1", "note": "so it is", "when": "2026-03-01"},
                "b <- x < 1",
                ScoredRule(Rule.parse("c <- x < 3"), None, None, None, None, Provenance("edited")),
            ]
        )
        origins = [wanted.origin_of(rule).describe() for rule in wanted.given]
        assert origins == ["given 2026-03-01: so it is", "given", "edited"]
        plain = wanted.to_plain()
        assert plain["given"][1] == "b ← x < 1"
        assert Constraints.from_plain(plain) == wanted
        assert Constraints.from_plain(plain).origins == wanted.origins
        assert eval(repr(wanted)) == wanted
        assert wanted.parts()["given"].origins == wanted.origins

    def test_a_learned_rule_becomes_a_given_one(self):
        scored = ScoredRule(Rule.parse("a <- x >= 1"), Evidence(3, 0), 0.5)
        wanted = Constraints(given=[scored])
        assert wanted.origin_of(scored.rule) == Provenance("given")

    def test_every_method_keeps_them(self, method):
        text = "for jam <- bruised = yes"
        wanted = Constraints(given=[{"rule": text, "note": "so it is", "when": "2026-03-01"}])
        theory = learn(method, wanted).theory_
        (scored,) = (s for s in theory if s.rule == wanted.given[0])
        assert scored.provenance == Provenance("given", "2026-03-01", "so it is")

    def test_a_path_keeps_them_in_its_file(self):
        data = make_planted_rules(100, random_state=0)
        wanted = Constraints(
            given=[
                {"rule": "for jam <- bruised = yes", "note": "so it is"},
                "for jam <- weight < 9",
            ]
        )
        with pytest.warns(ConstraintWarning, match="cover no examples"):
            path = theory_path(
                data.X, data.Y, [MEstimate(4)], [0.5], n_candidates=100, constraints=wanted
            )
        again = TheoryPath.from_json(path.to_json())
        assert again.theory() == path.theory()
        found = [again.provenance(r).describe() for r in range(len(again.coded))]
        assert found[-2:] == ["given: so it is", "given"]
        assert not any(found[:-2])
        with pytest.raises(ValueError, match="1 origins for 2 given rules"):
            replace(path, origins=path.origins[:1])
