"""``steelyard recount``: a theory and a data set with labels → the theory with its evidence there."""

import steelyard

from .consoles import print_result, write_output
from .inputs import load_examples, with_theory
from .options import Data, Json, Labels, OutFile


@with_theory
def recount(
    theory: "steelyard.Theory",
    data: Data,
    labels: Labels = None,
    out: OutFile = None,
    as_json: Json = False,
) -> None:
    """Count on other data how often each rule is right.

    Intervals, p-values and all measures are printed, too. With --out, the theory with these counts is
    written as JSON. It predicts as before.

    Example: steelyard recount theory.json test.csv -o counted.json
    """
    loaded = load_examples(theory, data, labels)
    counted = theory.recount(loaded.X, loaded.Y)
    judgement = counted.evidence_from.judgement
    if out is not None:
        write_output(out, counted.to_json())
    if judgement is None:  # a recount has one
        raise ValueError("the recount has no judgement")
    content = {
        "n_examples": judgement.n_rows,
        "measures": judgement.measures,
        "labels": judgement.to_frame(),
        "rules": counted.to_frame(),
    }
    print_result(as_json, content, str(counted), "", str(judgement))
