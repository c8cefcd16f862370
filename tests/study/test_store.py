import hashlib
import io
import shutil
import subprocess
import sys

import numpy as np
import pytest

from steelyard._files import compress, read_text, write_atomically, write_inside
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


IDENTITY = {"seed": 1, "phis": (1.0, 0.5), "data flags": "aa"}


def flip(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


def test_a_unit_counts_as_finished_only_if_every_byte_is_there(tmp_path):
    store = StudyStore(tmp_path)
    with store.claimed(IDENTITY):
        store.write_unit("d/fold-1", {"values": np.arange(3)})
    assert store.read_unit("d/fold-1")["values"].tolist() == [0, 1, 2]
    file = tmp_path / "units" / "data" / "d" / "fold-1.npz"
    content = file.read_bytes()
    damages = [b"", b"PK", content[:-1], content + b"x"]
    damages += [flip(content, i) for i in range(0, len(content), 7)]
    for damage in damages:
        file.write_bytes(damage)
        assert store.read_unit("d/fold-1") is None
    file.with_name("fold-2.npz").write_bytes(content)  # the unit of another fold
    assert store.read_unit("d/fold-2") is None
    assert store.read_unit("d/fold-3") is None


def test_a_forged_unit_counts_as_missing(tmp_path):
    store = StudyStore(tmp_path)
    bomb = io.BytesIO()
    np.savez_compressed(bomb, values=np.zeros(10**7))
    with store.claimed(IDENTITY):
        for archive in (b"PK", bomb.getvalue()):
            checksum = hashlib.sha256(b"d/fold-1\n" + archive).hexdigest()
            store.write("units/data/d/fold-1.npz", archive + checksum.encode())
            assert store.read_unit("d/fold-1") is None


def test_another_process_is_rejected_until_it_ends(tmp_path):
    hold = (
        "import sys; from steelyard.study.store import StudyStore\n"
        "with StudyStore(sys.argv[1]).claimed({}): print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StudyError, match="another process"), StudyStore(tmp_path).claimed({}):
            pass
        process.kill()
        process.wait()
        with StudyStore(tmp_path).claimed({}):
            pass


def list_tree(folder):
    return {str(p.relative_to(folder)): p.is_file() and p.read_bytes() for p in folder.rglob("*")}


@pytest.mark.parametrize(
    "name", ["thesis.txt", "units/notes.txt", "notes/.unfinished-thesis", ".unfinished-thesis"]
)
def test_nothing_changes_in_a_folder_that_is_rejected(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = list_tree(tmp_path)
    with (
        pytest.raises(StudyError, match="holds no study"),
        StudyStore(tmp_path).claimed({"seed": 1}),
    ):
        pass
    assert list_tree(tmp_path) == before


def test_only_leftovers_of_the_study_are_deleted(tmp_path):
    store = StudyStore(tmp_path)
    with store.claimed(IDENTITY):
        pass
    for name in ("units/data/.unfinished-1", ".unfinished-2", "notes/.unfinished-3"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("half")
    with store.claimed(IDENTITY):
        pass
    assert [p.name for p in tmp_path.rglob(".unfinished-*")] == [".unfinished-3"]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"seed": 2}, "seed was 1, now 2"), ({"data flags": "bb"}, "data flags was 'aa', now 'bb'")],
)
def test_another_study_is_rejected_with_the_difference(tmp_path, change, message):
    store = StudyStore(tmp_path)
    for _ in range(2):
        with store.claimed(IDENTITY):
            pass
    (tmp_path / "units" / ".unfinished-x").write_text("half")
    before = list_tree(tmp_path)
    with pytest.raises(StudyError, match=message), store.claimed(IDENTITY | change):
        pass
    assert list_tree(tmp_path) == before


def test_a_deleted_folder_stays_deleted(tmp_path):
    folder = tmp_path / "out"
    store = StudyStore(folder)
    with store.claimed(IDENTITY):
        shutil.rmtree(folder)
        with pytest.raises(StudyError, match="was deleted while the study was running"):
            store.write_unit("d/fold-1", {"values": np.arange(3)})
    assert not folder.exists()


@pytest.mark.parametrize(
    "name", ["../photo.png", "a/../../photo.png", "/photo.png", "a\0b", "link/x"]
)
def test_no_name_leads_out_of_a_folder(tmp_path, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    for hostile in (name, "loop", "loop/x", "loop/../../x"):
        with pytest.raises(ValueError, match="leads out of the folder"):
            write_inside(folder, hostile, b"mine")
    (folder / "own").symlink_to("real")
    write_inside(folder, "own/x", b"theirs")
    assert (folder / "real" / "x").read_bytes() == b"theirs"
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_a_small_file_cannot_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("steelyard._files.MAX_DECOMPRESSED", 1000)
    (tmp_path / "small.gz").write_bytes(compress("x" * 1000))
    assert read_text(tmp_path / "small.gz") == "x" * 1000
    (tmp_path / "large.gz").write_bytes(compress("x" * 1001))
    with pytest.raises(ValueError, match="large.gz decompresses to more than 1,000 bytes"):
        read_text(tmp_path / "large.gz")
