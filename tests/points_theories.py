"""Random theories with points of every kind, shared by the tests of exports and explanations.

Small and coarse on purpose: few values and few points make ties of labels, classes and sets common.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from steelyard.model.decoding import KnownLabelSets, count_label_sets

from steelyard import Condition, Theory
from steelyard.model.evidence import Label, ScoredRule
from steelyard.model.features import Feature
from steelyard.model.rules import Head, Rule
from theories import HOSTILE

NUMBERS = (-1.5, 0.1, 0.1 + 0.2, 2 / 3, 5.0)
CATEGORIES = ("x'y", 'x"y', "4")
FEATURES = (
    Feature(HOSTILE[1]),
    Feature("x"),
    Feature(HOSTILE[4], CATEGORIES),
    Feature("switch", ("False", "True")),
)
LABELS = (HOSTILE[2], "x", HOSTILE[5], HOSTILE[6], "switch", HOSTILE[0])
CLASSES = {
    "text": ("low", "mid'dle", "high", "other"),
    "number": (3, 1, 7, 4),
    "truth": (False, True),
}

#: From which share of the votes of all label sets on a label is predicted; None: the best set is.
MIN_SHARES = (None, None, 0.25, 0.4, 0.5)

#: Kinds of theories: how points are combined, with what output, and whether label sets are known.
KINDS = [
    *((combine, "multilabel", sets) for combine in ("any", "weighted") for sets in (False, True)),
    *(
        (combine, output, False)
        for combine in ("any", "weighted")
        for output in ("binary", "multiclass")
    ),
]


def random_table(rng: np.random.Generator, n_rows: int = 40) -> pd.DataFrame:
    """Numeric, nominal and boolean attributes with missing values."""
    table = pd.DataFrame({f.name: rng.choice(NUMBERS, n_rows) for f in FEATURES[:2]})
    table[rng.random(table.shape) < 0.15] = np.nan
    texts = rng.choice(np.array([*CATEGORIES, None], dtype=object), n_rows)
    table[FEATURES[2].name] = pd.Categorical(texts, categories=CATEGORIES)
    table["switch"] = rng.random(n_rows) < 0.5
    return table


def random_body(rng: np.random.Generator) -> tuple[Condition, ...]:
    """Up to three conditions, which may contradict each other."""
    body = []
    for _ in range(rng.integers(0, 4)):
        feature = FEATURES[rng.integers(len(FEATURES))]
        if feature.categories is None:
            operator = str(rng.choice(["<", "≤", "≥"]))
            body.append(Condition(feature.name, operator, float(rng.choice(NUMBERS))))
        else:
            body.append(Condition(feature.name, "=", str(rng.choice(feature.categories))))
    return tuple(body)


def random_label_sets(rng: np.random.Generator, n_labels: int) -> KnownLabelSets:
    """Sets of a few examples; now and then none of them is unique, so that no new set is expected."""
    examples = rng.random((rng.integers(1, 12), n_labels)) < 0.4
    if rng.random() < 0.3:
        examples = np.repeat(examples, 2, axis=0)
    weight = float(rng.choice([0.0, 0.01, 0.5]))
    return count_label_sets(examples, weight, MIN_SHARES[rng.integers(len(MIN_SHARES))])


def random_theory(
    rng: np.random.Generator, combine: str, output: str, has_sets: bool, n_rules: int = 12
) -> Theory:
    """A theory of one kind with random rules and points, some of which are worth as much as a set."""
    n_labels = {"multilabel": int(rng.integers(1, 6)), "binary": 1, "multiclass": 4}[output]
    kinds = ["text", "number"] if output == "multiclass" else list(CLASSES)
    classes = () if output == "multilabel" else CLASSES[str(rng.choice(kinds))]
    names = LABELS[:n_labels] if output == "multilabel" else tuple(map(str, classes))[-n_labels:]
    targets = [1 if combine == "weighted" else int(rng.random() < 0.6) for _ in names]
    most = int(rng.choice([2, 60]))
    labels = tuple(
        Label(name, target, 4, 6, 1, 5) for name, target in zip(names, targets, strict=True)
    )
    rules = []
    for label in sorted(rng.integers(n_labels, size=rng.integers(0, n_rules + 1))):
        is_weighted = combine == "weighted"
        target = int(rng.random() < 0.6) if is_weighted else targets[label]
        points = int(rng.integers(1 if is_weighted else -most, most + 1))
        rule = Rule(Head(names[label], target), random_body(rng))
        rules.append(ScoredRule(rule, int(rng.integers(9)), int(rng.integers(9)), 0.5, points))
    return Theory(
        FEATURES,
        labels,
        tuple(rules),
        output=output,
        classes=classes[:2] if output == "binary" else classes,
        combine=combine,
        start_points=tuple(int(p) for p in rng.integers(-most, most + 1, n_labels)),
        label_sets=random_label_sets(rng, n_labels) if has_sets else None,
    )


def flu_theory(combine: str = "weighted", known: tuple = ((0,), (0, 1), (), (1,))) -> Theory:
    """Flu and cold from fever and a runny nose: small enough to count by hand."""
    votes = {
        ("flu", 1, Condition("fever", "≥", 38.5)): (9, 2, 152),
        ("flu", 0, Condition("nose", "=", "runs")): (8, 3, 30),
        ("cold", 1, Condition("nose", "=", "runs")): (6, 3, 110),
    }
    counts = (21, 11, 7, 1)[: len(known)]
    return Theory(
        (Feature("fever"), Feature("nose", ("dry", "runs"))),
        (Label("flu", 1, 10, 30, 1, 28), Label("cold", 1, 12, 28, 2, 25)),
        tuple(
            ScoredRule(Rule(Head(label, target), (condition,)), tp, fp, 0.5, points)
            for (label, target, condition), (tp, fp, points) in votes.items()
            if combine == "weighted" or target
        ),
        combine=combine,
        start_points=(-120, -85),
        label_sets=KnownLabelSets(known, counts) if known else None,
    )
