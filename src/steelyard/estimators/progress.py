"""Progress of long work: a bar on standard error and scikit-learn's callbacks. Knows numbers only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from steelyard.learning.parallel import Progress

Method = TypeVar("Method", bound=Callable[..., Any])

__all__ = ["CallbackSupportMixin", "show_progress", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # the protocol came with scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement for the mixin that this version of scikit-learn lacks."""

    def with_callbacks(method: Method) -> Method:
        """Leave the method as it is."""
        return method


# Callbacks are informed in this many steps, since the true number is not known in advance.
_CALLBACK_STEPS = 100


def _ignore_progress(done: int, total: int) -> None:
    """Do nothing: nobody asked for progress."""


@contextmanager
def show_progress(estimator: Any, name: str) -> Iterator[Progress]:
    """A function (done, total) that informs the bar and the callbacks of a fitting estimator."""
    with _move_bar(estimator.verbose, name) as bar, _inform_callbacks(estimator, name) as inform:

        def progress(done: int, total: int) -> None:
            bar(done, total)
            inform(done, total)

        yield progress


@contextmanager
def _move_bar(verbose: int, name: str) -> Iterator[Progress]:
    if not verbose:
        yield _ignore_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    bar = Progress(
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
    with bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _inform_callbacks(estimator: Any, name: str) -> Iterator[Progress]:
    if not getattr(estimator, "_skl_callbacks", None):
        yield _ignore_progress
        return
    context = estimator._init_callback_context(max_subtasks=_CALLBACK_STEPS)
    context.call_on_fit_task_begin(estimator=estimator)
    n_steps = 0

    def inform(done: int, total: int) -> None:
        nonlocal n_steps
        while n_steps < _CALLBACK_STEPS * done // total:
            step = context.subcontext(task_name=name)
            step.call_on_fit_task_begin(estimator=estimator)
            step.call_on_fit_task_end(estimator=estimator)
            n_steps += 1

    yield inform
    inform(1, 1)
    context.call_on_fit_task_end(estimator=estimator)
