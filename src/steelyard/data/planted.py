"""Data generated from known rules, to see which of them a learner finds again."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .multilabel import MultiLabelData
from .orchard import (
    Attribute,
    NominalAttribute,
    choose_attributes,
    choose_labels,
    draw_examples,
)

# A label has about this share of examples before noise: rare enough to be a minority label, and
# common enough that every one of a few rules has examples of its own.
_LABEL_SHARE = 0.3
# A condition that nearly every example satisfies could be left out of its rule unnoticed.
_MAX_SHARE_PER_CONDITION = 0.6
_N_ATTEMPTS = 200


class PlantedCondition(NamedTuple):
    """One test of a planted rule: ``feature operator value`` with the operator <, ≥ or =.

    Examples
    --------
    >>> import pandas as pd
    >>> from steelyard.data import PlantedCondition
    >>> condition = PlantedCondition("sweetness", "≥", 7.5)
    >>> print(condition)
    sweetness ≥ 7.5
    >>> condition.covers(pd.DataFrame({"sweetness": [8.0, 2.0, float("nan")]}))
    array([ True, False, False])
    """

    feature: str
    operator: str
    value: float | str

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else f"{self.value:g}"
        return f"{self.feature} {self.operator} {value}"

    def covers(self, X: pd.DataFrame) -> NDArray[np.bool_]:
        """Which examples satisfy the test; one whose value is missing does not."""
        column = X[self.feature]
        if self.operator == "=":
            return np.asarray(column == self.value, dtype=bool)
        numbers = column.to_numpy(dtype=np.float64)
        return numbers < self.value if self.operator == "<" else numbers >= self.value


class PlantedRule(NamedTuple):
    """A label and the conditions that, taken together, imply it.

    Examples
    --------
    >>> from steelyard.data import make_planted_rules
    >>> rule = make_planted_rules(random_state=0).rules[0]
    >>> print(rule)
    for juice ← ...
    """

    label: str
    conditions: tuple[PlantedCondition, ...]

    def __str__(self) -> str:
        return f"{self.label} ← {' ∧ '.join(map(str, self.conditions))}"

    def covers(self, X: pd.DataFrame) -> NDArray[np.bool_]:
        """Which examples satisfy all conditions."""
        covered = np.ones(len(X), dtype=bool)
        for condition in self.conditions:
            covered &= condition.covers(X)
        return covered


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PlantedData(MultiLabelData):
    """A data set together with the ``rules`` that it was generated from.

    Examples
    --------
    >>> from steelyard.data import make_planted_rules
    >>> len(make_planted_rules(n_labels=3, n_rules_per_label=2, random_state=0).rules)
    6
    """

    rules: tuple[PlantedRule, ...]


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
    """Generate fruit, and the uses it is fit for, from rules that are known.

    An example has a label exactly if one of the label's rules covers it; only then comes the
    noise. So without noise, the planted rules are a theory without error, also if values are
    missing: a missing value satisfies no condition.

    Parameters
    ----------
    n_examples : int, default=1000
        The number of examples.
    n_labels : int, default=4
        The number of labels. Each is present in a minority of the examples.
    n_numeric, n_nominal : int, default=6 and 4
        The number of attributes of each kind. Rules need not use all of them.
    n_rules_per_label : int, default=2
        The number of rules planted for each label.
    n_conditions : int, default=2
        The number of conditions of each rule, all on different attributes.
    noise : float, default=0.0
        The share of label values that are flipped, below 0.5.
    missing : float, default=0.0
        The share of attribute values that are missing, below 1.
    random_state : int, Generator or None, default=None
        The seed: the same one gives the same data.

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
    if not 0 <= noise < 0.5:
        raise ValueError(f"noise must be at least 0 and below 0.5, not {noise}")
    if not 0 <= missing < 1:
        raise ValueError(f"missing must be at least 0 and below 1, not {missing}")

    rng = np.random.default_rng(random_state)
    attributes = choose_attributes(n_numeric, n_nominal)
    X = draw_examples(attributes, n_examples, missing, rng)
    rules: list[PlantedRule] = []
    labels = {}
    for label in choose_labels(n_labels):
        planted, present = _plant_label(
            label, attributes, X, n_rules_per_label, n_conditions, noise, rng
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


def _plant_label(
    label: str,
    attributes: list[Attribute],
    X: pd.DataFrame,
    n_rules: int,
    n_conditions: int,
    noise: float,
    rng: np.random.Generator,
) -> tuple[list[PlantedRule], NDArray[np.bool_]]:
    """Draw rules until the label is a minority label and no rule is superfluous."""
    for _ in range(_N_ATTEMPTS):
        rules = [
            _draw_rule(label, attributes, X, n_conditions, _LABEL_SHARE / n_rules, rng)
            for _ in range(n_rules)
        ]
        covered = np.array([rule.covers(X) for rule in rules])
        covered_by_this_alone = covered & (covered.sum(axis=0) == 1)
        present = covered.any(axis=0) ^ (rng.random(len(X)) < noise)
        is_minority = 0 < present.sum() < 0.5 * len(X)
        if is_minority and covered_by_this_alone.any(axis=1).all():
            return rules, present
    raise ValueError(
        f"could not plant {n_rules} rules of {n_conditions} conditions into {len(X)} examples with"
        f" {len(attributes)} attributes; ask for fewer rules or conditions, or for more examples"
    )


def _draw_rule(
    label: str,
    attributes: list[Attribute],
    X: pd.DataFrame,
    n_conditions: int,
    share: float,
    rng: np.random.Generator,
) -> PlantedRule:
    """Draw a rule that covers roughly the given share of the examples."""
    chosen = sorted(rng.choice(len(attributes), n_conditions, replace=False), reverse=True)
    covered = np.ones(len(X), dtype=bool)
    conditions = []
    # Nominal attributes come first: their values keep a share that cannot be chosen, and the
    # numeric ones, whose bound can, make up for it.
    for n_left, position in zip(range(n_conditions, 0, -1), chosen, strict=True):
        attribute = attributes[position]
        wanted = min(
            _MAX_SHARE_PER_CONDITION, (share / max(covered.mean(), 1 / len(X))) ** (1 / n_left)
        )
        condition = _draw_condition(attribute, X[covered], wanted, rng)
        covered &= condition.covers(X)
        conditions.append(condition)
    return PlantedRule(label, tuple(reversed(conditions)))


def _draw_condition(
    attribute: Attribute, covered: pd.DataFrame, wanted: float, rng: np.random.Generator
) -> PlantedCondition:
    if isinstance(attribute, NominalAttribute):
        return PlantedCondition(attribute.name, "=", str(rng.choice(attribute.values)))
    is_upper_bound = rng.random() < 0.5
    numbers = covered[attribute.name].to_numpy(dtype=np.float64)
    known = np.sort(numbers[~np.isnan(numbers)])
    if not len(known):
        return PlantedCondition(attribute.name, "≥", attribute.lowest)
    n_kept = min(len(known) - 1, round(wanted * len(numbers)))
    # A bound is a value that occurs: it reads well, and has as many decimals as the attribute.
    bound = float(known[n_kept] if is_upper_bound else known[-n_kept - 1])
    return PlantedCondition(attribute.name, "<" if is_upper_bound else "≥", bound)
