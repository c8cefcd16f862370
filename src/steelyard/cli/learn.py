"""``steelyard fit``, ``predict``, ``evaluate`` and ``rules``: one theory, from data to predictions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .consoles import error_console, output_console, print_json

if TYPE_CHECKING:
    from steelyard import Theory

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="An embedded or OpenML name, an ARFF, CSV or Parquet file, or a folder with a Mulan pair.",
        show_default=False,
    ),
]
TheoryFile = Annotated[
    Path, typer.Argument(metavar="THEORY", help="A theory in JSON.", show_default=False)
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", help="Label columns of a CSV or Parquet file: a,b.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Add the commands to an application."""
    app.command("fit")(fit_command)
    app.command("predict")(predict_command)
    app.command("evaluate")(evaluate_command)
    app.command("rules")(rules_command)


def fit_command(
    data: Data,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the theory goes.", show_default=False)
    ],
    labels: Labels = None,
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
    from steelyard.study.sources import load_source

    loaded = load_source(data, (labels,) if labels else ())
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
        model = RuleSetClassifier(_make_heuristic(heuristic, parameter), **shared)
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


def _make_heuristic(name: str, parameter: float | None) -> Any:
    from dataclasses import fields

    from steelyard.heuristics import get_heuristic

    heuristic = get_heuristic(name)
    if parameter is None:
        return heuristic
    if not fields(heuristic):  # type: ignore[arg-type]
        raise typer.BadParameter(f"{name} has no parameter", param_hint="--parameter")
    return type(heuristic)(parameter)  # type: ignore[call-arg]


def predict_command(
    theory: TheoryFile,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="A CSV file.  [default: standard output]", show_default=False
        ),
    ] = None,
) -> None:
    """Predict the labels of every example.

    Example: [bold]steelyard predict theory.json new.csv -o predictions.csv[/bold]
    """
    from steelyard.study.sources import read_attributes

    predicted = _open_theory(theory).predict(read_attributes(data))
    text = predicted.to_csv(index=False, lineterminator="\n")
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")
        typer.echo(f"{len(predicted)} predictions → {out}", err=True)


def evaluate_command(
    theory: TheoryFile, data: Data, labels: Labels = None, as_json: Json = False
) -> None:
    """Compare a theory's predictions with the true labels, by every measure.

    Example: [bold]steelyard evaluate theory.json test.csv --json[/bold]
    """
    from rich.table import Table

    from steelyard.data import DataError
    from steelyard.measures import MEASURES
    from steelyard.study.sources import load_source

    learned = _open_theory(theory)
    loaded = load_source(data, (labels,) if labels else learned.label_names, constant="keep")
    missing = [name for name in learned.label_names if name not in loaded.Y.columns]
    if missing:
        raise DataError(f"{data} has no label {missing[0]!r}, which the theory predicts")
    truth = loaded.Y[list(learned.label_names)]
    predicted = learned.predict(loaded.X)
    values = {name: measure(truth, predicted) for name, measure in MEASURES.items()}
    if as_json:
        print_json({"n_examples": len(truth), "n_rules": len(learned), **values})
        return
    table = Table(title=f"{theory.name} on {loaded.name}, {len(truth)} examples")
    table.add_column("measure")
    table.add_column("value", justify="right")
    for name, value in values.items():
        table.add_row(MEASURES[name].title, f"{100 * value:.2f} %")
    output_console().print(table)


def rules_command(
    theory: TheoryFile,
    label: Annotated[
        str | None, typer.Option(help="Only the rules of this label.", show_default=False)
    ] = None,
    heuristic: Annotated[
        str, typer.Option(help="For a file of a study's theories/: which family.")
    ] = "m-estimate",
    parameter: Annotated[float, typer.Option(help="Likewise: m or β.")] = 16.0,
    phi: Annotated[float, typer.Option(help="Likewise: the share φ.")] = 0.5,
    as_json: Json = False,
) -> None:
    """Show the rules of a theory, or of any cell of a study's grid.

    Example: [bold]steelyard rules results/theories/segments/fold-1.json.gz --parameter 32[/bold]
    """
    import json

    learned = _open_theory(theory, _make_heuristic(heuristic, parameter), phi)
    if label is not None:
        learned = _only_label(learned, label)
    if as_json:
        rules = learned.to_frame().to_dict(orient="records")
        print_json(json.loads(json.dumps(rules)))
    else:
        typer.echo(str(learned))


def _only_label(theory: Theory, label: str) -> Theory:
    from dataclasses import replace

    rules = theory.rules_of(label)
    labels = tuple(known for known in theory.labels if known.name == label)
    return replace(theory, labels=labels, scored_rules=rules)


def _open_theory(path: Path, heuristic: Any = None, phi: float = 1.0) -> Theory:
    """A saved theory, or a cell of the path that a study keeps of a fold."""
    import gzip

    from steelyard import Theory, TheoryPath

    if path.suffix != ".gz":
        return Theory.from_json(path)
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (gzip.BadGzipFile, EOFError, UnicodeDecodeError):
        raise ValueError(f"{path} is not a file of theories") from None
    if heuristic is None:
        raise ValueError(
            f"{path} holds all theories of a fold: this command needs a single theory, such as "
            "steelyard fit writes"
        )
    return TheoryPath.from_json(text).theory(heuristic, phi)
