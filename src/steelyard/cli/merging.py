"""``steelyard study merge``: several results folders → one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Jobs, Json, option
from .study import Trust, report_study


def merge_command(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Two or more results folders.")
    ],
    out: Annotated[Path, option("The new results folder.", "--out", "-o", metavar="DIR")],
    jobs: Jobs = -1,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Put studies with the same settings into one folder.

    The result is as if one study had computed everything. The studies may cover different data sets,
    folds, repetitions, baselines and methods.

    Example: steelyard study merge results-a results-b --out results
    """
    from steelyard.study import merge_studies

    report_study(merge_studies(folders, out, trust=trust, n_jobs=jobs), as_json)
