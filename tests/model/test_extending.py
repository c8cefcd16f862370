"""A new combiner and a new decoder need a class each and an entry in a registry, nothing else."""

import itertools
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from steelyard._kernels.combining import add_points
from steelyard.model.combiners import COMBINERS, Combiner
from steelyard.model.decoders import DECODERS, Decoded, Decoder, EachLabel
from steelyard.model.formulas import LabelSetSearch, Sum
from steelyard.model.theory import Theory
from theories import random_path, random_table, random_theory


@dataclass(frozen=True)
class Majority(Combiner):
    """A label is present if more firing rules are for its presence than for its absence."""

    name: ClassVar[str] = "majority"
    empty: ClassVar[int] = 0
    kernel: ClassVar[Any] = staticmethod(add_points)

    def check(self, labels, rules):
        """Rules may predict either class."""

    def strengths(self, tp, fp, prior):
        return np.ones(len(tp), dtype=np.int64)

    def strength(self, scored):
        return 2 * scored.head.target_class - 1

    def finish_tally(self, tally, silent, sign):
        return tally

    def to_probability(self, scores):
        return 0.5 + np.arctan(scores) / np.pi

    def from_probability(self, probability):
        return np.tan(np.pi * (probability - 0.5))

    def describe(self):
        return "the majority of rules counts"

    def explain_label(self, label, n_fired, score, predicted, examples):
        return f"{n_fired} rules fire, {score:+d} for it"

    def formulas(self, labels, rules_of):
        return [
            Sum(0, tuple((s, 2 * s.head.target_class - 1) for s in rules)) for rules in rules_of
        ]


@dataclass(frozen=True)
class AtMost(Decoder):
    """The labels with the highest positive scores, at most k of them."""

    name: ClassVar[str] = "at-most"
    declines: ClassVar[dict[str, str]] = {"pmml": "PMML cannot count labels"}

    k: float = 2

    def decode(self, scores, combiner):
        is_present = np.zeros(scores.shape, dtype=np.bool_)
        best = np.argsort(-scores, axis=1, kind="stable")[:, : int(self.k)]
        np.put_along_axis(is_present, best, np.take_along_axis(scores, best, axis=1) > 0, axis=1)
        return Decoded(scores, is_present)

    def describe(self):
        return f"at most {self.k:g} labels"

    def explain_row(self, decoded, row, names):
        return f"{decoded.is_present[row].sum()} of at most {self.k:g} labels"

    def answers(self, scores, combiner):
        sets = [
            (labels, 0)
            for size in range(int(self.k) + 1)
            for labels in itertools.combinations(range(len(scores.names)), size)
        ]
        names, formulas = tuple(scores.names), tuple(scores.formulas)
        return [LabelSetSearch(names, formulas, tuple(sets), None)]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(COMBINERS, Majority.name, Majority)
    monkeypatch.setitem(DECODERS, AtMost.name, AtMost)


def toy_theory(seed: int, combiner: Combiner | None, decoder: Decoder) -> Theory:
    """A random theory with the toy combiner, or with votes, and a decoder."""
    rng = np.random.default_rng(seed)
    theory = random_theory(rng, "sum-of-votes", "each-label", target="labels", n_rules=20)
    if combiner is None:
        return replace(theory, decoder=decoder)
    rules = tuple(replace(scored, points=None) for scored in theory)
    return replace(theory, rules=rules, combiner=combiner, decoder=decoder)


PAIRS = {
    "majority, each label": (Majority(), EachLabel()),
    "majority, at most": (Majority(), AtMost(1)),
    "votes, at most": (None, AtMost(2)),
}


@pytest.fixture(params=PAIRS)
def cases(request):
    return [
        (toy_theory(seed, *PAIRS[request.param]), random_table(np.random.default_rng(seed)))
        for seed in range(8)
    ]


def plain(X: pd.DataFrame) -> pd.DataFrame:
    return X.assign(**{c: X[c].astype(object) for c in X if X[c].dtype == "category"})


def test_it_predicts_what_it_says(cases):
    n_limited = 0
    for theory, X in cases:
        scores = theory.evaluate(X).scores
        predicted = theory.predict(X).to_numpy()
        if isinstance(theory.combiner, Majority):
            votes = np.array([2 * s.head.target_class - 1 for s in theory], dtype=int)
            for j, name in enumerate(theory.label_names):
                own = [s.head.label == name for s in theory]
                assert (scores[:, j] == theory.covers(X)[:, own] @ votes[own]).all()
        if isinstance(theory.decoder, AtMost):
            assert (predicted.sum(axis=1) <= theory.decoder.k).all()
            n_limited += (predicted != (scores > 0)).sum()
        assert (predicted <= (scores > 0)).all()
    assert n_limited > 0 or not isinstance(theory.decoder, AtMost)


def test_it_is_saved_and_read(cases):
    for theory, X in cases:
        again = Theory.from_json(theory.to_json())
        assert again == theory
        assert again.predict(X).equals(theory.predict(X))


def test_it_explains_itself(cases):
    for theory, X in cases:
        for explanation, row in zip(theory.explain(X), theory.predict(X).to_numpy(), strict=True):
            assert [label.predicted for label in explanation] == row.tolist()
            if isinstance(theory.decoder, AtMost):
                assert f"{row.sum()} of at most" in str(explanation)
        assert theory.combiner.describe() in theory.summary
        assert theory.decoder.describe() in theory.summary


def test_sql_and_python_predict_the_same(cases):
    for theory, X in cases:
        expected = theory.predict(X).to_numpy().tolist()
        with closing(sqlite3.connect(":memory:")) as connection:
            plain(X).to_sql("data", connection, index=False)
            rows = connection.execute(theory.to_sql()).fetchall()
        assert [list(row[-len(theory.labels) :]) for row in rows] == expected
        scope: dict = {}
        exec(theory.to_python(), scope)
        answers = [scope["predict"](row) for row in plain(X).to_dict("records")]
        assert [list(answer.values()) for answer in answers] == expected


def test_every_other_view_works(cases):
    for theory, _ in cases:
        for view in (str, Theory.to_frame, Theory.to_markdown, Theory.to_latex, Theory._repr_html_):
            assert len(view(theory)) >= len(theory)


def test_pmml_is_rejected_in_one_sentence(cases):
    for theory, _ in cases:
        with pytest.raises(ValueError, match="PMML") as rejection:
            theory.to_pmml()
        assert "\n" not in str(rejection.value)


def test_a_path_scores_its_cells_with_it():
    rng = np.random.default_rng(0)
    path = replace(random_path(rng, "any-rule", "labels"), combiner=Majority())
    X = random_table(rng)
    for h, j, predicted in path.predict_cells(X, AtMost(1)):
        theory = path.theory(h, path.phis[j], decoder=AtMost(1))
        assert predicted.tolist() == theory.predict(X).to_numpy().tolist()


def test_what_is_not_registered_is_not_read(monkeypatch):
    text = toy_theory(0, Majority(), AtMost(2)).to_json()
    monkeypatch.delitem(COMBINERS, Majority.name)
    with pytest.raises(ValueError, match="damaged theory: the combiner must be one of any-rule, "):
        Theory.from_json(text)
    monkeypatch.setitem(COMBINERS, Majority.name, Majority)
    monkeypatch.delitem(DECODERS, AtMost.name)
    with pytest.raises(ValueError, match="damaged theory: the decoder must be one of each-label, "):
        Theory.from_json(text)
