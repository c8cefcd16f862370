"""A small study that crashes, or finds the disk full, at its n-th step of writing a file.

python -m attack.crashing FOLDER STEP [full]

A file is written in three steps, each of which may be the last: half of the bytes, all of them, and
its name. The exit code is 9 after a crash.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

from steelyard import Theory
from steelyard.model.decoders import EachLabel
from steelyard.study import StudyConfig, run_study
from theories import flu_theory

CRASHED = 9
CONFIG = StudyConfig(
    ("planted",),
    parameters=(0.0, 16.0),
    phis=(1.0, 0.5),
    folds=2,
    n_candidates=100,
    tune=("f1_micro",),
    inner_folds=2,
    baselines=("ripper",),
)


def old_theory() -> Theory:
    """What is in theory.json before the work."""
    return flu_theory("any-rule", EachLabel())


def new_theory() -> Theory:
    """What is in theory.json after it."""
    return flu_theory()


def work(folder: Path) -> None:
    """A study, and a theory that replaces another one."""
    run_study(CONFIG, folder / "study", n_jobs=1)
    new_theory().to_json(folder / "theory.json")


def crash_at(step: int, is_full: bool) -> None:
    """Replace what writes bytes and names; count their steps and end the process at one of them."""
    n_steps = 0
    sync, rename = os.fsync, Path.replace

    def advance() -> bool:
        nonlocal n_steps
        n_steps += 1
        return n_steps == step

    def fsync(number: int) -> None:
        if is_full and n_steps + 3 > step:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if advance():
            os.ftruncate(number, os.fstat(number).st_size // 2)
            os._exit(CRASHED)
        sync(number)
        if advance():
            os._exit(CRASHED)

    def replace(self: Path, target: Any) -> Any:
        made = rename(self, target)
        if advance():
            os._exit(CRASHED)
        return made

    os.fsync = fsync
    Path.replace = replace  # type: ignore[assignment, method-assign]


if __name__ == "__main__":
    crash_at(int(sys.argv[2]), "full" in sys.argv)
    work(Path(sys.argv[1]))
