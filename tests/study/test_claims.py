"""One process at a time holds a claim, and the claim of a dead process can be taken over once."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from steelyard.study import claims as claims_file
from steelyard.study.claims import Claims

UNIT = "flags/fold-1-inner-2"


def claim_file(folder, generation=0):
    return folder / f"flags@fold-1-inner-2.{generation}"


def test_a_claim_excludes_others_until_it_is_released(tmp_path):
    first, second = Claims(tmp_path), Claims(tmp_path)
    assert first.take(UNIT)
    assert not second.take(UNIT)
    assert not first.take(UNIT)
    assert second.take("flags/fold-1")
    assert first.list_names(dead=False) == ["flags/fold-1", UNIT]
    assert first.list_names(dead=True) == []
    first.release(UNIT)
    assert second.take(UNIT)


def test_all_claims_are_released_in_the_end_even_of_an_error(tmp_path):
    claims = Claims(tmp_path)
    with pytest.raises(ZeroDivisionError), claims.kept_alive():
        1 / claims.take(UNIT) / 0
    assert list(tmp_path.iterdir()) == []


def kill_holder(folder):
    """Let another process take the claim, and kill it."""
    script = (
        "import sys, time; from pathlib import Path; from steelyard.study.claims import Claims\n"
        f"print(Claims(Path(sys.argv[1])).take({UNIT!r}), flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "True\n"
        assert not Claims(folder).take(UNIT)
        process.kill()


def test_the_claim_of_a_killed_process_is_taken_over_at_once_and_only_once(tmp_path):
    kill_holder(tmp_path)
    others = [Claims(tmp_path) for _ in range(8)]
    assert others[0].list_names(dead=True) == [UNIT]
    taken, barrier = [], threading.Barrier(len(others))

    def race(claims):
        barrier.wait()
        if claims.take(UNIT):
            taken.append(claims)

    threads = [threading.Thread(target=race, args=(claims,)) for claims in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1
    taken[0].release(UNIT)
    assert list(tmp_path.iterdir()) == []


def hold_elsewhere(folder, seconds_ago):
    """A claim of a process on another machine, which cannot be asked."""
    file = claim_file(folder)
    file.write_text(json.dumps({"machine": "elsewhere", "pid": 1}))
    then = time.time() - seconds_ago
    os.utime(file, (then, then))
    return file


def test_a_claim_of_another_machine_lives_as_long_as_it_is_touched(tmp_path):
    file = hold_elsewhere(tmp_path, claims_file.SECONDS_UNTIL_DEAD - 60)
    assert not Claims(tmp_path).take(UNIT)
    os.utime(file, (0, 0))
    claims = Claims(tmp_path)
    assert claims.take(UNIT)
    assert claim_file(tmp_path, 1).exists()
    assert not Claims(tmp_path).take(UNIT)


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"machine": 1, "pid": "x"}', '{"pid": -1}'])
def test_a_damaged_claim_lives_as_long_as_it_is_touched(tmp_path, content):
    claim_file(tmp_path).write_text(content)
    assert not Claims(tmp_path).take(UNIT)
    os.utime(claim_file(tmp_path), (0, 0))
    assert Claims(tmp_path).take(UNIT)


def test_a_claim_is_touched_while_its_holder_works(tmp_path, monkeypatch):
    monkeypatch.setattr(claims_file, "SECONDS_BETWEEN_BEATS", 0.01)
    claims = Claims(tmp_path)
    with claims.kept_alive():
        claims.take(UNIT)
        os.utime(claim_file(tmp_path), (0, 0))
        end = time.monotonic() + 10
        while claim_file(tmp_path).stat().st_mtime == 0 and time.monotonic() < end:
            time.sleep(0.01)
        assert not Claims(tmp_path).take(UNIT)


def test_a_deleted_folder_has_no_claims(tmp_path):
    claims = Claims(tmp_path / "gone")
    assert not claims.take(UNIT)
    assert claims.list_names(dead=False) == []
    claims.delete_all()
    assert not (tmp_path / "gone").exists()
