import pytest

from steelyard.data import DataError, read_folds


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        path = tmp_path / "folds.csv"
        path.write_text(text)
        return read_folds(path, **options)

    return read


def test_folds_are_read_in_order(read):
    assert read('"fold"\n2\n1\n2\n\n').tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "folds.csv is empty"),
        ("\u3000\n", {}, "folds.csv is empty"),
        ("\ufeff\x1c", {}, "folds.csv is empty"),
        ("1\n2\n", {}, "line 1: expected the header 'fold', found '1'"),
        ("fold\n", {}, "has a header but no folds"),
        ("fold\n1\nx\n", {}, "line 3: 'x' is not a fold number"),
        ("fold\n0\n", {}, "line 2: '0' is not a fold number"),
        ("fold\n1\n\n2\n", {}, "line 3: '' is not a fold number"),
        ("fold\n1\n" + 5000 * "9" + "\n", {}, "line 3: '9999"),
        ("fold\n1\n" + 19 * "9" + "\n", {}, "line 3: '9999"),
        ("fold\n1\n1000000000\n", {}, "up to 1000000000, but fold 2 is empty"),
        ("fold\n1\n3\n", {}, "numbers folds up to 3, but fold 2 is empty"),
        ("fold\n1\n2\n", {"n_examples": 3}, "has 2 folds, but the data set has 3 examples"),
    ],
)
def test_bad_folds_get_one_sentence(read, text, options, message):
    with pytest.raises(DataError, match=message):
        read(text, **options)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folds\.csv"):
        read_folds(tmp_path / "folds.csv")
