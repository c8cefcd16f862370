"""``steelyard data list``, ``show`` and ``fetch``: the data sets that commands can read."""

import os
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

import steelyard

from .consoles import describe_error, make_table, print_message, print_result
from .inputs import load_data
from .options import Data, Json, Labels

data_app = typer.Typer(no_args_is_help=True, help="List, show and fetch data sets.")


@data_app.command("list")
def list_command(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="A folder of data sets to list and count instead of the catalogue.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the catalogue of data sets, or the data sets in a folder.

    Those in the folder that the variable STEELYARD_DATA names are from `here`.

    Example: steelyard data list
    """
    content = _list_catalogue() if folder is None else [_show_local(p) for p in _list_local(folder)]
    if not content:
        raise typer.BadParameter(f"no folder in '{folder}' has an ARFF file", param_hint="DIR")
    rows = [_show_entry(entry) for entry in content]
    print_result(as_json, content, make_table(rows, *_SIGNS), _LEGEND)


_SIGNS = {
    "n": ("n_examples", ","),
    "d": ("n_features", ","),
    "q": ("n_labels", ","),
    "card": ("cardinality", ".2f"),
    "dens": ("density", ".3f"),
    "sets": ("n_label_sets", ","),
    "IR": ("mean_imbalance", ".1f"),
}
_LEGEND = (
    "n examples, d attributes, q labels; card: labels per example; dens: card / q; sets: distinct label "
    "sets; IR: mean imbalance of the labels; –: unknown. Whole hashes, and who counted: --json."
)


def _list_local(folder: Path) -> list[Path]:
    from steelyard.data.catalogue import list_local

    return list(list_local(folder))


def _list_catalogue() -> list[dict[str, Any]]:
    """Every data set with a name: embedded, in the catalogue or in the folder STEELYARD_DATA."""
    from steelyard.data.catalogue import FOLDER_VARIABLE, find_local, read_catalogue
    from steelyard.data.sources import EMBEDDED

    rows: list[dict[str, Any]] = [
        _describe(load()) | {"from": "embedded", "topic": topic, "numbers": "counted"}
        for load, topic in EMBEDDED.values()
    ]
    for entry in read_catalogue().values():
        local = find_local(entry.name)
        place = {"from": "GitHub" if entry.openml is None else "OpenML", "folder": None}
        rows.append(entry._asdict() | place if local is None else _show_local(local))
    folder = os.environ.get(FOLDER_VARIABLE)
    known = {row["name"] for row in rows}
    others = _list_local(Path(folder)) if folder and Path(folder).is_dir() else []
    return rows + [_show_local(path) for path in others if path.name not in known]


def _show_local(path: Path) -> dict[str, Any]:
    """A data set in a folder; if it cannot be read, without numbers and with a note that says why."""
    from steelyard.data import DataError
    from steelyard.data.catalogue import find_entry

    try:
        return _count_local(path)
    except (DataError, OSError) as error:
        print_message("note", f"{path.name} cannot be counted: {describe_error(error)}")
    entry = find_entry(path.name)
    unknown = dict.fromkeys([name for name, _ in _SIGNS.values()] + ["sha256", "numbers"])
    about = {"name": path.name, "from": "here", "folder": str(path)}
    return about | unknown | {"topic": "" if entry is None else entry.topic}


def _count_local(path: Path) -> dict[str, Any]:
    """A data set in a folder: as in the catalogue if it is the file that was counted, else counted."""
    from steelyard.data.catalogue import find_entry, hash_file
    from steelyard.data.sources import find_arff, load_source

    sha256, entry = hash_file(find_arff(path)), find_entry(path.name)
    about = {"name": path.name, "from": "here", "folder": str(path), "sha256": sha256}
    if entry is not None and entry.numbers == "counted" and sha256 == entry.sha256:
        return entry._asdict() | about
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about columns, for those who learn from them
        counted = _describe(load_source(str(path), missing="absent"))
    topic = "" if entry is None else entry.topic
    return counted | about | {"topic": topic, "numbers": "counted"}


def _describe(data: "steelyard.MultiLabelData") -> dict[str, Any]:
    from steelyard.data.statistics import describe_labels

    sizes = {"name": data.name, "n_examples": len(data), "n_features": data.X.shape[1]}
    return sizes | describe_labels(data.Y)._asdict()


def _show_entry(entry: dict[str, Any]) -> dict[str, str]:
    """An entry as a row of the table."""

    def show(name: str, form: str) -> str:
        return "–" if entry.get(name) is None else format(entry[name], form)

    numbers = {sign: show(*column) for sign, column in _SIGNS.items()}
    about = {"from": entry["from"], "sha256": (entry.get("sha256") or "–")[:8]}
    return {"name": entry["name"], **numbers, **about, "topic": entry["topic"]}


@data_app.command("show")
def show_command(data: Data, labels: Labels = None, as_json: Json = False) -> None:
    """Show the size of a data set and the frequency of its labels.

    Example: steelyard data show patients.csv --labels cough,fever
    """
    from steelyard.data.statistics import describe_labels

    loaded = load_data(data, labels)
    counts = loaded.Y.sum(axis=0)
    content: dict[str, Any] = {
        "name": loaded.name,
        "n_examples": len(loaded),
        "n_features": loaded.X.shape[1],
        **describe_labels(loaded.Y)._asdict(),
        "labels": {str(name): int(count) for name, count in counts.items()},
    }
    rows = [
        {"label": name, "examples": str(count), "share": f"{count / len(loaded):.1%}"}
        for name, count in content["labels"].items()
    ]
    spread = (
        f"density {content['density']:.3f}, {content['n_label_sets']:,} distinct label sets, mean "
        f"imbalance {content['mean_imbalance']:.1f}"
    )
    print_result(as_json, content, repr(loaded), spread, make_table(rows, "examples", "share"))


@data_app.command("fetch")
def fetch_command(
    name: Annotated[str, typer.Argument(help="A name from `steelyard data list`.")],
) -> None:
    """Download a data set once. Later commands find it in the cache.

    Example: steelyard data fetch yeast
    """
    from steelyard.data import fetch_multilabel
    from steelyard.data.catalogue import find_entry
    from steelyard.data.downloading import download_data
    from steelyard.data.mulan import load_mulan

    entry = find_entry(name)
    if entry is not None and entry.openml is None:
        typer.echo(repr(load_mulan(download_data(entry))))
    else:
        typer.echo(repr(fetch_multilabel(name)))
