"""How a map is, from what is in its folder and what the batch system says."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.maps.runs import Run
from runner.maps.status import MapStatus, describe, judge, status_of
from runner.maps.status import _Queue as Queue
from tests.unit.maps.made import made

KEYS = ["a", "b", "c", "d"]
NOW = 1000.0
NOTHING = Queue()
RUN = Run(number=1, process="00000000-1-1", host="node7", pid=1, started=900.0, at=NOW - 5)


def judged(
    *, done: str = "", failed: str = "", run: Run | None = None, queue: Queue = NOTHING, now: float = NOW
) -> MapStatus:
    return judge(KEYS, set(done), set(failed), run=run, now=now, queue=queue)


def test_a_run_is_alive() -> None:
    run = Run(**{**vars_of(RUN), "running": {"b": 950.0, "c": 950.0}, "done": 1, "failed": 1})
    status = judged(done="ab", failed="d", run=run)
    assert (status.state, status.running, status.lost, status.left) == ("running", 1, (), 1)
    assert status.seconds_left == pytest.approx(50.0)
    assert not status.is_over


def test_a_run_is_gone_without_a_word() -> None:
    run = Run(**{**vars_of(RUN), "running": {"b": 950.0, "a": 940.0}})
    status = judged(done="a", run=run, now=NOW + 3600)
    assert (status.state, status.lost) == ("stopped", ("b",))
    assert "gone without a word" in status.reason
    assert status.is_over


def test_a_run_that_ended_lost_nothing() -> None:
    run = Run(**{**vars_of(RUN), "ended": 990.0, "problem": "the time was over"})
    status = judged(done="a", run=run)
    assert (status.state, status.lost, status.reason) == ("stopped", (), "the time was over")


def test_all_have_come_to_an_end() -> None:
    status = judged(done="abc", failed="d", queue=Queue(job="SLURM job 5", word="PENDING", waits=True))
    assert (status.state, status.done, status.failed, status.left) == ("complete", 3, 1, 0)


@pytest.mark.parametrize(
    ("queue", "state"),
    [
        (Queue(), "stopped"),
        (Queue(job="SLURM job 5", word="PENDING", waits=True), "waiting"),
        (Queue(job="SLURM job 5", word="RUNNING"), "running"),
        (Queue(word="squeue did not answer", silent=True), "unknown"),
    ],
)
def test_what_the_batch_system_says(queue: Queue, state: str) -> None:
    assert judged(done="a", queue=queue).state == state


def test_a_job_that_never_came_to_the_map_is_named() -> None:
    over = Queue(word="SLURM job 5 is over, see: runner log scan42", submitted=950.0)
    before = Run(**{**vars_of(RUN), "ended": 920.0, "problem": "the time was over"})
    assert judged(queue=over).reason == judged(queue=over, run=before).reason == over.word
    after = Run(**{**vars_of(before), "started": 960.0})
    assert judged(queue=over, run=after).reason == "the time was over"


def test_what_others_left_in_the_folder_is_not_counted() -> None:
    status = judged(done="axyz", failed="w")
    assert (status.done, status.failed) == (1, 0)


def test_in_a_line() -> None:
    text = describe(
        "scan42", judged(done="a", failed="b", queue=Queue(job="SLURM job 5", word="PENDING", waits=True))
    )
    assert text == "map scan42: waiting, 1 of 4 done, 1 failed; SLURM job 5 (PENDING)"


def test_a_folder(tmp_path: Path) -> None:
    layout = made(tmp_path, abs, [1, 2])
    assert status_of(layout).state == "stopped"
    assert status_of(layout).reason == "nobody has worked at it yet"


def vars_of(run: Run) -> dict[str, object]:
    return {name: getattr(run, name) for name in Run.__slots__}
