"""Work on a real Dask cluster ends with the same results, whatever dies, or with one sentence."""

import logging
import sys
import time
from functools import partial

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest

from clusters import Cluster
from steelyard import (
    BoostedRulesClassifier,
    MEstimate,
    RipperClassifier,
    RuleSetClassifier,
    RuleSetClassifierCV,
    make_planted_rules,
)
from steelyard.learning import cluster as clusters
from steelyard.learning.cluster import dask_cluster
from steelyard.learning.parallel import run_in_processes, run_parallel

# The workers cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

DATA = make_planted_rules(200, random_state=0)
SMALL = {"n_candidates": 400, "random_state": 0}
GRID = {"heuristics": [MEstimate(2), MEstimate(16)], "phis": [1.0, 0.5], "cv": 2}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster of two workers; tests replace what they kill, and only the last kills the scheduler."""
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def on_dask(cluster):
    with dask_cluster(cluster.address):
        run_parallel(time.sleep, [(0.01,)] * 4)  # both workers are there
        yield


@pytest.fixture
def sent(monkeypatch):
    """The arrays and tables that are sent to all workers."""
    found = []
    scatter = clusters._Parcels.scatter

    def record(self, values, broadcast=True):
        found.extend(values)
        return scatter(self, values, broadcast)

    monkeypatch.setattr(clusters._Parcels, "scatter", record)
    return found


@pytest.mark.usefixtures("on_dask")
@pytest.mark.parametrize(
    "make",
    [
        partial(RuleSetClassifier, MEstimate(m=4), preset="paper", **SMALL),
        partial(RuleSetClassifier, MEstimate(m=4), preset="short", **SMALL),
        partial(BoostedRulesClassifier, random_state=0),
        partial(RipperClassifier, random_state=0),
        partial(RuleSetClassifierCV, **GRID, **SMALL),
    ],
    ids=["paper", "short", "boosted", "ripper", "tuned"],
)
def test_a_fit_on_a_cluster_is_that_of_one_job(make):
    alone = make(n_jobs=1).fit(DATA.X, DATA.Y).theory_.to_json()
    assert make().fit(DATA.X, DATA.Y).theory_.to_json() == alone


@pytest.mark.usefixtures("on_dask")
def test_the_coded_table_of_a_fit_is_sent_once(sent):
    X = pd.DataFrame(np.random.default_rng(0).random((200, 40)))
    RuleSetClassifier(MEstimate(m=4), **SMALL).fit(X, DATA.Y)
    arrays = [value for value in sent if isinstance(value, np.ndarray)]
    assert arrays
    assert len({array.tobytes() for array in arrays}) == len(arrays)
    # Codes, rows sorted by code and values: each has the size of the table, whatever the labels.
    assert sum(array.nbytes for array in arrays) < 4 * X.size * 8


def add(table, factor, number):
    return float(np.asarray(table).sum()) * factor + number


@pytest.mark.usefixtures("on_dask")
def test_what_calls_share_is_sent_once_however_deep_it_is(sent):
    table, frame = np.arange(5000.0), pd.DataFrame({"a": np.arange(3.0)})
    total = table.sum()
    calls = [(1, i) for i in range(6)]
    assert run_parallel(partial(add, table), calls) == [total + i for i in range(6)]
    assert run_parallel(partial(add, table), calls) == [total + i for i in range(6)]
    assert [value.nbytes for value in sent] == [table.nbytes]
    sent.clear()
    assert run_parallel(add, [(frame, 1, i) for i in range(6)]) == [3.0 + i for i in range(6)]
    assert len(sent) == 1
    sent.clear()
    # An array that one call holds alone travels inside this call.
    run_parallel(add, [(np.arange(5000.0) + i, 1, 0) for i in range(4)])
    assert sent == []


@pytest.mark.usefixtures("on_dask")
def test_a_table_that_its_owner_changed_is_sent_again():
    table, frame = np.ones(5000), pd.DataFrame({"a": np.ones(3)})
    for value in (1.0, 2.0):
        table[:] = value
        frame["a"] = value
        assert run_parallel(partial(add, table), [(1, 0)]) == [5000 * value]
        assert run_parallel(add, [(frame, 1, 0)]) == [3 * value]


@pytest.mark.usefixtures("on_dask")
def test_large_arguments_do_not_stay_with_the_scheduler(sent):
    large = [np.full(200_000, float(i)) for i in range(3)]
    assert run_parallel(add, [(table, 1, 0) for table in large]) == [0.0, 2e5, 4e5]
    assert [type(value) for value in sent] == [bytes] * 3


@pytest.mark.usefixtures("on_dask")
def test_progress_and_errors_of_calls():
    seen = []
    assert run_parallel(abs, [(-1,), (-2,)], progress=lambda *n: seen.append(n)) == [1, 2]
    assert seen == [(1, 2), (2, 2)]
    with pytest.raises(ZeroDivisionError):
        run_parallel(divmod, [(1, 1), (1, 0)])


@pytest.mark.usefixtures("on_dask")
def test_only_some_calls_are_on_the_cluster_at_a_time(monkeypatch):
    monkeypatch.setattr(clusters, "_MOST_WAITING", 3)
    n_asked = 0

    def ask():
        nonlocal n_asked
        for n_asked in range(1, 21):
            yield (-n_asked,)

    results = run_in_processes(abs, ask())
    next(results)
    assert n_asked <= 4
    assert len(list(results)) == 19


def fit_inside(n_jobs):
    return RuleSetClassifier(MEstimate(m=4), n_jobs=n_jobs, **SMALL).fit(DATA.X, DATA.Y).theory_


@pytest.mark.usefixtures("on_dask")
def test_a_fit_in_a_task_of_the_cluster_stays_there():
    fit = joblib.delayed(joblib.wrap_non_picklable_objects(fit_inside))
    theories = joblib.Parallel()(fit(n_jobs) for n_jobs in (1, 2, None))
    assert len({theory.to_json() for theory in theories}) == 1


def wait_and_add(table, number):
    time.sleep(0.1)
    return float(table.sum()) + number


def run_and_disturb(disturb, n_calls=8):
    """Results of calls that share a table; after the first result something dies."""
    found = []
    for result in run_in_processes(
        partial(wait_and_add, np.ones(5000)), ((i,) for i in range(n_calls))
    ):
        if not found:
            disturb()
        found.append(result)
    return sorted(found)


@pytest.mark.usefixtures("on_dask")
def test_work_goes_on_if_a_worker_dies(cluster):
    assert run_and_disturb(cluster.kill_worker) == [5000.0 + i for i in range(8)]
    cluster.add_worker()


@pytest.mark.usefixtures("on_dask")
def test_work_goes_on_if_all_workers_are_replaced(cluster):
    def replace():
        # What was sent to the workers is lost with them.
        for kill in [cluster.kill_worker] * len(cluster.workers):
            kill()
        cluster.add_worker()

    assert run_and_disturb(replace) == [5000.0 + i for i in range(8)]


@pytest.mark.usefixtures("on_dask")
def test_work_without_workers_ends_with_a_sentence(cluster, monkeypatch):
    monkeypatch.setattr(clusters, "SECONDS_WITHOUT_WORKERS", 1.0)
    with pytest.raises(ChildProcessError, match="lost workers .* finished work is kept"):
        run_and_disturb(cluster.kill_worker)
    with pytest.raises(ChildProcessError, match="lost workers"):
        run_parallel(partial(add, np.ones(6000)), [(1, 1)])
    cluster.add_worker()


@pytest.mark.usefixtures("on_dask")
def test_work_without_a_scheduler_ends_with_a_sentence_only(cluster, caplog):
    with (
        caplog.at_level(logging.INFO),
        pytest.raises(ChildProcessError, match="connection to the Dask scheduler is lost"),
    ):
        run_and_disturb(cluster.kill_scheduler)
    assert [record for record in caplog.records if record.exc_info] == []


def test_no_scheduler_at_an_address_is_one_sentence(monkeypatch):
    monkeypatch.setattr(clusters, "SECONDS_TO_CONNECT", 0.2)
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        with (
            pytest.raises(ConnectionError, match="no Dask scheduler answers at"),
            dask_cluster(address),
        ):
            pass
