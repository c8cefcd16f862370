"""Data generated from known rules, to see which of them a learner finds again."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from steelyard.model.conditions import Condition
from steelyard.model.rules import Head, Rule

from .multilabel import MultiLabelData
from .orchard import choose_labels, draw_examples

# Fraction of the examples that have a label, before noise: small enough for a minority label, and
# large enough that each of a few rules has examples of its own.
_LABEL_FRACTION = 0.3
# Upper limit because a condition that nearly all examples satisfy hardly matters in its rule.
_MAX_FRACTION_PER_CONDITION = 0.6
_N_ATTEMPTS = 200


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PlantedData(MultiLabelData):
    """A data set and the ``rules`` that generated it.

    Examples
    --------
    >>> from steelyard.data import make_planted_rules
    >>> len(make_planted_rules(n_labels=3, n_rules_per_label=2, random_state=0).rules)
    6
    """

    rules: tuple[Rule, ...]


def make_planted_rules(
    n_examples: int = 1000,
    n_labels: int = 4,
    *,
    n_numeric: int = 6,
    n_nominal: int = 4,
    n_rules_per_label: int = 2,
    n_conditions: int = 2,
    noise: float = 0.0,
    missing: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> PlantedData:
    """Generate fruit and its uses from known rules.

    An example has a label if and only if one of the label's rules covers it. Noise is added
    afterwards. Without noise, the planted rules are therefore a theory without errors, even if
    values are missing: a missing value satisfies no condition.

    Parameters
    ----------
    n_examples : int, default=1000
        The number of examples.
    n_labels : int, default=4
        The number of labels. A minority of the examples has each of them.
    n_numeric, n_nominal : int, default=6 and 4
        The number of attributes of each kind. Not every attribute occurs in a rule.
    n_rules_per_label : int, default=2
        The number of rules planted for each label.
    n_conditions : int, default=2
        The number of conditions of each rule, all on different attributes.
    noise : float, default=0.0
        The fraction of label values that are flipped, below 0.5.
    missing : float, default=0.0
        The fraction of attribute values that are missing, below 1.
    random_state : int, Generator or None, default=None
        The seed. Equal seeds give equal data.

    Returns
    -------
    data : PlantedData
        A `MultiLabelData` that also has the planted ``rules``.

    Examples
    --------
    >>> from steelyard.data import make_planted_rules
    >>> data = make_planted_rules(n_labels=2, random_state=0)
    >>> data
    planted: 1000 examples, 10 attributes (6 numeric, 4 nominal), 2 labels, cardinality ...
    >>> for rule in data.rules:
    ...     print(rule)
    for juice ← diameter ≥ 7.4 ∧ orchard = hill
    for juice ← weight ≥ 253 ∧ days since harvest < 24
    for jam ← colour = red ∧ orchard = east
    for jam ← weight < 256 ∧ orchard = south
    """
    for name, value, least in [
        ("n_examples", n_examples, 3),
        ("n_labels", n_labels, 1),
        ("n_rules_per_label", n_rules_per_label, 1),
        ("n_conditions", n_conditions, 1),
        ("n_numeric", n_numeric, 0),
        ("n_nominal", n_nominal, 0),
    ]:
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")
    if n_conditions > n_numeric + n_nominal:
        raise ValueError(
            f"n_conditions={n_conditions} needs as many attributes, but n_numeric + n_nominal is"
            f" {n_numeric + n_nominal}"
        )
    for name, share, limit in [("noise", noise, 0.5), ("missing", missing, 1)]:
        if not 0 <= share < limit:
            raise ValueError(f"{name} must be at least 0 and below {limit}, not {share}")

    rng = np.random.default_rng(random_state)
    X = draw_examples(n_examples, n_numeric, n_nominal, missing, rng)
    rules, labels = [], {}
    draw_body = partial(_draw_body, X, n_conditions, _LABEL_FRACTION / n_rules_per_label, rng)
    for label in choose_labels(n_labels):
        # Draw rules until the label is a minority label and no rule is redundant.
        for _ in range(_N_ATTEMPTS):
            planted = [Rule(Head(label), draw_body()) for _ in range(n_rules_per_label)]
            covered = np.array([rule.covers(X) for rule in planted])
            covered_only_by = covered & (covered.sum(axis=0) == 1)
            present = covered.any(axis=0) ^ (rng.random(n_examples) < noise)
            is_minority = 0 < present.sum() < 0.5 * n_examples
            if is_minority and covered_only_by.any(axis=1).all():
                break
        else:
            raise ValueError(
                f"could not plant {n_rules_per_label} rules of {n_conditions} conditions into"
                f" {n_examples} examples with {X.shape[1]} attributes; ask for fewer rules or"
                " conditions, or for more examples"
            )
        rules += planted
        labels[label] = present.astype(np.int8)
    return PlantedData(
        X=X,
        Y=pd.DataFrame(labels),
        name="planted",
        description="fruit of an orchard and its uses, generated from known rules",
        rules=tuple(rules),
    )


def _draw_body(
    X: pd.DataFrame, n_conditions: int, fraction: float, rng: np.random.Generator
) -> tuple[Condition, ...]:
    """Draw conditions that together cover about the given fraction of the examples."""
    chosen = sorted(rng.choice(X.shape[1], n_conditions, replace=False))
    covered = np.ones(len(X), dtype=bool)
    conditions: list[Condition] = []
    # Nominal attributes, the last ones, come first because the coverage of their values cannot be
    # chosen. The bounds of the numeric attributes then compensate for it.
    for n_left in range(n_conditions, 0, -1):
        wanted = (fraction / max(covered.mean(), 1 / len(X))) ** (1 / n_left)
        wanted = min(_MAX_FRACTION_PER_CONDITION, wanted)
        condition = _draw_condition(X.iloc[covered, chosen[n_left - 1]], wanted, rng)
        covered &= condition.covers(X)
        conditions.insert(0, condition)
    return tuple(conditions)


def _draw_condition(covered: pd.Series, wanted: float, rng: np.random.Generator) -> Condition:
    name = str(covered.name)
    if isinstance(covered.dtype, pd.CategoricalDtype):
        return Condition(name, "=", str(rng.choice(covered.cat.categories)))
    is_upper_bound = rng.random() < 0.5
    known = np.sort(covered.dropna())
    if not len(known):
        return Condition(name, "≥", 0.0)  # any bound: the rule covers nothing and is drawn again
    n_kept = min(len(known) - 1, round(wanted * len(covered)))
    # A bound is a value that occurs, so it has as many decimals as the attribute.
    bound = float(known[n_kept] if is_upper_bound else known[-n_kept - 1])
    return Condition(name, "<" if is_upper_bound else "≥", bound)
