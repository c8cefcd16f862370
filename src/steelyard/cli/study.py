"""``steelyard study`` and ``steelyard report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .consoles import error_console, output_console, print_json, unit_progress
from .inputs import reject_columns

if TYPE_CHECKING:
    from steelyard.study import StudyConfig, StudyResults

# Without DATA the whole job should end within three minutes on two cores, compilation included.
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


Json = Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")]


def study_command(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA...",
            show_default=False,
            help="Embedded or OpenML names, ARFF, CSV or Parquet files, or folders that hold a "
            "Mulan pair (.arff and .xml) and perhaps folds.csv. Default: the embedded data set "
            "[bold]segments[/bold], with settings that take a minute or two.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The results folder.", show_default=False),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Label columns of CSV and Parquet files: a,b.", show_default=False),
    ] = None,
    heuristic: Annotated[
        str | None,
        typer.Option(
            help="m-estimate, f-measure or both: a,b.  \\[default: m-estimate]", show_default=False
        ),
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option(
            help="Values of m or β: 0,2,16.  \\[default: the paper's 20]", show_default=False
        ),
    ] = None,
    phis: Annotated[
        str | None,
        typer.Option(help="Shares φ: 1,0.5,0.1.  \\[default: the paper's 20]", show_default=False),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Make so many stratified folds.  \\[default: the data's own folds.csv, else 10]",
            show_default=False,
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(help="Repeat with other folds.", show_default=False)
    ] = None,
    only_folds: Annotated[
        str | None, typer.Option(help="Run just these folds: 1,2.", show_default=False)
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(help="γ, candidate rules.  \\[default: 300000]", show_default=False),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="\\[default: 0]", show_default=False)] = None,
    invert_majority_labels: Annotated[
        bool,
        typer.Option(
            "--invert-majority-labels",
            help="Invert labels that at least half of the examples have, to compare precision and "
            "recall across data sets.",
        ),
    ] = False,
    tune: Annotated[
        str | None,
        typer.Option(
            help="Choose m and φ inside each training set for these measures: "
            "f1_micro,hamming,subset.",
            show_default=False,
        ),
    ] = None,
    baselines: Annotated[
        str | None, typer.Option(help="Baselines to learn beside: ripper.", show_default=False)
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Folds learned at a time; -1: all cores.")
    ] = -1,
    config: Annotated[
        Path | None,
        typer.Option(help="A study.toml; other options override its settings.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Learn every theory of the grid on every fold; rank, compare, draw.

    Killed at any moment, the same command goes on where it was. One folder holds one study.

    Example: [bold]steelyard study emotions yeast --tune f1_micro,hamming --out results[/bold]
    """
    from steelyard.study import run_study

    given = {
        "data": tuple(data) if data else None,
        "labels": (labels,) if labels else None,
        "heuristics": _split(heuristic),
        "parameters": _numbers(parameters, "--parameters"),
        "phis": _numbers(phis, "--phis"),
        "folds": folds,
        "repeats": repeats,
        "only_folds": _whole_numbers(only_folds, "--only-folds"),
        "n_candidates": candidates,
        "seed": seed,
        "invert_majority_labels": invert_majority_labels or None,
        "tune": _split(tune),
        "baselines": _split(baselines),
    }
    settings = _configure(config, {key: v for key, v in given.items() if v is not None})
    reject_columns(settings.data, labels=labels)
    if out is None:
        raise typer.BadParameter("say where the results go, as in --out results")
    if jobs == 0:
        raise typer.BadParameter("must be at least 1, or -1 for all cores", param_hint="--jobs")
    try:
        with unit_progress("study") as progress:
            study = run_study(settings, out, n_jobs=jobs, progress=progress)
    except KeyboardInterrupt:
        error_console().print("interrupted; finished units are kept: run the same command to go on")
        raise typer.Exit(130) from None
    _report(study, as_json, None, None)


def report_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder.")],
    label: Annotated[
        str | None,
        typer.Option(help="The label whose rule sets are shown side by side.", show_default=False),
    ] = None,
    cells: Annotated[
        str | None,
        typer.Option(help="Their cells, m:φ,m:φ, as in 16:0.3,262144:1.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make tables, figures and the page again from the rows of a study.

    Example: [bold]steelyard report results --label 786.2:Cough --cells 16:0.3,262144:1[/bold]
    """
    from steelyard.study import load_study

    _report(load_study(folder), as_json, label, _parse_cells(cells))


def _report(
    study: StudyResults,
    as_json: bool,
    label: str | None,
    cells: list[tuple[float, float]] | None,
) -> None:
    from steelyard.report.build import summarize_study, write_report

    with error_console().status("tables, figures and page"):
        page = write_report(study, label=label, cells=cells)
    summary = summarize_study(study)
    if as_json:
        print_json({**summary.as_dict(), "folder": str(study.folder), "page": str(page or "")})
        return
    from .summary import print_summary

    print_summary(output_console(), summary, study.folder, page)


def _configure(config: Path | None, given: dict[str, Any]) -> StudyConfig:
    """Options over the configuration file, over the defaults."""
    import dataclasses

    from steelyard.study import StudyConfig, read_config

    if config is not None:
        base = read_config(config)
        if "heuristics" in given and "parameters" not in given:
            given["parameters"] = ()  # the file's values belong to the file's heuristic
        return dataclasses.replace(base, **given)
    return StudyConfig(**(given if "data" in given else EMBEDDED_STUDY | given))


def _split(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str | None, option: str) -> tuple[float, ...] | None:
    try:
        return None if text is None else tuple(float(part) for part in _split(text) or ())
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of numbers", param_hint=option) from None


def _whole_numbers(text: str | None, option: str) -> tuple[int, ...] | None:
    try:
        return None if text is None else tuple(int(part) for part in _split(text) or ())
    except ValueError:
        message = f"{text!r} is not a list of whole numbers"
        raise typer.BadParameter(message, param_hint=option) from None


def _parse_cells(text: str | None) -> list[tuple[float, float]] | None:
    if text is None:
        return None
    try:
        pairs = [part.split(":") for part in _split(text) or ()]
        return [(float(parameter), float(phi)) for parameter, phi in pairs]
    except ValueError:
        message = f"{text!r} is not a list of cells like 16:0.3,262144:1"
        raise typer.BadParameter(message, param_hint="--cells") from None
