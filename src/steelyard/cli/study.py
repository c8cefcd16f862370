"""``steelyard study`` and ``steelyard report``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .consoles import error_console, print_result, unit_progress
from .inputs import reject_columns
from .options import Jobs, Json, Labels, option

if TYPE_CHECKING:
    from steelyard.study import StudyConfig, StudyResults

# Without DATA the study takes less than three minutes on two cores, including compilation.
EMBEDDED_STUDY: dict[str, Any] = {
    "data": ("segments",),
    "folds": 5,
    "n_candidates": 30_000,
    "tune": ("f1_micro", "hamming", "subset"),
    "baselines": ("ripper",),
}


def _parse_cell(text: str) -> tuple[float, float]:
    parameter, phi = text.split(":")
    return float(parameter), float(phi)


_KINDS = {int: "integers", float: "numbers", _parse_cell: "cells like 16:0.3,262144:1"}


def _list_option(help_text: str, *names: str, of: Callable[[str], Any] = str, **more: Any) -> Any:
    """An option whose value is a list such as 1,0.5."""

    def split(text: str) -> tuple[Any, ...]:
        try:
            return tuple(of(part.strip()) for part in text.split(",") if part.strip())
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a list of {_KINDS[of]}") from None

    return option(help_text, *names, parser=split, metavar="A,B", **more)


Data = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA...",
        show_default=False,
        help="Embedded or OpenML names, ARFF, CSV or Parquet files, or folders with a Mulan pair "
        "(.arff and .xml) and an optional folds.csv. Default: the embedded data set "
        "[bold]segments[/bold], with settings that take one or two minutes.",
    ),
]
Heuristics = Annotated[
    Any,
    _list_option(
        "Heuristics: m-estimate,klosgen,wra. Your own as module:attribute.",
        "--heuristic",
        default="m-estimate",
    ),
]
Parameters = Annotated[
    Any,
    _list_option(
        "Values of the parameter: 0,2,16.", of=float, default="about 20, the paper's for m and β"
    ),
]
Phis = Annotated[Any, _list_option("Shares φ: 1,0.5,0.1.", of=float, default="the paper's 20")]
Folds = Annotated[
    int | None, option("New stratified folds.", default="folds.csv of the data, else 10")
]
Repeats = Annotated[
    int | None, option("Number of cross validations, each with new folds.", default="1")
]
Candidates = Annotated[
    int | None, option("γ, the number of candidate rules.", "--candidates", default="300000")
]
Tune = Annotated[
    Any, _list_option("Choose m and φ in each training set for these measures: f1_micro,hamming.")
]
_INVERT = "Invert labels of at least half of the examples, to compare precision and recall."
Invert = Annotated[bool | None, option(_INVERT, "--invert-majority-labels")]
Config = Annotated[Path | None, option("A study.toml; other options override its settings.")]
Trust = Annotated[
    bool, option("Import the heuristics that the file names as module:attribute.", "--trust")
]
Cells = Annotated[
    Any, _list_option("The cells of these rule sets, as in 16:0.3,262144:1.", of=_parse_cell)
]


def study_command(
    out: Annotated[Path, option("The results folder.", "--out", "-o", metavar="DIR")],
    data: Data = None,
    labels: Labels = None,
    heuristics: Heuristics = None,
    parameters: Parameters = None,
    phis: Phis = None,
    folds: Folds = None,
    repeats: Repeats = None,
    only_folds: Annotated[Any, _list_option("Run only these folds: 1,2.", of=int)] = None,
    n_candidates: Candidates = None,
    seed: Annotated[int | None, option("Seed of all random choices.", default="0")] = None,
    invert_majority_labels: Invert = None,
    tune: Tune = None,
    baselines: Annotated[Any, _list_option("Baselines to learn as well: ripper.")] = None,
    jobs: Jobs = -1,
    config: Config = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Learn every theory of the grid on every fold, then write tables, figures and a page.

    If the command is interrupted, run it again to resume. A folder holds one study.

    Example: [bold]steelyard study emotions yeast --tune f1_micro,hamming --out results[/bold]
    """
    sys.path.insert(0, "")  # as `python -m` does: own heuristics may stand in the working folder
    settings = _configure(config, locals())
    from steelyard.study import run_study

    reject_columns(settings.data, labels=labels)
    try:
        with unit_progress("study") as progress:
            study = run_study(settings, out, n_jobs=jobs, progress=progress)
        _report(study, as_json)
    except (KeyboardInterrupt, SystemExit):
        with suppress(OSError):  # the terminal may be gone
            error_console().print("interrupted; run the same command to resume")
        raise  # the exit code is that of the signal


def report_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder.")],
    label: Annotated[str | None, option("The label of the example rule sets.")] = None,
    cells: Cells = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Write tables, figures and the page of a finished study again.

    Example: [bold]steelyard report results --label 786.2:Cough --cells 16:0.3,262144:1[/bold]
    """
    from steelyard.study import load_study

    sys.path.insert(0, "")
    _report(load_study(folder, trust=trust), as_json, label=label, cells=cells)


def _report(study: StudyResults, as_json: bool, **example: Any) -> None:
    from steelyard.report.build import write_report

    from .summary import summarize

    with error_console().status("writing tables, figures and the page"):
        page = write_report(study, **example)
    content = {**study.summarize(), "folder": str(study.folder), "page": str(page)}
    print_result(as_json, content, *summarize(study), f"results: {study.folder}\npage:    {page}")


def _configure(config: Path | None, options: dict[str, Any]) -> StudyConfig:
    """Options with the name of a setting override the file, which overrides the defaults."""
    from steelyard.study import StudyConfig, read_config

    names = [field.name for field in fields(StudyConfig)]
    given = {name: options[name] for name in names if options.get(name) is not None}
    if "labels" in given:
        given["labels"] = (given["labels"],)
    if config is None:
        return StudyConfig(**(given if "data" in given else EMBEDDED_STUDY | given))
    if "heuristics" in given:  # the parameters in the file belong to the heuristic in the file
        given.setdefault("parameters", ())
    return replace(read_config(config, trust=options["trust"]), **given)
