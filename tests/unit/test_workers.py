import threading

import pytest
from distributed import Client, LocalCluster

from runner.errors import LostError
from runner.workers import workers_of


@pytest.fixture
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_they_are_all_there_whatever_the_client_remembers_meanwhile(client):
    stop = threading.Event()

    def forget():
        while not stop.is_set():
            client.sync(client._update_scheduler_info)  # as the client does by itself, every two seconds

    thread = threading.Thread(target=forget)
    thread.start()
    try:
        assert {len(workers_of(client)) for _ in range(200)} == {2}
    finally:
        stop.set()
        thread.join(timeout=60)


def test_a_cluster_that_is_gone_is_said_to_be(client):
    client.close()
    with pytest.raises(LostError, match=r"connection to the cluster is lost; .* goes on"):
        workers_of(client)
