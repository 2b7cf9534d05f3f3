"""Grid Engine's commands."""

from __future__ import annotations

import re
from pathlib import Path

from runner.batch.queue.system import BatchSystem, Command, JobState, Question, match


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
            Question(Command(("qacct", "-j", job_id)), read_qacct),
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


def read_qacct(said: str) -> JobState | None:
    """Read the accounting: the worst task of an array.

    A parallel job has a part of its own for each process that ``qrsh -inherit`` started, an array for each
    task. The job's own end is the last of them: Grid Engine ends the others first. Earlier ones with the same
    number are those of a run that was started again.
    """
    ends: dict[str, tuple[str, int]] = {}
    for part in re.split(r"^=+\s*$", said, flags=re.MULTILINE):
        code = match(r"^exit_status\s+(\d+)", part)
        if code is not None:
            task = match(r"^taskid\s+(\S+)", part) or ""
            ends[task] = (match(r"^failed\s+([1-9]\d*\b.*)$", part) or "", int(code))
    if not ends:
        return None
    failure, status = max(ends.values(), key=lambda end: end[1] or int(end[0] != ""))
    word = f"failed {' '.join(failure.split())}" if failure else "finished"
    return JobState(phase="ended", word=word, exit_code=status or int(failure != ""))
