import threading
import time

import pytest
from distributed import Client, LocalCluster, Status, get_worker

from runner import forgotten
from runner.forgotten import Watch

SECONDS = 60.0  # for what has to be found
GO_ON = threading.Event()  # workers are threads of this process


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(forgotten, "_EVERY", 0.2)


@pytest.fixture
def client():
    GO_ON.clear()
    options = {"processes": False, "memory_limit": 0, "dashboard_address": None}  # nothing resumes who pauses
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client
        GO_ON.set()


def given(client, *futures):
    (worker,) = client.scheduler_info()["workers"]
    return dict.fromkeys(futures, worker)


def found(watch, running, seconds):
    """Ask for so long, or until something is found."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if lost := watch.forgotten(running):
            return lost
        time.sleep(0.05)
    return []


def nothing():
    return None


def run_on():
    GO_ON.wait(110)


def forget_oneself():
    worker = get_worker()
    worker.loop.add_callback(worker.state.tasks.pop, worker.get_current_task())
    run_on()


def in_memory(dask_worker):
    return {key for key, task in dask_worker.state.tasks.items() if task.state == "memory"}


def pause(dask_worker):
    dask_worker.status = Status.paused


def test_what_runs_and_what_waits_for_that_is_not_forgotten(client):
    running = given(client, client.submit(run_on), client.submit(nothing))
    assert found(Watch(client), running, 2) == []


def test_what_has_ended_without_a_word_is_found(client, monkeypatch):
    monkeypatch.setitem(client._stream_handlers, "key-in-memory", lambda **_: None)
    future, *others = client.submit(nothing), client.submit(nothing, pure=False)
    running = given(client, future, *others)
    end = time.monotonic() + SECONDS
    while not all({future.key for future in running} <= keys for keys in client.run(in_memory).values()):
        assert time.monotonic() < end
    assert found(Watch(client), running, SECONDS) == [future, *others]


def test_what_the_worker_does_not_know_of_is_found(client):
    lost, other = client.submit(forget_oneself), client.submit(run_on)
    assert found(Watch(client), given(client, lost, other), SECONDS) == [lost]


def test_what_waits_for_a_worker_that_has_paused_is_not_forgotten(client):
    (worker,) = client.scheduler_info()["workers"]
    client.run(pause)
    future = client.submit(nothing, workers=[worker])
    assert found(Watch(client), {future: worker}, 2) == []
    assert future.status == "pending"


def test_a_cluster_that_does_not_answer_is_not_for_the_watch_to_judge(client):
    running = given(client, client.submit(run_on))
    GO_ON.set()
    client.close()
    assert found(Watch(client), running, 1) == []
