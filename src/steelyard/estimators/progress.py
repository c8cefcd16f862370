"""Progress of long work: a bar on standard error and scikit-learn's callbacks. Knows numbers only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from steelyard.learning.parallel import Progress

__all__ = ["CallbackSupportMixin", "show_progress", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # the protocol came with scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement for the mixin that this version of scikit-learn lacks."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


# Callbacks are informed in this many steps, since the true number is not known in advance.
_CALLBACK_STEPS = 100


@contextmanager
def show_progress(estimator: Any, name: str) -> Iterator[Progress]:
    """A function (done, total) that informs the bar and the callbacks of a fitting estimator."""
    with ExitStack() as stack:
        listeners = []
        if estimator.verbose:
            listeners.append(stack.enter_context(_move_bar(name)))
        if getattr(estimator, "_skl_callbacks", None):
            listeners.append(stack.enter_context(_inform_callbacks(estimator, name)))

        def progress(done: int, total: int) -> None:
            for listener in listeners:
                listener(done, total)

        yield progress


@contextmanager
def _move_bar(name: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _inform_callbacks(estimator: Any, name: str) -> Iterator[Progress]:
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
