"""``steelyard study`` and ``steelyard report``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .consoles import error_console, output_console, print_json, unit_progress
from .inputs import reject_columns

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


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("study")(study_command)
    app.command("report")(report_command)


def _option(help_text: str, *names: str, **settings: Any) -> Any:
    """An option whose default is part of the help text."""
    return typer.Option(*names, help=help_text, show_default=False, **settings)


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
Out = Annotated[Path, _option("The results folder.", "--out", "-o", metavar="DIR")]
Labels = Annotated[str | None, _option("Label columns of CSV and Parquet files: a,b.")]
Heuristics = Annotated[
    str | None, _option("m-estimate, f-measure or both: a,b.  \\[default: m-estimate]")
]
Parameters = Annotated[
    str | None, _option("Values of m or β: 0,2,16.  \\[default: the paper's 20]")
]
Phis = Annotated[str | None, _option("Shares φ: 1,0.5,0.1.  \\[default: the paper's 20]")]
Folds = Annotated[
    int | None,
    _option("Number of new stratified folds.  \\[default: folds.csv of the data, else 10]"),
]
Repeats = Annotated[
    int | None, _option("Number of cross validations, each with new folds.  \\[default: 1]")
]
OnlyFolds = Annotated[str | None, _option("Run only these folds: 1,2.")]
Candidates = Annotated[
    int | None, _option("γ, the number of candidate rules.  \\[default: 300000]")
]
Seed = Annotated[int | None, _option("Seed of all random choices.  \\[default: 0]")]
InvertMajorityLabels = Annotated[
    bool,
    _option(
        "Invert labels that at least half of the examples have, to compare precision and recall "
        "across data sets.",
        "--invert-majority-labels",
    ),
]
Tune = Annotated[
    str | None,
    _option("Choose m and φ inside each training set for these measures: f1_micro,hamming."),
]
Baselines = Annotated[str | None, _option("Baselines to learn as well: ripper.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Folds to learn in parallel; -1: all cores.")
]
Config = Annotated[Path | None, _option("A study.toml; other options override its settings.")]
Json = Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")]


def study_command(
    out: Out,
    data: Data = None,
    labels: Labels = None,
    heuristic: Heuristics = None,
    parameters: Parameters = None,
    phis: Phis = None,
    folds: Folds = None,
    repeats: Repeats = None,
    only_folds: OnlyFolds = None,
    candidates: Candidates = None,
    seed: Seed = None,
    invert_majority_labels: InvertMajorityLabels = False,
    tune: Tune = None,
    baselines: Baselines = None,
    jobs: Jobs = -1,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Learn every theory of the grid on every fold, then write tables, figures and a page.

    If the command is interrupted, run it again to resume. A folder holds one study.

    Example: [bold]steelyard study emotions yeast --tune f1_micro,hamming --out results[/bold]
    """
    given = {
        "data": tuple(data) if data else None,
        "labels": (labels,) if labels else None,
        "heuristics": _split(heuristic),
        "parameters": _split(parameters, float, "--parameters", "numbers"),
        "phis": _split(phis, float, "--phis", "numbers"),
        "folds": folds,
        "repeats": repeats,
        "only_folds": _split(only_folds, int, "--only-folds", "integers"),
        "n_candidates": candidates,
        "seed": seed,
        "invert_majority_labels": invert_majority_labels or None,
        "tune": _split(tune),
        "baselines": _split(baselines),
    }
    settings = _configure(config, {key: v for key, v in given.items() if v is not None})
    reject_columns(settings.data, labels=labels)
    if jobs == 0:
        raise typer.BadParameter("must be at least 1, or -1 for all cores", param_hint="--jobs")
    _report(_run(settings, out, jobs), as_json)


def _run(config: StudyConfig, out: Path, jobs: int) -> StudyResults:
    from steelyard.study import run_study

    try:
        with unit_progress("study") as progress:
            return run_study(config, out, n_jobs=jobs, progress=progress)
    except KeyboardInterrupt:
        error_console().print("interrupted; run the same command to resume")
        raise typer.Exit(130) from None


def report_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder.")],
    label: Annotated[str | None, _option("The label of the example rule sets.")] = None,
    cells: Annotated[
        str | None, _option("The cells of these rule sets, m:φ,m:φ, as in 16:0.3,262144:1.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write tables, figures and the page of a finished study again.

    Example: [bold]steelyard report results --label 786.2:Cough --cells 16:0.3,262144:1[/bold]
    """
    from steelyard.study import load_study

    chosen = _split(cells, _parse_cell, "--cells", "cells like 16:0.3,262144:1")
    _report(load_study(folder), as_json, label=label, cells=chosen)


def _report(study: StudyResults, as_json: bool, **example: Any) -> None:
    from steelyard.report.build import write_report

    from .summary import print_summary

    with error_console().status("writing tables, figures and the page"):
        page = write_report(study, **example)
    if as_json:
        print_json({**study.summarize(), "folder": str(study.folder), "page": str(page)})
    else:
        print_summary(output_console(), study, page)


def _configure(config: Path | None, given: dict[str, Any]) -> StudyConfig:
    """Options override the configuration file, which overrides the defaults."""
    from steelyard.study import StudyConfig, read_config

    if config is None:
        return StudyConfig(**(given if "data" in given else EMBEDDED_STUDY | given))
    if "heuristics" in given:  # the parameters in the file belong to the heuristic in the file
        given.setdefault("parameters", ())
    return replace(read_config(config), **given)


def _split(
    text: str | None,
    convert: Callable[[str], Any] = str,
    option: str = "",
    kind: str = "",
) -> tuple[Any, ...] | None:
    """The parts of a list such as 1,0.5."""
    if text is None:
        return None
    try:
        return tuple(convert(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        message = f"{text!r} is not a list of {kind}"
        raise typer.BadParameter(message, param_hint=option) from None


def _parse_cell(text: str) -> tuple[float, float]:
    parameter, phi = text.split(":")
    return float(parameter), float(phi)
