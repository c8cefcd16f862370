"""``steelyard fit``: data to a theory."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .arguments import Data, Ignore, Json, Labels, Nominal, check_writable, keep_inputs
from .consoles import error_console, print_json
from .reading import load_labelled, make_heuristic


class Decode(StrEnum):
    """How firing rules become labels."""

    any = "any"
    label_sets = "label-sets"


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
        str | None,
        typer.Option(
            help="m-estimate, f-measure, precision, recall, wra, accuracy, laplace.  "
            "\\[default: m-estimate]",
            show_default=False,
        ),
    ] = None,
    parameter: Annotated[
        float | None, typer.Option(help="m or β.  \\[default: 16 or 1]", show_default=False)
    ] = None,
    phi: Annotated[
        float | None,
        typer.Option(
            help="Share of the selected rules to keep.  \\[default: 0.5; 1 of rules that vote]",
            show_default=False,
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="paper: the paper's method; short: few conditions a rule; accurate: rules that vote. "
            "A preset also speaks for a parameter that is passed with its default value, as in "
            "--candidates 300000."
        ),
    ] = "paper",
    tune: Annotated[
        str | None,
        typer.Option(
            help="Choose m, φ and what the preset leaves open for this measure (f1_micro, hamming, "
            "subset, ...) by cross validation; what other options set stays as it is.",
            show_default=False,
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="γ, candidate rules; not for rules that vote.  \\[default: 300000; short: 30000]",
            show_default=False,
        ),
    ] = None,
    decode: Annotated[
        Decode | None,
        typer.Option(
            help="any: each label by itself; label-sets: the label set of a training example that fits "
            "best.  \\[default: any; label-sets with another preset than paper]",
            show_default=False,
        ),
    ] = None,
    max_rules: Annotated[
        int | None,
        typer.Option(
            min=1, help="The most rules, if they vote.  \\[default: 333]", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the candidates.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Cores; -1: all.")] = -1,
    as_json: Json = False,
) -> None:
    """Learn rules from a data set and save them as a theory.

    Example: [bold]steelyard fit patients.csv --labels cough,fever --tune f1_micro -o theory.json[/bold]
    """
    keep_inputs(out, data)
    given = {
        "n_candidates": candidates,
        "decode": None if decode is None else decode.value,
        "max_rules": max_rules,
    }
    shared = {name: value for name, value in given.items() if value is not None}
    shared |= {"preset": preset, "random_state": seed, "n_jobs": jobs}
    shared["verbose"] = int(error_console().is_terminal)
    if tune is None:
        model = _make_classifier(heuristic, parameter, phi, shared)
    else:
        model = _make_search(tune, heuristic, parameter, phi, shared)
    _refuse_unused(model, candidates, max_rules)
    loaded = load_labelled(data, labels, ignore=ignore, nominal=nominal)
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


def _make_classifier(
    heuristic: str | None, parameter: float | None, phi: float | None, shared: dict[str, Any]
) -> Any:
    """The estimator of one theory."""
    from steelyard import RuleSetClassifier

    share: dict[str, Any] = {} if phi is None else {"phi": phi}
    return RuleSetClassifier(make_heuristic(heuristic, parameter), **share, **shared)


def _make_search(
    measure: str,
    heuristic: str | None,
    parameter: float | None,
    phi: float | None,
    shared: dict[str, Any],
) -> Any:
    """The estimator that chooses for a measure what the options leave open."""
    from steelyard import RuleSetClassifierCV
    from steelyard.estimators.rule_set_cv import plan_search

    open_choices: dict[str, Any] = {"heuristics": _list_heuristics(heuristic, parameter)}
    if phi is not None:
        open_choices["phis"] = [phi]
    model = RuleSetClassifierCV(measure, **open_choices, **shared)
    _, grid = plan_search(model, 0)
    if sum(1 for _ in grid.cells()) == 1:
        raise typer.BadParameter("the other options leave nothing to choose", param_hint="--tune")
    return model


def _list_heuristics(name: str | None, parameter: float | None) -> list[Any] | None:
    """What the tuning chooses from: the one heuristic, a family's grid, or None for the m-estimate's."""
    from steelyard.heuristics import BETA_GRID, FMeasure, MEstimate

    heuristic = make_heuristic(name, parameter)
    if parameter is None and isinstance(heuristic, MEstimate):
        return None
    if parameter is None and isinstance(heuristic, FMeasure):
        return [FMeasure(beta) for beta in BETA_GRID]
    return [heuristic]


def _refuse_unused(model: Any, candidates: int | None, max_rules: int | None) -> None:
    """Say which options have no meaning for rules that vote, or for rules that do not."""
    from steelyard.estimators.rule_set import effective_parameters

    votes = effective_parameters(model)["combine"] == "weighted"
    if candidates is not None and votes:
        raise typer.BadParameter(
            "rules that vote are grown as they are needed, without candidates",
            param_hint="--candidates",
        )
    if max_rules is not None and not votes:
        raise typer.BadParameter(
            "this is for rules that vote, as with --preset accurate", param_hint="--max-rules"
        )
