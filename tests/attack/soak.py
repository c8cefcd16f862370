"""A soak: many fits and predictions in many threads leave no memory, files or threads behind."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from steelyard import (
    BoostedRulesClassifier,
    RipperClassifier,
    RuleSetClassifier,
    Theory,
    make_planted_rules,
)

from .outcomes import Outcome, Setting

_N_THREADS = 8
_N_FITS_PER_ROUND = 20
_PREDICTIONS_PER_FIT = 10
# Memory that allocators keep and libraries load late; a leak of 200 fits would be larger.
_MOST_GROWTH = 60.0


def count_resources() -> tuple[float, int, int]:
    """Resident memory in MB, open files and threads of this process; -1 where there is no /proc."""
    gc.collect()
    status, files = Path("/proc/self/statm"), Path("/proc/self/fd")
    if not status.exists():
        return -1.0, -1, threading.active_count()
    memory = int(status.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return memory, len(list(files.iterdir())), threading.active_count()


def soak(setting: Setting) -> Iterator[Outcome]:
    """Fit, predict, save, read and print in eight threads; compare all predictions."""
    data = make_planted_rules(300, random_state=0)
    makers = (
        lambda: RuleSetClassifier(n_candidates=500, random_state=0),
        lambda: BoostedRulesClassifier(max_rules=20, random_state=0),
        lambda: RipperClassifier(random_state=0),
    )
    expected = [make().fit(data.X, data.Y).predict(data.X) for make in makers]
    n_fits = _N_FITS_PER_ROUND * setting.n_rounds
    outcome = Outcome(
        f"a soak: {n_fits} fits and {n_fits * _PREDICTIONS_PER_FIT:,} predictions in "
        f"{_N_THREADS} threads"
    )

    def fit(k: int) -> int:
        model = makers[k % len(makers)]().fit(data.X, data.Y)
        theory = Theory.from_json(model.theory_.to_json())
        str(theory)
        predicted = [theory.predict(data.X) for _ in range(_PREDICTIONS_PER_FIT)]
        return sum(np.array_equal(Y, expected[k % len(makers)]) for Y in predicted)

    with ThreadPoolExecutor(_N_THREADS) as pool:  # what is loaded late is loaded before we count
        list(pool.map(fit, range(2 * _N_THREADS)))
    before = count_resources()
    with ThreadPoolExecutor(_N_THREADS) as pool:
        for n_same in pool.map(fit, range(n_fits)):
            if n_same == _PREDICTIONS_PER_FIT:
                outcome.see("the same predictions")
            else:
                outcome.fail(f"{_PREDICTIONS_PER_FIT - n_same} predictions differ")
    after = count_resources()
    names = ("MB of memory", "open files", "threads")
    outcome.notes += [
        f"{name}: {was:.0f} before, {now:.0f} after"
        for name, was, now in zip(names, before, after, strict=True)
    ]
    if after[0] - before[0] > _MOST_GROWTH or after[1] > before[1] or after[2] > before[2]:
        outcome.fail("the process holds more than before")
    yield outcome
