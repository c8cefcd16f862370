"""Theories of every kind and hostile tables, shared by the tests of exports and explanations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from steelyard import MEstimate, RuleSetClassifier, Theory
from steelyard.estimators.ripper import RipperClassifier
from steelyard.model.evidence import Label, ScoredRule
from steelyard.model.features import Feature
from steelyard.model.rules import Condition, Head, Rule

#: Names that break naive quoting in one format or another.
HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "Robert'); DROP TABLE data;--",
    'say "hi"',
    "select",
    "Größe 寸法 🙂",
    "two\nlines",
    "[a].`b` {c} $d$ %e \\f",
    " ",
)


def hostile_table(n_rows: int = 240, seed: int = 0) -> pd.DataFrame:
    """Numeric, nominal and boolean columns under hostile names, with missing values."""
    rng = np.random.default_rng(seed)
    numeric = rng.normal(size=(n_rows, 4)) * [1, 1e-6, 1e9, 1] // [1e-3, 1e-300, 1, 0.1] * 0.1
    numeric[rng.random(numeric.shape) < 0.1] = np.nan
    table = pd.DataFrame(numeric, columns=list(HOSTILE[:4]))
    for name, categories in zip(
        HOSTILE[4:7],
        (["x'y", 'x"y', "null"], ["4", "5", "04"], ["a\nb", "a b", "</td>"]),
        strict=True,
    ):
        values = rng.choice(np.array(categories, dtype=object), n_rows)
        values[rng.random(n_rows) < 0.1] = None
        table[name] = pd.Categorical(values, categories=categories)
    table[HOSTILE[7]] = rng.random(n_rows) < 0.5
    return table


def hostile_labels(table: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """Labels that depend on the attributes: rare, frequent (target class 0), and named as one."""
    rng = np.random.default_rng(seed)
    noise = rng.random(len(table)) < 0.1
    first, text = table[HOSTILE[0]], table[HOSTILE[5]]
    return pd.DataFrame(
        {
            HOSTILE[1]: ((first > 0.03) & (text == "4").to_numpy()) ^ noise,
            "frequent": ~((first < -0.05) & table[HOSTILE[7]].to_numpy()) | noise,
            HOSTILE[2]: (table[HOSTILE[4]] == "x'y").to_numpy() ^ noise,
        }
    ).astype(int)


def learn(X: Any, y: Any, m: float = 4, phi: float = 1.0) -> Theory:
    """A theory of our own method."""
    clf = RuleSetClassifier(MEstimate(m=m), phi, n_candidates=1500, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few attributes do not have 1,500 rules
        return clf.fit(X, y).theory_


def every_kind_of_theory() -> dict[str, tuple[Theory, pd.DataFrame]]:
    """Theories of every output, each with a table to predict."""
    X = hostile_table()
    Y = hostile_labels(X)
    rng = np.random.default_rng(2)
    strength = X[HOSTILE[0]].fillna(0) + rng.normal(size=len(X)) * 0.03
    three = np.array(["low", "mid'dle", "high"], dtype=object)[np.digitize(strength, [-0.05, 0.05])]
    multilabel = learn(X, Y)
    return {
        "multilabel": (multilabel, X),
        "filtered": (learn(X, Y, m=64, phi=0.1), X),
        "no rule": (Theory(multilabel.features, multilabel.labels, ()), X),
        "handmade": (handmade_theory(), handmade_table()),
        "ripper": (RipperClassifier(random_state=0).fit(X, Y).theory_, X),
        "binary text": (learn(X, np.where(Y["frequent"], "yes", "no")), X),
        "binary number": (learn(X, Y["frequent"].to_numpy()), X),
        "multiclass text": (learn(X, three), X),
        "multiclass number": (learn(X, np.digitize(strength, [-0.08, 0.0, 0.08])), X),
        "ordered": (RipperClassifier(random_state=0).fit(X, three).theory_, X),
    }


def handmade_theory() -> Theory:
    """Every operator, an empty body, an impossible rule, bounds that decimals only come close to."""
    features = (Feature("x"), Feature("label"), Feature("kind", ("a", "b")))
    bodies = {
        "label": [
            (
                Condition("x", "≥", 0.1 + 0.2),
                Condition("x", "≤", 2 / 3),
                Condition("kind", "=", "a"),
            ),
            (Condition("x", "<", -1e-7),),
        ],
        "always": [()],
        "never": [(Condition("kind", "=", "a"), Condition("kind", "=", "b"))],
        "half open": [(Condition("label", "≥", 16777217.0),)],
    }
    return Theory(
        features,
        tuple(Label(name, i % 2, 5, 15, 2, 12) for i, name in enumerate(bodies)),
        tuple(
            ScoredRule(Rule(Head(name, i % 2), body), tp=3, fp=1, value=0.5)
            for i, (name, rules) in enumerate(bodies.items())
            for body in rules
        ),
    )


def handmade_table() -> pd.DataFrame:
    """Values at, just below and just above the bounds of the handmade theory."""
    edges = [0.1 + 0.2, 2 / 3, -1e-7, 16777217.0]
    x = [np.nan, *edges, *np.nextafter(edges, -np.inf), *np.nextafter(edges, np.inf), 0.3]
    rows = [(a, b, kind) for a in x for b in x for kind in ("a", "b", None)]
    table = pd.DataFrame(rows, columns=["x", "label", "kind"])
    return table.astype({"kind": pd.CategoricalDtype(["a", "b"])})
