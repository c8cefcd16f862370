"""Parallel work: a function and its arguments → results. Owns the life of workers; knows no learner."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import parent_process
from typing import Any

from joblib import Parallel, delayed

# Called with the amount of work done so far and the total.
Progress = Callable[[int, int], None]

_SECONDS_BETWEEN_LOOKS = 1.0


def run_parallel(
    function: Callable[..., Any],
    arguments: Sequence[Sequence[Any]],
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """Results of a function for each tuple of arguments, by threads unless a joblib backend is set.

    `progress` is called with the number of finished calls and of all calls.

    Examples
    --------
    >>> run_parallel(max, [(1, 2), (4, 3)], n_jobs=2)
    [2, 4]
    """
    calls = [delayed(function)(*a) for a in arguments]
    if progress is None:
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(calls))
    results = []
    for result in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(calls):
        results.append(result)
        progress(len(results), len(calls))
    return results


def run_in_processes(
    function: Callable[..., Any], arguments: Iterable[Sequence[Any]], n_jobs: int | None = None
) -> Iterator[Any]:
    """Yield results as they are finished, by processes unless a joblib backend is set.

    `arguments` is consumed as workers need it. The workers end with this process, however it ends.

    Examples
    --------
    >>> sorted(run_in_processes(max, [(1, 2), (4, 3)]))
    [2, 4]
    """
    # Backends without processes ignore the initializer.
    workers = Parallel(
        n_jobs=n_jobs,
        return_as="generator_unordered",
        batch_size=1,
        initializer=end_with_parent,
        initargs=(os.getpid(),),
    )
    finished = workers(delayed(function)(*a) for a in arguments)
    try:
        yield from finished
    except BrokenProcessPool as error:
        raise ChildProcessError(_describe_loss(error)) from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns of results that nobody takes
            finished.close()


def _describe_loss(error: BrokenProcessPool) -> str:
    """What ended a worker, as far as the exit codes in the message of joblib tell."""
    killed = "SIGKILL" in str(error)
    how = "was killed, probably because the memory was used up" if killed else "ended unexpectedly"
    return (
        f"a worker process {how}; finished work is kept: run the same command again, with fewer --jobs "
        "(n_jobs) if the memory was used up"
    )


def end_with_parent(parent: int) -> None:
    """Make a worker process end when its parent process ends.

    A worker may wait for the rest of a message that its parent never sent, so a thread looks after the
    parent. Interrupts are for the parent, which stops its workers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int) -> None:
    known = parent_process()
    if os.name == "nt" and known is not None:
        known.join()
    # The parent of an orphan is another process, except on Windows.
    while os.getppid() == parent and os.name != "nt":
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
