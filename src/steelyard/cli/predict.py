"""``steelyard predict``: a theory and a data set → a table of labels."""

import steelyard

from .consoles import write_output
from .inputs import with_theory
from .options import Data, OutFile


@with_theory
def predict(theory: "steelyard.Theory", data: Data, out: OutFile = None) -> None:
    """Predict the labels of every example and write them as CSV.

    Example: [bold]steelyard predict theory.json new.csv -o predictions.csv[/bold]
    """
    from steelyard.data.sources import read_attributes

    predicted = theory.predict(read_attributes(data))
    write_output(out, predicted.to_csv(index=False, lineterminator="\n"))
