"""What constraints cost: the comparison learns what its estimator would learn, fold by fold."""

import numpy as np
import pytest
from sklearn.base import clone

from steelyard import (
    BoostedRulesClassifier,
    Constraints,
    RipperClassifier,
    constraint_cost,
    make_planted_rules,
)
from steelyard.measures import get_measure

DATA = make_planted_rules(200, noise=0.05, random_state=1)
WANTED = Constraints(forbidden=["firmness"], max_conditions=2)
BOOSTED = BoostedRulesClassifier(max_rules=20, random_state=0)
HALVES = [
    (np.arange(0, 200, 2), np.arange(1, 200, 2)),
    (np.arange(1, 200, 2), np.arange(0, 200, 2)),
]


def test_it_is_the_mean_of_the_scores_on_the_folds():
    frame = constraint_cost(BOOSTED, DATA.X, DATA.Y, WANTED, cv=HALVES).to_frame()
    for variant, constraints in (("without", None), ("with", WANTED)):
        scores = []
        for train, test in HALVES:
            model = clone(BOOSTED).set_params(constraints=constraints)
            model.fit(DATA.X.iloc[train], DATA.Y.iloc[train])
            predicted = model.predict(DATA.X.iloc[test])
            scores.append(get_measure("hamming")(DATA.Y.iloc[test], predicted))
        assert frame.loc["hamming", variant] == pytest.approx(np.mean(scores))
    change = frame["with"] - frame["without"]
    assert frame["change"].to_numpy() == pytest.approx(change.to_numpy())
    assert frame.loc["n_conditions", "change"] < 0


def test_its_theories_are_those_of_all_examples():
    cost = constraint_cost(BOOSTED, DATA.X, DATA.Y, WANTED, cv=2, each=True)
    assert cost.variants == ["without", "with", "only forbidden", "only max_conditions"]
    assert cost.theories["without"] == clone(BOOSTED).fit(DATA.X, DATA.Y).theory_
    assert WANTED.violations(cost.theories["with"]) == []
    assert WANTED.violations(cost.theories["only max_conditions"])


def test_it_prints_one_line_per_measure():
    cost = constraint_cost(BOOSTED, DATA.X, DATA.Y, WANTED, scoring="subset", cv=2)
    title, *lines, note = str(cost).splitlines()
    assert title.split() == ["measure", "without", "with", "change", "error"]
    assert [line.split()[0] for line in lines] == ["subset", "n_rules", "n_conditions"]
    assert len({len(line) for line in lines}) == 1
    assert note == "means over 2 folds; change is with minus without"
    assert "<table" in cost._repr_html_()


def test_the_constraints_of_the_estimator_are_the_default():
    ripper = RipperClassifier(constraints=WANTED, random_state=0)
    y = DATA.Y.iloc[:, 0].map({0: "no", 1: "yes"})
    cost = constraint_cost(ripper, DATA.X, y, cv=2)
    assert cost.constraints == WANTED
    assert list(cost.to_frame().index) == ["accuracy", "n_rules", "n_conditions"]


def test_nothing_to_compare_is_rejected():
    with pytest.raises(ValueError, match="no constraints to compare"):
        constraint_cost(BOOSTED, DATA.X, DATA.Y)
