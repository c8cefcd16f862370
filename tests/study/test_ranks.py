import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reference.ranks import average_ranks
from steelyard.study import StudyError
from steelyard.study.analysis.ranks import map_cells, rank_best_first


def rows_of(values, dataset="a", measure="hamming"):
    """Rows of one fold from values[φ][m], m = 0, 2, ... and φ = 1, 0.5, ..."""
    return pd.DataFrame(
        [
            (dataset, 1, "m-estimate", 2.0 * i, 1 / (1 + j), measure, value)
            for j, row in enumerate(values)
            for i, value in enumerate(row)
        ],
        columns=["dataset", "fold", "heuristic", "parameter", "phi", "measure", "value"],
    )


def test_ranks_of_an_example_computed_by_hand():
    # a: .9 is 1st, the three .5 share places 2 to 4. b: .8, .6, .4, .2.
    rows = pd.concat([rows_of([[0.5, 0.9], [0.5, 0.5]]), rows_of([[0.8, 0.2], [0.6, 0.4]], "b")])
    cells = map_cells(rows, "hamming")
    assert cells.ranks.tolist() == [[[3, 1], [3, 3]], [[1, 4], [2, 3]]]
    assert cells.mean_rank.tolist() == [[2, 2.5], [2.5, 3]]
    assert cells.sd_rank.tolist() == [[1, 1.5], [0.5, 0]]
    assert cells.best_cells == {"a": (0, 1), "b": (0, 0)}
    assert cells.best_cell("a") == (2.0, 1.0)
    assert cells.of("b").values.tolist() == [[[0.8, 0.2], [0.6, 0.4]]]
    assert cells.value_at("b", 0.0, 0.5) == 0.6
    with pytest.raises(StudyError, match=r"no cell 1:0\.5"):
        cells.value_at("b", 1.0, 0.5)


@given(arrays(float, st.integers(1, 8), elements=st.sampled_from([0.1, 0.2, 0.3])))
def test_ranks_are_those_of_the_oracle(values):
    assert rank_best_first(values).tolist() == average_ranks(values.tolist())


def test_a_data_set_that_cannot_tell_cells_apart_has_no_best_one():
    assert map_cells(rows_of([[0, 0], [0, 0]]), "hamming").best_cells == {}


def test_folds_are_averaged_first():
    rows = pd.concat([rows_of([[0.0, 0.5]]), rows_of([[1.0, 0.6]]).assign(fold=2)])
    cells = map_cells(rows, "hamming")
    assert np.allclose(cells.values, [[[0.5, 0.55]]])
    assert np.allclose(cells.sd, np.std([[0.0, 0.5], [1.0, 0.6]], axis=0, ddof=1))


def test_missing_rows_are_rejected():
    with pytest.raises(StudyError, match="do not fill the grid"):
        map_cells(rows_of([[0.1, 0.2], [0.3, 0.4]]).iloc[:3], "hamming")
    with pytest.raises(StudyError, match="no rows of 'subset'"):
        map_cells(rows_of([[0.1]]), "subset")
