"""Arguments and options that several commands share. Knows paths, nothing of their content."""

import os
import re
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def option(help_text: str, *names: str, default: str | bool = False, **settings: Any) -> Any:
    """Describe an option whose default is the given text, or no text."""
    return typer.Option(*names, help=help_text, show_default=default, **settings)


By = StrEnum("By", ["label", "body"])
ByOption = Annotated[
    By | None,
    option("Show rules label by label, or those with the same body together.", default="label"),
]


def check_by(by: By | None, as_json: bool) -> Literal["label", "body"]:
    """How rules are shown; JSON has one entry per rule."""
    if as_json and by is not None:
        raise typer.BadParameter(
            "JSON has one entry per rule: use --by without --json", param_hint="--by"
        )
    return "body" if by is By.body else "label"


def check_folder(path: Path | None) -> Path | None:
    """Fail early if the folder of an output file accepts no new file."""
    # A pipe or a device is written in place; other files are replaced as a whole.
    if path is not None and (path.is_file() or not path.exists()):
        folder = path.resolve().parent
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise typer.BadParameter(f"'{folder}' is not a folder that you can write to")
    return path


def _check_jobs(n_jobs: int) -> int:
    if n_jobs == 0:
        raise typer.BadParameter("must be at least 1, or -1 for all cores")
    return n_jobs


def keep_inputs(out: Path | None, *inputs: str | Path) -> None:
    """Reject an output file that would replace a file that the command reads."""
    if out is None or not out.exists():
        return
    for path in map(Path, inputs):
        if path.exists() and any(path.samefile(place) for place in (out, out.absolute().parent)):
            message = f"'{out}' is an input of this command: choose another file"
            raise typer.BadParameter(message, param_hint="--out")


def split_list(text: str) -> list[str]:
    """The parts of a list with commas; commas in brackets separate nothing.

    Examples
    --------
    >>> split_list("m-estimate(0,16), wra")
    ['m-estimate(0,16)', 'wra']
    """
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _parse_depths(text: str) -> tuple[int | None, ...]:
    try:
        return tuple(None if part == "none" else int(part) for part in split_list(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of depths, such as none,1,2") from None


def _parse_features(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A name from `steelyard data list`, a CSV, Parquet or ARFF file, or a folder "
        "with a Mulan pair.",
    ),
]
columns = partial(option, metavar="A,B")
Labels = Annotated[
    str | None, columns("The label columns of a CSV or Parquet file, or a pattern: label_*.")
]
Ignore = Annotated[str | None, columns("Columns to leave out, such as row numbers.")]
Nominal = Annotated[str | None, columns("Columns of numbers that are codes.")]
Trees = Annotated[
    int | None, option("Trees per forest that candidate rules come from.", "--trees", default="10")
]
Depths = Annotated[
    Any,
    option(
        "A forest per depth limit: none,1,2.",
        "--depths",
        default="none,1,...,8",
        parser=_parse_depths,
        metavar="A,B",
    ),
]
Features = Annotated[
    Any,
    option(
        "Attributes drawn at a node: log2, sqrt, their number or share.",
        "--features",
        default="log2",
        parser=_parse_features,
        metavar="K",
    ),
]
Bag = Annotated[
    float | None,
    option("Size of a tree's bag, as a share of the examples.", "--bag", default="1"),
]
Prune = Annotated[
    str | None,
    option(
        "Delete conditions that do not improve a rule outside its bag: oob any of them, prefix the "
        "last ones.",
        "--prune",
        default="none; short: oob",
        metavar="none|oob|prefix",
    ),
]


def grow_options(
    trees: int | None, depths: Any, features: Any, bag: float | None, prune: str | None
) -> dict[str, Any]:
    """The parameters of candidates that options give; what is None keeps its default."""
    if prune not in (None, "none", "oob", "prefix"):
        raise typer.BadParameter(f"{prune!r} is not none, oob or prefix", param_hint="--prune")
    return {
        "n_trees": trees,
        "max_depths": depths,
        "max_features": features,
        "sample_fraction": bag,
        "prune": False if prune == "none" else prune,
    }


_OUT: Any = {"dir_okay": False, "writable": True, "readable": False, "callback": check_folder}
OutFile = Annotated[
    Path | None, option("The file to write.", "--out", "-o", default="standard output", **_OUT)
]
TheoryOutFile = Annotated[Path, option("The file for the theory, in JSON.", "--out", "-o", **_OUT)]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", callback=_check_jobs, help="Number of cores; -1: all.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TheoryFile = Annotated[
    Path,
    typer.Argument(
        metavar="THEORY",
        exists=True,
        dir_okay=False,
        help="A theory in JSON, or a file in the folder `theories` of a study.",
    ),
]
