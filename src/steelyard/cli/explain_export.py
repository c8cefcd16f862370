"""``steelyard explain`` and ``steelyard export``: a saved theory, for people and for other programs."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard._files import write_atomically

from .arguments import (
    CellHeuristic,
    CellParameter,
    CellPhi,
    Data,
    Json,
    OutFile,
    TheoryFile,
    keep_inputs,
)
from .consoles import print_json
from .reading import read_theory

if TYPE_CHECKING:
    from steelyard.explain import Explanation


class Format(StrEnum):
    """What a theory can be exported to."""

    sql = "sql"
    python = "python"
    pmml = "pmml"
    latex = "latex"
    markdown = "markdown"
    text = "text"
    json = "json"


class Dialect(StrEnum):
    """Whose SQL."""

    sqlite = "sqlite"
    duckdb = "duckdb"
    postgres = "postgres"
    ansi = "ansi"


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("explain")(explain_command)
    app.command("export")(export_command)


def explain_command(
    theory: TheoryFile,
    data: Data,
    row: Annotated[int, typer.Option(min=0, help="Which example, counted from 0.")] = 0,
    closest: Annotated[
        int, typer.Option(min=1, help="How many rules to compare with if none fires.")
    ] = 3,
    heuristic: CellHeuristic = None,
    parameter: CellParameter = None,
    phi: CellPhi = None,
    as_json: Json = False,
) -> None:
    """Say why a theory predicts what it predicts for one example.

    Example: [bold]steelyard explain theory.json patients.csv --row 12[/bold]
    """
    from steelyard.data.sources import read_attributes

    learned = read_theory(theory, heuristic, parameter, phi)
    table = read_attributes(data)
    if row >= len(table):
        raise typer.BadParameter(
            f"{data} has {len(table)} examples, 0 to {len(table) - 1}", param_hint="--row"
        )
    explanation = learned.explain(table.iloc[[row]], n_closest=closest)
    if as_json:
        print_json(_to_dict(explanation))
    else:
        typer.echo(str(explanation))


def export_command(
    theory: TheoryFile,
    to: Annotated[Format, typer.Option("--to", help="The format.", show_default=False)],
    dialect: Annotated[
        Dialect | None, typer.Option(help="Whose SQL.  \\[default: sqlite]", show_default=False)
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="The table that the SQL reads.  \\[default: data]", show_default=False),
    ] = None,
    out: OutFile = None,
    heuristic: CellHeuristic = None,
    parameter: CellParameter = None,
    phi: CellPhi = None,
) -> None:
    """Turn a theory into SQL, Python, PMML, LaTeX, Markdown, text or JSON.

    PMML is for theories without votes: rules that vote or that choose label sets have no place in it.

    Example: [bold]steelyard export theory.json --to sql --table patients -o predict.sql[/bold]
    """
    keep_inputs(out, theory)
    for_sql = {"dialect": dialect, "table": table}
    given = {name: str(value) for name, value in for_sql.items() if value is not None}
    if given and to is not Format.sql:
        raise typer.BadParameter(
            f"this is for --to sql, not for {to.value}", param_hint=[f"--{name}" for name in given]
        )
    learned = read_theory(theory, heuristic, parameter, phi)
    if to is Format.sql:
        text = learned.to_sql(**given)
    else:
        text = str(getattr(learned, f"to_{to.value}")())
    if out is not None:
        write_atomically(out, text.encode())
    else:
        sys.stdout.write(text)


def _to_dict(explanation: Explanation | list[Explanation]) -> dict[str, Any]:
    """One row is one explanation; its rules are plain records."""
    assert not isinstance(explanation, list)
    predicted = explanation.predicted
    rules = explanation.to_frame().astype(object)
    return {
        "predicted": list(predicted) if isinstance(predicted, tuple) else predicted,
        "labels": {label.name: label.predicted for label in explanation},
        "reasons": {label.name: label.reason for label in explanation},
        "rules": rules.where(rules.notna(), None).to_dict("records"),
    }
