"""``steelyard stability``: a data set with labels → how often its rules are learned from samples."""

from typing import Annotated, Any

import typer

from .consoles import print_result
from .fit import Method
from .inputs import load_data, no_repeated_notes
from .options import Data, Ignore, Jobs, Json, Labels, Nominal, option

_SAMPLES = "Number of samples to learn from."
_FRACTION = "Share of the examples in a sample."
_SIMILARITY = (
    "A rule is like another with the same head if the examples that both cover are at least this "
    "share of those that any of them covers."
)


def stability(
    data: Data,
    labels: Labels = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    method: Annotated[Method, typer.Option(help="As in steelyard fit.")] = Method.auto,
    tune: Annotated[
        str | None, option("Tune for this measure, on all examples.", metavar="MEASURE")
    ] = None,
    candidates: Annotated[int | None, option("Number γ of candidates.", min=1)] = None,
    max_rules: Annotated[int | None, option("Maximum number of rules.", min=1)] = None,
    samples: Annotated[int, typer.Option(min=1, help=_SAMPLES)] = 20,
    fraction: Annotated[float, typer.Option(help=_FRACTION)] = 0.632,
    similarity: Annotated[float, typer.Option(help=_SIMILARITY)] = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random choices.")] = 0,
    jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Learn again from samples to see which rules to trust.

    Example: steelyard stability patients.csv --labels cough,fever --samples 50
    """
    from steelyard.estimators.methods import make_estimator
    from steelyard.estimators.stability import rule_stability

    given = {"n_candidates": candidates, "max_rules": max_rules, "random_state": seed}
    options: dict[str, Any] = {k: value for k, value in given.items() if value is not None}
    try:
        estimator = make_estimator(method.value, tune=tune, n_jobs=jobs, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--method") from None
    loaded = load_data(data, labels, ignore=ignore, nominal=nominal)
    with no_repeated_notes(data):
        found = rule_stability(
            estimator,
            loaded.X,
            loaded.Y,
            n_resamples=samples,
            sample_fraction=fraction,
            min_similarity=similarity,
            random_state=seed,
            n_jobs=jobs,
        )
    content = {
        "value": found.value,
        "n_resamples": found.n_resamples,
        "sample_fraction": found.sample_fraction,
        "min_similarity": found.min_similarity,
        "rules": found.to_frame(),
    }
    print_result(as_json, content, str(found))
