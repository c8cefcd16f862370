"""Reading data sets and theories that arguments name. Heavy imports happen inside the functions."""

from collections.abc import Callable, Sequence
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .consoles import print_note
from .options import CellHeuristic, CellParameter, CellPhi, TheoryFile, keep_inputs

if TYPE_CHECKING:
    from steelyard import Theory
    from steelyard.data import MultiLabelData
    from steelyard.heuristics import Heuristic

_DEFAULT_PHI = 0.5
_ARFF = (".arff", ".arff.gz")


def reject_columns(sources: Sequence[str], **options: str | None) -> None:
    """Reject options that name columns if no source is a table: other sources name their labels."""
    from steelyard.study.sources import find_source

    given = [f"--{name}" for name, value in options.items() if value is not None]
    paths = [find_source(source) for source in sources] if given else []
    if given and all(
        path is None or path.is_dir() or path.name.lower().endswith(_ARFF) for path in paths
    ):
        raise typer.BadParameter(
            f"this option is only for CSV and Parquet files, not for {', '.join(sources)}",
            param_hint=given,
        )


def load_data(
    source: str, labels: str | None, ignore: str | None = None, nominal: str | None = None
) -> "MultiLabelData":
    """Load a data set with its labels."""
    from steelyard.study.sources import load_source

    reject_columns([source], labels=labels, ignore=ignore, nominal=nominal)
    return load_source(
        source, (labels,) if labels else (), ignore=ignore or (), nominal=nominal or ()
    )


def make_heuristic(name: str | None, parameter: float | None) -> "Heuristic":
    """Make the heuristic that two options describe, the m-estimate without a name."""
    from steelyard.heuristics import MEstimate, get_heuristic

    heuristic = get_heuristic(name or MEstimate.name)
    if parameter is None:
        return heuristic
    if heuristic.parameter != heuristic.parameter:
        raise typer.BadParameter(f"{name} has no parameter", param_hint="--parameter")
    return type(heuristic)(parameter)  # type: ignore[call-arg]


def read_theory(
    path: Path, heuristic: str | None, parameter: float | None, phi: float | None
) -> "Theory":
    """Read a theory, or the theory of a study's file with the given heuristic and φ."""
    from steelyard import Theory, TheoryPath
    from steelyard._files import read_text
    from steelyard.model.json_fields import find_format

    text = read_text(path)
    options = {"--heuristic": heuristic, "--parameter": parameter, "--phi": phi}
    given = [name for name, value in options.items() if value is not None]
    if find_format(text, str(path)) != "steelyard path":
        if given:
            raise typer.BadParameter(f"{path} holds a single theory", param_hint=given)
        return Theory.from_json(path)
    try:
        theories = TheoryPath.from_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    theory = theories.theory(
        make_heuristic(heuristic, parameter), _DEFAULT_PHI if phi is None else phi
    )
    if not given:
        print_note(
            f"{path} holds all theories of a fold; using {theory.heuristic}, φ = {theory.phi:g}. "
            "Choose another one with --heuristic, --parameter and --phi."
        )
    return theory


def with_theory(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's first parameter, a theory, by the arguments that say which one to read.

    No file is read if the command's output would replace one of its inputs.
    """

    def run(
        theory: TheoryFile,
        *,
        heuristic: CellHeuristic = None,
        parameter: CellParameter = None,
        phi: CellPhi = None,
        **others: Any,
    ) -> None:
        keep_inputs(others.get("out"), theory, others.get("data", theory))
        command(read_theory(theory, heuristic, parameter, phi), **others)

    _, *own = signature(command).parameters.values()
    file, *choice, _ = signature(run).parameters.values()
    run.__signature__ = Signature([file, *own, *choice])  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run
