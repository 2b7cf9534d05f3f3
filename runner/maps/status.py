"""How a map is: from its folder, and from one question to the batch system."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from runner.errors import StartError
from runner.maps.job import ask_for, read_submission
from runner.maps.layout import Layout
from runner.maps.record import MapRecord, read_record
from runner.maps.runs import Run, latest_run
from runner.units import format_duration

if TYPE_CHECKING:
    from runner.batch.submission import Submission

_SETTLING_SECONDS = 10.0  # some systems list a job a moment after they gave it a number

State = Literal["complete", "running", "waiting", "stopped", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapStatus:
    """How a map is.

    Attributes
    ----------
    total, done, failed : int
        Components, those with a value, and those with a failure.
    running : int
        Those that a worker has now, as of a few seconds ago.
    lost : tuple of str
        Those that a worker had in a run that is gone without a word; they will be done again.
    state : {"complete", "running", "waiting", "stopped", "unknown"}
        All have come to an end; a run works at it; a job for it waits in the queue; nobody works at it;
        nobody knows, since the batch system cannot be asked.
    job : str
        Who works at it, or will; empty if nobody.
    reason : str
        What the batch system, or the last run, says about that.
    ends_at : float or None
        When the job's time is over, seconds since 1970.
    seconds_left : float or None
        How long the rest will take at the rate so far.
    """

    total: int
    done: int
    failed: int
    running: int = 0
    lost: tuple[str, ...] = ()
    state: State
    job: str = ""
    reason: str = ""
    ends_at: float | None = None
    seconds_left: float | None = None

    @property
    def left(self) -> int:
        """How many have not come to an end."""
        return self.total - self.done - self.failed

    @property
    def in_words(self) -> str:
        """The state for people: of a map that has come to its end, also whether all went well."""
        return "complete with failures" if self.state == "complete" and self.failed else self.state

    @property
    def is_over(self) -> bool:
        """Whether nothing will change by itself."""
        return self.state in ("complete", "stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Queue:
    """What the batch system says: the job that is not over, and the system's word for its state.

    `silent` if it cannot be asked, `submitted` the time of the last submission; 0 if there was none.
    """

    job: str = ""
    word: str = ""
    waits: bool = False
    silent: bool = False
    submitted: float = 0.0


def status_of(layout: Layout, record: MapRecord | None = None) -> MapStatus:
    """Find out how a map is.

    Raises
    ------
    StartError
        If it cannot be read.
    """
    record = record or read_record(layout)
    run, now = latest_run(layout), time.time()
    alive = run is not None and run.is_alive(now)
    queue = _Queue() if alive else _ask(layout)
    done, failed = layout.outcomes()  # last: what a run says is done is there
    return judge(record.keys, done, failed, run=run, now=now, queue=queue)


def judge(
    keys: list[str], done: set[str], failed: set[str], *, run: Run | None, now: float, queue: _Queue
) -> MapStatus:
    """Put together what is known. Pure, but for the question whether a process of this machine has ended."""
    ended = done | failed
    total = len(keys)
    done_keys, failed_keys = sum(key in done for key in keys), sum(key in failed for key in keys)
    open_keys = tuple(key for key in run.running if key not in ended) if run else ()
    alive = run is not None and run.is_alive(now)
    status = partial(MapStatus, total=total, done=done_keys, failed=failed_keys)
    if run is not None and alive:
        return status(
            running=len(open_keys),
            state="running",
            job=run.title,
            ends_at=run.ends_at,
            seconds_left=_seconds_left(run, total - done_keys - failed_keys, now),
        )
    lost = open_keys if run is not None and run.ended is None else ()
    if done_keys + failed_keys == total:
        return status(state="complete")
    if queue.job:
        state: State = "waiting" if queue.waits else "running"
        return status(state=state, job=queue.job, reason=queue.word, lost=lost)
    if queue.silent:
        return status(state="unknown", reason=queue.word, lost=lost)
    return status(state="stopped", reason=_why_stopped(run, queue), lost=lost)


def describe(name: str, status: MapStatus) -> str:
    """Say in a line how a map is."""
    parts = [f"{status.done} of {status.total} done"]
    parts += [f"{status.failed} failed"] if status.failed else []
    parts += [f"{status.running} running"] if status.running else []
    parts += [f"{len(status.lost)} lost"] if status.lost else []
    parts += [f"{format_duration(status.seconds_left)} left"] if status.seconds_left is not None else []
    text = f"map {name}: {status.in_words}, {', '.join(parts)}"
    text += f"; {status.job}" if status.job else ""
    return text + (f" ({status.reason})" if status.reason else "")


def _ask(layout: Layout) -> _Queue:
    submission = read_submission(layout)
    if submission is None:
        return _Queue()
    try:
        found = ask_for(submission)
    except StartError as error:
        return _Queue(word=str(error), silent=True)
    if found is None:
        return _over(submission, layout.folder.name)
    job_id, state = found
    return _Queue(
        job=f"{submission.system.upper()} job {job_id}", word=state.word, waits=state.phase == "waiting"
    )


def _seconds_left(run: Run, left: int, now: float) -> float | None:
    made = run.done + run.failed
    return (now - run.started) / made * left if made else None


def _over(submission: Submission, name: str) -> _Queue:
    """Return what it means that the batch system knows none of the jobs, or says that they are over."""
    jobs = f"{submission.system.upper()} job {', '.join(submission.job_ids)}"
    if time.time() - submission.submitted < _SETTLING_SECONDS:
        return _Queue(job=jobs, word="just submitted", waits=True)
    return _Queue(word=f"{jobs} is over, see: runner log {name}", submitted=submission.submitted)


def _why_stopped(run: Run | None, queue: _Queue) -> str:
    if queue.submitted and (run is None or run.started < queue.submitted):
        return queue.word  # the job never came to the map
    if run is None:
        return "nobody has worked at it yet"
    if run.ended is None:
        return f"{run.title} is gone without a word"
    return run.problem or "there was less to do when its last run ended"
