"""CSV and Parquet files to MultiLabelData, with the labels named by the caller."""

import warnings
from collections.abc import Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path

import pandas as pd

from .errors import DataError, check_file_exists, did_you_mean, shorten
from .frame_columns import frames_to_data
from .label_values import ConstantLabels
from .multilabel import MultiLabelData
from .text_files import read_bytes, stem_without_gz

_SEPARATOR_OF_SUFFIX = {".csv": ",", ".tsv": "\t", ".txt": ","}
_PARQUET_SUFFIXES = (".parquet", ".pq")


def load_table(
    path: str | PathLike[str],
    labels: str | Sequence[str],
    *,
    ignore: str | Sequence[str] = (),
    nominal: str | Sequence[str] = (),
    sep: str | None = None,
    constant_labels: ConstantLabels = "raise",
) -> MultiLabelData:
    r"""Load a multi-label data set from a table in CSV or Parquet.

    Parameters
    ----------
    path : path-like
        A ``.csv`` or ``.tsv`` file with a header, perhaps compressed (``.csv.gz``), or a
        ``.parquet`` file, for which pyarrow must be installed.
    labels : str or sequence of str
        The columns that are labels, as a list or separated by commas. They hold 0 and 1 (or
        false/true, no/yes); their order becomes the order of the labels.
    ignore : str or sequence of str, default=()
        Columns to leave out, such as a row number or a name.
    nominal : str or sequence of str, default=()
        Columns of numbers that are codes: their values have no order.
    sep : str, optional
        What separates the values in a line. By default a comma, or a tab in a ``.tsv`` file.
    constant_labels : {"raise", "drop", "keep"}, default="raise"
        What to do about labels that all examples or none have: an error, leave them out with
        a warning, or keep them.

    Returns
    -------
    data : MultiLabelData
        Numeric columns stay numbers; text and truth values become categories.

    Raises
    ------
    DataError
        If the table cannot be used. Rows are counted from 1, without the header.

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
        raise DataError(f"{path}: no label at all is named; pass the label columns as labels=[...]")
    if both := [name for name in label_names if name in ignored]:
        raise DataError(f"{path}: column {both[0]!r} is both a label and to be ignored")
    for name in _find_columns(file, table, nominal, "nominal"):
        # convert_dtypes turns a 2.0, which is a float only because others are missing, into 2.
        table[name] = table[name].convert_dtypes().astype(object).map(str, na_action="ignore")
    return frames_to_data(
        table.drop(columns=[*label_names, *ignored]),
        table[label_names],
        name=stem_without_gz(file),
        where=path,
        constant_labels=constant_labels,
    )


def read_table(path: Path, sep: str | None = None) -> pd.DataFrame:
    """All columns of a table in CSV or Parquet, labels or not, with names that are text."""
    table = _read_parquet(path) if path.suffix in _PARQUET_SUFFIXES else _read_csv(path, sep)
    table.columns = pd.Index([str(column) for column in table.columns])
    if table.empty:
        raise DataError(f"{path} has a header but no rows")
    return table


def _find_columns(
    path: Path, table: pd.DataFrame, wanted: str | Sequence[str], parameter: str
) -> list[str]:
    if isinstance(wanted, str):
        # A name may have commas of its own.
        whole = wanted in table.columns
        names = [wanted] if whole else [name.strip() for name in wanted.split(",") if name.strip()]
    else:
        names = list(wanted)
    for position, name in enumerate(names):
        if name not in table.columns:
            hint = did_you_mean(str(name), table.columns)
            if table.shape[1] == 1:
                hint = f": its only column is {shorten(table.columns[0])}; is sep= right?"
            raise DataError(f"{path} has no column {name!r}, named in {parameter}{hint}")
        if name in names[:position]:
            raise DataError(f"{path}: {parameter} names the column {name!r} twice")
    return names


def _read_csv(path: Path, sep: str | None) -> pd.DataFrame:
    raw = read_bytes(path)
    if b"\0" in raw:
        raise DataError(f"{path} is not a text file: it contains binary data")
    if sep is None:
        suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
        sep = _SEPARATOR_OF_SUFFIX.get(suffix, ",")
    encoding = "utf-8-sig"
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        encoding = "latin-1"
    try:
        header = pd.read_csv(BytesIO(raw), sep=sep, encoding=encoding, header=None, nrows=1)
        with warnings.catch_warnings():
            # Values beyond the header would be cut off with no more than this warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                BytesIO(raw),
                sep=sep,
                encoding=encoding,
                na_values=["?"],
                index_col=False,
                low_memory=False,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise DataError(f"{path} is not a regular table: {reason}") from None
    names = header.iloc[0].astype(str)
    if names.duplicated().any():
        raise DataError(f"{path} has two columns named {names[names.duplicated()].iloc[0]!r}")
    return table


def _read_parquet(path: Path) -> pd.DataFrame:
    check_file_exists(path)
    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"reading {path} needs pyarrow: install it with pip install 'steelyard[parquet]'"
        ) from None
    try:
        table = pyarrow.parquet.read_table(path).to_pandas()
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet ({error})") from None
    frame: pd.DataFrame = table.reset_index(drop=True)
    return frame
