import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

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
def test_chunks_overlap_and_never_are_two_in_one_stage(slow):
    seconds = {stage: 0.1 if stage == slow else 0.04 for stage in STAGES}
    watch = Watch()
    with ThreadPoolExecutor(8) as threads:
        began = time.monotonic()
        passed = list(threads.map(lambda _: pass_through(watch, seconds), range(8)))
        took = time.monotonic() - began
    held = watch.most.pop("held")
    assert 2 <= held <= IN_ALL
    assert slow != "write" or held == IN_ALL
    assert watch.most == dict.fromkeys(STAGES, 1)
    assert took < 0.8 * 8 * sum(seconds.values())  # one after the other
    for found in passed:
        assert list(found) == list(STAGES)
        assert all(found[stage] >= seconds[stage] for stage in STAGES)
        assert all(found[stage] < seconds[stage] + 0.5 for stage in STAGES)  # no wait is counted


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
        assert list(done.result(timeout=10)) == list(STAGES)


def test_a_long_wait_says_what_it_waits_for_and_goes_on(monkeypatch, caplog):
    monkeypatch.setattr(stages, "_SILENCE_SECONDS", 0.05)
    within = threading.Event()

    def stay():
        with Passage("chunk 0:16") as passage, passage.stage("write"):
            within.set()
            time.sleep(0.5)

    with ThreadPoolExecutor(1) as threads:
        staying = threads.submit(stay)
        assert within.wait(10)
        with Passage("chunk 16:32") as passage, passage.stage("write"):
            pass
        staying.result(timeout=10)
    said = [record.getMessage() for record in caplog.records]
    assert 2 <= len(said) <= 4  # after 0.05, 0.15, 0.35 s
    assert all(line.startswith("chunk 16:32 has waited 0.") for line in said)
    assert all(line.endswith(" s for its turn to write: chunk 0:16 is still at it") for line in said)
