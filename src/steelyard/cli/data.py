"""``steelyard data list``, ``show`` and ``fetch``."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import Data, Json, Labels
from .consoles import output_console, print_json
from .reading import load_labelled

data_app = typer.Typer(no_args_is_help=True, help="Data sets: list, show, fetch.")


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.add_typer(data_app, name="data")


@data_app.command("list")
def list_command(as_json: Json = False) -> None:
    """List the data sets that are known by name.

    Example: [bold]steelyard data list[/bold]
    """
    from rich.table import Table

    from steelyard.data.openml import KNOWN_DATA_SETS
    from steelyard.data.sources import EMBEDDED

    known = [
        {"name": name, "from": "embedded", "topic": EMBEDDED_TOPICS[name]} for name in EMBEDDED
    ]
    known += [
        {"name": name, "from": "OpenML", "topic": data_set.topic}
        for name, data_set in KNOWN_DATA_SETS.items()
    ]
    if as_json:
        print_json(known)
        return
    table = Table("name", "from", "topic")
    for entry in known:
        table.add_row(*entry.values())
    output_console().print(table)


EMBEDDED_TOPICS = {
    "segments": "dark segments of a display that shows handwritten digits",
    "planted": "generated from known rules",
}


@data_app.command("show")
def show_command(data: Data, labels: Labels = None, as_json: Json = False) -> None:
    """Say how large a data set is and how frequent its labels are.

    Example: [bold]steelyard data show patients.csv --labels cough,fever[/bold]
    """
    from rich.table import Table

    loaded = load_labelled(data, labels)
    counts = loaded.Y.sum(axis=0)
    if as_json:
        print_json(
            {
                "name": loaded.name,
                "n_examples": len(loaded),
                "n_features": loaded.X.shape[1],
                "n_labels": loaded.Y.shape[1],
                "cardinality": loaded.cardinality,
                "labels": {str(name): int(count) for name, count in counts.items()},
            }
        )
        return
    typer.echo(repr(loaded))
    table = Table("label")
    table.add_column("examples", justify="right")
    table.add_column("share", justify="right")
    for name, count in counts.items():
        table.add_row(str(name), str(int(count)), f"{count / len(loaded):.1%}")
    output_console().print(table)


@data_app.command("fetch")
def fetch_command(
    name: Annotated[str, typer.Argument(help="A name that [bold]data list[/bold] shows.")],
) -> None:
    """Download a data set from OpenML once; later commands find it in the cache.

    Example: [bold]steelyard data fetch yeast[/bold]
    """
    from steelyard.data import fetch_multilabel

    typer.echo(repr(fetch_multilabel(name)))
