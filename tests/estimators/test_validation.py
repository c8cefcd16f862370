"""Rows of tables: sparse frames are taken as a matrix, with the same result."""

import numpy as np
import pandas as pd
import pytest
from pandas.arrays import SparseArray

from steelyard.estimators.validation import take_rows


@pytest.mark.parametrize(
    "columns",
    [
        {"a": SparseArray([0.0, 1, 0, 2]), "b": SparseArray([0.0, 0, 0, 3])},
        {"a": SparseArray([0, 1, 0, 2]), "b": SparseArray([0, 0, 0, 3])},
        {
            "a": SparseArray([0.0, 1, 0, 2], fill_value=0),
            "b": SparseArray([0.0, 0, 1, np.nan], fill_value=0),
        },
        {"a": SparseArray([True, False, True, True]), "b": SparseArray([False] * 4)},
        {"a": SparseArray([0.0, 1, 0, 2]), "b": [1.0, 2, 3, 4]},
    ],
)
@pytest.mark.parametrize("rows", [[2, 0, 3], [1, 1], []])
def test_rows_of_sparse_frames_are_those_of_pandas(columns, rows):
    table = pd.DataFrame(columns, index=list("wxyz"))
    taken = take_rows(table, np.array(rows, dtype=np.intp))
    pd.testing.assert_frame_equal(taken, table.iloc[rows])
