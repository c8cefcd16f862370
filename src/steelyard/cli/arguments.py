"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
        help="For a file of a study's theories/: which family.  [default: m-estimate]",
        show_default=False,
    ),
]
CellParameter = Annotated[
    float | None,
    typer.Option("--parameter", help="Likewise: m or β.  [default: 16 or 1]", show_default=False),
]
CellPhi = Annotated[
    float | None,
    typer.Option("--phi", help="Likewise: the share φ.  [default: 0.5]", show_default=False),
]
