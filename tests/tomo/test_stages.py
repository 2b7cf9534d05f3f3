import itertools
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from runner.tomo import stages
from runner.tomo.stages import IN_ALL, Passage

STAGES = ("read", "reconstruct", "write")


class Watch:
    """Counts who is where."""

    def __init__(self):
        self.lock = threading.Lock()
        self.within = Counter()
        self.most = Counter()

    def change(self, place, step):
        with self.lock:
            self.within[place] += step
            self.most[place] = max(self.most[place], self.within[place])


def pass_through(watch, seconds):
    """Hold something from the first stage to the last, as a chunk holds memory."""
    with Passage("chunk 0:1") as passage:
        for stage in STAGES:
            with passage.stage(stage):
                if stage == STAGES[0]:
                    watch.change("held", 1)
                watch.change(stage, 1)
                time.sleep(seconds[stage])
                watch.change(stage, -1)
                if stage == STAGES[-1]:
                    watch.change("held", -1)
    return passage.seconds


@pytest.mark.parametrize("slow", STAGES)
def test_never_are_two_chunks_in_one_stage(slow):
    seconds = {stage: 0.1 if stage == slow else 0.04 for stage in STAGES}
    watch = Watch()
    with ThreadPoolExecutor(8) as threads:
        passed = list(threads.map(lambda _: pass_through(watch, seconds), range(8)))
    assert watch.most.pop("held") <= IN_ALL
    assert watch.most == dict.fromkeys(STAGES, 1)
    for found in passed:
        assert list(found) == list(STAGES)
        assert all(found[stage] >= seconds[stage] for stage in STAGES)


def test_chunks_overlap():
    """While one is written, the next is made and a third one is read: there they wait for each other."""
    count, entered = 6, itertools.count()
    meetings = [
        threading.Barrier(sum(0 <= turn - place < count for place in range(IN_ALL)), timeout=60)
        for turn in range(count + IN_ALL - 1)
    ]

    def go(_):
        with Passage("chunk 0:1") as passage:
            with passage.stage("read"):
                number = next(entered)
                meetings[number].wait()  # breaks if they do not meet
            for turn, stage in enumerate(STAGES[1:], number + 1):
                with passage.stage(stage):
                    meetings[turn].wait()

    with ThreadPoolExecutor(count) as threads:
        list(threads.map(go, range(count)))


def test_the_wait_for_a_stage_is_not_counted(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    timers = SimpleNamespace(time=time.time, monotonic=time.monotonic, perf_counter=lambda: clock.now)
    monkeypatch.setattr(stages, "time", timers)

    def go():
        with Passage("chunk 16:32") as passage:
            for number, stage in enumerate(STAGES, 1):
                with passage.stage(stage):
                    clock.now += number
        return passage.seconds

    with ThreadPoolExecutor(1) as another:
        with Passage("chunk 0:16") as passage, passage.stage("read"):
            waiting = another.submit(go)
            time.sleep(0.1)  # until it waits
            clock.now += 100
        assert waiting.result(timeout=60) == {"read": 1, "reconstruct": 2, "write": 3}


def test_a_chunk_that_fails_lets_the_next_one_in():
    def fail_in(stage):
        with Passage("chunk 0:1") as passage:
            for name in STAGES:
                with passage.stage(name):
                    if name == stage:
                        raise OSError("bad disk")

    for stage in STAGES:
        with pytest.raises(OSError, match="bad disk"):
            fail_in(stage)
    with ThreadPoolExecutor(1) as another:
        done = another.submit(pass_through, Watch(), dict.fromkeys(STAGES, 0))
        assert list(done.result(timeout=60)) == list(STAGES)


def test_a_long_wait_says_what_it_waits_for_and_goes_on(monkeypatch, caplog):
    monkeypatch.setattr(stages, "_SILENCE_SECONDS", 0.05)
    within = threading.Event()

    def stay():
        with Passage("chunk 0:16") as passage, passage.stage("write"):
            within.set()
            end = time.monotonic() + 60
            while len(caplog.records) < 2 and time.monotonic() < end:
                time.sleep(0.01)

    with ThreadPoolExecutor(1) as threads:
        staying = threads.submit(stay)
        assert within.wait(60)
        with Passage("chunk 16:32") as passage, passage.stage("write"):
            pass
        staying.result(timeout=60)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) >= 2
    assert all(line.startswith("chunk 16:32 has waited ") for line in said)
    assert all(line.endswith(" for its turn to write: chunk 0:16 is still at it") for line in said)


def test_it_is_said_again_at_longer_intervals(monkeypatch, caplog):
    waits = []

    def acquire(timeout):
        waits.append(timeout)
        return len(waits) == 4

    place = SimpleNamespace(busy=SimpleNamespace(acquire=acquire, release=lambda: None), within="chunk 0:16")
    monkeypatch.setitem(stages._PLACES, "write", place)
    with Passage("chunk 16:32") as passage, passage.stage("write"):
        pass
    assert waits == [600, 1200, 2400, 4800]
    assert len(caplog.records) == 3
