import logging
import time

from runner.tomo.notes import notes_from_workers, warnings_to_client

from .conftest import local_client


def say(text, level):
    with warnings_to_client("test.notes"):
        logging.getLogger("test.notes.below").log(level, text)
    logging.getLogger("test.notes.below").warning("too late")


def test_warnings_on_workers_are_heard_once_by_the_client():
    heard = []
    with local_client(2) as client, notes_from_workers(client, heard.append):
        workers = list(client.scheduler_info()["workers"])
        for worker in workers:
            client.submit(say, "the same", logging.WARNING, workers=worker, pure=False).result(60)
            client.submit(say, "quiet", logging.INFO, workers=worker, pure=False).result(60)
        client.submit(say, "another", logging.WARNING, pure=False).result(60)
        end = time.monotonic() + 60
        while len(heard) < 2 and time.monotonic() < end:
            time.sleep(0.05)
    assert heard == ["the same", "another"]


def test_outside_of_a_worker_nothing_happens(caplog):
    say("here", logging.WARNING)
    assert [record.message for record in caplog.records] == ["here", "too late"]
