"""Random problems of boosting: a table, its codes, a label, and an order of the rows."""

import numpy as np
from hypothesis import strategies as st

from reference.growing import code_table
from steelyard.learning.training_table import code_training_table
from steelyard.model.coding import CodedFeatures
from strategies import masks, random_generators, rows_of_codes, table_to_rows, tables


def rare_values(rng, n_rows, usual, others):
    """A column that is kept as a list: at most one row in eight has another value, or none."""
    column = np.full(n_rows, usual, dtype=object)
    rare = rng.permutation(n_rows)[: n_rows // 8]
    column[rare] = rng.choice(np.array([*others, None], dtype=object), len(rare))
    return column


@st.composite
def problems(draw):
    """A table, its codes, a label with both classes, and an order of the rows."""
    X = draw(tables(max_rows=32, max_columns=3))
    rng = draw(random_generators())
    if rng.random() < 0.7:
        X["r"] = rare_values(rng, len(X), 1.0, [0.0, 2.0]).astype(float)
    if rng.random() < 0.4:
        X["n"] = rare_values(rng, len(X), "green", ["blue", "red"])
    is_present = draw(masks(len(X)))
    is_present[:2] = True, False
    order = np.array(draw(st.permutations(range(len(X)))), dtype=np.int64)
    return X, code_training_table(X), is_present, order


def to_oracle(X, training):
    """The table as the oracle reads it, from its values."""
    return code_table(table_to_rows(X), training.coded.is_nominal.tolist())


def store_dense(coded):
    """The same codes with no feature kept as a list."""
    codes = rows_of_codes(coded).T
    none = np.empty(0, dtype=np.int32)
    return CodedFeatures(
        n_codes=coded.n_codes,
        is_nominal=coded.is_nominal,
        column=np.arange(len(codes), dtype=np.int32),
        dense=np.ascontiguousarray(codes, dtype=np.int32),
        default_code=np.full(len(codes), -1, dtype=np.int32),
        indptr=np.zeros(len(codes) + 1, dtype=np.int64),
        rows=none,
        codes=none,
    )
