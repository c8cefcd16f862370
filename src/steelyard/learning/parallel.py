"""Parallel work: a function and its arguments → results, in order. Knows no learner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from joblib import Parallel, delayed

# Called with the amount of work done so far and the total.
Progress = Callable[[int, int], None]


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
