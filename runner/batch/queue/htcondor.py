"""HTCondor's commands. Not run: no HTCondor was at hand; written from its manuals."""

from __future__ import annotations

import re
from pathlib import Path

from runner.batch.queue.system import (
    STOPPED,
    BatchSystem,
    Command,
    JobState,
    Phase,
    Question,
    match,
    no_chain,
)

_STATES: dict[int, tuple[Phase, str]] = {
    1: ("waiting", "idle"),
    2: ("running", "running"),
    3: ("ended", "removed"),
    4: ("ended", "completed"),
    5: ("waiting", "held"),
    6: ("running", "transferring output"),
    7: ("running", "suspended"),
}


class HTCondor(BatchSystem):
    """``condor_submit``, ``condor_q``, ``condor_history``, ``condor_rm``."""

    name = "htcondor"
    title = "HTCondor"
    forgotten = re.compile("not found")

    def submit(self, script: Path, after: str | None = None) -> Command:
        """Write the call of ``condor_submit``."""
        if after is not None:
            raise no_chain(self.title, "use its DAGMan, or submit the parts one after the other")
        return Command(("condor_submit", "-terse", str(script)))

    def job_id(self, said: str) -> str | None:
        """Read the cluster of ``12.0 - 12.0``."""
        return match(r"^(\d+)\.\d+ - \d+\.\d+$", said)

    def questions(self, job_id: str) -> tuple[Question, ...]:
        """Ask the queue, then the history."""
        fields = ("-autoformat", "JobStatus", "ExitCode", "ExitSignal")
        return (
            Question(Command(("condor_q", job_id, *fields)), read_ad),
            Question(Command(("condor_history", job_id, "-limit", "1", *fields)), read_ad),
        )

    def cancel(self, job_ids: tuple[str, ...]) -> Command:
        """Write the call of ``condor_rm``."""
        return Command(("condor_rm", *job_ids))

    def log(self, name: str, job_id: str) -> str:
        """Return the output of rank 0."""
        return f"{name}.{job_id}.0.out"

    def watch(self, job_id: str) -> str:
        """Return the call of ``condor_q``."""
        return f"condor_q {job_id}"


def read_ad(said: str) -> JobState | None:
    """Read ``2 undefined undefined`` or ``4 0 undefined``."""
    found = re.search(r"^([1-7])\s+(\d+|undefined)\s+(\d+|undefined)\s*$", said, re.MULTILINE)
    if found is None:
        return None
    phase, word = _STATES[int(found[1])]
    if phase != "ended":
        return JobState(phase=phase, word=word)
    if found[3] != "undefined":
        return JobState(phase=phase, word=word, exit_code=128 + int(found[3]))
    code = STOPPED if found[2] == "undefined" else int(found[2])
    return JobState(phase=phase, word=word, exit_code=code)
