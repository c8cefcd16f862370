"""``steelyard rules``: the rules of a theory, printed."""

from typing import Annotated

import typer

import steelyard

from .consoles import print_result
from .inputs import with_theory
from .options import ByOption, Json, check_by


@with_theory
def rules(
    theory: "steelyard.Theory",
    label: Annotated[str | None, typer.Option(help="Print only the rules of this label.")] = None,
    by: ByOption = None,
    as_json: Json = False,
) -> None:
    """Print the rules of a theory.

    Example: steelyard rules results/theories/patients/fold-1.json.gz --phi 1
    """
    shown_by = check_by(by, as_json)
    if label is not None and shown_by == "body":
        raise typer.BadParameter(
            "a body can have rules for several labels: use --by body without --label",
            param_hint="--by",
        )
    table, text = theory.to_frame(), theory.to_text(by=shown_by).removesuffix("\n")
    if label is not None:
        text = "\n".join(map(str, theory.rules_of(label)))
        table = table[table["label"] == label]
    print_result(as_json, table, text)
