"""``steelyard rules``: the rules of a theory, printed."""

from typing import Annotated

import typer

import steelyard

from .consoles import print_result
from .inputs import with_theory
from .options import Json


@with_theory
def rules(
    theory: "steelyard.Theory",
    label: Annotated[str | None, typer.Option(help="Print only the rules of this label.")] = None,
    as_json: Json = False,
) -> None:
    """Print the rules of a theory.

    Example: steelyard rules results/theories/patients/fold-1.json.gz --phi 1
    """
    table, text = theory.to_frame(), str(theory)
    if label is not None:
        text = "\n".join(map(str, theory.rules_of(label)))
        table = table[table["label"] == label]
    print_result(as_json, table, text)
