"""Reading data sets and theories that arguments name. Heavy imports happen inside the functions."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

import steelyard

from .consoles import print_message
from .options import TheoryFile, keep_inputs, option

_DEFAULT_PHI = 0.5


def reject_columns(sources: Sequence[str], **options: str | None) -> None:
    """Reject options that name columns if no source is a table: other sources name their labels."""
    from steelyard.data.sources import brings_labels

    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given and all(map(brings_labels, sources)):
        message = f"only for CSV and Parquet files, not for {', '.join(sources)}"
        raise typer.BadParameter(message, param_hint=given)


def load_data(
    source: str, labels: str | None, treatment: dict[str, Any] | None = None, **columns: Any
) -> "steelyard.MultiLabelData":
    """Load a data set with its labels; the columns and the treatment of labels as in `load_source`."""
    from steelyard.data.sources import load_source

    reject_columns([source], labels=labels, **columns)
    given = {name: value for name, value in (columns | (treatment or {})).items() if value}
    return load_source(source, (labels,) if labels else (), **given)


def load_examples(
    theory: "steelyard.Theory", source: str, labels: str | None
) -> "steelyard.MultiLabelData":
    """Load a data set that has all labels of a theory."""
    from steelyard.data import DataError, DataWarning
    from steelyard.data.sources import load_source

    reject_columns([source], labels=labels)
    with warnings.catch_warnings():
        # Labels and attributes of a part of a data set may have one value only.
        warnings.simplefilter("ignore", DataWarning)
        loaded = load_source(source, (labels,) if labels else theory.label_names)
    missing = [name for name in theory.label_names if name not in loaded.Y.columns]
    if missing:
        raise DataError(f"{source} has no label {missing[0]!r}, which the theory predicts")
    return loaded


@contextmanager
def no_repeated_notes(source: str) -> Iterator[None]:
    """Suppress notes about the columns of a table, which its loader has given already."""
    from steelyard.data import DataWarning
    from steelyard.data.sources import brings_labels

    with warnings.catch_warnings():
        if not brings_labels(source):
            warnings.simplefilter("ignore", DataWarning)
        yield


def read_constraints(path: Path) -> "steelyard.Constraints":
    """Read constraints from TOML: their parameters, or a table `constraints` with them."""
    import tomllib

    from steelyard._files import read_text

    try:
        plain = tomllib.loads(read_text(path))
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    if list(plain) == ["constraints"]:
        plain = plain["constraints"]
    try:
        return steelyard.Constraints.from_plain(plain)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def make_heuristic(name: str | None, parameter: float | None) -> "steelyard.Heuristic":
    """Make the heuristic that two options describe, the m-estimate without a name."""
    from steelyard.heuristics import MEstimate, get_heuristic

    heuristic = get_heuristic(name or MEstimate.name)
    if parameter is None:
        return heuristic
    if math.isnan(heuristic.parameter):
        raise typer.BadParameter(f"{name} has no parameter", param_hint="--parameter")
    return type(heuristic)(parameter)  # type: ignore[call-arg]


def read_theory(
    path: Path, heuristic: str | None, parameter: float | None, phi: float | None
) -> "steelyard.Theory":
    """Read a theory, or the theory of a study's file with the given heuristic and φ."""
    from steelyard._files import read_text
    from steelyard.model.json import PATH, find_format

    options = {"--heuristic": heuristic, "--parameter": parameter, "--phi": phi}
    given = [name for name, value in options.items() if value is not None]
    text = read_text(path)  # once: the file may be a pipe
    is_path = find_format(text, str(path)) == PATH.name
    try:
        saved = (steelyard.TheoryPath if is_path else steelyard.Theory).from_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if isinstance(saved, steelyard.Theory):
        if given:
            raise typer.BadParameter(f"{path} holds a single theory", param_hint=given)
        return saved
    chosen = make_heuristic(heuristic, parameter)
    theory = saved.theory(chosen, _DEFAULT_PHI if phi is None else phi)
    if not given:
        which = f"{theory.heuristic}, φ = {theory.phi:g}"
        print_message("note", f"using {which} of {path}; see --heuristic, --parameter and --phi")
    return theory


def with_theory(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's first parameter, a theory, by the arguments that say which one to read.

    No file is read if the command's output would replace one of its inputs.
    """

    def of_study(text: str, default: str) -> Any:
        return option(f"For a file of a study: {text}.", default=default)

    def run(
        theory: TheoryFile,
        *,
        heuristic: Annotated[str | None, of_study("the heuristic", "m-estimate")] = None,
        parameter: Annotated[float | None, of_study("its parameter, such as m", "its own")] = None,
        phi: Annotated[float | None, of_study("the share φ of kept rules", "0.5")] = None,
        **others: Any,
    ) -> None:
        keep_inputs(others.get("out"), theory, others.get("data") or theory)
        command(read_theory(theory, heuristic, parameter, phi), **others)

    _, *own = signature(command).parameters.values()
    file, *choice, _ = signature(run).parameters.values()
    run.__signature__ = Signature([file, *own, *choice])  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run
