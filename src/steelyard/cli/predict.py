"""``steelyard predict``: a theory and a data set → a table of labels."""

import steelyard

from .consoles import write_output
from .inputs import with_theory
from .options import Data, OutFile


@with_theory
def predict(theory: "steelyard.Theory", data: Data, out: OutFile = None) -> None:
    """Predict the labels of every example and write them as CSV.

    A name that a spreadsheet would read as a formula, such as =a, is written as '=a.

    Example: steelyard predict theory.json new.csv -o predictions.csv
    """
    import pandas as pd

    from steelyard._text import escape_formula, frame_to_csv
    from steelyard.data.sources import read_attributes

    predicted = pd.DataFrame(theory.predict(read_attributes(data)))
    predicted.columns = predicted.columns.map(escape_formula)
    if not theory.is_multilabel:  # classes may be texts
        predicted = predicted.map(lambda x: escape_formula(x) if isinstance(x, str) else x)
    write_output(out, frame_to_csv(predicted))
