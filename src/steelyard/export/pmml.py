"""Theory → PMML 4.4: a chain of one RuleSetModel per label, or one for a theory of classes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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
    """See `Theory.to_pmml`.

    Examples
    --------
    >>> from steelyard import RipperClassifier, load_patients
    >>> from steelyard.export import to_pmml
    >>> data = load_patients()
    >>> theory = RipperClassifier(random_state=0).fit(data.X, data.Y[["high cholesterol"]]).theory_
    >>> "RuleSetModel" in to_pmml(theory)
    True
    """
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
    namer = _Namer(feature.name for feature in theory.features)
    targets = [namer.name(decision.name) for decision in decisions]
    root = ET.Element("PMML", {"version": "4.4", "xmlns": NAMESPACE})
    header = _add(root, "Header", description=f"rules by {theory.heuristic}, φ = {theory.phi:g}")
    _add(header, "Application", name="Steelyard")
    dictionary = _add(root, "DataDictionary", numberOfFields=len(theory.features) + len(decisions))
    for feature in theory.features:
        kind = "string" if feature.is_nominal else "double"
        _add_field(dictionary, feature.name, kind, feature.categories)
    outcomes = theory.plain_classes or [0, 1]
    kind, values = _TYPES.get(type(outcomes[0]), "string"), dict.fromkeys(map(_text, outcomes))
    for target in targets:
        _add_field(dictionary, target, kind, values)
    models = [
        _Model(decision, target, _default_confidence(theory, i, decision))
        for i, (decision, target) in enumerate(zip(decisions, targets, strict=True))
    ]
    if len(models) == 1:
        _add_model(root, models[0])
    else:
        _add_chain(root, models, namer)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


class _Model(NamedTuple):
    """A decision, the field that it predicts, and the confidence of its default."""

    decision: Choice
    target: str
    default_confidence: float

    @property
    def inputs(self) -> list[str]:
        """The attributes that its rules test."""
        cases = self.decision.value.cases
        return list(dict.fromkeys(c.feature for scored, _ in cases for c in scored.body))


class _Namer:
    """Gives every field a name that no other field has."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def name(self, wish: str) -> str:
        """The wish, changed where the name is taken."""
        while wish in self.taken:
            wish += " (predicted)"
        self.taken.add(wish)
        return wish


def _default_confidence(theory: Theory, position: int, decision: Choice) -> float:
    """How often the default is right where no rule fires."""
    if len(theory.classes) > 2:
        label = theory.labels[theory.plain_classes.index(decision.value.default)]
        return 1 + label.silent_score
    return -theory.labels[position].silent_score


def _add_chain(root: ET.Element, models: list[_Model], namer: _Namer) -> None:
    """A chain of models, one per label, that outputs the labels of all of them.

    Readers give the outputs of the last model of a chain. So the last one also reads the outputs of
    the models before it and passes them on.
    """
    chain = _add(root, "MiningModel", modelName="labels", functionName="classification")
    schema = _add(chain, "MiningSchema")
    for name in dict.fromkeys(name for model in models for name in model.inputs):
        _add_input(schema, name)
    _add(schema, "MiningField", name=models[-1].target, usageType="target")
    found = [namer.name(f"found_{model.target}") for model in models]
    passed = {name: namer.name(f"passed_{name}") for name in found[:-1]}
    output = _add(chain, "Output")
    for model, name in zip(models, found, strict=True):
        _add_output(output, namer.name(f"predicted_{model.target}"), passed.get(name, name))
    segments = _add(chain, "Segmentation", multipleModelMethod="modelChain")
    for i, (model, name) in enumerate(zip(models, found, strict=True), start=1):
        segment = _add(segments, "Segment", id=i)
        _add(segment, "True")
        _add_model(segment, model, name, passed if i == len(models) else {})


def _add(parent: ET.Element, tag: str, **attributes: Any) -> ET.Element:
    texts = {name: _NOT_XML.sub("\ufffd", str(value)) for name, value in attributes.items()}
    return ET.SubElement(parent, tag, texts)


def _add_field(dictionary: ET.Element, name: str, kind: str, values: Iterable[Any] | None) -> None:
    optype = "continuous" if values is None else "categorical"
    field = _add(dictionary, "DataField", name=name, optype=optype, dataType=kind)
    for value in values or ():
        _add(field, "Value", value=value)


def _add_input(schema: ET.Element, name: str) -> None:
    """An attribute; a category that the training set did not have satisfies no condition."""
    _add(schema, "MiningField", name=name, usageType="active", invalidValueTreatment="asMissing")


def _add_output(output: ET.Element, name: str, source: str | None = None) -> None:
    """A predicted label: that of the model itself, or a copy of another field."""
    kind = {"name": name, "optype": "categorical", "dataType": "integer"}
    if source is None:
        _add(output, "OutputField", **kind, feature="predictedValue")
    else:
        field = _add(output, "OutputField", **kind, feature="transformedValue")
        _add(field, "FieldRef", field=source)


def _add_model(
    parent: ET.Element, model: _Model, found: str | None = None, passed: Mapping[str, str] = {}
) -> None:
    """The rules of one label; in a chain, the field that it outputs and those that it passes on."""
    decision = model.decision
    element = _add(
        parent,
        "RuleSetModel",
        modelName=decision.name,
        functionName="classification",
        algorithmName="separate-and-conquer",
    )
    schema = _add(element, "MiningSchema")
    for name in model.inputs:
        _add_input(schema, name)
    for name in passed:
        _add(schema, "MiningField", name=name, usageType="active")
    _add(schema, "MiningField", name=model.target, usageType="target")
    if found is not None:
        output = _add(element, "Output")
        _add_output(output, found)
        for source, name in passed.items():
            _add_output(output, name, source)
    default = _text(decision.value.default)
    confidence = model.default_confidence
    rules = _add(element, "RuleSet", defaultScore=default, defaultConfidence=confidence)
    _add(rules, "RuleSelectionMethod", criterion="firstHit")
    for i, (scored, outcome) in enumerate(decision.value.cases, start=1):
        covered = scored.tp + scored.fp
        counts: dict[str, Any] = {"recordCount": covered, "nbCorrect": scored.tp}
        counts["confidence"] = scored.tp / max(covered, 1)
        known = counts if scored.is_counted else {}
        rule = _add(rules, "SimpleRule", id=f"rule-{i}", score=_text(outcome), **known)
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
