"""Tables in CSV and Parquet."""

import datetime
import decimal
import gzip
import sys

import numpy as np
import pandas as pd
import pytest

from steelyard.data import DataError, DataWarning, load_table


@pytest.fixture
def load(tmp_path):
    def load(text, labels, suffix=".csv", **options):
        path = tmp_path / f"fruit{suffix}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_table(path, labels, **options)

    return load


FRUIT = "id,colour,ripe,weight,sweet,sour\n1,red,True,120,1,0\n2,,False,?,0,1\n3,red,True,9.5,1,1\n"


def test_columns_get_their_kinds(load):
    data = load(FRUIT, ["sour", "sweet"], ignore="id")
    assert data.name == "fruit"
    assert data.feature_names == ["colour", "ripe", "weight"]
    assert data.label_names == ["sour", "sweet"]
    assert isinstance(data.X["colour"].dtype, pd.CategoricalDtype)
    assert data.X["ripe"].cat.categories.tolist() == ["False", "True"]
    assert data.X["weight"].dtype == np.float64
    assert data.X.isna().sum().tolist() == [1, 0, 1]
    assert data.Y.to_numpy().tolist() == [[0, 1], [1, 0], [1, 1]]


def test_numbers_are_read_to_the_last_bit(load):
    texts = [repr(value) for value in np.random.default_rng(0).normal(size=3000).tolist()]
    texts += ["1.7976931348623157e308", "5e-324", "0.1", "123456789.123456789"]
    loaded = load("x,y\n" + "".join(f"{text},{i % 2}\n" for i, text in enumerate(texts)), "y")
    assert loaded.X["x"].tolist() == [float(text) for text in texts]


def test_numbers_that_are_codes_can_be_declared_nominal(load):
    data = load("zone,y\n2,0\n,1\n10,0\n", "y", nominal=["zone"])
    assert data.X["zone"].cat.categories.tolist() == ["10", "2"]
    assert data.X["zone"].isna().tolist() == [False, True, False]


def test_labels_may_be_one_string_with_commas(load):
    assert load(FRUIT, "sweet, sour").label_names == ["sweet", "sour"]
    assert load('a,"x,y"\n1,0\n2,1\n', "x,y").label_names == ["x,y"]


@pytest.mark.parametrize("values", ["01", ["False", "True"], ["no", "YES"], ["0.0", "1.0"]])
def test_labels_in_their_spellings(load, values):
    data = load(f"a,y\n3,{values[0]}\n4,{values[1]}\n", "y")
    assert data.Y["y"].tolist() == [0, 1]
    assert data.Y["y"].dtype == np.int8


def test_separators_and_compression(load):
    semicolons, tabs = FRUIT.replace(",", ";"), FRUIT.replace(",", "\t")
    for data in (
        load(semicolons, "sweet", sep=";"),
        load(tabs, "sweet", suffix=".tsv"),
        load(gzip.compress(FRUIT.encode()), "sweet", suffix=".csv.gz"),
        load(gzip.compress(tabs.encode()), "sweet", suffix=".tsv.gz"),
    ):
        assert data.name == "fruit"
        assert data.X["colour"].tolist()[0] == "red"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_encodings(load, encoding):
    data = load("größe,y\nklein,0\ngroß,1\n".encode(encoding), "y")
    assert data.X["größe"].tolist() == ["klein", "groß"]


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        (FRUIT, "swet", r"no column 'swet', named in labels \(did you mean 'sweet' or"),
        (FRUIT.replace(",", ";"), "sweet", "its only column is 'id;colour.*is sep= right"),
        (FRUIT, [], "pass the names of the label columns"),
        (FRUIT, "sweet,sweet", "labels names the column 'sweet' twice"),
        (FRUIT.replace("120", "1"), "weight", "row 2: label 'weight' is missing"),
        (FRUIT, "id", "row 2: label 'id' is '2' instead of 0 or 1"),
        ("a,a,y\n1,1,0\n", "y", "has two columns named 'a'"),
        ("a,y\n", "y", "has a header but no rows"),
        ("y\n0\n1\n", "y", "has no attributes besides the labels"),
        ("a,y\n1,0\n1,2,3\n", "y", "is not a regular table: Expected 2 fields in line 3, saw 3"),
        ("a,y\n1,0,3\n1,1,3\n", "y", "is not a regular table: Length of header"),
        ("", "y", "is empty"),
        (b"a\0b\n", "y", "contains binary data"),
    ],
)
def test_bad_tables_get_one_sentence(load, text, labels, message):
    with pytest.raises(DataError, match=message) as caught:
        load(text, labels)
    assert "\n" not in str(caught.value)


def test_a_label_cannot_be_ignored(load):
    with pytest.raises(DataError, match="'sweet' is in both labels and ignore"):
        load(FRUIT, "sweet", ignore=["sweet"])
    with pytest.raises(DataError, match="has no column 'it', named in ignore"):
        load(FRUIT, "sweet", ignore=["it"])


def test_constant_labels_are_kept_with_a_warning(load):
    with pytest.warns(DataWarning, match="no rule can be learned for labels with one value"):
        assert load("a,y\n1,0\n2,0\n", "y").Y["y"].tolist() == [0, 0]


def test_missing_and_multi_valued_labels_are_treated_as_asked(load):
    text = "a,y,z\n1,0,red\n2,,blue\n3,1,red\n"
    with pytest.raises(DataError, match="row 2: label 'y' is missing; missing_labels='drop'"):
        load(text, "y")
    with pytest.raises(
        DataError, match="row 1: label 'z' is 'red' instead of 0 or 1; multi_valued"
    ):
        load(text, "z", ignore="y")
    options = {"missing_labels": "absent", "multi_valued": "split"}
    data = load(text, "y,z", **options)
    assert data.Y.to_dict("list") == {"y": [0, 0, 1], "z=blue": [0, 1, 0], "z=red": [1, 0, 1]}


class TestDates:
    def test_iso_dates_of_a_csv_file_are_dates(self, load):
        data = load("day,at,y\n2024-02-29,2024-02-29 18:30,0\n2024-03-01,,1\n", "y")
        assert data.X["day"].dtype.kind == data.X["at"].dtype.kind == "M"
        assert data.X["at"].isna().tolist() == [False, True]

    @pytest.mark.parametrize("day", ["2024-13-01", "29.02.2024", "soon"])
    def test_other_texts_are_categories(self, load, day):
        data = load(f"day,y\n2024-02-29,0\n{day},1\n", "y")
        assert data.X["day"].dtype == "category"

    def test_nominal_columns_stay_categories(self, load):
        data = load("day,y\n2024-02-29,0\n2024-03-01,1\n", "y", nominal="day")
        assert data.X["day"].dtype == "category"


class TestSuspiciousColumns:
    def make(self, **columns):
        table = pd.DataFrame({"a": np.arange(30) % 7, "y": np.arange(30) % 2} | columns)
        return table.to_csv(index=False)

    def test_identifiers_are_named_with_what_to_do(self, load):
        text = self.make(name=[f"P{i}" for i in range(30)], patient_id=np.arange(30) + 100)
        message = r"look like identifiers: 'name', 'patient_id'; .* leave them out with ignore="
        with pytest.warns(DataWarning, match=message):
            load(text, "y")
        load(text, "y", ignore="name,patient_id")

    def test_constants_are_named(self, load):
        with pytest.warns(DataWarning, match="attributes with one value in all examples: 'c'"):
            load(self.make(c=3), "y")

    def test_numbers_that_all_differ_are_no_identifiers_by_themselves(self, load):
        load(self.make(age=np.arange(30), weight=np.linspace(0, 1, 30)), "y")
        load(self.make(day=pd.date_range("2024-01-01", periods=30)), "y")


def test_a_missing_file_is_named(tmp_path):
    for name in ("nowhere.csv", "nowhere.parquet"):
        with pytest.raises(FileNotFoundError, match=name):
            load_table(tmp_path / name, "y")


class TestParquet:
    @pytest.fixture(autouse=True)
    def _needs_pyarrow(self):
        pytest.importorskip("pyarrow")

    @pytest.fixture
    def load_frame(self, tmp_path):
        def load_frame(frame, labels="y"):
            frame.to_parquet(tmp_path / "fruit.parquet")
            return load_table(tmp_path / "fruit.parquet", labels)

        return load_frame

    def test_all_kinds_of_columns(self, load_frame):
        frame = pd.DataFrame(
            {
                "category": pd.Categorical(["b", "a"], ["b", "a"]),
                "text": ["u", None],
                "nullable": pd.array([1, None], dtype="Int64"),
                "truth": [True, False],
                "maybe": pd.array([True, None], dtype="boolean"),
                "empty": pd.array([None, None], dtype="Int64"),
                "decimal": [decimal.Decimal("1.5"), None],
                "y": [True, False],
            },
            index=[7, 9],
        )
        data = load_frame(frame)
        nominal = data.X.select_dtypes("category").columns.tolist()
        assert nominal == ["category", "text", "truth", "maybe"]
        assert data.X["category"].cat.categories.tolist() == ["b", "a"]
        assert data.X["nullable"].dtype == np.float64
        assert data.X["maybe"].isna().tolist() == [False, True]
        assert data.X["empty"].dtype == np.float64
        assert data.X["decimal"].dtype == np.float64
        assert data.X.index.tolist() == [0, 1]
        assert data.Y["y"].tolist() == [1, 0]

    @pytest.mark.parametrize(
        "days",
        [
            pd.to_datetime(["2020-01-01", None]),
            [datetime.date(2020, 1, 1), None],
            [datetime.time(9), None],
        ],
        ids=["datetime", "date", "time"],
    )
    def test_dates_and_times_are_kept(self, load_frame, days):
        data = load_frame(pd.DataFrame({"day": days, "y": [0, 1]}))
        assert data.X["day"].isna().tolist() == [False, True]
        assert data.X["day"].dtype != "category"

    def test_other_types_are_rejected_by_name(self, load_frame):
        with pytest.raises(DataError, match=r"column 'day' has the type .* neither numeric"):
            load_frame(pd.DataFrame({"day": [b"1", b"2"], "y": [0, 1]}))

    def test_another_file_is_rejected(self, load):
        with pytest.raises(DataError, match=r"fruit\.parquet cannot be read as Parquet"):
            load(FRUIT, "sweet", suffix=".parquet")


def test_without_pyarrow_the_message_says_what_to_install(load, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"install .*pyarrow"):
        load(FRUIT, "sweet", suffix=".parquet")
