"""The program `steelyard`: its commands, its global options, its errors and exit codes."""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer
import typer.core

from steelyard._extras import needed_here

from .compare import compare
from .consoles import describe_error, exit_on_signals, print_message
from .data import data_app
from .edit import edit
from .evaluate import evaluate
from .explain import explain
from .export import export
from .fit import fit
from .importing import import_command
from .merging import merge_command
from .predict import predict
from .recount import recount
from .rules import rules
from .stability import stability
from .study import report_command, study_command
from .warmup import warmup


class _Commands(typer.core.TyperGroup):
    """The commands; ``study merge`` is one, though ``study`` takes names of data sets."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that arguments begin with."""
        if args[:2] == ["study", "merge"]:
            args = ["study merge", *args[2:]]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help with rich takes 0.1 s longer
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 failure, 2 wrong usage, "
    "128 + n stopped by signal n, as 130 by Ctrl-C. "
    "Set NO_COLOR to switch colours off.",
)
app.command("study")(study_command)
app.command("study merge")(merge_command)
app.command("report")(report_command)
for command in (fit, predict, evaluate, rules, explain, stability, recount, compare, edit, export):
    app.command()(command)
app.command()(warmup)
app.command("import")(import_command)
app.add_typer(data_app, name="data")


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version
        from platform import python_version

        names = ("steelyard", "numpy", "scikit-learn")
        versions = [f"{name} {version(name)}" for name in names]
        typer.echo(", ".join([*versions, f"Python {python_version()}"]))
        raise typer.Exit


@app.callback()
def steelyard(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, help="Show the versions and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Learn readable rules for multi-label data, tuned for the measure you care about.

    Example: steelyard study --out results
    """


def _occupy_standard_files() -> None:
    """Open the null device where a standard stream is closed, so that no other file takes its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit. An error becomes one sentence on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _occupy_standard_files()
    # A terminal may lack symbols such as ←.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    exit_on_signals()
    warnings.showwarning = lambda message, *_, **__: print_message("note", str(message))
    warnings.simplefilter("default", UserWarning)
    try:
        with needed_here("rich"):
            # --debug may stand anywhere, also after the command.
            app([argument for argument in given if argument != "--debug"], prog_name="steelyard")
    except Exception as error:
        if "--debug" in given:
            raise
        print_message("error", describe_error(error))
    raise SystemExit(1)
