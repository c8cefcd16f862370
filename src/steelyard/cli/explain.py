"""``steelyard explain``: a theory and one example → the reasons for its prediction."""

from typing import Annotated, Any

import typer

import steelyard

from .consoles import print_result
from .inputs import with_theory
from .options import ByOption, Data, Json, check_by


@with_theory
def explain(
    theory: "steelyard.Theory",
    data: Data,
    row: Annotated[int, typer.Option(min=0, help="The example, counted from 0.")] = 0,
    closest: Annotated[
        int, typer.Option(min=1, help="How many rules to show that almost fire, if no rule fires.")
    ] = 3,
    by: ByOption = None,
    as_json: Json = False,
) -> None:
    """Explain what a theory predicts for one example.

    Example: steelyard explain theory.json patients.csv --row 12
    """
    from steelyard.data.sources import read_attributes

    shown_by = check_by(by, as_json)
    table = read_attributes(data)
    if row >= len(table):
        raise typer.BadParameter(f"{data} has {len(table)} examples", param_hint="--row")
    labels = "all" if as_json else None
    explanation: Any = theory.explain(table.iloc[[row]], n_closest=closest, labels=labels)
    content = {
        "predicted": explanation.predicted,
        "labels": {label.name: label.predicted for label in explanation},
        "reasons": {label.name: label.reason for label in explanation},
        "rules": explanation.to_frame(),
    }
    print_result(as_json, content, explanation.to_text(shown_by).removesuffix("\n"))
