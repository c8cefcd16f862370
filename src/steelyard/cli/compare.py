"""``steelyard compare``: two theories → the rules that they share and where their predictions differ."""

from pathlib import Path
from typing import Annotated

import typer

import steelyard

from .consoles import print_result
from .inputs import read_theory, with_theory
from .options import Json, option


@with_theory
def compare(
    theory: "steelyard.Theory",
    other: Annotated[
        Path,
        typer.Argument(
            metavar="OTHER", exists=True, dir_okay=False, help="The theory to compare it with."
        ),
    ],
    data: Annotated[
        str | None, option("Data on which predictions and coverage are compared.", metavar="DATA")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare the rules and the predictions of two theories.

    It lists rules in both, in one, and similar ones, and with --data the predictions that differ.

    Example: steelyard compare old.json new.json --data patients.csv
    """
    from steelyard.data.sources import read_attributes

    try:
        second = read_theory(other, None, None, None)
    except typer.BadParameter as error:
        raise typer.BadParameter(str(error), param_hint="OTHER") from None
    comparison = theory.compare(second, None if data is None else read_attributes(data))
    content = {
        "n_examples": comparison.n_rows,
        "n_different": None if data is None else len(comparison.rows),
        "labels": {found.label: found.n_rows for found in comparison.differences},
        "rules": comparison.to_frame(),
    }
    print_result(as_json, content, str(comparison))
