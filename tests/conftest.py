"""Shared fixtures: commands, and where the paper's data sets are, which CI may not skip."""

import os
import signal
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# The same examples in every run, on every machine: a red test is red again when somebody looks. A
# first example may wait for a kernel to be compiled, so no example has a deadline.
# mutmut runs the tests several times in one process, which Hypothesis takes for a mistake, and it wants
# to know whether a test fails, not a small example: shrinking took minutes per mutant.
under_mutmut = "MUTANT_UNDER_TEST" in os.environ
ignored = [HealthCheck.differing_executors] if under_mutmut else []
unwanted = {Phase.shrink, Phase.explain} if under_mutmut else set()
settings.register_profile(
    "steelyard",
    max_examples=50,  # where errors hide deeper, a test asks for more
    deadline=None,
    derandomize=True,
    database=None,
    phases=[phase for phase in Phase if phase not in unwanted],
    suppress_health_check=ignored,
)
settings.load_profile("steelyard")


def pytest_collection_modifyitems(items):
    """Run fast tests first under mutmut, and properties with 10 examples, whatever they ask for.

    A mutant is done at its first failure; one that survives runs all tests of its function.
    """
    if not under_mutmut:
        return
    for item in items:
        if _is_property(item):
            asked = item.function._hypothesis_internal_use_settings
            few = settings(asked, max_examples=min(10, asked.max_examples))
            item.function._hypothesis_internal_use_settings = few
    items.sort(key=_is_property)


def _is_property(item):
    return getattr(getattr(item, "function", None), "is_hypothesis_test", False)


@pytest.fixture(scope="session")
def paper_data() -> Path:
    """The folder with the paper's nine data sets (STEELYARD_DATA), or a skip without it."""
    folder = os.environ.get("STEELYARD_DATA")
    if not folder:
        if os.environ.get("STEELYARD_REQUIRE_DATA"):
            pytest.fail("STEELYARD_REQUIRE_DATA is set but STEELYARD_DATA is not")
        pytest.skip("STEELYARD_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def heed_signals():
    """Heed signals that a process ignores when it was started in the background or by nohup.

    Programs that the tests start inherit what is ignored here.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):  # Windows has none
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def unprinted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the figures of reports, but write empty files: printing takes most of the time."""
    files = {".png": b"", ".pdf": b""}
    monkeypatch.setattr("steelyard.report.figures.render_figure", lambda _: files)


@pytest.fixture
def run(capfd, monkeypatch):
    """Run a command in this process: exit code, standard output, standard error."""
    from steelyard.cli import main

    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(warnings, "showwarning", warnings.showwarning)
            with warnings.catch_warnings(), pytest.raises(SystemExit) as leaving:
                main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return int(leaving.value.code or 0), out, err

    return call
