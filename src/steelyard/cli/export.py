"""``steelyard export``: a theory → another language or format."""

from enum import StrEnum
from typing import Annotated

import typer

import steelyard

from .consoles import write_output
from .inputs import with_theory
from .options import OutFile, option

Format = StrEnum("Format", ["sql", "python", "pmml", "latex", "markdown", "html", "text", "json"])
Dialect = StrEnum("Dialect", ["sqlite", "duckdb", "postgres", "ansi"])


@with_theory
def export(
    theory: "steelyard.Theory",
    to: Annotated[Format, typer.Option(help="The format.")],
    dialect: Annotated[Dialect | None, option("The SQL dialect.", default="sqlite")] = None,
    table: Annotated[str | None, option("The table that the SQL reads.", default="data")] = None,
    out: OutFile = None,
) -> None:
    """Write a theory as SQL, Python, PMML, LaTeX, Markdown, HTML, text or JSON.

    Not every format can express rules that vote or label sets. Then the export is rejected.

    Example: [bold]steelyard export theory.json --to sql --table patients -o predict.sql[/bold]
    """
    options = {"dialect": dialect, "table": table}
    given = {name: str(value) for name, value in options.items() if value is not None}
    if given and to is not Format.sql:
        hint = [f"--{name}" for name in given]
        raise typer.BadParameter(f"this option is only for --to sql, not for {to}", param_hint=hint)
    write_output(out, getattr(theory, f"to_{to}")(**given))
