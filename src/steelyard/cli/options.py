"""Arguments and options that several commands share. Knows paths, nothing of their content."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer


def option(help_text: str, *names: str, default: str | bool = False, **settings: Any) -> Any:
    """Describe an option whose default is the given text, or no text."""
    return typer.Option(*names, help=help_text, show_default=default, **settings)


def check_folder(path: Path | None) -> Path | None:
    """Fail early if the folder of an output file accepts no new file."""
    # A pipe or a device is written in place; other files are replaced as a whole.
    if path is not None and (path.is_file() or not path.exists()):
        folder = path.resolve().parent
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise typer.BadParameter(f"'{folder}' is not a folder that you can write to")
    return path


def _check_jobs(n_jobs: int) -> int:
    if n_jobs == 0:
        raise typer.BadParameter("must be at least 1, or -1 for all cores")
    return n_jobs


def keep_inputs(out: Path | None, *inputs: str | Path) -> None:
    """Reject an output file that would replace a file that the command reads."""
    if out is None or not out.exists():
        return
    for path in map(Path, inputs):
        if path.exists() and any(path.samefile(place) for place in (out, out.absolute().parent)):
            message = f"'{out}' is an input of this command: choose another file"
            raise typer.BadParameter(message, param_hint="--out")


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A name from [bold]steelyard data list[/bold], a CSV, Parquet or ARFF file, or a folder "
        "with a Mulan pair.",
    ),
]
columns = partial(option, metavar="A,B")
Labels = Annotated[str | None, columns("The label columns of a CSV or Parquet file.")]
_OUT: Any = {"dir_okay": False, "writable": True, "readable": False, "callback": check_folder}
OutFile = Annotated[
    Path | None, option("The file to write.", "--out", "-o", default="standard output", **_OUT)
]
TheoryOutFile = Annotated[Path, option("The file for the theory, in JSON.", "--out", "-o", **_OUT)]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", callback=_check_jobs, help="Number of cores; -1: all.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TheoryFile = Annotated[
    Path,
    typer.Argument(
        metavar="THEORY",
        exists=True,
        dir_okay=False,
        help="A theory in JSON, or a file in the folder [bold]theories[/bold] of a study.",
    ),
]
