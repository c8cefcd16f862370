"""Theories and paths as JSON text: what is written, and what a text must contain to be read.

A text may come from anywhere, and kernels trust what they are given. So everything that is read is
checked: fields here, values by the objects that are made of them.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from steelyard._files import read_text, write_atomically
from steelyard._numbers import is_integer, is_number
from steelyard._text import as_text
from steelyard.heuristics import heuristic_from_dict, heuristic_to_dict

from .combiners import combiner_from_plain
from .conditions import Condition
from .decoders import decoder_from_plain
from .evidence import Evidence, EvidenceFrom, Label, Provenance
from .features import Feature
from .history import Edit
from .judgement import Judgement
from .label_sets import KnownLabelSets
from .rules import Head, Rule, ScoredRule

_KINDS: dict[type, str] = {list: "a list", dict: "an object", str: "a text"}
_MOST = 2**31 - 1
# Limits on the size of a path's theories; those that do not apply are not written.
_BOUNDS = ("max_rules", "max_total_conditions", "min_rules_per_label", "n_given")


class JsonFormat(NamedTuple):
    """How one kind of object becomes plain data, and plain data the parts to make it of."""

    name: str
    version: int
    to_plain: Callable[[Any], dict[str, Any]]
    to_parts: Callable[[dict[str, Any]], dict[str, Any]]


class Saved:
    """What is saved as JSON text and read again."""

    json_format: ClassVar[JsonFormat]

    def to_json(self, path: str | Path | None = None) -> str:
        """The JSON text, one rule per line; also written to `path` if given.

        The old content of the file stays until all of the new text is written.
        """
        form = self.json_format
        head = {"format": form.name, "schema_version": form.version}
        text = _to_lines(head | form.to_plain(self))
        if path is not None:
            write_atomically(Path(path), text.encode())
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> Self:
        """Read JSON text or a file; nothing in it is executed."""
        text, where = source, "the text"
        if isinstance(source, Path) or (source.strip() and source.lstrip()[0] not in '{["'):
            text, where = read_text(Path(source)), str(source)
        form = cls.json_format
        data = _check_format(str(text), form, where)
        with reject_damage(f"{where} is a damaged {form.name.split()[1]}"):
            return cls._from_parts(**form.to_parts(data))

    @classmethod
    def _from_parts(cls, **parts: Any) -> Self:
        return cls(**parts)


# -- writing -------------------------------------------------------------------------------------


def to_json_text(value: Any) -> str:
    """JSON that every language reads: text as it is, no NaN and no infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=lambda x: x.item())


def _to_lines(data: dict[str, Any]) -> str:
    """An object as text, one line per field and per item of a list of objects."""
    lines = []
    for key, value in data.items():
        text = to_json_text(value)
        if isinstance(value, list) and value:
            rows = ",\n".join("  " + to_json_text(item) for item in value)
            text = f"[\n{rows}\n ]"
        lines.append(f' "{key}": {text}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _shared_to_plain(model: Any, features: tuple[Feature, ...]) -> dict[str, Any]:
    """What theories and paths have in common."""
    return {
        "classes": model.classes,
        "combiner": model.combiner.to_plain(),
        "features": [_drop_none(feature, "categories", "kind") for feature in features],
        "labels": [_drop_none(label, "silent") for label in model.labels],
    }


def _drop_none(item: Any, *optional: str) -> dict[str, Any]:
    """The fields of an object without the optional ones that are None."""
    return {k: v for k, v in vars(item).items() if v is not None or k not in optional}


def _number_to_plain(value: float) -> float | str:
    """A number, or the text of an infinite one, which JSON lacks."""
    return str(value) if math.isinf(value) else value


def condition_to_plain(condition: Condition) -> list[list[Any]]:
    """A condition as [attribute, operator, value], twice for an interval with two bounds."""
    name = condition.feature
    if condition.categories is not None:
        if len(condition.categories) == 1:
            return [[name, "=", condition.categories[0]]]
        return [[name, "in", condition.categories]]
    lower = [[name, "≥", condition.low]] if condition.low > -math.inf else []
    operator = "≤" if condition.includes_high else "<"
    upper = [[name, operator, condition.high]] if condition.high < math.inf else []
    return lower + upper


def _rule_to_plain(rule: Rule, evidence: Evidence | None) -> dict[str, Any]:
    counts = {"tp": None, "fp": None} if evidence is None else _drop_none(evidence, "only")
    return _bare_rule_to_plain(rule) | counts


def _bare_rule_to_plain(rule: Rule) -> dict[str, Any]:
    body = [item for condition in rule.body for item in condition_to_plain(condition)]
    return {**vars(rule.head), "body": body}


def _edit_to_plain(edit: Edit) -> dict[str, Any]:
    """A step of the history; what it does not have is left out."""
    given = {name: value for name, value in vars(edit).items() if value not in (None, "")}
    rules = {name: _bare_rule_to_plain(given[name]) for name in ("rule", "new") if name in given}
    return given | rules


def _scored_to_plain(scored: ScoredRule) -> dict[str, Any]:
    """A rule of a theory; what it does not have is left out."""
    more = {name: getattr(scored, name) for name in ("points", "confidence")}
    if scored.held_out is not None:
        more["held_out"] = _drop_none(scored.held_out, "only")
    if scored.provenance != Provenance():
        more["provenance"] = _drop_none(scored.provenance, "when")
    value = None if scored.value is None else _number_to_plain(scored.value)
    given = {name: part for name, part in more.items() if part is not None}
    return _rule_to_plain(scored.rule, scored.evidence) | {"value": value} | given


def _evidence_from_to_plain(evidence_from: EvidenceFrom) -> dict[str, Any]:
    judgement = evidence_from.judgement
    return {"kind": evidence_from.kind} | (
        {} if judgement is None else {"judgement": vars(judgement)}
    )


def _label_sets_to_plain(known: KnownLabelSets | None) -> list[dict[str, Any]]:
    pairs = () if known is None else zip(known.sets, known.counts, strict=True)
    return [{"labels": labels, "count": count} for labels, count in pairs]


def theory_to_plain(theory: Any) -> dict[str, Any]:
    """The content of a theory."""
    return {
        "heuristic": theory.heuristic,
        "phi": theory.phi,
        "decoder": theory.decoder.to_plain(),
        **_shared_to_plain(theory, theory.features),
        "evidence_from": _evidence_from_to_plain(theory.evidence_from),
        "rules": list(map(_scored_to_plain, theory.rules)),
        "label_sets": _label_sets_to_plain(theory.decoder.known),
        **({"history": list(map(_edit_to_plain, theory.history))} if theory.history else {}),
    }


def _path_rule_to_plain(path: Any, r: int) -> dict[str, Any]:
    held_out = path.held_out_evidence(r)
    more = {} if held_out is None else {"held_out": _drop_none(held_out, "only")}
    if path.provenance(r) not in (Provenance(), Provenance("given")):  # n_given tells these
        more["provenance"] = _drop_none(path.provenance(r), "when")
    return _rule_to_plain(path.rule(r), path.evidence(r)) | more


def path_to_plain(path: Any) -> dict[str, Any]:
    """The content of a path: every rule once, and the ranking of each heuristic."""
    return {
        "phis": path.phis,
        **{name: getattr(path, name) for name in _BOUNDS if getattr(path, name)},
        **_shared_to_plain(path, path.coded.features),
        "rules": [_path_rule_to_plain(path, r) for r in range(len(path.coded))],
        "heuristics": [
            {
                "heuristic": heuristic_to_dict(heuristic),
                "rules": ranked.rule_idx.tolist(),
                "values": list(map(_number_to_plain, ranked.values.tolist())),
                "new_tp": ranked.new_tp.tolist(),
                "new_fp": ranked.new_fp.tolist(),
            }
            | ({} if ranked.votes is None else {"votes": ranked.votes.tolist()})
            for heuristic, ranked in zip(path.heuristics, path.ranked, strict=True)
        ],
        "label_sets": _label_sets_to_plain(path.label_sets),
        **({} if path.weighed is None else {"weighed": _weighed_to_plain(path.weighed)}),
    }


def _weighed_to_plain(weighed: Any) -> dict[str, list[float]]:
    """What the rules of a path cover by weight, and the prior of each label."""
    return {name: column.tolist() for name, column in weighed._asdict().items()}


# -- checking ------------------------------------------------------------------------------------


def find_format(text: str, where: str) -> Any:
    """What a JSON text says that it is; None if it says nothing."""
    data = _parse(text, where)
    return data.get("format") if isinstance(data, dict) else None


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"{where} is nested too deeply to be read as JSON") from None
    except ValueError as error:
        raise ValueError(f"{where} is not JSON: {error}") from None


def _check_format(text: str, form: JsonFormat, where: str) -> dict[str, Any]:
    data, name, newest = _parse(text, where), form.name, form.version
    if not isinstance(data, dict) or data.get("format") != name:
        raise ValueError(f"{where} is not a {name}")
    if data.get("schema_version") not in range(1, newest + 1):
        raise ValueError(
            f"{where} has schema version {data.get('schema_version')!r}; this version of Steelyard "
            f"reads versions 1 to {newest}"
        )
    return data


@contextmanager
def reject_damage(what: str) -> Iterator[None]:
    """Say in one sentence what is damaged, and where."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{what}: {error}") from None


def get_field(data: Any, name: str, kind: type = object) -> Any:
    """A field of an object, if it is of a kind: list, dict, str or any."""
    if not isinstance(data, dict):
        raise ValueError(f"expected an object, got {reprlib.repr(data)}")
    if name not in data:
        raise ValueError(f"{name} is missing")
    if not isinstance(data[name], kind):
        raise ValueError(f"{name} must be {_KINDS[kind]}, got {reprlib.repr(data[name])}")
    return data[name]


def _make(kind: Any, data: Any) -> Any:
    """An object of a class that checks its fields; a field without a value may be missing."""
    is_object = isinstance(data, dict)
    names = [
        f.name for f in fields(kind) if f.default is not None or (is_object and f.name in data)
    ]
    return kind(**{name: get_field(data, name) for name in names})


def _read_each(data: Any, name: str, noun: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The items of a list, each read by a function; an error says which item it is."""
    found = []
    for i, item in enumerate(get_field(data, name, list), start=1):
        with reject_damage(f"{noun} {i}"):
            found.append(read(item))
    return tuple(found)


def _integers(data: Any, name: str, least: float = 0, most: float = _MOST) -> NDArray[np.int64]:
    values = get_field(data, name, list)
    wrong = [value for value in values if not is_integer(value, least, most)]  # type: ignore[arg-type]
    if wrong:
        raise ValueError(f"{name} must be integers from {least:,} to {most:,}, got {wrong[0]!r}")
    return np.array(values, dtype=np.int64)


# -- reading -------------------------------------------------------------------------------------


def _read_number(value: Any) -> float:
    """A number that may be infinite, then written as text."""
    if value not in ("inf", "-inf") and not is_number(value):
        raise ValueError(f"value must be a number, got {reprlib.repr(value)}")
    return float(value)


def _read_rule(data: Any, value: float | None = None) -> ScoredRule:
    """A rule; `value` is that of a rule without one."""
    rule = _read_bare_rule(data)
    is_counted = get_field(data, "tp") is not None or get_field(data, "fp") is not None
    provenance = _read_part(data, "provenance", Provenance) or Provenance()
    number = data.get("value", value)
    return ScoredRule(
        rule,
        _make(Evidence, data) if is_counted else None,
        None if number is None and not provenance.is_learned else _read_number(number),
        data.get("points"),
        _read_part(data, "held_out", Evidence),
        provenance,
        data.get("confidence"),
    )


def _read_bare_rule(data: Any) -> Rule:
    body = get_field(data, "body", list)
    for item in body:
        if not isinstance(item, list) or len(item) != 3:
            raise ValueError(
                "a condition must be an attribute, an operator and a value, "
                f"got {reprlib.repr(item)}"
            )
    return Rule(_make(Head, data), tuple(Condition(*item) for item in body))


def _read_edit(data: Any) -> Edit:
    """A step of the history; only the action is always there."""
    action = get_field(data, "action")
    more = {name: data[name] for name in ("when", "note", "points") if name in data}
    more |= {
        name: _read_bare_rule(get_field(data, name)) for name in ("rule", "new") if name in data
    }
    return Edit(action, **more)


def _read_part(data: Any, name: str, kind: Any) -> Any:
    """An object that may be missing, made of a class."""
    if name not in data:
        return None
    part = get_field(data, name, dict)
    with reject_damage(name):
        return _make(kind, part)


def _read_evidence_from(data: Any) -> EvidenceFrom:
    plain = get_field(data, "evidence_from", dict)
    return EvidenceFrom(get_field(plain, "kind"), _read_judgement(plain))


def _read_judgement(data: Any) -> Judgement | None:
    if "judgement" not in data:
        return None
    plain = get_field(data, "judgement", dict)
    labels = tuple(
        as_text(name, "a label of the judgement") for name in get_field(plain, "labels", list)
    )
    pairs = []
    for name in ("values", "confusion"):
        items = get_field(plain, name, list)
        if not all(isinstance(item, list) for item in items):
            raise ValueError(f"{name} must be a list of lists")
        pairs.append(tuple(map(tuple, items)))
    return Judgement(get_field(plain, "n_rows"), pairs[0], labels, pairs[1])


def _read_classes(data: Any) -> tuple[Any, ...]:
    classes = get_field(data, "classes", list)
    is_text = all(isinstance(value, str) for value in classes)
    if not is_text and not all(isinstance(v, bool) or is_number(v) for v in classes):
        raise ValueError(f"classes must be texts or numbers, got {reprlib.repr(classes)}")
    return tuple(classes)


def _read_label_sets(data: Any) -> KnownLabelSets | None:
    def read(item: Any) -> tuple[tuple[Any, ...], Any]:
        return tuple(get_field(item, "labels", list)), get_field(item, "count")

    pairs = _read_each(data, "label_sets", "label set", read)
    return KnownLabelSets(*zip(*pairs, strict=True)) if pairs else None


def _read_shared(data: Any, value: float | None = None) -> dict[str, Any]:
    """What theories and paths have in common."""
    return {
        "features": _read_each(data, "features", "attribute", lambda item: _make(Feature, item)),
        "labels": _read_labels(data),
        "rules": _read_each(data, "rules", "rule", lambda item: _read_rule(item, value)),
        "combiner": combiner_from_plain(data.get("combiner")),
        "classes": _read_classes(data),
    }


def _read_labels(data: Any) -> tuple[Label, ...]:
    return _read_each(data, "labels", "label", lambda item: _make(Label, item))


def theory_parts(data: dict[str, Any]) -> dict[str, Any]:
    """The parts of the theory that `theory_to_plain` or an older version wrote."""
    if data["schema_version"] <= 2:
        data = _upgrade_theory(data)
    if data["schema_version"] <= 3:
        data = {**data, "evidence_from": _evidence_from_to_plain(EvidenceFrom())}
    return _read_shared(data) | {
        "decoder": decoder_from_plain(data.get("decoder"), _read_label_sets(data)),
        "heuristic": get_field(data, "heuristic"),
        "phi": get_field(data, "phi"),
        "evidence_from": _read_evidence_from(data),
        "history": _read_each(data, "history", "edit", _read_edit) if "history" in data else (),
    }


def path_parts(data: dict[str, Any]) -> dict[str, Any]:
    """The parts of the path that `path_to_plain` or an older version wrote; a ranking is a dict."""
    if data["schema_version"] < PATH.version:
        data = _upgrade_path(data)
    phis = get_field(data, "phis", list)
    if not all(is_number(phi) and 0 < phi <= 1 for phi in phis):
        raise ValueError(f"phis must be numbers above 0 and at most 1, got {phis!r}")
    bounds = {name: data[name] for name in _BOUNDS if name in data}
    for name, bound in bounds.items():
        if not is_integer(bound, 1):
            raise ValueError(f"{name} must be a positive integer, got {reprlib.repr(bound)}")
    is_sorted = bounds.keys() <= {"max_rules", "max_total_conditions"}
    shared = _read_shared(data, value=0.0)
    n_rules = len(shared["rules"])
    pairs = _read_each(
        data,
        "heuristics",
        "heuristic",
        lambda x: (
            heuristic_from_dict(get_field(x, "heuristic", dict)),
            _read_ranking(x, n_rules, is_sorted),
        ),
    )
    return (
        shared
        | bounds
        | {
            "heuristics": tuple(heuristic for heuristic, _ in pairs),
            "ranked": tuple(ranking for _, ranking in pairs),
            "phis": tuple(map(float, phis)),
            "label_sets": _read_label_sets(data),
            "weighed": _read_weighed(data, n_rules, len(shared["labels"])),
        }
    )


def _read_weighed(data: Any, n_rules: int, n_labels: int) -> dict[str, Any] | None:
    """What so many rules cover by weight; None if the examples have no weights."""
    if "weighed" not in data:
        return None
    columns = {}
    # Files from before silence counted weights lack the last two: there an example counts 1.
    ones = dict.fromkeys(("per_positive", "per_negative"), [1.0] * n_labels)
    weighed = ones | get_field(data, "weighed", dict)
    lengths = {"tp": n_rules, "fp": n_rules, "prior": n_labels} | dict.fromkeys(ones, n_labels)
    for name, length in lengths.items():
        numbers = get_field(weighed, name, list)
        if len(numbers) != length or not all(is_number(x) and 0 <= x < math.inf for x in numbers):
            raise ValueError(f"{name} of weighed must be {length} numbers of at least 0")
        columns[name] = np.array(numbers, dtype=np.float64)
    return columns


def _read_ranking(data: Any, n_rules: int, is_sorted: bool = True) -> dict[str, Any]:
    """The ranking of a heuristic over so many rules, unless some are protected sorted by values."""
    ranking: dict[str, Any] = {
        "rule_idx": _integers(data, "rules", 0, n_rules - 1).astype(np.intp),
        "values": np.array(
            [_read_number(value) for value in get_field(data, "values", list)], float
        ),
        "new_tp": _integers(data, "new_tp"),
        "new_fp": _integers(data, "new_fp"),
        "votes": _integers(data, "votes", -_MOST) if "votes" in data else None,
    }
    lengths = {name: len(part) for name, part in ranking.items() if part is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the lists have different lengths: {lengths}")
    if is_sorted and (ranking["values"][1:] > ranking["values"][:-1]).any():
        raise ValueError("the values are not sorted")
    return ranking


# -- older versions ------------------------------------------------------------------------------


def _get_one_of(data: Any, name: str, known: tuple[str, ...]) -> Any:
    value = get_field(data, name)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {reprlib.repr(value)}")
    return value


def _get_output(data: Any) -> Any:
    return _get_one_of(data, "output", ("multilabel", "binary", "multiclass", "ordered"))


def _upgrade_theory(data: dict[str, Any]) -> dict[str, Any]:
    """Versions 1 and 2, which had `output`, `combine`, `start_points` and `min_share`."""
    output = _get_output(data)
    combiner: dict[str, Any] = {"name": "any-rule"}
    if output == "ordered":
        sizes = [label.n_positives for label in _read_labels(data)]
        order = sorted(range(len(sizes)), key=lambda j: sizes[j])
        combiner = {"name": "first-rule", "order": order}
    if data["schema_version"] == 2:
        is_sum = _get_one_of(data, "combine", ("any", "weighted")) == "weighted"
        start = get_field(data, "start_points", list)
        combiner = {"name": "sum-of-votes" if is_sum else "strongest-vote", "start": start}
    elif "start_points" in data or "label_sets" in data:
        raise ValueError("schema version 1 has neither start points nor label sets")
    decoder: dict[str, Any] = {"name": "each-label", "threshold": 0.5}
    if output in ("multiclass", "ordered"):
        decoder = {"name": "best-label"}
    if "label_sets" in data or "min_share" in data:
        weight = get_field(data, "frequency_weight")
        decoder = {"name": "best-label-set", "frequency_weight": weight, "silence": 1.0}
    if "min_share" in data:
        decoder |= {"name": "label-set-votes", "threshold": data["min_share"]}
    return {"label_sets": [], **data, "combiner": combiner, "decoder": decoder}


def _upgrade_path(data: dict[str, Any]) -> dict[str, Any]:
    """Version 1, whose rules had the position of their label."""
    _get_output(data)
    labels = _read_labels(data)

    def name_label(rule: Any) -> Any:
        j = get_field(rule, "label")
        if not is_integer(j, 0, len(labels) - 1):
            raise ValueError(f"there is no label {reprlib.repr(j)}; there are {len(labels)}")
        return rule | {"label": labels[j].name, "target_class": labels[j].target_class}

    rules = list(_read_each(data, "rules", "rule", name_label))
    return {**data, "rules": rules, "label_sets": [], "combiner": {"name": "any-rule"}}


# Theories: 1 rules that decide; 2 points and label sets; 3 a combiner and a decoder; 4 what the evidence
# is from, held-out evidence, provenance, rules without evidence, and the history of edits.
THEORY = JsonFormat("steelyard theory", 4, theory_to_plain, theory_parts)
# Paths: 1 rules that decide; 2 a combiner, votes and label sets.
PATH = JsonFormat("steelyard path", 2, path_to_plain, path_parts)
