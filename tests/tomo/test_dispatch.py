import os
import re
import time

import pytest
from distributed import get_worker

from runner.errors import LostError, ScanError, StartError
from runner.tomo import dispatch
from runner.tomo.dispatch import resources_of, run_chunks
from runner.tomo.plan import cut

from .conftest import local_client

CHUNKS = cut(0, 100, 16)


@pytest.fixture(scope="module")
def client():
    with local_client(2) as client:
        yield client


def first_row(chunk):
    return chunk.first_row


def fail_at_32(chunk):
    if chunk.first_row == 32:
        raise ScanError("row 32 is bad", "mend it")
    return chunk.first_row


def die_at_48(chunk):
    if chunk.first_row == 48:
        os._exit(9)
    return chunk.first_row


class FailsOnFirstWorker:
    """Fails wherever the folder's mark says that the first attempt was."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, chunk):
        here = get_worker().address
        mark = self.folder / str(chunk.first_row)
        if not mark.exists():
            mark.write_text(here)
        if mark.read_text() == here:
            raise OSError("this machine has a bad disk")
        return here


def test_every_chunk_is_done_and_told(client):
    told = []
    results, failures = run_chunks(client, first_row, CHUNKS, on_progress=told.append)
    assert sorted(results) == [chunk.first_row for chunk in CHUNKS]
    assert failures == []
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert told[-1].done == told[-1].total == 100


def test_what_always_fails_is_told_with_its_cause_and_the_rest_is_done(client):
    results, failures = run_chunks(client, fail_at_32, CHUNKS)
    assert sorted(results) == [0, 16, 48, 64, 80, 96]
    (failure,) = failures
    assert (failure.chunk.first_row, failure.chunk.end_row) == (32, 48)
    assert str(failure.cause) == "row 32 is bad; mend it"


def test_a_chunk_is_tried_again_on_another_worker(client, tmp_path):
    results, failures = run_chunks(client, FailsOnFirstWorker(tmp_path), CHUNKS)
    assert failures == []
    assert len(results) == len(CHUNKS)


def test_what_kills_its_workers_is_given_up_and_the_rest_is_done(client):
    results, failures = run_chunks(client, die_at_48, CHUNKS)
    assert sorted(results) == [0, 16, 32, 64, 80, 96]
    (failure,) = failures
    assert failure.chunk.first_row == 48
    assert re.fullmatch(r"worker tcp://\S+ was lost", str(failure.cause))


def test_resources_are_those_of_the_workers(client):
    client.wait_for_workers(2, timeout=30)
    resources = resources_of(client)
    assert (resources.workers, resources.threads) == (2, 1)
    assert resources.memory == 1_000_000_000


def test_without_workers_it_ends(monkeypatch):
    monkeypatch.setattr(dispatch, "_PATIENCE", 1.0)
    with local_client(0) as client:
        with pytest.raises(StartError, match="no workers"):
            resources_of(client)
        started = time.monotonic()
        with pytest.raises(LostError, match="no worker"):
            run_chunks(client, first_row, CHUNKS)
        assert time.monotonic() - started < 10
