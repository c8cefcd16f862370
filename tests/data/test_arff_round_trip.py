"""Whatever is written as ARFF is read back: odd names, odd values, dense and sparse."""

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.data import load_mulan

# Everything that has a meaning in ARFF, and some letters; lines and tabs only as escapes.
words = st.text(st.sampled_from("ab ,'\"\\%{}?@#\tß0 \n"), max_size=6)
numbers = st.floats(allow_nan=False, allow_infinity=False)


class Column(NamedTuple):
    name: str
    values: tuple[str, ...]  # empty for a numeric one
    cells: list


@st.composite
def tables(draw):
    n_examples = draw(st.integers(2, 6))
    names = draw(st.lists(words.filter(bool), min_size=1, max_size=5, unique=True))
    columns = [Column("the label", ("0", "1"), ["0", "1"] + ["0"] * (n_examples - 2))]
    for name in names:
        values = draw(st.just([]) | st.lists(words, min_size=1, max_size=4, unique=True))
        cell = st.none() | (st.sampled_from(values) if values else numbers)
        cells = draw(st.lists(cell, min_size=n_examples, max_size=n_examples))
        columns.append(Column(name, tuple(values), cells))
    return draw(st.permutations(columns))


def quote(word: str, mark: str) -> str:
    escaped = word.replace("\\", "\\\\").replace(mark, "\\" + mark)
    return mark + escaped.replace("\n", "\\n").replace("\t", "\\t") + mark


def table_to_arff(columns, sparse_rows, mark) -> str:
    lines = ["@relation t"]
    for column in columns:
        values = ", ".join(quote(value, mark) for value in column.values)
        declaration = f"{{{values}}}" if column.values else "numeric"
        lines.append(f"@attribute {quote(column.name, mark)} {declaration}")
    lines.append("@data")

    def cell_to_text(column, cell):
        if cell is None:
            return "?"
        return quote(cell, mark) if column.values else repr(cell)

    for row, is_sparse in enumerate(sparse_rows):
        cells = [(i, column, column.cells[row]) for i, column in enumerate(columns)]
        if is_sparse:
            kept = [
                f"{i} {cell_to_text(column, cell)}"
                for i, column, cell in cells
                if cell != (column.values[0] if column.values else 0)
            ]
            lines.append("{" + ", ".join(kept) + "}")
        else:
            lines.append(",".join(cell_to_text(column, cell) for _, column, cell in cells))
    return "\n".join(lines) + "\n"


@settings(max_examples=150, deadline=None)
@given(data=st.data(), table=tables(), mark=st.sampled_from("'\""))
def test_what_is_written_is_read_back(data, table, mark):
    n_examples = len(table[0].cells)
    sparse_rows = data.draw(st.lists(st.booleans(), min_size=n_examples, max_size=n_examples))
    with TemporaryDirectory() as folder:
        arff, xml = Path(folder, "t.arff"), Path(folder, "t.xml")
        arff.write_text(table_to_arff(table, sparse_rows, mark), encoding="utf-8", newline="")
        xml.write_text("<labels><label name='the label'/></labels>")
        read = load_mulan(arff)

    attributes = [column for column in table if column.name != "the label"]
    assert read.feature_names == [column.name for column in attributes]
    assert read.Y["the label"].tolist() == [0, 1] + [0] * (n_examples - 2)
    for column in attributes:
        got = read.X[column.name]
        if column.values:
            assert tuple(got.cat.categories) == column.values
        for found, written in zip(got.tolist(), column.cells, strict=True):
            if written is None:
                assert isinstance(found, float)
                assert math.isnan(found)
            else:
                assert found == written


plain_words = st.text(st.sampled_from("ab_0-"), min_size=1, max_size=4)


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.lists(plain_words, min_size=2, max_size=2), min_size=2, max_size=5),
    separator=st.sampled_from([",", ", ", " , ", "\t", ",\t"]),
    comment=st.sampled_from(["", " % remark", "  "]),
)
def test_plain_rows_mean_the_same_however_they_are_spaced(rows, separator, comment):
    """The fast way through a plain row and the full grammar agree."""
    values = ",".join(sorted({word for row in rows for word in row}))
    text = f"@attribute y {{0,1}}\n@attribute p {{{values}}}\n@attribute q {{{values}}}\n@data\n"
    for i, row in enumerate(rows):
        text += separator.join([str(i % 2), *row]) + comment + "\n"
    with TemporaryDirectory() as folder:
        arff, xml = Path(folder, "t.arff"), Path(folder, "t.xml")
        arff.write_text(text)
        xml.write_text("<labels><label name='y'/></labels>")
        read = load_mulan(arff)
    assert read.X.astype(object).to_numpy().tolist() == rows
