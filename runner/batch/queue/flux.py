"""Flux's commands. Not run: no Flux was at hand; written from its manuals."""

from __future__ import annotations

import re
from pathlib import Path

from runner.batch.queue.system import STOPPED, BatchSystem, Command, JobState, Phase, Question, match

_PHASES: dict[str, Phase] = {
    **dict.fromkeys(("PENDING", "DEPEND", "PRIORITY", "SCHED"), "waiting"),
    **dict.fromkeys(("RUNNING", "RUN", "CLEANUP"), "running"),
    **dict.fromkeys(("COMPLETED", "FAILED", "CANCELED", "TIMEOUT", "INACTIVE"), "ended"),
}
_NEVER_STARTED = -128


class Flux(BatchSystem):
    """``flux batch``, ``flux jobs``, ``flux cancel``."""

    name = "flux"
    title = "Flux"
    forgotten = re.compile("unknown|not found", re.IGNORECASE)

    def submit(self, script: Path, after: str | None = None) -> Command:
        """Write the call of ``flux batch``."""
        dependency = (f"--dependency=afterany:{after}",) if after else ()
        return Command(("flux", "batch", *dependency, str(script)))

    def job_id(self, said: str) -> str | None:
        """Read an id in base 58, which begins with a florin sign, or f in plain ASCII."""
        return match(r"^([ƒf][1-9A-HJ-NP-Za-km-z]+)$", said)

    def questions(self, job_id: str) -> tuple[Question, ...]:
        """Ask for status and return code."""
        return (Question(Command(("flux", "jobs", "-n", "-o", "{status} {returncode}", job_id)), read_jobs),)

    def cancel(self, job_ids: tuple[str, ...]) -> Command:
        """Write the call of ``flux cancel``."""
        return Command(("flux", "cancel", *job_ids))

    def log(self, name: str, job_id: str) -> str:
        """Return what the script's ``--output`` says."""
        return f"{name}-{job_id}.out"

    def watch(self, job_id: str) -> str:
        """Return the call of ``flux jobs``."""
        return f"flux jobs {job_id}"


def read_jobs(said: str) -> JobState | None:
    """Read ``RUN``, or ``FAILED 3``; a signal is a negative number."""
    found = re.search(r"^([A-Z]+)(?:\s+(-?\d+))?\s*$", said, re.MULTILINE)
    if found is None or found[1] not in _PHASES:
        return None
    word, phase = found[1], _PHASES[found[1]]
    if phase != "ended":
        return JobState(phase=phase, word=word)
    if found[2] is None:
        return JobState(phase=phase, word=word, exit_code=0 if word == "COMPLETED" else STOPPED)
    code = int(found[2])
    if code == _NEVER_STARTED:
        return JobState(phase=phase, word=word, exit_code=STOPPED)
    return JobState(phase=phase, word=word, exit_code=128 - code if code < 0 else code)
