"""What the readers have in common: tests as other programs write them → attributes, rules, a theory.

Knows signs and values; the readers know where these come from.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from steelyard._text import did_you_mean, list_names
from steelyard.learning.training_table import code_training_table
from steelyard.model.combiners import AnyRule, Combiner, SumOfVotes
from steelyard.model.conditions import Condition
from steelyard.model.decoders import Decoder, EachLabel
from steelyard.model.evidence import Evidence, EvidenceFrom, Label, Provenance
from steelyard.model.features import Feature, category_text
from steelyard.model.log_odds import POINTS_PER_LOG_ODD
from steelyard.model.rules import Head, Rule, ScoredRule
from steelyard.model.tables import as_table, column_names
from steelyard.model.theory import Theory

Body = tuple[Condition, ...]

# A rule that excludes numbers of several attributes becomes one rule per combination of what is left.
_MOST_BODIES = 1000
_MOST_POINTS = 2**31 - 1
# What 32 bits round to infinity lies beyond halfway between their largest number and this one.
_BEYOND_FLOAT32 = 2.0**128


class Test(NamedTuple):
    """One test of an attribute.

    Parameters
    ----------
    attribute : str
    sign : {"<", "<=", ">", ">=", "==", "!="}
        The last two also test categories.
    value : float or tuple of str
        A bound or a number, or the categories of which the value is (or is not) one.
    """

    attribute: str
    sign: str
    value: float | tuple[str, ...]


class ForeignRule(NamedTuple):
    """A rule of another program.

    Parameters
    ----------
    label : str
    tests : tuple of Test
    vote : float, optional
        For rules that vote: for the presence of the label if positive, else against it.
    evidence : Evidence, optional
    target_class : {0, 1}, default=1
        What the rule predicts, if it decides.
    where : str, default=""
        Its place in the source, such as "line 3", for errors.
    """

    label: str
    tests: tuple[Test, ...]
    vote: float | None = None
    evidence: Evidence | None = None
    target_class: int = 1
    where: str = ""


@dataclass(frozen=True)
class ForeignTheory:
    """What a reader finds.

    Parameters
    ----------
    learner : str
        Who learned the rules, for their provenance.
    rules : list of ForeignRule
    labels : list of Label
    attributes : sequence of str, optional
        The names of all attributes, if they are known.
    start : sequence of float, optional
        With rules that vote, the score of each label where no rule fires; None if rules decide.
    decoder : Decoder, default=EachLabel()
    classes : tuple, default=()
        As in `Theory`.
    """

    learner: str
    rules: list[ForeignRule]
    labels: list[Label]
    attributes: Sequence[str] = ()
    start: Sequence[float] | None = None
    decoder: Decoder = field(default_factory=EachLabel)
    classes: tuple[Any, ...] = ()

    @property
    def combiner(self) -> Combiner:
        """Any rule decides, or the votes are added to the start."""
        if self.start is None:
            return AnyRule()
        points = []
        for label, value in zip(self.labels, self.start, strict=True):
            with name_place(f"the start of {label.name!r}"):
                points.append(to_points(value))
        return SumOfVotes(tuple(points))


@contextmanager
def name_place(where: str) -> Iterator[None]:
    """Say in an error where the source is wrong; an empty place changes nothing."""
    try:
        yield
    except ValueError as error:
        if not where:
            raise
        raise ValueError(f"{where}: {error}") from None


def uncounted_label(name: str, target_class: int = 1) -> Label:
    """A label of which no examples are known."""
    return Label(name, target_class, uncovered_positives=None, uncovered_negatives=None)


def to_points(vote: float) -> int:
    """A vote in hundredths; reject one that is too large to be added to others.

    Examples
    --------
    >>> to_points(-1.175)
    -118
    """
    most = _MOST_POINTS / POINTS_PER_LOG_ODD
    if not abs(vote) <= most:  # also NaN
        raise ValueError(f"a vote must be a number from {-most:,.0f} to {most:,.0f}, got {vote:g}")
    return round(POINTS_PER_LOG_ODD * vote)


def float32_test(attribute: str, threshold: float, *, is_below: bool) -> Test:
    """The test ``x ≤ threshold``, or its opposite, of a program that rounds x to 32 bits first.

    The bound is the largest number of 64 bits that is rounded to at most the threshold.

    Examples
    --------
    >>> float32_test("age", 0.5, is_below=True)
    Test(attribute='age', sign='<=', value=0.5000000298023224)
    """
    low = to_float32(threshold)
    if low > threshold:
        low = float(np.nextafter(np.float32(low), np.float32(-np.inf)))
    if low == math.inf:
        bound = sys.float_info.max  # every number
    else:
        with np.errstate(over="ignore"):
            high = float(np.nextafter(np.float32(low), np.float32(np.inf)))
        bound = (max(low, -_BEYOND_FLOAT32) + min(high, _BEYOND_FLOAT32)) / 2  # halfway
        if to_float32(bound) > low:
            bound = math.nextafter(bound, -math.inf)
    return Test(attribute, "<=" if is_below else ">", bound)


def to_float32(value: float) -> float:
    """The nearest number of 32 bits, which is infinite if the value is too large.

    Examples
    --------
    >>> to_float32(0.1), to_float32(1e39)
    (0.10000000149011612, inf)
    """
    with np.errstate(over="ignore"):
        return float(np.float32(value))


# -- attributes ------------------------------------------------------------------------------------


def find_features(found: ForeignTheory, X: Any) -> tuple[Feature, ...]:
    """The attributes of a table or, without one, those that are known from the rules."""
    tested = _group_tests(found.rules)
    if X is None:
        names = list(dict.fromkeys([*found.attributes, *tested]))
        return tuple(_feature_from_tests(name, tested.get(name, [])) for name in names)
    X = as_table(X)
    names = _name_columns(found, X)
    for name in tested:
        if name not in names:
            hint = did_you_mean(name, names) or f"; it has {list_names(names)}"
            raise ValueError(f"a rule tests {name!r}, which the table does not have{hint}")
    features = code_training_table(X, names).coder.features
    columns = zip(features, range(len(names)), strict=True)
    return tuple(_fit_feature(f, tested.get(f.name, []), X, j) for f, j in columns)


def _name_columns(found: ForeignTheory, X: Any) -> list[str]:
    """The names of a table's columns: those of the rules, if the table has none of its own."""
    if isinstance(X, pd.DataFrame) or len(found.attributes) != X.shape[1]:
        return list(column_names(X))
    return list(found.attributes)


def _group_tests(rules: Sequence[ForeignRule]) -> dict[str, list[Test]]:
    tested: dict[str, list[Test]] = {}
    for rule in rules:
        for test in rule.tests:
            tested.setdefault(test.attribute, []).append(test)
    return tested


def _find_categories(tests: Sequence[Test]) -> list[str]:
    """The categories that tests name; none if the attribute is numeric."""
    named = [test.value for test in tests if isinstance(test.value, tuple)]
    if named and len(named) < len(tests):
        raise ValueError(f"rules test {tests[0].attribute!r} both as a number and as a category")
    return sorted({text for values in named for text in values})


def _feature_from_tests(name: str, tests: Sequence[Test]) -> Feature:
    categories = _find_categories(tests)
    if categories and any(test.sign == "!=" for test in tests):
        raise ValueError(
            f"a rule excludes categories of {name!r}, but not all of its categories are known: give a "
            "table X that has them"
        )
    return Feature(name, tuple(categories) or None)


def _fit_feature(feature: Feature, tests: Sequence[Test], X: Any, j: int) -> Feature:
    """An attribute of a table with the kind that the tests need, and with all categories."""
    named = _find_categories(tests)
    if not named:
        # Other programs read booleans as 0 and 1.
        if tests and feature.is_nominal and not feature.is_boolean:
            found = list_names(feature.categories or ())
            raise ValueError(
                f"a rule tests {feature.name!r} as a number, but the table has {found}"
            )
        return feature
    known = feature.categories
    if known is None:
        column = pd.Series(X.iloc[:, j] if isinstance(X, pd.DataFrame) else np.asarray(X[:, j]))
        known = tuple(category_text(value) for value in sorted(column.dropna().unique()))
    return Feature(feature.name, (*known, *(text for text in named if text not in known)))


# -- rules -----------------------------------------------------------------------------------------


def make_bodies(tests: Sequence[Test], features: dict[str, Feature]) -> Iterator[Body]:
    """Bodies of which at most one fires, and one fires where all tests hold.

    There is more than one if a test excludes a number, and none if the tests contradict each other.
    """
    by_attribute: dict[str, list[Test]] = {}
    for test in tests:
        by_attribute.setdefault(test.attribute, []).append(test)
    parts = [_merge_tests(of_one, features[name]) for name, of_one in by_attribute.items()]
    n_bodies = math.prod(map(len, parts))
    if n_bodies > _MOST_BODIES:
        raise ValueError(
            f"its conditions exclude so many numbers that it becomes {n_bodies:,} rules; at most "
            f"{_MOST_BODIES:,} are possible"
        )
    return itertools.product(*parts)


def _merge_tests(tests: Sequence[Test], feature: Feature) -> list[Condition]:
    """Conditions that exclude each other and of which one holds where all tests of an attribute do."""
    # Numbers are excluded last and in their order, so that each one splits only the last part.
    first, *others = sorted(tests, key=_exclusion_key)
    parts = [c for c in _to_conditions(first, feature) if not c.is_empty]
    for test in others:
        if not parts:
            break
        last = parts.pop()
        conditions = _to_conditions(test, feature)
        parts += [c for c in map(last.intersect, conditions) if not c.is_empty]
    return parts


def _exclusion_key(test: Test) -> float:
    """Sorts excluded numbers after all other tests."""
    if isinstance(test.value, tuple) or test.sign != "!=":
        return -math.inf
    return test.value


def _to_conditions(test: Test, feature: Feature) -> list[Condition]:
    """Conditions that exclude each other and of which one holds where the test does, in their order."""
    name, sign, value = test
    if isinstance(value, tuple):
        is_among = sign == "=="
        chosen = [text for text in feature.categories or () if (text in value) == is_among]
        return [Condition(name, "in", chosen)]
    if feature.categories is not None:  # a boolean attribute
        on_numbers = _to_conditions(test, Feature(name))
        numbers = {text: float(text == "True") for text in feature.categories}
        fits = [t for t, x in numbers.items() if any(c.test(x) for c in on_numbers)]
        return [Condition(name, "in", fits)]
    above = math.nextafter(value, math.inf)
    if sign in (">", ">="):
        low = above if sign == ">" else value
        return [Condition(name, ">=", low)] if low < math.inf else []  # no number is larger
    if sign == "!=":
        below = Condition(name, "<", value)
        return [below, *_to_conditions(Test(name, ">", value), feature)]
    if (
        above == math.inf and sign != "<"
    ):  # a larger number does not exist, so the bound would be lost in a file
        return [Condition(name, ">=", -value if sign == "<=" else value)]
    if sign == "==":
        return [Condition.interval(name, value, value, includes_high=True)]
    return [Condition(name, sign, value)]


def _merge_votes(rules: Sequence[ForeignRule]) -> list[ForeignRule]:
    """Rules that vote for the same label under the same tests as one, with the sum of their votes."""
    merged: dict[Any, ForeignRule] = {}
    for rule in rules:
        key = (rule.label, rule.tests)
        known = merged.get(key)
        vote = (rule.vote or 0.0) + (0.0 if known is None else known.vote or 0.0)
        evidence = rule.evidence if known is None else known.evidence
        merged[key] = rule._replace(vote=vote, evidence=evidence)
    return list(merged.values())


def _score_rules(
    found: ForeignTheory, features: Sequence[Feature], provenance: Provenance
) -> Iterator[ScoredRule]:
    by_name = {feature.name: feature for feature in features}
    votes = found.start is not None
    for rule in _merge_votes(found.rules) if votes else found.rules:
        with name_place(rule.where):
            points = to_points(rule.vote or 0.0) if votes else None
        if points == 0:  # it changes nothing
            continue
        evidence, target_class = rule.evidence, rule.target_class
        if points is not None:
            if points < 0 and evidence is not None:
                evidence = Evidence(evidence.fp, evidence.tp)
            target_class, points = int(points > 0), abs(points)
        with name_place(rule.where):
            bodies = list(make_bodies(rule.tests, by_name))
        for body in bodies:
            made = Rule(Head(rule.label, target_class), body)
            counts = evidence if len(bodies) == 1 else None
            yield ScoredRule(made, counts, None, points, provenance=provenance)


def make_theory(found: ForeignTheory, X: Any, when: str | None) -> Theory:
    """The theory of what a reader found, with the attributes of a table if there is one."""
    features = find_features(found, X)
    provenance = Provenance("imported", when, found.learner)
    rules = tuple(_score_rules(found, features, provenance))
    is_counted = all(rule.is_counted for rule in rules)
    is_counted &= all(label.n_examples for label in found.labels)
    return Theory(
        features=features,
        labels=tuple(found.labels),
        rules=rules,
        combiner=found.combiner,
        decoder=found.decoder,
        classes=found.classes,
        evidence_from=EvidenceFrom("training" if is_counted else "unknown"),
    )
