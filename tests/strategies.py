"""Small random tables for hypothesis, and the plain rows in which the oracle reads them.

Everything is small and coarse on purpose: few values and repeated rows make exact ties common.
"""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

from steelyard.model import coverage
from steelyard.model.coding import CodedFeatures, FeatureCoder
from steelyard.model.features import Feature
from steelyard.model.rule_table import RuleTable
from steelyard.model.tables import MISSING, NumericColumn, column_names, table_to_columns

NUMBERS = (-1.5, 0.0, 0.1, 0.2, 3.0, 1e9)
COLOURS = ("blue", "green", "red", "4")


def random_generators():
    """A random generator: hypothesis draws its seed, and shapes apart, since many draws are slow."""
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def numeric_column(rng, n_rows, missing):
    """A few distinct numbers; sometimes almost all of them 0, so that the column is kept as a list."""
    values = rng.choice(rng.choice(NUMBERS, rng.integers(1, len(NUMBERS) + 1)), n_rows)
    if rng.random() < 0.5:
        n_listed = rng.integers(0, max(1, n_rows // 8) + 1)
        values[rng.permutation(n_rows)[n_listed:]] = 0.0
    if missing and rng.random() < 0.5:
        values[rng.random(n_rows) < rng.choice([0.05, 0.3, 1.0], p=[0.45, 0.45, 0.1])] = np.nan
    return values


def nominal_column(rng, n_rows, missing):
    values = rng.choice(COLOURS[: rng.integers(1, len(COLOURS) + 1)], n_rows).astype(object)
    if missing and rng.random() < 0.5:
        values[rng.random(n_rows) < rng.choice([0.05, 0.3, 1.0], p=[0.45, 0.45, 0.1])] = None
    return pd.Series(values, dtype=object)


@st.composite
def tables(draw, min_rows=2, max_rows=20, max_columns=4, missing=True, nominal=True):
    """A DataFrame of numeric (float) and nominal (object) columns, often with repeated rows."""
    n_rows = draw(st.integers(min_rows, max_rows))
    n_columns = draw(st.integers(1, max_columns))
    rng = draw(random_generators())
    columns = {}
    for j in range(n_columns):
        if nominal and rng.random() < 0.4:
            columns[f"n{j}"] = nominal_column(rng, n_rows, missing)
        else:
            columns[f"x{j}"] = numeric_column(rng, n_rows, missing)
    table = pd.DataFrame(columns)
    if rng.random() < 0.5:
        table = table.iloc[rng.integers(0, n_rows, n_rows)].reset_index(drop=True)
    return table


@st.composite
def masks(draw, n_rows):
    """Which rows are positive: from none to all of them, most often a minority."""
    rng = draw(random_generators())
    return rng.random(n_rows) < rng.choice([0.0, 0.1, 0.3, 0.5, 0.9, 1.0])


@st.composite
def label_matrices(draw, n_rows, max_labels=3):
    """0/1 labels as a DataFrame."""
    n_labels = draw(st.integers(1, max_labels))
    return pd.DataFrame({f"l{i}": draw(masks(n_rows)).astype(int) for i in range(n_labels)})


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


def code_table(X) -> tuple[FeatureCoder, CodedFeatures]:
    """A coder with a cut point at every distinct value but the smallest, and the codes of the table."""
    features, cuts = [], []
    for name, column in zip(column_names(X), table_to_columns(X), strict=True):
        if isinstance(column, NumericColumn):
            zero = [0.0] if column.rows is not None and len(column.rows) < X.shape[0] else []
            values = np.unique([*column.values, *zero])
            features.append(Feature(name))
            cuts.append(values[~np.isnan(values)][1:])
        else:
            features.append(Feature(name, column.categories))
            cuts.append(np.empty(0))
    coder = FeatureCoder(tuple(features), tuple(cuts))
    return coder, coder.encode(X)


def body_to_oracle(body, names):
    """Conditions with names as the oracle's (feature index, operator, value), one per bound."""
    plain = []
    for c in body:
        f = names.index(c.feature)
        if c.categories is not None:
            one = len(c.categories) == 1
            plain.append((f, "=", c.categories[0]) if one else (f, "in", c.categories))
            continue
        if c.low > -np.inf:
            plain.append((f, ">=", c.low))
        if c.high < np.inf:
            plain.append((f, "<=" if c.includes_high else "<", c.high))
    return plain


@st.composite
def rule_tables(draw, coded, max_rules=8):
    """Random bodies ``low ≤ code < high`` on distinct features of a coded table."""
    n_rules = draw(st.integers(0, max_rules))
    rng = draw(random_generators())
    usable = np.flatnonzero(coded.n_codes > ~coded.is_nominal)
    bodies = []
    for _ in range(n_rules):
        body = []
        for f in rng.permutation(usable)[: rng.integers(0, 4)]:
            n_codes = int(coded.n_codes[f])
            low = int(rng.integers(n_codes))
            high = low + 1
            if not coded.is_nominal[f]:  # a range with at least one end: a condition
                high = int(rng.integers(low + 1, n_codes + (low > 0)))
            body.append((int(f), low, high))
        bodies.append(body)
    return bodies_to_table(bodies)


def bodies_to_table(bodies):
    """(feature, low, high) triples, rule by rule, as a RuleTable."""
    return RuleTable.from_ranges(bodies)


# How the rows of rules may be kept: (rules that cover at most one in so many rows are lists, from so
# many rows on, rules of a tree that are routed together). Few tests have tables that are large enough.
FORMS = {
    "bits": (32, 2**40, 2**40),
    "lists": (1, 0, 2**40),
    "lists of routed rows": (1, 0, 1),
    "bits and lists": (3, 0, 1),
}


@contextmanager
def kept_as(form):
    """Keep the rows of rules in one of the forms."""
    share, least_rows, least_routed = FORMS[form]
    with (
        patch.object(coverage, "MOST_LISTED_SHARE", share),
        patch.object(coverage, "LEAST_LISTED_ROWS", least_rows),
        patch.object(coverage, "LEAST_ROUTED_RULES", least_routed),
    ):
        yield


def to_sparse_frame(X):
    """The same table with its numeric columns in pandas' sparse form."""
    return X.astype(
        {name: pd.SparseDtype(float, 0.0) for name in X.select_dtypes("number").columns}
    )


def to_csr(X):
    """A numeric table as a CSR matrix; what is 0 is not stored, what is missing is."""
    return sparse.csr_array(X.to_numpy(dtype=np.float64))
