"""Data and theories in files, as the commands read them."""

import gzip
from pathlib import Path

import pytest

from steelyard import MEstimate, make_planted_rules, theory_path

LABELS = "for juice,for jam,for baking,for drying"


@pytest.fixture(scope="session")
def labels() -> str:
    """The label columns of data.csv, as the option --labels takes them."""
    return LABELS


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> Path:
    """A folder with a table, all theories of a fold as a study saves them, and one theory of these.

    The one theory has m = 4 and φ = 1.
    """
    folder = tmp_path_factory.mktemp("saved")
    data = make_planted_rules(150, random_state=0)
    data.X.join(data.Y).to_csv(folder / "data.csv", index=False)
    grid = [MEstimate(m) for m in (4, 16)]
    path = theory_path(data.X, data.Y, grid, [1.0, 0.5], n_candidates=300, random_state=0)
    texts = {"fold-1.json": path.to_json(), "theory.json": path.theory(grid[0], 1.0).to_json()}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return folder


@pytest.fixture
def in_saved(saved, monkeypatch):
    """Run the commands in the folder `saved`."""
    monkeypatch.chdir(saved)


@pytest.fixture
def arff(tmp_path) -> Path:
    """A file that says itself which labels it has, alone in a folder."""
    (tmp_path / "flags").mkdir()
    file = tmp_path / "flags" / "flags.arff"
    file.write_text(
        "@relation 'flags: -C 2'\n@attribute red {0,1}\n@attribute green {0,1}\n"
        "@attribute size numeric\n@data\n1,0,1\n0,1,2\n1,1,3\n0,0,4\n",
        encoding="utf-8",
    )
    return file


@pytest.fixture
def reject(run):
    """Run a command that must end as wrong usage, and return its message on one line."""

    def call(*arguments: object) -> str:
        code, out, err = run(*arguments)
        assert (code, out) == (2, ""), (code, out, err)
        assert "Traceback" not in err
        return " ".join(err.split())

    return call
