"""``steelyard evaluate``: a theory and a data set with labels → the value of every measure."""

from typing import Annotated, Any

import steelyard

from .consoles import make_table, print_result
from .inputs import load_examples, with_theory
from .options import Data, Json, Labels, option

_TRAINING = "training"


@with_theory
def evaluate(
    theory: "steelyard.Theory",
    data: Data,
    labels: Labels = None,
    baseline: Annotated[
        str | None,
        option(
            "Earlier data with labels, or 'training' for the counts in the theory: show what changed "
            "since, in the measures and in the rules.",
            metavar="DATA",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare predictions with the true labels by every measure.

    Example: steelyard evaluate theory.json june.csv --baseline may.csv
    """
    from steelyard.measures import MEASURES

    loaded = load_examples(theory, data, labels)
    truth, predicted = loaded.Y[list(theory.label_names)], theory.predict(loaded.X)
    values = {name: measure(truth, predicted) for name, measure in MEASURES.items()}
    content: dict[str, Any] = {"n_examples": len(truth), "n_rules": len(theory), **values}
    columns = {"value": values}
    views: list[Any] = []
    if baseline is not None:
        before = theory
        if baseline != _TRAINING:
            earlier = load_examples(theory, baseline, labels)
            before = theory.recount(earlier.X, earlier.Y)
        drift = before.drift(loaded.X, loaded.Y)
        content["drift"] = drift.to_frame()
        views.append(str(drift))
        judgement = before.evidence_from.judgement
        if judgement is not None:
            columns = {"baseline": judgement.measures, "value": values}
            content["baseline"] = judgement.measures
    title = f"{len(theory)} rules on {len(truth)} examples of {loaded.name}"
    rows = []
    for name in values:
        row = {"measure": MEASURES[name].title}
        row |= {which: f"{100 * known[name]:.2f} %" for which, known in columns.items()}
        if len(columns) > 1:
            row["change"] = f"{100 * (values[name] - columns['baseline'][name]):+.2f}"
        rows.append(row)
    table = make_table(rows, "baseline", "value", "change", title=title)
    print_result(as_json, content, table, *views)
