"""MultiLabelData: the attributes and the labels of the same examples.

Every loader and generator returns one. Knows pandas, but no file format and no learner.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from steelyard._text import format_count

from .errors import DataError


@dataclass(frozen=True, eq=False, repr=False)
class MultiLabelData:
    """A multi-label data set, ready for ``clf.fit(data.X, data.Y)``.

    Parameters
    ----------
    X : DataFrame of shape (n_examples, n_features)
        The attributes: numeric columns as numbers, nominal ones as ``category``. Wide sparse
        data has pandas sparse columns, so names are kept and ``X[mask]`` works as usual.
    Y : DataFrame of shape (n_examples, n_labels)
        The labels as 0/1 integers, one named column per label.
    name : str
        The name of the data set in tables and messages.
    description : str, default=""
        The origin and the topic of the data.

    Examples
    --------
    >>> import pandas as pd
    >>> from steelyard.data import MultiLabelData
    >>> X = pd.DataFrame({"height": [1.5, 0.2, 2.0], "colour": ["red", "blue", "red"]})
    >>> Y = pd.DataFrame({"tall": [1, 0, 1], "warm": [1, 0, 1]})
    >>> data = MultiLabelData(X.astype({"colour": "category"}), Y, name="toy")
    >>> data
    toy: 3 examples, 2 attributes (1 numeric, 1 nominal), 2 labels, cardinality 1.33
    >>> data.label_names
    ['tall', 'warm']
    >>> len(data), data.cardinality
    (3, 1.333...)
    """

    X: pd.DataFrame
    Y: pd.DataFrame
    name: str
    description: str = ""

    def __post_init__(self) -> None:
        if len(self.X) != len(self.Y):
            raise DataError(f"X has {len(self.X)} examples, but Y has {len(self.Y)}")

    def __len__(self) -> int:
        return len(self.X)

    @property
    def feature_names(self) -> list[str]:
        """The names of the attributes, in column order."""
        return list(self.X.columns)

    @property
    def label_names(self) -> list[str]:
        """The names of the labels, in column order."""
        return list(self.Y.columns)

    @property
    def cardinality(self) -> float:
        """Mean number of labels per example."""
        return float(np.asarray(self.Y).sum(axis=1).mean())

    def __repr__(self) -> str:
        n_nominal = sum(isinstance(dtype, pd.CategoricalDtype) for dtype in self.X.dtypes)
        n_sparse = sum(isinstance(dtype, pd.SparseDtype) for dtype in self.X.dtypes)
        n_dense = self.X.shape[1] - n_nominal - n_sparse
        n_of = {"numeric": n_dense, "numeric and sparse": n_sparse, "nominal": n_nominal}
        kinds = ", ".join(f"{count} {kind}" for kind, count in n_of.items() if count)
        counts = {"example": len(self), "attribute": self.X.shape[1], "label": self.Y.shape[1]}
        examples, attributes, labels = (format_count(n, noun) for noun, n in counts.items())
        size = f"{examples}, {attributes} ({kinds}), {labels}"
        return f"{self.name}: {size}, cardinality {self.cardinality:.2f}"
