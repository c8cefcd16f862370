"""``steelyard fit``: data to a theory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .arguments import Data, Ignore, Json, Labels, Nominal, check_writable
from .consoles import error_console, print_json
from .reading import load_labelled, make_heuristic


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command("fit")(fit_command)


def fit_command(
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Where the theory goes.",
            show_default=False,
            callback=check_writable,
        ),
    ],
    labels: Labels = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    heuristic: Annotated[
        str, typer.Option(help="m-estimate, f-measure, precision, recall, wra, accuracy, laplace.")
    ] = "m-estimate",
    parameter: Annotated[
        float | None, typer.Option(help="m or β.  [default: 16 or 1]", show_default=False)
    ] = None,
    phi: Annotated[
        float | None,
        typer.Option(
            help="Share of the selected rules to keep.  [default: 0.5; 1 of rules that vote]",
            show_default=False,
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="paper: the paper's method; short: few conditions a rule; accurate: rules that vote."
        ),
    ] = "paper",
    tune: Annotated[
        str | None,
        typer.Option(
            help="Choose m, φ and what the preset leaves open for this measure (f1_micro, hamming, "
            "subset, ...) by cross validation instead.",
            show_default=False,
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="γ, candidate rules.  [default: 300000; 30000 with another preset]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the candidates.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Cores; -1: all.")] = -1,
    as_json: Json = False,
) -> None:
    """Learn rules from a data set and save them as a theory.

    Example: [bold]steelyard fit patients.csv --labels cough,fever --tune f1_micro -o theory.json[/bold]
    """
    from steelyard import RuleSetClassifier, RuleSetClassifierCV

    loaded = load_labelled(data, labels, ignore=ignore, nominal=nominal)
    shared: dict[str, Any] = {"preset": preset, "random_state": seed, "n_jobs": jobs}
    if candidates is not None:
        shared["n_candidates"] = candidates
    shared["verbose"] = int(error_console().is_terminal)
    model: Any
    if tune is not None:
        model = RuleSetClassifierCV(tune, **shared)
    else:
        if phi is not None:
            shared["phi"] = phi
        model = RuleSetClassifier(make_heuristic(heuristic, parameter), **shared)
    theory = model.fit(loaded.X, loaded.Y).theory_
    theory.to_json(out)
    if as_json:
        print_json(
            {
                "theory": str(out),
                "heuristic": theory.heuristic,
                "phi": theory.phi,
                "n_rules": len(theory),
                "n_conditions": theory.n_conditions,
            }
        )
    else:
        typer.echo(f"{str(theory).splitlines()[0]} → {out}")
