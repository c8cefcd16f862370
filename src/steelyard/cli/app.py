"""The application that commands register with, and its global options."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    name="steelyard",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. NO_COLOR is respected.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from .versions import describe_versions

        typer.echo(describe_versions())
        raise typer.Exit


@app.callback()
def steelyard(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show versions and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Multi-label rule learning: readable rules, tuned for the measure you care about.

    Example: [bold]steelyard study --out results[/bold]
    """
