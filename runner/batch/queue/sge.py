"""Grid Engine's commands."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from runner.batch.queue.system import BatchSystem, Command, JobState, Question, match

_ACCOUNTING_DELAY = timedelta(seconds=20)  # it is written every 15 s, if nobody changed that


class Sge(BatchSystem):
    """``qsub``, ``qstat``, ``qacct``, ``qdel``."""

    name = "sge"
    title = "Grid Engine"
    forgotten = re.compile("not found|do not exist")

    def submit(self, script: Path, after: str | None = None) -> Command:
        """Write the call of ``qsub``."""
        dependency = ("-hold_jid", after) if after else ()
        return Command(("qsub", "-terse", *dependency, str(script)))

    def job_id(self, said: str) -> str | None:
        """Read ``12``, or ``12.1-5:2`` of an array."""
        return match(r"^(\d+)(?:\.\d+-\d+:\d+)?$", said)

    def questions(self, job_id: str) -> tuple[Question, ...]:
        """Ask for the jobs that are not over, then the accounting, which learns of an end a little later."""
        return (
            Question(Command(("qstat", "-u", "*")), lambda said: read_qstat(said, job_id)),
            Question(Command(("qacct", "-j", job_id)), lambda said: read_qacct(said, datetime.now())),
        )

    def cancel(self, job_ids: tuple[str, ...]) -> Command:
        """Write the call of ``qdel``."""
        return Command(("qdel", *job_ids))

    def log(self, name: str, job_id: str) -> str:
        """Return Grid Engine's own name of the file."""
        return f"{name}.o{job_id}"

    def watch(self, job_id: str) -> str:
        """Return the call of ``qstat``."""
        return f"qstat -j {job_id}"


def read_qstat(said: str, job_id: str) -> JobState | None:
    """Find a job in the list; a task of it that runs goes before those that wait."""
    number = job_id.partition(".")[0]
    rows = (line.split() for line in said.splitlines())
    words = [row[4] for row in rows if len(row) > 4 and row[0] == number]
    running = [word for word in words if "q" not in word]
    if running:
        return JobState(phase="running", word=running[0])
    return JobState(phase="waiting", word=words[0]) if words else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of the accounting: a job, a task of an array, or a process of a parallel job."""

    task: str
    process: str
    environment: str
    submitted: datetime
    ended: datetime
    failure: str
    status: int


def read_qacct(said: str, now: datetime) -> JobState | None:
    """Read the accounting: the worst task of an array.

    A parallel job has a part for each process that ``qrsh -inherit`` started. That of the job itself is
    written last, some seconds after it has left the queue.

    Parameters
    ----------
    said : str
        The answer of ``qacct -j``.
    now : datetime
        When it was given.
    """
    tasks: dict[str, list[_Part]] = {}
    for text in re.split(r"^=+\s*$", said, flags=re.MULTILINE):
        if part := _part(text):
            tasks.setdefault(part.task, []).append(part)
    if not tasks:
        return None
    ends = [end for parts in tasks.values() if (end := _own(parts, now))]
    if len(ends) < len(tasks):
        return JobState(phase="running", word="ending")
    worst = max(ends, key=lambda end: end.status or int(end.failure != ""))
    word = f"failed {worst.failure}" if worst.failure else "finished"
    return JobState(phase="ended", word=word, exit_code=worst.status or int(worst.failure != ""))


def _part(text: str) -> _Part | None:
    values = dict(re.findall(r"^(\w+)[ \t]+(\S.*?)[ \t]*$", text, re.MULTILINE))
    status = re.match(r"\d+", values.get("exit_status", ""))
    if status is None:
        return None
    failure = values.get("failed", "0")
    return _Part(
        task=values.get("taskid", ""),
        process=values.get("pe_taskid", ""),
        environment=values.get("granted_pe", "NONE"),
        submitted=_time(values.get("qsub_time", "")),
        ended=_time(values.get("end_time", "")),
        failure="" if re.match(r"0\b", failure) else " ".join(failure.split()),
        status=int(status[0]),
    )


def _own(parts: list[_Part], now: datetime) -> _Part | None:
    """Return the part of the job itself; None as long as it may not be there yet."""
    own = [part for part in parts if part.process == "NONE"]  # Univa's and Altair's accounting says it
    if own or any(part.process for part in parts):
        return own[-1] if own else None
    *others, last = parts
    came_first = bool(others) and all(last.submitted < other.submitted for other in others)
    if last.environment == "NONE" or came_first or now - last.ended > _ACCOUNTING_DELAY:
        return last
    return None


def _time(said: str) -> datetime:
    """Read a time as Son of Grid Engine writes it, or the others; the year 1 if it is none."""
    for form in ("%a %b %d %H:%M:%S %Y", "%m/%d/%Y %H:%M:%S.%f"):
        with suppress(ValueError):
            return datetime.strptime(said, form)
    return datetime.min
