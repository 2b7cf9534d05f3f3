"""Waiting for a job whose batch system answers this and that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.batch.queue.slurm import Slurm
from runner.batch.queue.system import JobState
from runner.errors import StartError
from runner.jobs import wait as module
from runner.jobs.followed import Followed
from runner.jobs.log import new_content
from runner.jobs.wait import wait

RUNNING = JobState(phase="running", word="RUNNING")
WAITING = JobState(phase="waiting", word="PENDING (Resources)")
Answer = JobState | StartError | None


def ended(code: int | None) -> JobState:
    return JobState(phase="ended", word="FAILED", exit_code=code)


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def job(monkeypatch: pytest.MonkeyPatch, *answers: Answer, on_record: int | None = None) -> Followed:
    """A job whose system gives these answers, the last one for ever."""
    left: Iterator[Answer] = iter(answers)
    last = answers[-1]

    def state(_job: Followed) -> JobState | None:
        answer = next(left, last)
        if isinstance(answer, StartError):
            raise answer
        return answer

    monkeypatch.setattr(Followed, "state", state)
    monkeypatch.setattr(Followed, "exit_code_on_record", lambda _job: on_record)
    return Followed(system=Slurm(), job_id="12")


def test_the_exit_code_is_the_jobs(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    assert wait(job(monkeypatch, WAITING, RUNNING, ended(3)), sleep=clock.sleep) == 3
    assert len(clock.pauses) == 2


def test_it_asks_ever_more_rarely(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    wait(job(monkeypatch, *[RUNNING] * 40, ended(0)), sleep=clock.sleep)
    assert clock.pauses[0] == 1.0
    assert sorted(clock.pauses) == clock.pauses
    assert clock.pauses[-1] == 30.0


@pytest.mark.parametrize("last", [ended(None), None])
def test_what_the_system_does_not_tell_the_jobs_record_does(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, last: JobState | None
) -> None:
    assert wait(job(monkeypatch, RUNNING, last, on_record=75), sleep=clock.sleep) == 75


def test_a_job_that_is_forgotten_for_a_moment_is_known_again(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    # Grid Engine's accounting learns of an end seconds after the list of jobs has lost it
    assert wait(job(monkeypatch, RUNNING, None, None, None, ended(4)), sleep=clock.sleep) == 4


def test_a_job_that_was_never_known_is_given_up_at_once(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    with pytest.raises(StartError, match="SLURM does not know job 12"):
        wait(job(monkeypatch, None), sleep=clock.sleep)
    assert clock.pauses == []


def test_an_end_that_nobody_knows_more_about(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    with pytest.raises(StartError, match=r"SLURM job 12 is over \(FAILED\), and nobody knows its exit code"):
        wait(job(monkeypatch, ended(None)), sleep=clock.sleep)


def test_a_system_that_is_silent_is_given_up_in_the_end(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(StartError, match="scontrol did not answer"):
        wait(job(monkeypatch, RUNNING, StartError("scontrol did not answer")), sleep=clock.sleep)
    assert 900 < clock.now < 1000
    assert capsys.readouterr().err.count("cannot be asked for now") == 1


def test_content_that_comes_is_read_to_the_end(
    monkeypatch: pytest.MonkeyPatch, clock: Clock, tmp_path: Path
) -> None:
    log = tmp_path / "job.out"
    steps = iter([None, b"one\n", None, b"two\n", b"three"])

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if (step := next(steps, None)) is not None:
            with log.open("ab") as file:
                file.write(step)

    asked: list[float] = []

    def over() -> bool:
        asked.append(clock.now)
        if clock.now > 20:
            with log.open("ab") as file:
                file.write(b" and the last")
        return clock.now > 20

    assert b"".join(new_content(log, over, sleep=sleep)) == b"one\ntwo\nthree and the last"
    assert len(asked) <= 7
