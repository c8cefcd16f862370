"""Small random tables for hypothesis, and the plain rows in which the oracle reads them.

Everything is small and coarse on purpose: few values and repeated rows make exact ties common.
"""

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

from steelyard.features import MISSING
from steelyard.rules import RuleTable

NUMBERS = (-1.5, 0.0, 0.1, 0.2, 3.0, 1e9)
COLOURS = ("blue", "green", "red", "4")


@st.composite
def numeric_columns(draw, n_rows, missing=True):
    """A few distinct numbers; sometimes almost all of them 0, so that the column is kept as a list."""
    if draw(st.booleans()):
        values = np.zeros(n_rows)
        for row in draw(st.sets(st.integers(0, n_rows - 1), max_size=max(1, n_rows // 8))):
            values[row] = draw(st.sampled_from(NUMBERS))
        return values
    known = st.sampled_from(NUMBERS)
    value = st.one_of(known, known, known, st.just(np.nan)) if missing else known
    return np.array(draw(st.lists(value, min_size=n_rows, max_size=n_rows)))


@st.composite
def nominal_columns(draw, n_rows, missing=True):
    known = st.sampled_from(COLOURS)
    value = st.one_of(known, known, known, st.just(None)) if missing else known
    return pd.Series(draw(st.lists(value, min_size=n_rows, max_size=n_rows)), dtype=object)


@st.composite
def tables(draw, min_rows=2, max_rows=20, max_columns=4, missing=True, nominal=True):
    """A DataFrame of numeric (float) and nominal (object) columns, often with repeated rows."""
    n_rows = draw(st.integers(min_rows, max_rows))
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=max_columns))
    columns = {
        f"{'n' if is_nominal and nominal else 'x'}{j}": draw(
            nominal_columns(n_rows, missing)
            if is_nominal and nominal
            else numeric_columns(n_rows, missing)
        )
        for j, is_nominal in enumerate(kinds)
    }
    table = pd.DataFrame(columns)
    if draw(st.booleans()):
        copies = draw(st.lists(st.integers(0, n_rows - 1), min_size=n_rows, max_size=n_rows))
        table = table.iloc[copies].reset_index(drop=True)
    return table


@st.composite
def label_matrices(draw, n_rows, max_labels=3):
    """0/1 labels as a DataFrame."""
    n_labels = draw(st.integers(1, max_labels))
    bits = st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows)
    return pd.DataFrame({f"l{i}": draw(bits) for i in range(n_labels)})


@st.composite
def data_sets(draw, **options):
    """A table and its labels."""
    X = draw(tables(**options))
    return X, draw(label_matrices(len(X)))


def table_to_rows(X):
    """Rows as the oracle reads them: numbers, text, None or NaN."""
    return [list(row) for row in X.itertuples(index=False, name=None)]


def rows_of_codes(coded):
    """The code of every row on every feature, whether it is stored dense or as a list."""
    codes = np.empty((coded.n_rows, coded.n_features), dtype=np.int64)
    for f in range(coded.n_features):
        if coded.column[f] >= 0:
            codes[:, f] = coded.dense[coded.column[f]]
        else:
            entries = slice(coded.indptr[f], coded.indptr[f + 1])
            codes[:, f] = coded.default_code[f]
            codes[coded.rows[entries], f] = coded.codes[entries]
    assert codes.min(initial=0) >= MISSING
    return codes


def body_to_oracle(body, names):
    """Conditions with names as the oracle's (feature index, operator, value)."""
    operator = {"<": "<", "≥": ">=", "=": "="}
    return [(names.index(c.feature), operator[c.operator], c.value) for c in body]


@st.composite
def rule_tables(draw, coded, max_rules=8):
    """Random bodies ``low ≤ code < high`` on distinct features of a coded table."""
    usable = [f for f in range(coded.n_features) if coded.n_codes[f] > 0]
    bodies = []
    for _ in range(draw(st.integers(0, max_rules))):
        body = []
        for f in draw(st.lists(st.sampled_from(usable), unique=True)) if usable else []:
            low = draw(st.integers(0, int(coded.n_codes[f]) - 1))
            high = low + 1
            if not coded.is_nominal[f]:
                high = draw(st.integers(low + 1, int(coded.n_codes[f])))
            body.append((f, low, high))
        bodies.append(body)
    return bodies_to_table(bodies)


def bodies_to_table(bodies):
    """(feature, low, high) triples, rule by rule, as a RuleTable."""
    flat = np.array([c for body in bodies for c in body], dtype=np.int32).reshape(-1, 3)
    indptr = np.concatenate(([0], np.cumsum([len(body) for body in bodies]))).astype(np.int64)
    return RuleTable(indptr, *(np.ascontiguousarray(column) for column in flat.T))


def to_sparse_frame(X):
    """The same table with its numeric columns in pandas' sparse form."""
    return X.astype(
        {name: pd.SparseDtype(float, 0.0) for name in X.select_dtypes("number").columns}
    )


def to_csr(X):
    """A numeric table as a CSR matrix; what is 0 is not stored, what is missing is."""
    return sparse.csr_array(X.to_numpy(dtype=np.float64))
