"""No small file takes more memory or time than its size accounts for."""

import time
import tracemalloc

import pandas as pd
import pytest

from steelyard.data import DataError, load_mulan, load_table, read_folds

HEADER = "@relation 'toy: -C 1'\n@attribute y {0,1}\n@attribute x numeric\n@data\n"
LONG = 200_000


def measure_peak(read) -> float:
    """The most bytes that were allocated at one time while a file was rejected."""
    tracemalloc.start()
    try:
        with pytest.raises(DataError):
            read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_large_fold_number_allocates_nothing(tmp_path):
    file = tmp_path / "folds.csv"
    file.write_text("fold\n1\n50000000\n", encoding="utf-8")
    assert measure_peak(lambda: read_folds(file)) < 10**6


@pytest.mark.parametrize(
    "row",
    [
        "1,'" + LONG * "a" + "'",
        '1,"' + LONG * "a" + '"',
        "1,\t" + LONG * "a",
        "{1 '" + LONG * "a" + "'}",
        "{1\t" + LONG * "a" + "}",
        "1,'" + LONG * "a",
    ],
    ids=["single quotes", "double quotes", "bare", "sparse", "bare sparse", "open quote"],
)
def test_a_long_cell_takes_a_few_bytes_per_character(tmp_path, row):
    file = tmp_path / "toy.arff"
    file.write_text(HEADER + row + "\n", encoding="utf-8")
    assert measure_peak(lambda: load_mulan(file)) < 30 * LONG


def test_a_repeated_value_is_found_in_a_long_list(tmp_path):
    values = ",".join(f"v{i}" for i in range(40_000))
    file = tmp_path / "toy.arff"
    file.write_text(HEADER.replace("numeric", f"{{{values},v39999}}") + "1,v1\n", encoding="utf-8")
    start = time.process_time()
    with pytest.raises(DataError, match="line 3: attribute 'x' lists its value 'v39999' twice"):
        load_mulan(file)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("digits", [19, 400, 5000])
@pytest.mark.parametrize("row", ["{{0 1, {} 1}}", "{{0 '1', {} 1}}"])
def test_a_long_index_is_rejected_with_its_line(tmp_path, row, digits):
    file = tmp_path / "toy.arff"
    file.write_text(HEADER + row.format(digits * "9") + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"toy\.arff, line 5: expected an index and a value") as bad:
        load_mulan(file)
    assert len(str(bad.value)) < 200 + len(str(file))


def test_a_long_number_of_labels_is_rejected(tmp_path):
    file = tmp_path / "toy.arff"
    file.write_text(HEADER.replace("-C 1", "-C " + 5000 * "1") + "1,1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"has 2 attributes, but its relation name says -C 1{18}$"):
        load_mulan(file)


@pytest.mark.parametrize("pattern", ["yyyyyyyy", "yyyy-MM-dd HH:mm:ss:mm"])
def test_a_date_format_that_repeats_a_part_is_not_supported(tmp_path, pattern):
    file = tmp_path / "toy.arff"
    file.write_text(HEADER.replace("numeric", f"date '{pattern}'") + "1,2024\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 3: attribute 'x' has the type date: rules cannot"):
        load_mulan(file)


class TestParquet:
    @pytest.fixture
    def file(self, tmp_path):
        pytest.importorskip("pyarrow")
        pd.DataFrame({"x": [1.0, 2.0], "y": [0, 1]}).to_parquet(tmp_path / "toy.parquet")
        return tmp_path / "toy.parquet"

    @pytest.mark.parametrize(
        "metadata", [b"{}", b"[]", b"{", b'{"columns": [{}], "index_columns": []}']
    )
    def test_damaged_descriptions_of_columns_are_rejected(self, file, metadata):
        from pyarrow import parquet

        damaged = parquet.read_table(file).replace_schema_metadata({b"pandas": metadata})
        parquet.write_table(damaged, file)
        with pytest.raises(DataError, match=r"toy\.parquet cannot be read as Parquet \(.+\)"):
            load_table(file, "y")

    def test_two_columns_of_one_name_are_rejected(self, file):
        from pyarrow import parquet, table

        parquet.write_table(table([[1.0, 2.0], [2.0, 1.0], [0, 1]], names=["x", "x", "y"]), file)
        with pytest.raises(DataError, match=r"toy\.parquet"):
            load_table(file, "y")
