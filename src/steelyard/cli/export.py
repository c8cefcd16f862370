"""``steelyard export``: a theory → another language or format."""

from enum import StrEnum
from typing import Annotated

import typer

import steelyard

from .consoles import write_output
from .inputs import with_theory
from .options import ByOption, OutFile, option

Format = StrEnum("Format", ["sql", "python", "pmml", "latex", "markdown", "html", "text", "json"])
Dialect = StrEnum("Dialect", ["sqlite", "duckdb", "postgres", "ansi"])

# The formats that an option is for.
FORMATS = {"dialect": ("sql",), "table": ("sql",), "by": ("text", "markdown", "latex", "html")}


@with_theory
def export(
    theory: "steelyard.Theory",
    to: Annotated[Format, typer.Option(help="The format.")],
    dialect: Annotated[Dialect | None, option("The SQL dialect.", default="sqlite")] = None,
    table: Annotated[str | None, option("The table that the SQL reads.", default="data")] = None,
    by: ByOption = None,
    out: OutFile = None,
) -> None:
    """Write a theory in another format, such as SQL or Python.

    Not every format can express rules that vote or label sets. Then the export is rejected.

    Example: steelyard export theory.json --to sql --table patients -o rules.sql
    """
    options = {"dialect": dialect, "table": table, "by": by}
    given = {name: str(value) for name, value in options.items() if value is not None}
    for name in given:
        if to not in FORMATS[name]:
            formats = ", ".join(FORMATS[name])
            message = f"this option is only for --to {formats}, not for {to}"
            raise typer.BadParameter(message, param_hint=f"--{name}")
    write_output(out, getattr(theory, f"to_{to}")(**given))
