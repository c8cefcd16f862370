import subprocess
import sys

import numpy as np
import pytest

from steelyard._files import write_atomically
from steelyard.study import StudyError
from steelyard.study.store import StudyStore


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    import os

    def fail(*_):
        raise OSError(28, "No space left on device")

    write_atomically(tmp_path / "f", b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("damage", [b"", b"PK", b"not a unit"])
def test_a_damaged_unit_counts_as_missing(tmp_path, damage):
    store = StudyStore(tmp_path)
    store.write_unit("d/fold-1", {"values": np.arange(3)})
    assert store.read_unit("d/fold-1")["values"].tolist() == [0, 1, 2]
    (store.units / "d" / "fold-1.npz").write_bytes(damage)
    assert store.read_unit("d/fold-1") is None
    assert store.read_unit("d/fold-2") is None


def test_another_process_is_rejected_until_it_ends(tmp_path):
    hold = (
        "import sys; from steelyard.study.store import StudyStore\n"
        "with StudyStore(sys.argv[1]).locked(): print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StudyError, match="another process"), StudyStore(tmp_path).locked():
            pass
        process.kill()
        process.wait()
        with StudyStore(tmp_path).locked():
            pass


def test_a_folder_with_other_files_is_rejected(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    store = StudyStore(tmp_path)
    with store.locked(), pytest.raises(StudyError, match="holds no study"):
        store.claim({"seed": 1})


def test_another_study_is_rejected_with_the_difference(tmp_path):
    store = StudyStore(tmp_path)
    with store.locked():
        store.claim({"seed": 1, "phis": (1.0, 0.5), "data flags": "aa"})
        store.claim({"seed": 1, "phis": (1.0, 0.5), "data flags": "aa"})
        with pytest.raises(StudyError, match="seed was 1, now 2"):
            store.claim({"seed": 2, "phis": (1.0, 0.5), "data flags": "aa"})
        with pytest.raises(StudyError, match="data flags was 'aa', now 'bb'"):
            store.claim({"seed": 1, "phis": (1.0, 0.5), "data flags": "bb"})
