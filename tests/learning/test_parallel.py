"""All parallel work goes to the backend of joblib that is active, whatever this backend lacks."""

import os
import subprocess
import sys
import threading
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path

import joblib
import pytest
from joblib.parallel import ParallelBackendBase

from steelyard import MEstimate, RuleSetClassifier, make_planted_rules
from steelyard.learning.parallel import run_in_processes, run_parallel
from steelyard.study import StudyConfig, run_study


class PlainBackend(ParallelBackendBase):
    """A backend that returns the results of all calls together, as those of Ray and Spark do."""

    n_calls = 0

    def effective_n_jobs(self, n_jobs):
        return 2 if n_jobs in (None, -1) else n_jobs

    def configure(self, n_jobs=1, parallel=None, **options):
        # What ends the workers of loky must not reach other workers.
        assert "initializer" not in options
        self.parallel, self.pool = parallel, ThreadPool(2)
        return self.effective_n_jobs(n_jobs)

    def apply_async(self, func, callback=None):
        type(self).n_calls += 1
        return self.pool.apply_async(func, callback=callback)

    submit = apply_async

    def terminate(self):
        self.pool.terminate()

    def abort_everything(self, ensure_ready=True):
        self.terminate()


joblib.register_parallel_backend("plain", PlainBackend)


@pytest.fixture
def plain():
    PlainBackend.n_calls = 0
    with joblib.parallel_config("plain", n_jobs=2):
        yield
    assert PlainBackend.n_calls > 0


def test_the_plain_backend_has_no_generators(plain):
    assert joblib.Parallel()([joblib.delayed(abs)(-1)]) == [1]
    with pytest.raises(ValueError, match="does not support return_as"):
        joblib.Parallel(return_as="generator")


@pytest.mark.usefixtures("plain")
def test_results_and_progress_need_no_generators():
    seen = []
    calls = [(i,) for i in range(-20, 0)]
    assert run_parallel(abs, calls, progress=lambda *n: seen.append(n)) == [*range(20, 0, -1)]
    assert seen == [(n, 20) for n in range(1, 21)]
    # What the calls share is sent once per worker, not once per call.
    assert PlainBackend.n_calls == 2


@pytest.mark.usefixtures("plain")
def test_finished_work_arrives_before_all_work_is_asked_for():
    n_asked = 0

    def ask():
        nonlocal n_asked
        for n_asked in range(1, 31):
            yield (-n_asked,)

    results = run_in_processes(abs, ask())
    assert next(results) == 1
    assert n_asked < 30
    assert sorted(results) == [*range(2, 31)]


@pytest.mark.usefixtures("plain")
def test_an_error_is_raised_as_it_is():
    with pytest.raises(ZeroDivisionError):
        list(run_in_processes(divmod, [(1, 1), (1, 0)]))
    with pytest.raises(ZeroDivisionError):
        run_parallel(divmod, [(1, 1), (1, 0)])


def fit_alone_and_on(backend):
    """The theories of a fit with one job and of the same fit on a backend of joblib."""
    data = make_planted_rules(120, random_state=0)
    make = partial(RuleSetClassifier, MEstimate(m=4), n_candidates=400, random_state=0)
    alone = make(n_jobs=1).fit(data.X, data.Y).theory_.to_json()
    with joblib.parallel_config(backend, n_jobs=2):
        return alone, make(n_jobs=2, verbose=1).fit(data.X, data.Y).theory_.to_json()


@pytest.mark.parametrize("backend", ["threading", "loky", "plain"])
def test_a_fit_does_not_depend_on_the_backend(backend):
    alone, on_backend = fit_alone_and_on(backend)
    assert on_backend == alone


def test_a_fit_does_not_depend_on_forked_processes():
    # In a process of its own: other tests leave threads behind, of Java and of Dask, and a fork of a
    # process with threads may wait for ever for a lock that one of them holds.
    script = (
        "from learning.test_parallel import fit_alone_and_on\n"
        "alone, on_backend = fit_alone_and_on('multiprocessing')\n"
        "assert on_backend == alone"
    )
    tests = str(Path(__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, timeout=120)


def test_a_study_does_not_need_generators(tmp_path):
    config = StudyConfig(("planted",), parameters=(2.0,), phis=(1.0,), folds=3, n_candidates=60)
    run_study(config, tmp_path / "alone", n_jobs=1)
    with joblib.parallel_config("plain", n_jobs=2):
        run_study(config, tmp_path / "plain", n_jobs=2)
    results = [(tmp_path / name / "results.csv").read_bytes() for name in ("alone", "plain")]
    assert results[0] == results[1]


def where_am_i(_: int) -> tuple[int, str]:
    return os.getpid(), threading.current_thread().name


def test_the_units_of_a_study_run_in_threads_if_the_backend_says_so():
    with joblib.parallel_config("threading"):
        places = list(run_in_processes(where_am_i, [(1,), (2,)], n_jobs=2))
    assert {pid for pid, _ in places} == {os.getpid()}


def test_a_consumer_may_leave_early_without_a_warning():
    for result in run_in_processes(abs, [(-1,), (-2,), (-3,)], n_jobs=1):
        assert result == 1
        break


def start_ray():
    ray = pytest.importorskip("ray", reason="Ray is tested where it is installed")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    register_ray()
    return ray


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_fit_on_ray_is_the_same():
    ray = start_ray()
    data = make_planted_rules(120, random_state=0)
    make = partial(RuleSetClassifier, MEstimate(m=4), n_candidates=400, random_state=0)
    alone = make(n_jobs=1).fit(data.X, data.Y).theory_.to_json()
    try:
        with joblib.parallel_config("ray", n_jobs=2):
            assert make(n_jobs=2).fit(data.X, data.Y).theory_.to_json() == alone
    finally:
        ray.shutdown()
