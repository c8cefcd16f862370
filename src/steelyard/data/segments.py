"""The embedded data set: the dark segments of a seven-segment display that shows a digit."""

import numpy as np
import pandas as pd

from .multilabel import MultiLabelData

#: The digits for which each segment stays dark, by label.
DARK_FOR: dict[str, tuple[int, ...]] = {
    "top dark": (1, 4),
    "upper left dark": (1, 2, 3, 7),
    "upper right dark": (5, 6),
    "middle dark": (0, 1, 7),
    "lower left dark": (1, 3, 4, 5, 7, 9),
    "lower right dark": (2,),
    "bottom dark": (1, 4, 7),
}


def load_segments() -> MultiLabelData:
    """Load handwritten digits labelled by the dark segments of a seven-segment display.

    The 1,797 images come from ``load_digits`` of scikit-learn, without a download. An attribute is
    the darkness (0 to 16) of one of 8 × 8 pixels; ``row1_col1`` is at the top left. A label is a
    segment that stays dark when the display shows the digit. The labels depend on each other. Six
    of the seven are minority labels. The lower left segment is dark in 60 % of the examples, so the
    rules of this label predict absence.

    Returns
    -------
    data : MultiLabelData

    Examples
    --------
    >>> from steelyard.data import load_segments
    >>> data = load_segments()
    >>> data
    segments: 1797 examples, 64 attributes (64 numeric), 7 labels, cardinality 2.11
    >>> data.Y.mean().round(2).to_dict()
    {'top dark': 0.2, 'upper left dark': 0.4, 'upper right dark': 0.2, 'middle dark': 0.3,
     'lower left dark': 0.6, 'lower right dark': 0.1, 'bottom dark': 0.3}
    """
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    names = [f"row{row}_col{column}" for row in range(1, 9) for column in range(1, 9)]
    labels = {name: np.isin(digits, dark).astype(np.int8) for name, dark in DARK_FOR.items()}
    return MultiLabelData(
        X=pd.DataFrame(pixels, columns=names),
        Y=pd.DataFrame(labels),
        name="segments",
        description="handwritten digits, labelled by the dark segments of a seven-segment display",
    )
