import functools
import itertools
import math
import os
import re
import threading
import time

import pytest
from distributed import get_worker

from runner import forgotten
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


def need_much_memory(chunk):
    if chunk.rows > 16 and chunk.first_row >= 64:
        raise MemoryError(f"rows {chunk.first_row}:{chunk.end_row} need too much")
    return chunk.first_row, chunk.end_row


def die_of_more_than_32_rows(chunk):
    if chunk.rows > 32 and chunk.first_row == 0:
        os._exit(9)
    return chunk.first_row, chunk.end_row


def die_at_48(chunk):
    if chunk.first_row == 48:
        os._exit(9)
    return chunk.first_row


TOGETHER = threading.Barrier(3)  # each process has its own


def meet(chunk):
    TOGETHER.wait(timeout=90)
    return get_worker().address


def die_beside_others(chunk):
    time.sleep(0.2)  # until the worker has all that it gets
    return die_at_48(chunk)


class DiesOnceWhenAllIsDone:
    """Ends one worker just after its chunks are done."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self, chunk):
        if chunk.first_row == 48 and not self.mark.exists():
            self.mark.touch()
            threading.Timer(0.2, os._exit, (9,)).start()
        return chunk.first_row


def nap(chunk):
    time.sleep(0.3)
    return chunk


class StaysUntil:
    """Does not end before a file is there, or in a minute and a half."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self, chunk):
        end = time.monotonic() + 90
        while not self.mark.exists() and time.monotonic() < end:
            time.sleep(0.05)


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
    results, failures, left = run_chunks(client, first_row, CHUNKS, on_progress=told.append)
    assert sorted(results) == [chunk.first_row for chunk in CHUNKS]
    assert (failures, left) == ([], [])
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert told[-1].done == told[-1].total == 100


def test_a_worker_with_one_thread_does_several_chunks_at_once_if_told(client):
    results, failures, left = run_chunks(client, meet, cut(0, 96, 16), at_once=3)
    assert (failures, left) == ([], [])
    assert sorted(results.count(worker) for worker in set(results)) == [3, 3]


@pytest.mark.parametrize("at_once", [1, 3])
def test_what_always_fails_is_told_with_its_cause_and_the_rest_is_done(client, at_once):
    results, failures, left = run_chunks(client, fail_at_32, CHUNKS, at_once=at_once)
    assert sorted(results) == [0, 16, 48, 64, 80, 96]
    (failure,) = failures
    assert left == []
    assert (failure.chunk.first_row, failure.chunk.end_row) == (32, 48)
    assert str(failure.cause) == "row 32 is bad; mend it"


def test_a_chunk_is_tried_again_on_another_worker(client, tmp_path):
    again = []
    results, failures, left = run_chunks(client, FailsOnFirstWorker(tmp_path), CHUNKS, on_retry=again.append)
    assert sorted(failure.chunk.first_row for failure in again) == [chunk.first_row for chunk in CHUNKS]
    assert (failures, left) == ([], [])
    assert len(results) == len(CHUNKS)


@pytest.mark.parametrize("at_once", [1, 3])
def test_what_needs_too_much_memory_is_done_in_smaller_chunks(client, at_once):
    retries = []
    chunks = cut(0, 192, 128)  # 0:128 and 128:192
    results, failures, left = run_chunks(
        client, need_much_memory, chunks, at_once=at_once, on_retry=retries.append
    )
    assert sorted(results) == [(0, 128), *((row, row + 16) for row in range(128, 192, 16))]
    assert not failures
    assert not left
    assert [type(retry.cause) for retry in retries] == [MemoryError] * 3


def test_what_a_worker_died_of_is_tried_in_halves(client):
    results, failures, left = run_chunks(client, die_of_more_than_32_rows, cut(0, 64, 64))
    assert sorted(results) == [(0, 32), (32, 64)]
    assert (failures, left) == ([], [])


def test_what_kills_its_workers_is_given_up_and_the_rest_is_done(client):
    results, failures, left = run_chunks(client, die_at_48, CHUNKS)
    assert sorted(results) == [0, 16, 32, 64, 80, 96]
    (failure,) = failures
    assert left == []
    assert failure.chunk.first_row == 48
    assert re.fullmatch(r"worker tcp://\S+ was lost", str(failure.cause))


def test_a_chunk_whose_end_is_not_heard_of_is_made_again(client, monkeypatch):
    def hear_all_but_one(key, **message):
        if not unheard:
            unheard.append(key)
        else:
            hear(key=key, **message)

    unheard, retries = [], []
    hear = client._stream_handlers["key-in-memory"]
    monkeypatch.setitem(client._stream_handlers, "key-in-memory", hear_all_but_one)
    monkeypatch.setattr(forgotten, "_EVERY", 0.2)
    results, failures, left = run_chunks(client, first_row, CHUNKS, on_retry=retries.append)
    assert (sorted(results), failures, left) == ([chunk.first_row for chunk in CHUNKS], [], [])
    (retry,) = retries
    assert re.fullmatch(r"worker tcp://\S+ does not have it any more", str(retry.cause))


class Clock:
    """Has all the time until told otherwise."""

    def __init__(self, over, seconds):
        self.over = over
        self.seconds = seconds
        self.left = math.inf

    def look(self, progress):
        if self.over(progress):
            self.left = self.seconds


def test_no_chunk_is_begun_that_would_not_end_in_time_and_what_runs_is_finished(client):
    # no time for another nap of 0.3 s, but for those that are begun
    clock = Clock(lambda progress: progress.done >= 48, dispatch.last_words(math.inf) + 0.1)
    results, failures, left = run_chunks(
        client, nap, CHUNKS, on_progress=clock.look, seconds_left=lambda: clock.left
    )
    assert failures == []
    assert 3 <= len(results) <= 4  # the other worker's too
    assert left
    assert sorted([*results, *left], key=lambda chunk: chunk.first_row) == list(CHUNKS)


@pytest.mark.parametrize("at_once", [1, 3])
def test_what_runs_is_given_up_just_before_the_end(client, tmp_path, at_once):
    calls = itertools.count()
    clock = Clock(lambda _: next(calls) == 1, dispatch.last_words(math.inf) / 2)  # when the first chunks run
    started = time.monotonic()
    results, failures, left = run_chunks(
        client,
        StaysUntil(tmp_path / "go on"),
        CHUNKS,
        at_once=at_once,
        on_progress=clock.look,
        seconds_left=lambda: clock.left,
    )
    assert time.monotonic() - started < 60
    (tmp_path / "go on").touch()  # the workers are wanted again
    assert (results, failures) == ([], [])
    assert left == list(CHUNKS)


def test_a_failed_chunk_that_gets_no_second_attempt_is_left(client):
    clock = Clock(lambda progress: progress.done == 84, 0.0)
    results, failures, left = run_chunks(
        client, fail_at_32, CHUNKS, on_progress=clock.look, seconds_left=lambda: clock.left
    )
    assert sorted(results) == [0, 16, 48, 64, 80, 96]
    assert [chunk.first_row for chunk in (*left, *(failure.chunk for failure in failures))] == [32]


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
        assert time.monotonic() - started < 50  # and not the minute that is usual


def test_what_kills_its_workers_is_found_among_those_beside_it():
    with local_client(2) as client:
        results, failures, left = run_chunks(client, die_beside_others, CHUNKS, at_once=3)
    assert sorted(results) == [0, 16, 32, 64, 80, 96]
    assert [failure.chunk.first_row for failure in failures] == [48]
    assert left == []


def test_results_that_go_with_their_worker_before_they_are_fetched_are_made_again(tmp_path):
    work = DiesOnceWhenAllIsDone(tmp_path / "dead")
    with local_client(2) as client:
        results, failures, left = run_chunks(
            client, work, CHUNKS, at_once=3, on_progress=lambda _: time.sleep(1)
        )
    assert work.mark.exists()
    assert (sorted(results), failures, left) == ([chunk.first_row for chunk in CHUNKS], [], [])


def note_process(folder):
    (folder / str(os.getpid())).touch()


def sleep_longer():
    time.sleep(90)


def test_a_little_thing_is_done_in_every_worker(client, tmp_path, monkeypatch):
    monkeypatch.setattr(dispatch, "_LITTLE", 60.0)  # the machine may be busy
    dispatch.on_each_worker(client, functools.partial(note_process, tmp_path))
    assert sorted(int(one.name) for one in tmp_path.iterdir()) == sorted(client.run(os.getpid).values())


def test_a_worker_that_does_not_come_to_it_is_let_be(monkeypatch):
    monkeypatch.setattr(dispatch, "_LITTLE", 0.5)
    with local_client(1) as client:
        busy = client.submit(sleep_longer)
        began = time.monotonic()
        dispatch.on_each_worker(client, os.getpid)
        assert 0.4 < time.monotonic() - began < 60
        client.cancel([busy], force=True)
