"""A results folder may come from anywhere: one sentence says what is wrong in it, and in which file."""

import gzip
import json
import random
import shutil

import pytest

from attack.mutator import mutate
from attack.readers import view_study
from steelyard._files import compress
from steelyard.study import StudyError, load_study

FILES = (
    *("results.csv", "tuned.csv", "baselines.csv", "run.json", "study.toml"),
    *("examples/planted.json", "theories/planted/fold-1.json.gz"),
)


@pytest.fixture
def folder(mini_study, tmp_path):
    """A copy of a finished study."""
    return shutil.copytree(mini_study.folder, tmp_path / "study")


def edit_line(file, number, old, new):
    lines = file.read_text("utf-8").split("\n")
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    file.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "line", "old", "new", "message"),
    [
        (
            "results.csv",
            3,
            "planted",
            "../../victim",
            "line 3: dataset '../../victim' is not a name",
        ),
        ("results.csv", 3, "planted", "a/b", "line 3: dataset 'a/b' is not a name"),
        ("results.csv", 1, "phi", "psi", "line 1: expected one column 'phi'"),
        ("results.csv", 5, ",1,", ",one,", "line 5: fold must be a positive integer, got 'one'"),
        ("results.csv", 5, ",1,", f",{10**400},", "line 5: fold must be"),
        ("results.csv", 5, ",1.0,", ",0.7,", "line 5: the study has no cell 0:0.7"),
        ("results.csv", 5, "m-estimate", "gini", "line 5: heuristic 'gini' is not in study.toml"),
        ("results.csv", 5, "planted,", "planted,,", "line 5: the row has 8 values instead of 7"),
        ("results.csv", 5, "planted", '"planted', "line"),
        ("results.csv", 5, "planted,1", "planted,9", "fold 1 of 'planted' has"),
        ("tuned.csv", 2, "f1_micro", "f1", "line 2: tuned_for 'f1' is not in study.toml"),
        ("baselines.csv", 2, "R1", "R2", "twice"),
        ("baselines.csv", 2, "R1", "R9", "line 2: baseline 'R9' is not in study.toml"),
        ("study.toml", 2, "planted", "plan\\qted", "study.toml is not valid TOML"),
    ],
)
def test_a_wrong_line_is_named(folder, name, line, old, new, message):
    edit_line(folder / name, line, old, new)
    with pytest.raises(StudyError) as found:
        load_study(folder)
    assert str(folder / name) in str(found.value)
    assert message in str(found.value)


def test_a_value_that_is_no_number_is_named(folder):
    lines = (folder / "results.csv").read_text("utf-8").split("\n")
    for value in ("nan", "inf", "x", ""):
        changed = [*lines[:7], lines[7].rpartition(",")[0] + "," + value, *lines[8:]]
        (folder / "results.csv").write_text("\n".join(changed), encoding="utf-8")
        with pytest.raises(StudyError, match="results.csv, line 8: value must be a finite number"):
            load_study(folder)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("run.json", {"data": []}),
        ("run.json", {"data": {"planted": 1}}),
        ("run.json", {"data": {"planted": {"n_labels": "x"}}}),
        ("run.json", {"versions": 3}),
        ("run.json", {"seed": "</script>"}),
        ("examples/planted.json", {"rows": 1}),
        ("examples/planted.json", {"truth": [[1]]}),
        ("examples/planted.json", {"labels": ["a", "a"]}),
        ("examples/planted.json", {"features": None}),
    ],
)
def test_a_wrong_field_is_named(folder, name, changes):
    file = folder / name
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), encoding="utf-8")
    with pytest.raises(StudyError) as found:
        view_study(folder)
    assert f"{file} is damaged" in str(found.value)


def test_theories_of_another_grid_are_rejected(folder):
    file = folder / "theories" / "planted" / "fold-1.json.gz"
    plain = json.loads(gzip.decompress(file.read_bytes()))
    file.write_bytes(compress(json.dumps(plain | {"phis": [0.9]})))
    with pytest.raises(StudyError, match=r"fold-1\.json\.gz holds the theories of another grid"):
        view_study(folder)


@pytest.mark.parametrize("name", ["theories/planted", "examples/planted.json", "results.csv"])
def test_links_out_of_the_folder_are_not_followed(folder, mini_study, name):
    target = folder / name
    (shutil.rmtree if target.is_dir() else type(target).unlink)(target)
    target.symlink_to(mini_study.folder / name)
    with pytest.raises(ValueError, match="leads out of the folder"):
        view_study(folder)


@pytest.mark.parametrize("name", FILES)
def test_random_damage_is_one_sentence_with_the_file(folder, name):
    chance, file = random.Random(name), folder / name
    whole = file.read_bytes()
    plain = gzip.decompress(whole) if name.endswith(".gz") else whole
    n_rejected = 0
    for _ in range(10):  # `make attack` tries thousands
        mutant = mutate(plain, chance)
        file.write_bytes(gzip.compress(mutant) if name.endswith(".gz") else mutant)
        try:
            view_study(folder)
        except ValueError as error:
            n_rejected += 1
            # Rows that do not fit the configuration may be right, and the configuration wrong.
            named = (
                [str(file), str(folder / "results.csv")] if name == "study.toml" else [str(file)]
            )
            assert any(path in str(error) for path in named)
    assert n_rejected > 2
