"""Theories and paths for tests: by hand, and at random for every combiner with every decoder.

Small and coarse on purpose: few values, counts and points make ties of labels, classes and label sets
common. Nothing is built when this module is imported.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from steelyard.heuristics import WRA, MEstimate
from steelyard.model.coded_rules import code_rules
from steelyard.model.combiners import AnyRule, Combiner, FirstRule, StrongestVote, SumOfVotes
from steelyard.model.conditions import Condition
from steelyard.model.decoders import (
    BestF1,
    BestLabel,
    BestLabelSet,
    Decoder,
    EachLabel,
    LabelSetVotes,
)
from steelyard.model.evidence import Evidence, Label
from steelyard.model.features import Feature
from steelyard.model.label_sets import KnownLabelSets
from steelyard.model.path import RankedRules, TheoryPath
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.theory import Theory

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

#: 0.1 + 0.2 is the float next to 0.3; single precision does not hold the last number.
NUMBERS = (-1.5, 0.3, 0.1 + 0.2, 2 / 3, 5.0, 16777217.0)
CATEGORIES = ("x'y", 'x"y', "4", "a\nb", "</td>", "null")
FEATURES = (
    Feature(HOSTILE[1]),
    Feature("x"),
    Feature(HOSTILE[4], CATEGORIES),
    Feature("switch", ("False", "True")),
    Feature(HOSTILE[5]),
)
LABELS = (HOSTILE[2], "x", HOSTILE[5], HOSTILE[6], "switch", HOSTILE[0])
CLASSES = {
    "text": ("low", "mid'dle", "high", "other"),
    "number": (3, 1, 7, 4),
    "boolean": (False, True),
}

#: Every combiner with every decoder that it can have.
PAIRS = (
    ("any-rule", "each-label"),
    ("any-rule", "best-label"),
    ("first-rule", "best-label"),
    *(
        (combiner, decoder)
        for combiner in ("strongest-vote", "sum-of-votes")
        for decoder in ("each-label", "best-label", "best-label-set", "label-set-votes", "best-f1")
    ),
)
DECIDING_PAIRS = PAIRS[:3]
VOTING_PAIRS = PAIRS[3:]
LABEL_SET_PAIRS = tuple(pair for pair in PAIRS if "label-set" in pair[1] or pair[1] == "best-f1")


# -- at random -------------------------------------------------------------------------------------


def random_table(rng: np.random.Generator, n_rows: int = 40) -> pd.DataFrame:
    """Values at the bounds of conditions and next to them, unknown categories, missing values."""
    table = pd.DataFrame(index=range(n_rows))
    for feature in FEATURES:
        if feature.categories is None:
            values = rng.choice(NUMBERS, n_rows)
            towards = rng.choice([-np.inf, np.inf], n_rows)
            values = np.where(rng.random(n_rows) < 0.5, values, np.nextafter(values, towards))
            values[rng.random(n_rows) < 0.15] = np.nan
            table[feature.name] = values
        elif feature.is_boolean:
            values = (rng.random(n_rows) < 0.5).astype(object)
            if rng.random() < 0.5:
                values[rng.random(n_rows) < 0.2] = None
            table[feature.name] = pd.Series(values).infer_objects()
        else:
            known = [*feature.categories, "unknown"]
            values = rng.choice(np.array([*known, None], dtype=object), n_rows)
            table[feature.name] = pd.Categorical(values, categories=known)
    return table


def random_condition(rng: np.random.Generator) -> Condition:
    """A condition on one of the attributes but the last, which no rule tests."""
    feature = FEATURES[rng.integers(len(FEATURES) - 1)]
    if feature.categories is None:
        operator = ("<", "≤", "≥")[rng.integers(3)]
        return Condition(feature.name, operator, NUMBERS[rng.integers(len(NUMBERS))])
    n_categories = rng.integers(1, len(feature.categories) + 1)
    chosen = rng.permutation(len(feature.categories))[:n_categories]
    return Condition(feature.name, "in", [feature.categories[i] for i in chosen])


def random_body(rng: np.random.Generator) -> tuple[Condition, ...]:
    """Up to four conditions, which may contradict each other."""
    return tuple(random_condition(rng) for _ in range(rng.integers(0, 5)))


def random_label_sets(rng: np.random.Generator, n_labels: int) -> KnownLabelSets:
    """Sets of a few examples; now and then none of them is unique, so that no new set is expected."""
    examples = rng.random((rng.integers(1, 12), n_labels)) < 0.4
    if rng.random() < 0.3:
        examples = np.repeat(examples, 2, axis=0)
    return KnownLabelSets.from_labels(examples)


def random_combiner(
    rng: np.random.Generator, name: str, n_labels: int, most_points: int
) -> Combiner:
    if name == "any-rule":
        return AnyRule()
    if name == "first-rule":
        return FirstRule(tuple(rng.permutation(n_labels).tolist()))
    start = tuple(rng.integers(-most_points, most_points + 1, n_labels).tolist())
    return {"strongest-vote": StrongestVote, "sum-of-votes": SumOfVotes}[name](start)


def random_decoder(
    rng: np.random.Generator, name: str, n_labels: int, combiner: Combiner
) -> Decoder:
    thresholds = [0.25, 0.4, 0.495, 0.5, 0.6]
    threshold = float(rng.choice(thresholds))
    weight = float(rng.choice([0.0, 0.01, 0.5]))
    if name == "each-label":
        of_each = tuple(rng.choice(thresholds, n_labels).tolist())
        if not combiner.gives_log_odds:
            return EachLabel()
        return EachLabel(of_each if rng.random() < 0.5 else threshold)
    if name == "best-label":
        return BestLabel()
    sets = random_label_sets(rng, n_labels)
    if name == "best-f1":
        return BestF1(weight).fit(sets)
    if name == "best-label-set":
        return BestLabelSet(weight, new_sets=bool(rng.random() < 0.7)).fit(sets)
    return LabelSetVotes(threshold, weight).fit(sets)


def random_theory(
    rng: np.random.Generator,
    combiner: str,
    decoder: str,
    n_rules: int = 12,
    target: str | None = None,
) -> Theory:
    """A theory of a combiner and a decoder with random rules, of a random kind of target.

    `target` is "labels", "binary" or "classes"; None draws one that the decoder can predict.
    """
    if target is None:
        target = "labels"
        if decoder == "best-label":
            target = "classes"
        elif decoder == "each-label" and rng.random() < 0.4:
            target = "binary"
    n_labels = {"labels": int(rng.integers(1, 6)), "binary": 1, "classes": 4}[target]
    kind = ("text", "number", "boolean")[rng.integers(2 if target == "classes" else 3)]
    classes = {"labels": (), "binary": CLASSES[kind][:2], "classes": CLASSES[kind]}[target]
    names = LABELS[:n_labels] if target == "labels" else tuple(map(str, classes))[-n_labels:]
    targets = [1 if classes else int(rng.random() < 0.6) for _ in names]
    most_points = int(rng.choice([2, 60]))
    made_combiner = random_combiner(rng, combiner, n_labels, most_points)
    rules = []
    for j in rng.integers(n_labels, size=rng.integers(0, n_rules + 1)).tolist():
        is_sum = combiner == "sum-of-votes"
        head = Head(names[j], int(rng.random() < 0.6) if is_sum else targets[j])
        points = int(rng.integers(-most_points, most_points + 1))
        evidence = Evidence(int(rng.integers(4)), int(rng.integers(4)))
        votes = points if made_combiner.gives_log_odds else None
        rules.append(ScoredRule(Rule(head, random_body(rng)), evidence, 0.5, votes))
    return Theory(
        FEATURES,
        tuple(
            Label(name, t, 4, 6, int(rng.integers(3)), int(rng.integers(3)))
            for name, t in zip(names, targets, strict=True)
        ),
        tuple(rules),
        combiner=made_combiner,
        decoder=random_decoder(rng, decoder, n_labels, made_combiner),
        classes=classes,
        heuristic=str(rng.choice(["", "m-estimate(m=16)"])),
    )


@cache
def random_cases(
    combiner: str, decoder: str, n_cases: int = 10
) -> tuple[tuple[Theory, pd.DataFrame], ...]:
    """The same random theories in all tests, each with a table to predict."""
    cases = []
    for seed in range(n_cases):
        rng = np.random.default_rng(seed)
        cases.append((random_theory(rng, combiner, decoder), random_table(rng)))
    return tuple(cases)


# -- paths at random -------------------------------------------------------------------------------

#: The combiners that learning gives a path, with each kind of target.
PATHS = tuple(
    (combiner, target)
    for combiner in ("any-rule", "sum-of-votes")
    for target in ("labels", "binary", "classes")
)


def random_path(
    rng: np.random.Generator, combiner: str, target: str, n_rules: int = 20
) -> TheoryPath:
    """Random rules, counted on a random table and ranked by two heuristics."""
    X = random_table(rng, 60)
    n_labels = {"labels": int(rng.integers(2, 5)), "binary": 1, "classes": 3}[target]
    classes = {"labels": (), "binary": ("no", "yes"), "classes": ("a", "b", "c")}[target]
    names = LABELS[:n_labels] if target == "labels" else classes[-n_labels:]
    has_votes = combiner == "sum-of-votes"
    targets = np.array(
        [1 if classes or has_votes else int(rng.random() < 0.6) for _ in range(n_labels)]
    )
    Y = rng.random((len(X), n_labels)) < 0.35
    if target == "classes":
        Y = np.eye(n_labels, dtype=bool)[rng.integers(n_labels, size=len(X))]
    is_target = targets == Y
    label_of_rule = rng.integers(n_labels, size=n_rules)
    rules = [Rule(Head(""), random_body(rng)) for _ in range(n_rules)]
    covered = np.array([rule.covers(X) for rule in rules])
    tp = (covered & is_target[:, label_of_rule].T).sum(axis=1)
    fp = covered.sum(axis=1) - tp
    n_positives = is_target.sum(axis=0)
    counts = [n_positives, len(X) - n_positives]
    fn, tn = (of_label[label_of_rule] - n for of_label, n in zip(counts, (tp, fp), strict=True))
    heuristics = (MEstimate(2), WRA())
    ranked = []
    for heuristic in heuristics:
        values = np.asarray(heuristic(tp, fp, fn, tn))
        chosen = rng.permutation(n_rules)[: rng.integers(n_rules + 1)]
        if has_votes:  # a rule can be selected again, and its votes can cancel
            chosen = rng.choice(chosen, 2 * len(chosen)) if len(chosen) else chosen
        ranked.append(_rank(rng, chosen, values, covered, is_target, label_of_rule, has_votes))
    start = oracle_points(is_target.mean(axis=0))
    return TheoryPath(
        heuristics=heuristics,
        phis=(1.0, 0.55, 0.3, 0.05),
        coded=code_rules(FEATURES, [rule.body for rule in rules]),
        label_of_rule=label_of_rule,
        tp=tp,
        fp=fp,
        ranked=tuple(ranked),
        labels=tuple(
            Label(name, int(t), int(p), int(n), int(p), int(n))
            for name, t, p, n in zip(names, targets, *counts, strict=True)
        ),
        combiner=SumOfVotes(start) if has_votes else AnyRule(),
        classes=classes,
        label_sets=None if classes else KnownLabelSets.from_labels(Y),
    )


def oracle_points(probabilities: np.ndarray) -> tuple[int, ...]:
    p = np.clip(probabilities, 1e-4, 1 - 1e-4)
    return tuple(round(value) for value in 100 * np.log(p / (1 - p)))


def _rank(rng, chosen, values, covered, is_target, label_of_rule, has_votes) -> RankedRules:
    """The chosen rules, best first, with the examples that each is the first to cover."""
    order = chosen[np.argsort(-values[chosen], kind="stable")]
    uncovered = np.ones(is_target.T.shape, dtype=bool)
    new_tp, new_fp = [], []
    for rule in order:
        label = label_of_rule[rule]
        new = covered[rule] & uncovered[label]
        uncovered[label] &= ~covered[rule]
        new_tp.append((new & is_target[:, label]).sum())
        new_fp.append((new & ~is_target[:, label]).sum())
    votes = rng.choice([-3, -2, -1, 1, 2, 40], len(order)) if has_votes else None
    return RankedRules(
        order.astype(np.intp),
        values[order],
        np.array(new_tp, dtype=np.int64),
        np.array(new_fp, dtype=np.int64),
        votes,
    )


# -- by hand ---------------------------------------------------------------------------------------


def flu_theory(combiner: str = "sum-of-votes", decoder: Decoder | None = None) -> Theory:
    """Flu and cold from fever and a runny nose: small enough to count by hand."""
    votes = {
        ("flu", 1, Condition("fever", "≥", 38.5)): (9, 2, 152),
        ("flu", 0, Condition("nose", "=", "runs")): (8, 3, 30),
        ("cold", 1, Condition("nose", "=", "runs")): (6, 3, 110),
    }
    decoder = BestLabelSet() if decoder is None else decoder
    if decoder.needs_log_odds and decoder.known is None:
        decoder = decoder.fit(KnownLabelSets(((0,), (0, 1), (), (1,)), (21, 11, 7, 1)))
    start = (-120, -85)
    made = {
        "any-rule": AnyRule(),
        "strongest-vote": StrongestVote(start),
        "sum-of-votes": SumOfVotes(start),
    }[combiner]
    return Theory(
        (Feature("fever"), Feature("nose", ("dry", "runs"))),
        (Label("flu", 1, 10, 30, 1, 28), Label("cold", 1, 12, 28, 2, 25)),
        tuple(
            ScoredRule(
                Rule(Head(label, target), (condition,)),
                Evidence(tp, fp),
                0.5,
                points if made.gives_log_odds else None,
            )
            for (label, target, condition), (tp, fp, points) in votes.items()
            if combiner == "sum-of-votes" or target
        ),
        combiner=made,
        decoder=decoder,
    )


def bound_theory(bound: float, operator: str = "≥") -> Theory:
    """One label with one rule: x ≥ bound."""
    rule = Rule(Head("y"), (Condition("x", operator, bound),))
    scored = ScoredRule(rule, Evidence(1, 0), 1.0)
    return Theory((Feature("x"),), (Label("y", 1, 1, 1, 0, 1),), (scored,))


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
            ScoredRule(Rule(Head(name, i % 2), body), Evidence(3, 1), 0.5)
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


# -- for exports -----------------------------------------------------------------------------------


def predict_rows(theory: Theory, X: pd.DataFrame) -> list[list]:
    """Predictions as lists of rows, one column for a theory of classes."""
    predicted = np.asarray(theory.predict(X))
    return (predicted if predicted.ndim == 2 else predicted[:, None]).tolist()


def plain_table(X: pd.DataFrame) -> pd.DataFrame:
    """A table as databases take it: categories as text, missing as None."""
    return X.assign(**{c: X[c].astype(object) for c in X if X[c].dtype == "category"})


def switch_theory(*categories: str) -> Theory:
    """One label that is present where d is True."""
    rule = Rule(Head("y"), (Condition("d", "=", "True"),))
    scored = ScoredRule(rule, Evidence(1, 0), 1.0)
    return Theory((Feature("d", categories),), (Label("y"),), (scored,))


def many_rules(n_rules: int, combiner: str) -> Theory:
    """One label with more and more rules that fire as x grows."""
    votes = {"any-rule": None, "strongest-vote": StrongestVote, "sum-of-votes": SumOfVotes}[
        combiner
    ]
    # The strongest vote is just enough; the sum needs hundreds of rules.
    start = {"strongest-vote": -1, "sum-of-votes": -5000}.get(combiner)
    rules = tuple(
        ScoredRule(
            Rule(Head("y"), (Condition("x", "≥", float(i)),)),
            Evidence(1, 0),
            1.0,
            None if votes is None else i % 7 + 1,
        )
        for i in range(n_rules)
    )
    options = {} if votes is None else {"combiner": votes((start,))}
    return Theory((Feature("x"),), (Label("y"),), rules, **options)


def many_label_sets(n_labels: int, n_sets: int, decoder: Decoder) -> Theory:
    """Many labels with one rule each, and more sets of them."""
    rng = np.random.default_rng(0)
    sets = {tuple(sorted(rng.choice(n_labels, 4, replace=False).tolist())) for _ in range(n_sets)}
    sets |= {tuple(range(n_labels - 50))}  # a long sum
    known = KnownLabelSets(tuple(sorted(sets)), (1,) * len(sets))
    return Theory(
        (Feature("x"),),
        tuple(Label(f"l{j}") for j in range(n_labels)),
        tuple(
            ScoredRule(
                Rule(Head(f"l{j}"), (Condition("x", "≥", float(j)),)),
                Evidence(1, 0),
                1.0,
                1 + j % 5,
            )
            for j in range(n_labels)
        ),
        SumOfVotes((-2,) * n_labels),
        decoder.fit(known),
    )


FEVER, NOSE = Feature("fever"), Feature("nose", ("dry", "runs"))


def rule(label="flu", target=1, points=None, condition=("fever", "≥", 38.5)):
    return ScoredRule(
        Rule(Head(label, target), (Condition(*condition),)), Evidence(1, 0), 1.0, points
    )


def theory_of(*rules, labels=("flu", "cold"), **options):
    made = tuple(Label(name, 1, 1, 1, 0, 1) for name in labels)
    return Theory((FEVER, NOSE), made, rules, **options)
