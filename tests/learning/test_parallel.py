"""Work on a cluster ends with its results or with a sentence, never with endless waiting."""

import threading
from concurrent.futures import CancelledError

import pytest

from steelyard.learning import parallel
from steelyard.learning.parallel import run_in_processes


class Cluster:
    """What `run_in_processes` asks of a client of Dask."""

    def __init__(self, status="running", workers=("w",)):
        self.status, self.workers = status, workers

    def scheduler_info(self):
        if self.workers is None:
            raise OSError("the scheduler does not answer")
        return {"workers": dict.fromkeys(self.workers)}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(parallel, "_SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(parallel, "SECONDS_WITHOUT_WORKERS", 0.05)


def first_and_then(end):
    yield "first"
    end()


def take(results, client):
    return list(parallel._take_from_cluster(results, client))


def test_results_of_a_cluster_arrive_in_order():
    assert take(iter([1, None, 3]), Cluster()) == [1, None, 3]


@pytest.mark.parametrize(
    "client", [Cluster(workers=()), Cluster(status="closed"), Cluster(workers=None)]
)
def test_a_lost_cluster_is_one_sentence(client):
    forever = threading.Event()
    with pytest.raises(ChildProcessError, match="the Dask cluster lost workers"):
        take(first_and_then(forever.wait), client)
    forever.set()


def test_lost_data_is_one_sentence_and_other_errors_stay_themselves():
    def cancel():
        raise CancelledError

    def fail():
        raise ZeroDivisionError

    with pytest.raises(ChildProcessError, match="finished work is kept"):
        take(first_and_then(cancel), Cluster())
    with pytest.raises(ZeroDivisionError):
        take(first_and_then(fail), Cluster())


def test_a_consumer_may_leave_early_without_a_warning():
    for result in run_in_processes(abs, [(-1,), (-2,), (-3,)], n_jobs=1):
        assert result == 1
        break


def test_the_data_of_a_study_are_sent_once(tmp_path, monkeypatch):
    from steelyard.study import StudyConfig, run_study, runner

    sent = []

    def record(function, arguments, n_jobs):
        for call in arguments:
            sent.append(call)
            yield function(*call)

    monkeypatch.setattr(runner, "run_in_processes", record)
    config = StudyConfig(("planted",), parameters=(2.0,), phis=(1.0,), folds=2, n_candidates=60)
    run_study(config, tmp_path)
    # joblib sends an argument once if it is the same object in all calls.
    assert len(sent) == 3
    assert len({tuple(map(id, call[3:])) for call in sent}) == 1
