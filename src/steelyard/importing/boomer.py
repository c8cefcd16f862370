"""Rules of BOOMER, fitted or printed → rules that vote for and against labels."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard._text import did_you_mean
from steelyard.model.features import Feature

from .parts import (
    ForeignRule,
    ForeignTheory,
    Test,
    float32_test,
    name_place,
    to_float32,
    to_points,
    uncounted_label,
)

_RULE = re.compile(r"\{(?P<body>.*)\}\s*=>\s*\((?P<head>.*)\)")
_TEST = re.compile(r'(?P<name>.+?) (?P<sign><=|>|==|!=) (?P<value>"[^"]*"|\S+)(?: & |$)')
_PREDICTION = re.compile(
    r"(?P<name>.+?) = (?P<value>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:, |$)"
)


def _assemble(
    bodies: Sequence[tuple[str, tuple[Test, ...], Sequence[tuple[str, float]]]],
    labels: Sequence[str],
    attributes: Sequence[str],
) -> ForeignTheory:
    """Places, tests and votes as rules; without a test, votes are where the scores of labels start."""
    start = dict.fromkeys(labels, 0.0)
    rules = []
    for where, tests, votes in bodies:
        for label, vote in votes:
            if tests:
                rules.append(ForeignRule(label, tests, vote, where=where))
            else:
                start[label] += vote
    made = [uncounted_label(label) for label in labels]
    return ForeignTheory("BOOMER", rules, made, attributes, list(start.values()))


# -- fitted ----------------------------------------------------------------------------------------


def read_boomer(
    model: Any, label_names: Sequence[str] | None, names: Sequence[str]
) -> ForeignTheory:
    """The rules of a fitted BoomerClassifier; `names` are those of the attributes, if they are known."""
    n_features = int(model.n_features_in_)
    if len(names) != n_features:
        own = getattr(model, "feature_names_in_", None)
        names = [f"x{j}" for j in range(n_features)] if own is None else [str(n) for n in own]
    n_labels = int(model.num_outputs_)
    labels = [f"y{j}" for j in range(n_labels)] if label_names is None else list(label_names)
    if len(labels) != n_labels:
        raise ValueError(
            f"there are {len(labels)} label names, but BOOMER learned {n_labels} labels"
        )
    bodies = []
    for i, rule in enumerate(model.model_, start=1):
        conditions = rule.body if hasattr(rule.body, "__iter__") else ()
        tests = tuple(_read_condition(condition, names) for condition in conditions)
        votes = [(labels[p.output_index], float(p.value)) for p in rule.head]
        bodies.append((f"rule {i}", tests, votes))
    return _assemble(bodies, labels, names)


def _read_condition(condition: Any, names: Sequence[str]) -> Test:
    name, sign = names[condition.feature_index], str(condition.comparator.value)
    threshold = float(condition.threshold)
    if sign in ("<=", ">"):
        return float32_test(name, threshold, is_below=sign == "<=")
    return Test(name, sign, (str(int(threshold)),))


# -- text ------------------------------------------------------------------------------------------


def read_printed(
    text: str, features: Mapping[str, Feature], label_names: Sequence[str] | None
) -> ForeignTheory:
    """The rules that BOOMER prints with ``--print-rules`` or writes with ``--store-rules``.

    Parameters
    ----------
    text : str
        One rule per line, such as ``{fever > 38.00 & nose != "dry"} => (flu = 1.16, cold = -0.20)``.
    features : mapping of str to Feature
        The attributes of a table, if there is one. An attribute may be printed as its position.
    label_names : sequence of str, optional
        All labels in their order; without them, those of the text.
    """
    names, bodies = list(features), []
    labels = [] if label_names is None else [str(name) for name in label_names]
    for place, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        with name_place(f"line {place}"):
            tests, votes = _read_line(line.strip(), names)
            known = [(_find_label(n, labels, label_names), v) for n, v in votes]
        bodies.append((f"line {place}", tests, known))
    if not bodies:
        raise ValueError("the text has no rule")
    return _assemble(bodies, labels, ())


def _find_label(name: str, labels: list[str], label_names: Sequence[str] | None) -> str:
    """A label by its name or its position; an unknown one is added unless all labels are known."""
    if name in labels:
        return name
    if label_names is None:
        labels.append(name)
        return name
    if _is_position(name, labels):
        return labels[int(name)]
    raise ValueError(f"unknown label {name!r}{did_you_mean(name, labels)}")


def _is_position(text: str, names: Sequence[str]) -> bool:
    return text.isdecimal() and len(text) <= len(str(len(names))) and int(text) < len(names)


def _read_line(line: str, names: Sequence[str]) -> tuple[tuple[Test, ...], list[tuple[str, float]]]:
    found = _RULE.fullmatch(line)
    if found is None:
        raise ValueError(f"expected {{conditions}} => (label = score, ...), got {line!r}")
    tests = [_read_test(match, names) for match in _split(_TEST, found["body"], "a condition")]
    heads = _split(_PREDICTION, found["head"], "a label with its score")
    votes = [(match["name"].strip(), float(match["value"])) for match in heads]
    for _, vote in votes:
        to_points(vote)  # rejects one that is too large
    return tuple(tests), votes


def _split(pattern: re.Pattern[str], text: str, what: str) -> list[re.Match[str]]:
    """The parts of a list, if it consists of nothing else."""
    found, start = [], 0
    while start < len(text):
        match = pattern.match(text, start)
        if match is None:
            raise ValueError(f"expected {what}, got {text[start:]!r}")
        found.append(match)
        start = match.end()
    return found


def _read_test(match: re.Match[str], names: Sequence[str]) -> Test:
    name, sign, value = match["name"].strip(), match["sign"], match["value"]
    if names and name not in names:
        if not _is_position(name, names):
            raise ValueError(f"unknown attribute {name!r}{did_you_mean(name, names)}")
        name = names[int(name)]
    if value.startswith('"'):
        if sign in ("<=", ">"):
            raise ValueError(f"the attribute {name!r} is ordinal; give it numbers instead of words")
        return Test(name, sign, (value[1:-1],))
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    is_bound = sign in ("<=", ">")
    if math.isnan(number) or (math.isinf(number) and not is_bound):
        raise ValueError(f"expected a number after {name!r}, got {value!r}")
    if is_bound:
        # A number of 32 bits, with the digits that were printed.
        return float32_test(name, to_float32(number), is_below=sign == "<=")
    return Test(name, sign, number)
