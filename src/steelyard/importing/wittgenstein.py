"""Rule sets of wittgenstein (RIPPER and IREP), fitted or printed → rules. Knows its bins and signs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard._numbers import is_number
from steelyard._text import did_you_mean
from steelyard.model.features import Feature, category_text

from .parts import ForeignRule, ForeignTheory, Test, name_place, uncounted_label

_NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
# Bins of numbers: below the first cut, between two, above the last one. The upper end is included.
_BIN = re.compile(rf"<({_NUMBER})|>({_NUMBER})|({_NUMBER})\s*-\s*({_NUMBER})")
_BETWEEN_RULES = re.compile(r"\]\s*V\s*\[")
_ALWAYS = ("", "True")


def read_ruleset(model: Any, label_names: Sequence[str] | None = None) -> ForeignTheory:
    """The rules of a fitted model of wittgenstein."""
    bins = getattr(model.bin_transformer_, "bins_", None) or {}
    name = str(model.class_feat)
    if label_names is None and category_text(model.pos_class) not in ("1", "True", "yes"):
        name = f"{name}={category_text(model.pos_class)}"
    label = _read_label(label_names, name)
    rules = []
    for rule in model.ruleset_.rules:
        tests: list[Test] = []
        for condition in rule.conds:
            value, attribute = condition.val, str(condition.feature)
            is_bin = condition.feature in bins
            tests += _read_bin(attribute, str(value)) if is_bin else [_read_value(attribute, value)]
        rules.append(ForeignRule(label, tuple(tests)))
    attributes = [str(name) for name in model.trainset_features_ or ()]
    return ForeignTheory(
        f"{type(model).__name__} of wittgenstein", rules, [uncounted_label(label)], attributes
    )


def _read_label(label_names: Sequence[str] | None, default: str) -> str:
    names = [default] if label_names is None else list(label_names)
    if len(names) != 1:
        raise ValueError(f"a rule set of wittgenstein has one label, got {len(names)} label names")
    return str(names[0])


def _read_bin(attribute: str, text: str) -> list[Test]:
    found = _BIN.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{attribute!r} has the bin {text!r}, which is not a range of numbers")
    below, above, low, high = found.groups()
    bounds = ((">", above or low), ("<=", below or high))
    return [Test(attribute, sign, float(bound)) for sign, bound in bounds if bound is not None]


def _read_value(attribute: str, value: Any) -> Test:
    """A test for one value: a number, or a category."""
    if is_number(value):
        return Test(attribute, "==", float(value))
    return Test(attribute, "==", (category_text(value),))


# -- text ------------------------------------------------------------------------------------------


def read_printed(
    text: str, features: Mapping[str, Feature], label_names: Sequence[str] | None = None
) -> ForeignTheory:
    """The rules of a printed rule set: what ``out_model()`` or ``print(model.ruleset_)`` shows.

    Parameters
    ----------
    text : str
    features : mapping of str to Feature
        The attributes of a table, if there is one. wittgenstein prints names and categories without
        spaces; they are matched with these.
    label_names : sequence of str, optional
    """
    text = re.sub(r"^<Ruleset\s*(.*)>$", r"\1", text.strip(), flags=re.DOTALL).strip()
    if not (text.startswith("[[") and text.endswith("]]")):
        raise ValueError("a printed rule set of wittgenstein must start with [[ and end with ]]")
    label = _read_label(label_names, "y")
    names = {"".join(name.split()): feature for name, feature in features.items()}
    rules = []
    for i, body in enumerate(_BETWEEN_RULES.split(text[2:-2]), start=1):
        tests: list[Test] = []
        for part in body.split("^") if body.strip() not in _ALWAYS else ():
            with name_place(f"rule {i}"):
                tests += _read_printed_test(part.strip(), names)
        rules.append(ForeignRule(label, tuple(tests), where=f"rule {i}"))
    return ForeignTheory("wittgenstein", rules, [uncounted_label(label)])


def _read_printed_test(text: str, features: Mapping[str, Feature]) -> list[Test]:
    name, sign, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not (name and sign and value):
        raise ValueError(f"expected attribute=value, got {text!r}")
    feature = features.get("".join(name.split()))
    if features and feature is None:
        raise ValueError(f"unknown attribute {name!r}{did_you_mean(name, features)}")
    attribute = name if feature is None else feature.name
    if feature is not None and feature.categories is not None:
        known = {"".join(c.split()): c for c in feature.categories}
        return [Test(attribute, "==", (known.get("".join(value.split()), value),))]
    if _BIN.fullmatch(value):
        return _read_bin(attribute, value)
    if re.fullmatch(_NUMBER, value):
        return [Test(attribute, "==", float(value))]
    if feature is not None:
        raise ValueError(f"the attribute {attribute!r} is numeric, but is tested for {value!r}")
    return [Test(attribute, "==", (value,))]
