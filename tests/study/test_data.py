from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from steelyard.data import DataError
from steelyard.data.sources import load_source
from steelyard.study import StudyConfig, StudyError
from steelyard.study.data import hash_data, invert_majority_labels, load_study_data


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "colour": rng.choice(["red", "blue"], 60)})
    table["up"] = (table["x"] > 0).astype(int)
    table["a,b"] = (table["colour"] == "red").astype(int)
    table.to_csv(tmp_path / "toy.csv", index=False)
    return tmp_path / "toy.csv"


def test_a_folders_own_folds_are_used_unless_a_number_is_asked_for(paper_data):
    source = str(paper_data / "flags")
    (own,) = load_study_data(StudyConfig((source,)))
    (new,) = load_study_data(StudyConfig((source,), folds=4))
    assert own.n_folds == 10
    assert own.has_own_folds
    assert not new.has_own_folds
    assert new.n_folds == 4


def test_own_folds_are_the_first_repetition_and_new_ones_the_others(paper_data):
    source = str(paper_data / "flags")
    (own,) = load_study_data(StudyConfig((source,)))
    (more,) = load_study_data(StudyConfig((source,), repeats=3))
    assert more.sha256 == own.sha256
    assert more.n_folds == 30
    assert np.array_equal(more.folds[0], own.folds[0])
    assert len({row.tobytes() for row in more.folds}) == 3
    assert all(set(row) == set(range(1, 11)) for row in more.folds)


def test_columns_are_ignored_made_nominal_and_found_by_patterns(tmp_path):
    table = pd.DataFrame({"row": range(40), "code": [1, 2] * 20, "y_a": [0, 1] * 20})
    table["y_b"], table["x"] = 1 - table["y_a"], np.arange(40) % 7
    table.to_csv(tmp_path / "t.csv", index=False)
    columns = {"labels": ("y_*",), "ignore": ("row",), "nominal": ("code",)}
    (data,) = load_study_data(StudyConfig((str(tmp_path / "t.csv"),), folds=2, **columns))
    assert list(data.Y.columns) == ["y_a", "y_b"]
    assert list(data.X.columns) == ["code", "x"]
    assert isinstance(data.X["code"].dtype, pd.CategoricalDtype)
    with pytest.raises(DataError, match=r"has no column 'z_\*', named in labels"):
        load_study_data(StudyConfig((str(tmp_path / "t.csv"),), labels=("z_*",), folds=2))


def test_repeats_have_folds_of_their_own(csv):
    config = StudyConfig((str(csv),), labels=("up",), folds=3, repeats=2)
    (data,) = load_study_data(config)
    assert data.n_folds == 6
    assert data.locate(2)[0] == 0
    assert data.locate(5)[0] == 1
    tested = [data.locate(fold)[1] for fold in (4, 5, 6)]
    assert np.array_equal(np.sum(tested, axis=0), np.ones(60))
    assert not np.array_equal(data.folds[0], data.folds[1])


def test_too_few_examples_are_rejected(csv):
    with pytest.raises(StudyError, match="too few for 100 folds"):
        load_study_data(StudyConfig((str(csv),), labels=("up",), folds=100))


def test_two_data_sets_of_one_name_are_rejected(csv, tmp_path):
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "toy.csv"
    other.write_bytes(csv.read_bytes())
    with pytest.raises(StudyError, match="two data sets are called 'toy'"):
        load_study_data(StudyConfig((str(csv), str(other)), labels=("up",), folds=3))


def test_after_inversion_every_label_is_a_minority(csv):
    Y = load_source(str(csv), ("up", "a,b")).Y
    inverted = invert_majority_labels(Y)
    assert (2 * inverted.sum() <= len(Y)).all()
    assert [name.lstrip("¬") for name in inverted.columns] == list(Y.columns)


def test_the_hash_sees_names_values_categories_and_folds():
    X = pd.DataFrame({"a": [1.0, np.nan], "c": pd.Categorical(["u", "v"])})
    Y = pd.DataFrame({"y": [0, 1]})
    folds = np.array([[1, 2]])
    changed = [
        (X.rename(columns={"a": "b"}), Y, folds),
        (X.assign(a=[1.0, 2.0]), Y, folds),
        (X.assign(c=pd.Categorical(["u", "w"])), Y, folds),
        (X, 1 - Y, folds),
        (X, Y, folds[:, ::-1]),
    ]
    hashes = {hash_data(X, Y, folds), *(hash_data(*case) for case in changed)}
    assert len(hashes) == 6


def test_dates_are_rejected_before_the_work(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("ordered,size,y\n2024-02-29,1,0\n2024-03-01,2,1\n")
    with pytest.raises(
        DataError, match="a study does not support dates and times, such as 'ordered'"
    ):
        load_study_data(StudyConfig(data=(str(path),), labels=("y",)))
