"""``steelyard predict``, ``evaluate`` and ``rules``: what a saved theory says."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard._files import write_atomically

from .arguments import (
    CellHeuristic,
    CellParameter,
    CellPhi,
    Data,
    Json,
    Labels,
    OutFile,
    TheoryFile,
    keep_inputs,
)
from .consoles import output_console, print_json
from .reading import read_theory, refuse_columns

if TYPE_CHECKING:
    from steelyard import Theory


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("predict")(predict_command)
    app.command("evaluate")(evaluate_command)
    app.command("rules")(rules_command)


def predict_command(
    theory: TheoryFile,
    data: Data,
    out: OutFile = None,
    heuristic: CellHeuristic = None,
    parameter: CellParameter = None,
    phi: CellPhi = None,
) -> None:
    """Predict the labels of every example.

    Example: [bold]steelyard predict theory.json new.csv -o predictions.csv[/bold]
    """
    from steelyard.data.sources import read_attributes

    keep_inputs(out, theory, data)
    learned = read_theory(theory, heuristic, parameter, phi)
    predicted = learned.predict(read_attributes(data))
    text = predicted.to_csv(index=False, lineterminator="\n")
    if out is None:
        sys.stdout.write(text)
    else:
        write_atomically(out, text.encode())
        typer.echo(f"{len(predicted)} predictions → {out}", err=True)


def evaluate_command(
    theory: TheoryFile,
    data: Data,
    labels: Labels = None,
    heuristic: CellHeuristic = None,
    parameter: CellParameter = None,
    phi: CellPhi = None,
    as_json: Json = False,
) -> None:
    """Compare a theory's predictions with the true labels, by every measure.

    Example: [bold]steelyard evaluate theory.json test.csv --json[/bold]
    """
    from rich.table import Table

    from steelyard.data import DataError
    from steelyard.data.sources import load_source
    from steelyard.measures import MEASURES

    learned = read_theory(theory, heuristic, parameter, phi)
    refuse_columns([data], labels=labels)
    loaded = load_source(data, (labels,) if labels else learned.label_names, constant="keep")
    missing = [name for name in learned.label_names if name not in loaded.Y.columns]
    if missing:
        raise DataError(f"{data} has no label {missing[0]!r}, which the theory predicts")
    truth = loaded.Y[list(learned.label_names)]
    predicted = learned.predict(loaded.X)
    values = {name: measure(truth, predicted) for name, measure in MEASURES.items()}
    if as_json:
        print_json({"n_examples": len(truth), "n_rules": len(learned), **values})
        return
    table = Table(title=f"{theory.name} on {loaded.name}, {len(truth)} examples")
    table.add_column("measure")
    table.add_column("value", justify="right")
    for name, value in values.items():
        table.add_row(MEASURES[name].title, f"{100 * value:.2f} %")
    output_console().print(table)


def rules_command(
    theory: TheoryFile,
    label: Annotated[
        str | None, typer.Option(help="Only the rules of this label.", show_default=False)
    ] = None,
    heuristic: CellHeuristic = None,
    parameter: CellParameter = None,
    phi: CellPhi = None,
    as_json: Json = False,
) -> None:
    """Show the rules of a theory, or of any cell of a study's grid.

    Example: [bold]steelyard rules results/theories/segments/fold-1.json.gz --parameter 32[/bold]
    """
    import json

    learned = read_theory(theory, heuristic, parameter, phi)
    if label is not None:
        learned = _only_label(learned, label)
    if as_json:
        rules = learned.to_frame().to_dict(orient="records")
        print_json(json.loads(json.dumps(rules)))
    else:
        typer.echo(str(learned))


def _only_label(theory: Theory, label: str) -> Theory:
    from dataclasses import replace

    rules = theory.rules_of(label)
    labels = tuple(known for known in theory.labels if known.name == label)
    return replace(theory, labels=labels, scored_rules=rules)
