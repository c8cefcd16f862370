"""What commands read: data with labels, and a saved theory or the one that options name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from steelyard._files import read_text

from .consoles import print_note

if TYPE_CHECKING:
    from steelyard import Theory
    from steelyard.data import MultiLabelData
    from steelyard.heuristics import Heuristic

_DEFAULT_PHI = 0.5


def refuse_columns(sources: Sequence[str], **options: str | None) -> None:
    """Reject options that name columns if none of the sources is a table."""
    from steelyard.data.sources import brings_labels

    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given and all(map(brings_labels, sources)):
        which = f"{sources[0]} is not" if len(sources) == 1 else "none of the data sets is"
        raise typer.BadParameter(
            f"only columns of a CSV or Parquet file can be named, which {which}", param_hint=given
        )


def load_labelled(
    source: str, labels: str | None, *, ignore: str | None = None, nominal: str | None = None
) -> MultiLabelData:
    """Load DATA; the options are for tables and are refused elsewhere."""
    from steelyard.data.sources import load_source

    refuse_columns([source], labels=labels, ignore=ignore, nominal=nominal)
    return load_source(
        source, (labels,) if labels else (), ignore=ignore or (), nominal=nominal or ()
    )


def read_theory(
    path: Path, heuristic: str | None, parameter: float | None, phi: float | None
) -> Theory:
    """A saved theory, or the cell of a fold's theories that heuristic, parameter and φ name."""
    from steelyard import Theory, TheoryPath
    from steelyard.heuristics import describe
    from steelyard.model.json_fields import find_format
    from steelyard.model.theory_json import theory_from_text

    text = read_text(path)
    given = {"--heuristic": heuristic, "--parameter": parameter, "--phi": phi}
    options = [name for name, value in given.items() if value is not None]
    if find_format(text, str(path)) != "steelyard path":
        if options:
            raise typer.BadParameter(
                f"{path} holds a single theory: there is none to choose", param_hint=options
            )
        return Theory(**theory_from_text(text, str(path)))
    try:
        theories = TheoryPath.from_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    chosen = make_heuristic(heuristic, parameter)
    theory = theories.theory(chosen, _DEFAULT_PHI if phi is None else phi)
    if not options:
        print_note(
            f"{path} holds all theories of a fold; this is the one of {describe(chosen)}, "
            f"φ = {theory.phi:g}: others with --heuristic, --parameter and --phi"
        )
    return theory


def make_heuristic(name: str | None, parameter: float | None) -> Heuristic:
    """The heuristic that two options name; without a name it is the m-estimate."""
    from dataclasses import fields

    from steelyard.heuristics import MEstimate, get_heuristic

    heuristic = get_heuristic(MEstimate.name if name is None else name)
    if parameter is None:
        return heuristic
    if not fields(heuristic):  # type: ignore[arg-type]
        raise typer.BadParameter(f"{name} has no parameter", param_hint="--parameter")
    return type(heuristic)(parameter)  # type: ignore[call-arg]
