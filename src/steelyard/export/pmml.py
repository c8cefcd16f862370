"""Theory → PMML 4.4: a RuleSetModel for each label, or one for a theory of classes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import Any

from steelyard.model.conditions import Condition
from steelyard.model.formulas import Choice
from steelyard.model.moments import SECOND_KINDS
from steelyard.model.theory import Theory

from .rows import list_tests

NAMESPACE = "http://www.dmg.org/PMML-4_4"

# XML 1.0 has no way to write these, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_OPERATORS = {"==": "equal", ">=": "greaterOrEqual", "<": "lessThan", "<=": "lessOrEqual"}
_TYPES = {int: "integer", float: "double", bool: "boolean"}


def to_pmml(theory: Theory) -> str:
    """See `Theory.to_pmml`."""
    answers = theory.answers("pmml")
    decisions = [answer for answer in answers if isinstance(answer, Choice)]
    if len(decisions) < len(answers):
        raise ValueError(
            "PMML's RuleSetModel expresses only rules that decide: export this theory as SQL, "
            "Python or JSON"
        )
    for condition in (c for scored in theory for c in scored.body):
        if condition.kind in SECOND_KINDS:
            raise ValueError(
                f"PMML is not written for dates and times, such as {condition.feature!r}: export this "
                "theory as SQL, Python or JSON"
            )
    target_of = _name_targets([f.name for f in theory.features], [d.name for d in decisions])
    root = ET.Element("PMML", {"version": "4.4", "xmlns": NAMESPACE})
    header = _add(root, "Header", description=f"rules by {theory.heuristic}, φ = {theory.phi:g}")
    _add(header, "Application", name="Steelyard")
    n_fields = len(theory.features) + len(decisions)
    dictionary = _add(root, "DataDictionary", numberOfFields=n_fields)
    for feature in theory.features:
        kind = "string" if feature.is_nominal else "double"
        _add_field(dictionary, feature.name, kind, feature.categories)
    outcomes = theory.plain_classes or [0, 1]
    kind, values = _TYPES.get(type(outcomes[0]), "string"), dict.fromkeys(map(_text, outcomes))
    for target in target_of.values():
        _add_field(dictionary, target, kind, values)
    for decision in decisions:
        _add_model(root, decision, target_of[decision.name])
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _add(parent: ET.Element, tag: str, **attributes: Any) -> ET.Element:
    texts = {name: _NOT_XML.sub("\ufffd", str(value)) for name, value in attributes.items()}
    return ET.SubElement(parent, tag, texts)


def _name_targets(taken: list[str], names: list[str]) -> dict[str, str]:
    """Names of the predicted fields, changed where an attribute has the same name already."""
    used, target_of = set(taken), {}
    for name in names:
        target = name
        while target in used:
            target += " (predicted)"
        used.add(target)
        target_of[name] = target
    return target_of


def _add_field(dictionary: ET.Element, name: str, kind: str, values: Iterable[Any] | None) -> None:
    optype = "continuous" if values is None else "categorical"
    field = _add(dictionary, "DataField", name=name, optype=optype, dataType=kind)
    for value in values or ():
        _add(field, "Value", value=value)


def _add_model(root: ET.Element, decision: Choice, target: str) -> None:
    model = _add(
        root,
        "RuleSetModel",
        modelName=decision.name,
        functionName="classification",
        algorithmName="separate-and-conquer",
    )
    schema = _add(model, "MiningSchema")
    used = {c.feature: None for scored, _ in decision.value.cases for c in scored.body}
    for name in used:
        _add(schema, "MiningField", name=name, usageType="active")
    _add(schema, "MiningField", name=target, usageType="target")
    rules = _add(model, "RuleSet", defaultScore=_text(decision.value.default))
    _add(rules, "RuleSelectionMethod", criterion="firstHit")
    for i, (scored, outcome) in enumerate(decision.value.cases, start=1):
        covered = scored.tp + scored.fp
        rule = _add(
            rules,
            "SimpleRule",
            id=f"rule-{i}",
            score=_text(outcome),
            recordCount=covered,
            nbCorrect=scored.tp,
            confidence=scored.tp / max(covered, 1),
        )
        _add_predicate(rule, scored.body)


def _add_predicate(rule: ET.Element, body: tuple[Condition, ...]) -> None:
    tests = list(list_tests(body))
    if not tests:
        _add(rule, "True")
        return
    # An interval is two predicates; a single one stands for itself, since "and" needs at least two.
    parent = _add(rule, "CompoundPredicate", booleanOperator="and") if len(tests) > 1 else rule
    for field, operator, value in tests:
        if operator == "in":
            test = _add(parent, "SimpleSetPredicate", field=field, booleanOperator="isIn")
            array = _add(test, "Array", type="string", n=len(value))
            quoted = " ".join('"' + text.replace('"', '\\"') + '"' for text in value)
            array.text = _NOT_XML.sub("\ufffd", quoted)
        else:
            name = _OPERATORS[operator]
            _add(parent, "SimplePredicate", field=field, operator=name, value=_text(value))


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)
