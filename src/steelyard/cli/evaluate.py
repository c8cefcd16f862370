"""``steelyard evaluate``: a theory and a data set with labels → the value of every measure."""

import warnings

import steelyard

from .consoles import make_table, print_result
from .inputs import reject_columns, with_theory
from .options import Data, Json, Labels


@with_theory
def evaluate(
    theory: "steelyard.Theory", data: Data, labels: Labels = None, as_json: Json = False
) -> None:
    """Compare the predictions of a theory with the true labels, with every measure.

    Example: [bold]steelyard evaluate theory.json test.csv --json[/bold]
    """
    from steelyard.data import DataError, DataWarning
    from steelyard.data.sources import load_source
    from steelyard.measures import MEASURES

    reject_columns([data], labels=labels)
    with warnings.catch_warnings():
        # Labels and attributes of a part of a data set may have one value only.
        warnings.simplefilter("ignore", DataWarning)
        loaded = load_source(data, (labels,) if labels else theory.label_names)
    missing = [name for name in theory.label_names if name not in loaded.Y.columns]
    if missing:
        raise DataError(f"{data} has no label {missing[0]!r}, which the theory predicts")
    truth, predicted = loaded.Y[list(theory.label_names)], theory.predict(loaded.X)
    values = {name: measure(truth, predicted) for name, measure in MEASURES.items()}
    title = f"{len(theory)} rules on {len(truth)} examples of {loaded.name}"
    rows = [
        {"measure": MEASURES[name].title, "value": f"{100 * value:.2f} %"}
        for name, value in values.items()
    ]
    table = make_table(rows, "value", title=title)
    print_result(as_json, {"n_examples": len(truth), "n_rules": len(theory), **values}, table)
