"""Progress of long work: a bar on standard error, scikit-learn's callbacks, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Progress = Callable[[int, int], None]
Method = TypeVar("Method", bound=Callable[..., Any])

__all__ = ["CallbackSupportMixin", "Progress", "show_progress", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # the protocol came with scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the mixin that this version of scikit-learn lacks."""

    def with_callbacks(method: Method) -> Method:
        """Leave the method as it is."""
        return method


# A callback hears of the work in this many steps, whatever their true number turns out to be.
_CALLBACK_STEPS = 100


def _say_nothing(done: int, total: int) -> None:
    """Progress that nobody asked for."""


@contextmanager
def show_progress(estimator: Any, name: str, X: Any = None, y: Any = None) -> Iterator[Progress]:
    """A function (done, total) that tells the bar and the callbacks of a fitting estimator."""
    with _move_bar(estimator.verbose, name) as bar, _tell_callbacks(estimator, name, X, y) as tell:

        def progress(done: int, total: int) -> None:
            bar(done, total)
            tell(done, total)

        yield progress


@contextmanager
def _move_bar(verbose: int, name: str) -> Iterator[Progress]:
    if not verbose:
        yield _say_nothing
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
def _tell_callbacks(estimator: Any, name: str, X: Any, y: Any) -> Iterator[Progress]:
    if not getattr(estimator, "_skl_callbacks", None):
        yield _say_nothing
        return
    context = estimator._init_callback_context(max_subtasks=_CALLBACK_STEPS)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    n_told = 0

    def tell(done: int, total: int) -> None:
        nonlocal n_told
        while n_told < _CALLBACK_STEPS * done // total:
            step = context.subcontext(task_name=name)
            step.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            step.call_on_fit_task_end(estimator=estimator, X=X, y=y)
            n_told += 1

    yield tell
    tell(1, 1)
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
