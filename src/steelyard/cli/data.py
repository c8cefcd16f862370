"""``steelyard data list``, ``show`` and ``fetch``: the data sets that commands can read."""

from typing import Annotated, Any

import typer

from .consoles import make_table, print_result
from .inputs import load_data
from .options import Data, Json, Labels

data_app = typer.Typer(no_args_is_help=True, help="List, show and fetch data sets.")


@data_app.command("list")
def list_command(as_json: Json = False) -> None:
    """List the data sets that have a name.

    Example: [bold]steelyard data list[/bold]
    """
    from steelyard.data.openml import KNOWN_DATA_SETS
    from steelyard.data.sources import EMBEDDED

    rows = [(name, "embedded", topic) for name, (_, topic) in EMBEDDED.items()]
    rows += [(name, "OpenML", topic) for name, (_, topic) in KNOWN_DATA_SETS.items()]
    content = [dict(zip(("name", "from", "topic"), row, strict=True)) for row in rows]
    print_result(as_json, content, make_table(content))


@data_app.command("show")
def show_command(data: Data, labels: Labels = None, as_json: Json = False) -> None:
    """Show the size of a data set and the frequency of its labels.

    Example: [bold]steelyard data show patients.csv --labels cough,fever[/bold]
    """
    loaded = load_data(data, labels)
    counts = loaded.Y.sum(axis=0)
    content: dict[str, Any] = {
        "name": loaded.name,
        "n_examples": len(loaded),
        "n_features": loaded.X.shape[1],
        "n_labels": loaded.Y.shape[1],
        "cardinality": loaded.cardinality,
        "labels": {str(name): int(count) for name, count in counts.items()},
    }
    rows = [
        {"label": name, "examples": str(count), "share": f"{count / len(loaded):.1%}"}
        for name, count in content["labels"].items()
    ]
    print_result(as_json, content, repr(loaded), make_table(rows, "examples", "share"))


@data_app.command("fetch")
def fetch_command(
    name: Annotated[str, typer.Argument(help="A name from [bold]steelyard data list[/bold].")],
) -> None:
    """Download a data set from OpenML once. Later commands find it in the cache.

    Example: [bold]steelyard data fetch yeast[/bold]
    """
    from steelyard.data import fetch_multilabel

    typer.echo(repr(fetch_multilabel(name)))
