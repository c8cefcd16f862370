"""CSV and Parquet files to MultiLabelData; the caller names the labels."""

import warnings
from collections.abc import Sequence
from fnmatch import fnmatchcase
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from steelyard._text import did_you_mean, shorten_repr

from .columns import (
    ConstantLabels,
    MissingLabels,
    MultiValued,
    convert_attributes,
    decode_examples,
)
from .errors import DataError
from .multilabel import MultiLabelData
from .suspicious import warn_about_columns
from .text_files import read_text, strip_gz

# pandas before 3.1 may err in the last bit of a number, unless it is told to read as Python does.
_IS_EXACT = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
_EXACT: dict[str, Any] = {} if _IS_EXACT else {"float_precision": "round_trip"}

_PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", *_PARQUET_SUFFIXES)


def load_table(
    path: str | PathLike[str],
    labels: str | Sequence[str],
    *,
    ignore: str | Sequence[str] = (),
    nominal: str | Sequence[str] = (),
    sep: str | None = None,
    constant_labels: ConstantLabels = "keep",
    missing_labels: MissingLabels = "raise",
    multi_valued: MultiValued = "raise",
) -> MultiLabelData:
    r"""Load a multi-label data set from a table in CSV or Parquet.

    Parameters
    ----------
    path : path-like
        A ``.csv`` or ``.tsv`` file with a header, compressed with gzip (``.csv.gz``) or not, or a
        ``.parquet`` file, which requires pyarrow (``pip install 'steelyard[parquet]'``).
    labels : str or sequence of str
        The columns that are labels, as a list or separated by commas, in the order of the
        columns of Y. Their values are 0 and 1 (or false/true, no/yes). A pattern such as ``label_*``
        means all columns that it matches, also in `ignore` and `nominal`.
    ignore : str or sequence of str, default=()
        Columns to leave out, such as a row number or a name.
    nominal : str or sequence of str, default=()
        Columns of numbers that are codes of categories.
    sep : str, optional
        The separator of the values in a line. By default a comma, or a tab in a ``.tsv`` file.
    constant_labels, missing_labels, multi_valued : as in `load_mulan`

    Returns
    -------
    data : MultiLabelData
        Numeric columns stay numbers; text and booleans become categories. Dates and times become
        numeric attributes, also those that a CSV file writes as ``2024-03-01`` or
        ``2024-03-01 18:30``. A warning names columns that look like identifiers or that have one
        value only.

    Raises
    ------
    DataError
        If the table cannot be used. The message counts rows from 1, without the header.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from steelyard.data import load_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("colour,weight,sweet,sour\nred,120,1,0\nyellow,90,0,1\n")
    ...     data = load_table(path, labels="sweet,sour")
    >>> data
    fruit: 2 examples, 2 attributes (1 numeric, 1 nominal), 2 labels, cardinality 1.00
    """
    file = Path(path)
    table = read_table(file, sep)
    label_names = _find_columns(file, table, labels, "labels")
    ignored = _find_columns(file, table, ignore, "ignore")
    if not label_names:
        raise DataError(f"{path}: pass the names of the label columns as labels=[...]")
    if both := [name for name in label_names if name in ignored]:
        raise DataError(f"{path}: column {both[0]!r} is in both labels and ignore")
    for name in _find_columns(file, table, nominal, "nominal"):
        # With missing values, the integer 2 is read as 2.0; convert_dtypes makes it 2 again.
        texts = table[name].convert_dtypes().astype(object).map(str, na_action="ignore")
        table[name] = texts.astype("category")
    X, Y = decode_examples(
        convert_attributes(table.drop(columns=[*label_names, *ignored]), file),
        table[label_names],
        file,
        constant_labels=constant_labels,
        missing_labels=missing_labels,
        multi_valued=multi_valued,
    )
    warn_about_columns(X, f"{file}: ", "ignore=")
    return MultiLabelData(X, Y, name=strip_gz(file).stem)


def read_table(path: Path, sep: str | None = None) -> pd.DataFrame:
    """Read all columns of a table in CSV or Parquet; their names become strings."""
    is_parquet = path.suffix.lower() in _PARQUET_SUFFIXES
    table = _read_parquet(path) if is_parquet else _read_csv(path, sep)
    table.columns = pd.Index([str(column) for column in table.columns])
    if table.columns.has_duplicates:
        name = table.columns[table.columns.duplicated()][0]
        raise DataError(f"{path} has two columns named {name!r}")
    if table.empty:
        raise DataError(f"{path} has a header but no rows")
    return table


def _find_columns(
    path: Path, table: pd.DataFrame, wanted: str | Sequence[str], parameter: str
) -> list[str]:
    if not isinstance(wanted, str):
        names = list(wanted)
    elif wanted in table.columns:  # the name of a column may contain commas
        names = [wanted]
    else:
        names = [name.strip() for name in wanted.split(",") if name.strip()]
    names = [name for text in names for name in _match_columns(table, text)]
    for position, name in enumerate(names):
        if name not in table.columns:
            hint = did_you_mean(str(name), table.columns)
            if table.shape[1] == 1:
                hint = f": its only column is {shorten_repr(table.columns[0])}; is sep= right?"
            raise DataError(f"{path} has no column {name!r}, named in {parameter}{hint}")
        if name in names[:position]:
            raise DataError(f"{path}: {parameter} names the column {name!r} twice")
    return names


def _match_columns(table: pd.DataFrame, text: str) -> list[str]:
    """The columns that a pattern such as ``label_*`` means; a text that is no pattern means itself."""
    if text in table.columns or not set(str(text)) & set("*?["):
        return [text]
    return [name for name in table.columns if fnmatchcase(name, text)] or [text]


def _read_csv(path: Path, sep: str | None) -> pd.DataFrame:
    text = read_text(path)
    if sep is None:
        sep = "\t" if strip_gz(path).suffix.lower() == ".tsv" else ","
    try:
        # A column may be called NA.
        as_text: Any = {"dtype": str, "keep_default_na": False}
        header = pd.read_csv(StringIO(text), sep=sep, header=None, nrows=1, **as_text)
        with warnings.catch_warnings():
            # pandas drops values beyond the header with this warning only.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table: pd.DataFrame = pd.read_csv(
                StringIO(text),
                sep=sep,
                na_values=["?"],
                index_col=False,
                low_memory=False,
                **_EXACT,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise DataError(f"{path} is not a regular table: {reason}") from None
    names = header.iloc[0].astype(str)
    if names.duplicated().any():
        raise DataError(f"{path} has two columns named {names[names.duplicated()].iloc[0]!r}")
    return table


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path, engine="pyarrow").reset_index(drop=True)
    except (FileNotFoundError, ImportError):
        raise
    except Exception as error:  # pyarrow and pandas have many for a damaged file
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{path} cannot be read as Parquet ({reason})") from None
