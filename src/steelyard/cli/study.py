"""``steelyard study`` and ``steelyard report``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .consoles import error_console, print_result, unit_progress
from .inputs import load_examples, read_theory, reject_columns
from .options import (
    Bag,
    Depths,
    Features,
    Ignore,
    Jobs,
    Json,
    Labels,
    Nominal,
    Prune,
    Trees,
    grow_options,
    keep_inputs,
    option,
    split_list,
)

if TYPE_CHECKING:
    from steelyard.study import ShardReport, StudyConfig, StudyResults

# Without DATA the study takes less than three minutes on two cores, including compilation.
EMBEDDED_STUDY: dict[str, Any] = {
    "data": ("patients",),
    "folds": 5,
    "n_candidates": 30_000,
    "tune": ("f1_micro", "hamming", "subset"),
    "baselines": ("ripper",),
}


def _parse_cell(text: str) -> tuple[float, float]:
    parameter, phi = text.split(":")
    return float(parameter), float(phi)


_KINDS = {int: "integers", float: "numbers", _parse_cell: "cells like 16:0.3,1024:1"}


def _list_option(help_text: str, *names: str, of: Callable[[str], Any] = str, **more: Any) -> Any:
    """An option whose value is a list such as 1,0.5."""

    def split(text: str) -> tuple[Any, ...]:
        try:
            return tuple(of(part) for part in split_list(text))
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a list of {_KINDS[of]}") from None

    return option(help_text, *names, parser=split, metavar="A,B", **more)


Data = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="Embedded or OpenML names, ARFF, CSV or Parquet files, or folders with a Mulan pair "
        "(.arff and .xml) and an optional folds.csv. Default: the embedded data set "
        "`patients`, with settings that take half a minute.",
    ),
]
Heuristics = Annotated[
    Any,
    _list_option(
        "Heuristics: m-estimate,klosgen,wra. Values of their parameters in brackets: "
        "m-estimate(0,16),klosgen(0.5). Your own as module:attribute.",
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
    int | None,
    option("Number of cross validations; folds of the data are those of the first.", default="1"),
]
Candidates = Annotated[
    int | None, option("γ, the number of candidate rules.", "--candidates", default="300000")
]
Tune = Annotated[
    Any, _list_option("Choose m and φ in each training set for these measures: f1_micro,hamming.")
]
Measures = Annotated[
    Any,
    _list_option(
        "Further measures: ranking,calibration (of scores), or any others by name.", "--measures"
    ),
]
_PER_LABEL = (
    "Also write TP, FP, FN and TN of each label, for all cells and methods (per_label.csv)."
)
_INVERT = "Invert labels of at least half of the examples, to compare precision and recall."
Invert = Annotated[bool | None, option(_INVERT, "--invert-majority-labels")]
Config = Annotated[Path | None, option("A study.toml; other options override its settings.")]
Methods = Annotated[
    list[str] | None,
    option(
        "Another learner on the same folds: short, boosted, boosted(max_rules=50), or a scikit-learn "
        "estimator as module:factory(parameter=value). May be given several times.",
        "--method",
        metavar="METHOD",
    ),
]
Trust = Annotated[
    bool, option("Import what the file names as module:attribute, which executes it.", "--trust")
]
Cells = Annotated[
    Any, _list_option("The cells of these rule sets, as in 16:0.3,1024:1.", of=_parse_cell)
]


# The names of steelyard.report.styles.STYLES, which would import pandas and scikit-learn.
StyleName = StrEnum("StyleName", ["springer", "ieee", "beamer"])
ReportStyle = Annotated[
    StyleName | None,
    option(
        "Sizes of figures and tables: for a text width of 12.2 cm, for a column of 8.9 cm, or for "
        "slides.",
        "--style",
        default="springer",
    ),
]
Dask = Annotated[
    str | None,
    option(
        "Compute on a Dask cluster: the address of its scheduler, or `local` for processes "
        "of this machine.",
        metavar="ADDRESS",
    ),
]


def _parse_shard(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"0*(\d{1,9})/0*(\d{1,9})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise typer.BadParameter(f"{text!r} is not a part of a whole, such as 3/50")
    return int(match[1]), int(match[2])


Shard = Annotated[
    Any,
    option(
        "Compute only part K of N, beside other processes on the same folder; then --collect.",
        parser=_parse_shard,
        metavar="K/N",
    ),
]
_COLLECT = "Compute nothing: put together what the shards computed, or say what is missing."


def study_command(
    out: Annotated[Path, option("The results folder.", "--out", "-o", metavar="DIR")],
    data: Data = None,
    labels: Labels = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
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
    methods: Methods = None,
    more_measures: Measures = None,
    per_label: Annotated[bool | None, option(_PER_LABEL, "--per-label")] = None,
    trees: Trees = None,
    depths: Depths = None,
    features: Features = None,
    bag: Bag = None,
    prune: Prune = None,
    jobs: Jobs = -1,
    dask: Dask = None,
    shard: Shard = None,
    collect: Annotated[bool, option(_COLLECT, "--collect")] = False,
    config: Config = None,
    trust: Trust = False,
    style: ReportStyle = None,
    as_json: Json = False,
) -> None:
    """Run a study: learn every theory of the grid on every fold.

    The results are tables, figures and a page. If the command is interrupted, run it again to resume.
    Run it with more data, folds, heuristics or methods, and the study in the folder grows.

    Example: steelyard study emotions yeast --tune f1_micro,hamming -o results
    """
    if collect and (shard or dask):
        raise typer.BadParameter(
            "computes nothing, so it excludes --shard and --dask", param_hint="--collect"
        )
    if collect and config is None and not data:
        known = [out / name for name in ("planned.toml", "study.toml") if (out / name).exists()]
        config = known[0] if known else None
    grown = grow_options(trees, depths, features, bag, prune)
    settings = _configure(config, locals() | grown)
    reject_columns(settings.data, labels=labels, ignore=ignore, nominal=nominal)
    with _resumable(), _computing_on(dask, jobs) as n_jobs:
        if shard is not None:
            _report_shard(_compute_shard(settings, out, shard, n_jobs), as_json)
        else:
            report_study(_compute_study(settings, out, collect, n_jobs), as_json, style=style)


def _compute_shard(
    settings: StudyConfig, out: Path, shard: tuple[int, int], n_jobs: int | None
) -> ShardReport:
    from steelyard.study import run_shard

    with unit_progress(f"shard {shard[0]}/{shard[1]}") as progress:
        return run_shard(settings, out, *shard, n_jobs=n_jobs, progress=progress)


def _compute_study(
    settings: StudyConfig, out: Path, collect: bool, n_jobs: int | None
) -> StudyResults:
    from steelyard.study import collect_study, run_study

    with unit_progress("study") as progress:

        def theories(n_done: int, n_theories: int) -> None:
            progress(n_done, n_theories, n_done or None, "theories to use")

        if collect:
            return collect_study(settings, out, theory_progress=theories)
        return run_study(settings, out, n_jobs=n_jobs, progress=progress, theory_progress=theories)


@contextmanager
def _resumable() -> Iterator[None]:
    """Say that an interrupted study can be resumed."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        with suppress(OSError):  # the terminal may be gone
            typer.echo("interrupted; run the same command to resume", err=True)
        raise  # the exit code is that of the signal


@contextmanager
def _computing_on(dask: str | None, jobs: int) -> Iterator[int | None]:
    """Yield the number of jobs for joblib: on this machine, or None for all that a cluster has."""
    if dask is None:
        yield jobs
        return
    from steelyard.learning.cluster import dask_cluster

    with dask_cluster(dask, jobs):
        yield None


def report_command(
    source: Annotated[
        Path, typer.Argument(metavar="DIR|THEORY", help="A results folder, or a theory in JSON.")
    ],
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="For a theory: examples with labels, to try it on."),
    ] = None,
    label: Annotated[str | None, option("The label of the example rule sets.")] = None,
    cells: Cells = None,
    labels: Labels = None,
    unseen: Annotated[
        bool, typer.Option("--unseen", help="The theory was not learned from DATA.")
    ] = False,
    out: Annotated[
        Path | None, option("The page of a theory.", "--out", "-o", default="THEORY.html")
    ] = None,
    style: ReportStyle = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Write the report of a study again, or the page of a theory.

    The report of a study consists of tables, figures and a page.

    Example: steelyard report results --label 786.2:Cough --cells 16:0.3,1024:1

    Example: steelyard report results --style ieee

    Example: steelyard report theory.json patients.csv --out page.html
    """
    of_study = {"--label": label, "--cells": cells, "--style": style}
    of_theory = {"DATA": data, "--labels": labels, "--unseen": unseen or None, "--out": out}
    is_study = source.is_dir() or (data is None and not source.exists())
    given = [k for k, v in (of_theory if is_study else of_study).items() if v is not None]
    if given:
        other = "a theory" if is_study else "a results folder"
        raise typer.BadParameter(f"only for {other}", param_hint=given)
    if is_study:
        from steelyard.study import load_study

        report_study(
            load_study(source, trust=trust), as_json, label=label, cells=cells, style=style
        )
        return
    if data is None:
        raise typer.BadParameter("the page of a theory needs examples", param_hint="DATA")
    _report_theory(source, data, labels, unseen, out, as_json)


def _report_theory(
    file: Path, data: str, labels: str | None, is_unseen: bool, out: Path | None, as_json: bool
) -> None:
    """Write the page of one theory."""
    if not file.exists():
        raise typer.BadParameter(f"there is no file or folder {str(file)!r}")
    page = file.with_suffix(".html") if out is None else out
    keep_inputs(page, file, data)
    theory = read_theory(file, None, None, None)
    loaded = load_examples(theory, data, labels)
    from steelyard.report.page import write_theory_page

    write_theory_page(theory, page, loaded.X, loaded.Y, name=loaded.name, is_unseen=is_unseen)
    print_result(as_json, {"page": str(page), "n_rules": len(theory)}, f"page:    {page}")


def report_study(study: StudyResults, as_json: bool, **wanted: Any) -> None:
    """Write tables, figures and the page of a study, and print a summary."""
    from steelyard.report.build import write_report

    from .summary import summarize

    with error_console().status("writing tables, figures and the page"):
        page = write_report(study, **wanted)
    content = {**study.summarize(), "folder": str(study.folder), "page": str(page)}
    print_result(as_json, content, *summarize(study), f"results: {study.folder}\npage:    {page}")


def _report_shard(done: ShardReport, as_json: bool) -> None:
    lines = [f"{done.n_computed} units computed, {done.n_found} found finished"]
    if done.n_elsewhere:
        lines.append(f"{done.n_elsewhere} units are being computed by other processes")
    lines.append("when all shards are finished: the same command with --collect instead of --shard")
    print_result(as_json, done._asdict(), *lines)


def _configure(config: Path | None, options: dict[str, Any]) -> StudyConfig:
    """Options with the name of a setting override the file, which overrides the defaults."""
    from steelyard.study import StudyConfig, read_config

    names = [field.name for field in fields(StudyConfig)]
    given = {name: options[name] for name in names if options.get(name) is not None}
    for name in ("labels", "ignore", "nominal"):
        if name in given:
            given[name] = (given[name],)
    if config is None:
        return StudyConfig(**(given if "data" in given else EMBEDDED_STUDY | given))
    if "heuristics" in given:  # the parameters in the file belong to the heuristic in the file
        given.setdefault("parameters", ())
    return replace(read_config(config, trust=options["trust"]), **given)
