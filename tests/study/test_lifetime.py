"""Workers end with the process that started them, whatever ends it, and a lost worker is named."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steelyard.learning.parallel import run_in_processes

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

# Long enough that both workers are busy when the signal comes.
STUDY = ["study", "planted", "--candidates", "3000000", "--phis", "1", "--jobs", "2", "--out"]


def list_session(leader: int) -> dict[int, str]:
    """The processes of a session: id → command line."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader and fields[0] != "Z":
                found[int(folder.name)] = (folder / "cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def wait_until(condition, seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def count_busy(leader: int) -> int:
    return sum("loky" in command for command in list_session(leader).values())


@pytest.mark.parametrize(
    ("number", "to_group", "code"),
    [
        (signal.SIGTERM, False, 143),  # SIGHUP has the same handler
        (signal.SIGINT, True, 130),
        (signal.SIGKILL, False, -9),
    ],
)
def test_no_worker_survives_its_parent(tmp_path, number, to_group, code):
    command = [sys.executable, "-m", "steelyard", *STUDY, str(tmp_path / "out")]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert "units" in process.stderr.readline()
        # Two workers and the tracker of their resources.
        assert wait_until(lambda: count_busy(process.pid) >= 3)
        time.sleep(0 if to_group else 1)  # a worker that is still starting is silent, too
        (os.killpg if to_group else os.kill)(process.pid, number)
        assert process.wait(30) == code
        assert wait_until(lambda: not list_session(process.pid), 10), list_session(process.pid)
        said = process.stderr.read()
    semaphores = [p.name for p in Path("/dev/shm").glob("*") if f"loky-{process.pid}-" in p.name]
    assert semaphores == []
    if number != signal.SIGKILL:
        assert said == "interrupted; run the same command to resume\n"
        assert (tmp_path / "out" / "units" / "identity.json").exists()


def kill_self(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave(_: int) -> None:
    os._exit(3)


@pytest.mark.parametrize(
    ("end", "message"), [(kill_self, "was killed, probably because the memory"), (leave, "ended")]
)
def test_a_lost_worker_is_named_with_the_likely_cause(end, message):
    with pytest.raises(ChildProcessError, match=message) as lost:
        list(run_in_processes(end, [(1,), (2,)], n_jobs=2))
    assert "finished work is kept" in str(lost.value)
