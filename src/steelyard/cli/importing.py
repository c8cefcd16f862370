"""``steelyard import``: rules that another program wrote → a theory in a file."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import steelyard

from .consoles import print_result
from .inputs import load_examples
from .options import Data, Json, TheoryOutFile, keep_inputs, option

RuleFormat = StrEnum("RuleFormat", ["decision-rules", "wittgenstein", "boomer"])

_FORMAT = (
    "decision-rules: the JSON of RuleKit's companion decision-rules; wittgenstein: a printed rule set; "
    "boomer: rules that BOOMER prints or stores."
)
_LABELS = (
    "The labels that the rules predict, or the column of classes, if the file does not name them."
)


def import_command(
    file: Annotated[
        Path,
        typer.Argument(metavar="RULES", exists=True, dir_okay=False, help="The rules to read."),
    ],
    data: Data,
    out: TheoryOutFile,
    format: Annotated[RuleFormat | None, option(_FORMAT, default="recognized")] = None,
    labels: Annotated[str | None, option(_LABELS, metavar="A,B")] = None,
    as_json: Json = False,
) -> None:
    """Read rules of another learner and save them as a theory.

    DATA has their attributes. If it also has the labels, the rules are counted on it. Trees of
    scikit-learn are imported in Python, by `steelyard.import_theory(tree)`.

    Example: steelyard import boomer.txt patients.csv -o theory.json
    """
    keep_inputs(out, file, data)
    theory = _read(file, data, format and format.value, labels)
    theory.to_json(out)
    content: dict[str, Any] = {
        "theory": str(out),
        "n_rules": len(theory),
        "n_conditions": theory.n_conditions,
        "labels": list(theory.label_names),
        "evidence": theory.evidence_from.kind,
    }
    views = filter(None, [f"{theory.summary} → {out}", theory.evidence_note])
    print_result(as_json, content, *views)


def _read(file: Path, data: str, format: str | None, labels: str | None) -> "steelyard.Theory":
    from steelyard.data.sources import brings_labels, read_attributes
    from steelyard.importing.entry import import_theory, names_labels

    table, has_labels = read_attributes(data), brings_labels(data)
    names = [name.strip() for name in labels.split(",")] if labels else []
    for name in names:
        if name not in table and not has_labels:
            raise typer.BadParameter(f"{data} has no column {name!r}", param_hint="--labels")
    if not names and not names_labels(file, format):
        raise typer.BadParameter(
            f"{file} does not name the label that its rules predict", param_hint="--labels"
        )
    X = table.drop(columns=[name for name in names if name in table])
    theory = _drop_labels(import_theory(file, X, format=format, label_names=names or None))
    if not theory.is_multilabel:
        has_classes = len(names) == 1 and names[0] in table
        return theory.recount(X, table[names[0]]) if has_classes else theory
    if has_labels or all(name in table for name in theory.label_names):
        loaded = load_examples(theory, data, None)
        return theory.recount(loaded.X, loaded.Y)
    return theory


def _drop_labels(theory: "steelyard.Theory") -> "steelyard.Theory":
    """The theory without attributes that are its labels: a table does not tell them apart."""
    tested = {condition.feature for scored in theory for condition in scored.body}
    others = {name for name in theory.label_names if name not in tested}
    return replace(theory, features=tuple(f for f in theory.features if f.name not in others))
