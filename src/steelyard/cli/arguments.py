"""Arguments and options that several commands have."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Annotated

import typer


def check_writable(path: Path | None) -> Path | None:
    """The error that writing a file would end with, said before the work; nothing is created."""
    if path is None:
        return None
    number = 0
    if path.is_dir():
        number = errno.EISDIR
    elif path.exists():
        number = 0 if os.access(path, os.W_OK) else errno.EACCES
    elif not path.parent.exists():
        number = errno.ENOENT
    elif not path.parent.is_dir():
        number = errno.ENOTDIR
    elif not os.access(path.parent, os.W_OK | os.X_OK):
        number = errno.EACCES
    if number:
        raise OSError(number, os.strerror(number), str(path))
    return path


def keep_inputs(out: Path | None, *inputs: str | Path) -> None:
    """Refuse an output that would replace a file that the command reads."""
    if out is None or not out.exists():
        return
    for name in inputs:
        path = Path(name)
        if path.exists() and any(path.samefile(place) for place in (out, out.absolute().parent)):
            raise ValueError(
                f"'{out}' is read by this command and would be lost: choose another -o"
            )


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="An embedded or OpenML name, an ARFF, CSV or Parquet file, or a folder with a Mulan pair.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", help="Label columns of a CSV or Parquet file: a,b.", show_default=False
    ),
]
Ignore = Annotated[
    str | None,
    typer.Option(
        "--ignore",
        help="Columns of such a file to leave out, as a row number: a,b.",
        show_default=False,
    ),
]
Nominal = Annotated[
    str | None,
    typer.Option(
        "--nominal",
        help="Columns of numbers that are codes, whose values have no order: a,b.",
        show_default=False,
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="The file to write.  \\[default: standard output]",
        show_default=False,
        callback=check_writable,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

TheoryFile = Annotated[
    Path,
    typer.Argument(
        metavar="THEORY",
        help="A theory in JSON, or a file of a study's theories/.",
        show_default=False,
    ),
]
# Which theory of such a file.
CellHeuristic = Annotated[
    str | None,
    typer.Option(
        "--heuristic",
        help="For a file of a study's theories/: which family.  \\[default: m-estimate]",
        show_default=False,
    ),
]
CellParameter = Annotated[
    float | None,
    typer.Option("--parameter", help="Likewise: m or β.  \\[default: 16 or 1]", show_default=False),
]
CellPhi = Annotated[
    float | None,
    typer.Option("--phi", help="Likewise: the share φ.  \\[default: 0.5]", show_default=False),
]
