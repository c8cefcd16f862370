"""Editing: theories without a rule, with another rule, with one rule more. Checks what a person gives.

Every function returns a new theory. Evidence of untouched rules is kept; a new rule has none until it is
counted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard._numbers import is_integer
from steelyard._text import did_you_mean, list_names, shorten_repr

from .coded_rules import code_rules
from .coverage import unpack
from .evidence import Evidence, EvidenceFrom, Label, Provenance
from .history import Edit
from .recounting import read_labels, recount
from .rules import Rule, ScoredRule
from .theory import Theory

Masks = NDArray[np.bool_]


def as_rule(theory: Theory, rule: Any) -> Rule:
    """A rule that is given as itself, with evidence, or as text."""
    if isinstance(rule, str):
        return Rule.parse(rule, theory.features)
    if isinstance(rule, ScoredRule):
        return rule.rule
    if not isinstance(rule, Rule):
        raise ValueError(f"a rule must be a Rule or its text, got {shorten_repr(rule)}")
    return rule


def find_rule(theory: Theory, rule: Any) -> int:
    """The position of a rule of the theory, given as itself, as text, or by its position.

    The text may also be the one that the theory prints, whose numbers are rounded.
    """
    if is_integer(rule, -len(theory), len(theory) - 1):
        return range(len(theory))[rule]
    if is_integer(rule, least=-sys.maxsize):
        last = len(theory) - 1
        raise ValueError(f"the theory has no rule at position {rule}; it has positions 0 to {last}")
    if isinstance(rule, ScoredRule) and rule in theory.rules:
        return theory.rules.index(rule)
    wanted = as_rule(theory, rule)
    rules = [scored.rule for scored in theory]
    if wanted in rules:
        return rules.index(wanted)
    printed = [i for i, known in enumerate(rules) if known.describe() == wanted.describe()]
    if len(printed) == 1:
        return printed[0]
    if printed:
        raise ValueError(
            f"{len(printed)} rules of the theory print as {wanted.describe()!r}: give one of them, "
            "not its text"
        )
    of_label = [str(known) for known in rules if known.head == wanted.head]
    raise ValueError(f"the theory has no rule {str(wanted)!r}{did_you_mean(str(wanted), of_label)}")


def check_rule(theory: Theory, rule: Rule) -> None:
    """Reject a rule that does not fit the attributes, categories and labels of a theory."""
    labels = {label.name: label for label in theory.labels}
    if rule.head.label not in labels:
        hint = _name_known(rule.head.label, list(labels))
        raise ValueError(f"the rule predicts an unknown label {rule.head.label!r}{hint}")
    label = labels[rule.head.label]
    if rule.head.target_class != label.target_class and not theory.combiner.takes_both_classes:
        raise ValueError(
            f"the rules of the label {label.name!r} predict {str(label)!r}, not {str(rule.head)!r}"
        )
    features = {feature.name: feature for feature in theory.features}
    for condition in rule.body:
        if condition.feature not in features:
            hint = _name_known(condition.feature, list(features))
            raise ValueError(f"the rule tests an unknown attribute {condition.feature!r}{hint}")
        condition.check(features[condition.feature])
        if condition.is_empty:
            raise ValueError(f"no value satisfies the condition {str(condition)!r}")


def _name_known(name: str, known: Sequence[str]) -> str:
    return did_you_mean(name, known) or f"; known are {list_names(known)}"


# -- edits -----------------------------------------------------------------------------------------


def drop_rules(theory: Theory, *rules: Any, note: str = "", when: str | None = None) -> Theory:
    """See `Theory.drop`."""
    dropped = dict.fromkeys(find_rule(theory, rule) for rule in rules)
    kept = [scored for i, scored in enumerate(theory) if i not in dropped]
    steps = [Edit("drop", theory.rules[i].rule, None, _today(when), note) for i in dropped]
    return _edit(theory, kept, {theory.rules[i].head.label for i in dropped}, *steps)


def annotate_rule(theory: Theory, rule: Any, note: str, *, when: str | None = None) -> Theory:
    """See `Theory.annotate`."""
    position = find_rule(theory, rule)
    before = theory.rules[position]
    step = Edit("note", before.rule, None, _today(when), note)
    made = replace(before, provenance=replace(before.provenance, when=step.when, note=step.note))
    rules = (*theory.rules[:position], made, *theory.rules[position + 1 :])
    return replace(theory, rules=rules, history=(*theory.history, step))


def add_rule(
    theory: Theory,
    rule: Any,
    *,
    points: int | None = None,
    X: Any = None,
    Y: Any = None,
    note: str = "",
    when: str | None = None,
) -> Theory:
    """See `Theory.add`."""
    if points is None and isinstance(rule, ScoredRule):
        points = rule.points
    made = as_rule(theory, rule)
    check_rule(theory, made)
    _reject_repeated(theory, made)
    scored = _score(theory, made, points, X, Y, Provenance("given", _today(when), note))
    step = Edit("add", None, made, scored.provenance.when, note, scored.points)
    return _finish(_edit(theory, [*theory, scored], {made.head.label}, step), X, Y)


def replace_rule(
    theory: Theory,
    old: Any,
    new: Any,
    *,
    points: int | None = None,
    X: Any = None,
    Y: Any = None,
    note: str = "",
    when: str | None = None,
) -> Theory:
    """See `Theory.replace`."""
    position = find_rule(theory, old)
    before = theory.rules[position]
    made = as_rule(theory, new)
    check_rule(theory, made)
    rest = _edit(theory, [s for i, s in enumerate(theory) if i != position], {before.head.label})
    _reject_repeated(rest, made)
    if points is None and isinstance(new, ScoredRule):
        points = new.points
    scored = _score(rest, made, points, X, Y, Provenance("edited", _today(when), note), before)
    rules = [*theory.rules[:position], scored, *theory.rules[position + 1 :]]
    step = Edit("replace", before.rule, made, scored.provenance.when, note, scored.points)
    return _finish(_edit(theory, rules, {before.head.label, made.head.label}, step), X, Y)


def _today(when: str | None) -> str:
    return date.today().isoformat() if when is None else when


def _reject_repeated(theory: Theory, rule: Rule) -> None:
    if any(scored.rule == rule for scored in theory):
        raise ValueError(f"the theory has the rule {str(rule)!r} already")


def _edit(theory: Theory, rules: Iterable[ScoredRule], touched: set[str], *steps: Edit) -> Theory:
    """A theory with other rules; what the touched labels leave uncovered is not known any more."""
    labels = tuple(_forget(x) if x.name in touched else x for x in theory.labels)
    return replace(
        theory,
        rules=tuple(rules),
        labels=labels,
        evidence_from=EvidenceFrom("stale"),
        history=(*theory.history, *steps),
    )


def _forget(label: Label) -> Label:
    silent = label.silent_score  # predictions stay as they are
    return replace(label, uncovered_positives=None, uncovered_negatives=None, silent=silent)


def _finish(theory: Theory, X: Any, Y: Any) -> Theory:
    return theory if X is None else recount(theory, X, Y)


def _score(
    rest: Theory,
    rule: Rule,
    points: int | None,
    X: Any,
    Y: Any,
    provenance: Provenance,
    before: ScoredRule | None = None,
) -> ScoredRule:
    """The rule with its vote and, given examples, with its evidence.

    Without examples, a rule that decides keeps the confidence of the one that it replaces.
    """
    if (X is None) != (Y is None):
        raise ValueError("give X and Y together")
    rest.combiner.check_points(points)
    if X is None:
        points, confidence = rest.combiner.keep_strength(points, before)
        return ScoredRule(rule, None, None, points, None, provenance, confidence)
    truth = read_labels(rest, Y)
    covered = unpack(*code_rules(rest.features, [rule.body]).cover(X))[0]
    if len(covered) != len(truth):
        raise ValueError(f"X has {len(covered)} rows, but Y has {len(truth)}")
    is_head = truth[:, rest.label_names.index(rule.head.label)] == rule.head.target_class
    evidence = Evidence(int((covered & is_head).sum()), int((covered & ~is_head).sum()))
    if points is None:
        points = _fit_points(rest, rule, X, covered, is_head)
    return ScoredRule(rule, evidence, None, points, None, provenance)


def _fit_points(rest: Theory, rule: Rule, X: Any, covered: Masks, is_head: Masks) -> int | None:
    """The vote of a new rule beside the others, from the rows that it covers; None if it decides."""
    j, head_class = rest.label_names.index(rule.head.label), rule.head.target_class

    def find_scores() -> Any:
        return rest._by_block(X, lambda *block: rest._decode(*block).scores)[covered, j]

    is_present = is_head[covered] == bool(head_class)
    prior = float(np.mean(is_head))
    return rest.combiner.fit_points(find_scores, is_present, head_class, prior)
