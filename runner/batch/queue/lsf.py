"""LSF's commands. Not run: no LSF was at hand; written from its manuals."""

from __future__ import annotations

import re
from pathlib import Path

from runner.batch.queue.system import STOPPED, BatchSystem, Command, JobState, Phase, Question, match

_PHASES: dict[str, Phase] = {
    **dict.fromkeys(("PEND", "PSUSP", "WAIT"), "waiting"),
    **dict.fromkeys(("RUN", "USUSP", "SSUSP", "PROV", "UNKWN", "ZOMBI"), "running"),
    **dict.fromkeys(("DONE", "EXIT"), "ended"),
}


class Lsf(BatchSystem):
    """``bsub``, ``bjobs``, ``bkill``."""

    name = "lsf"
    title = "LSF"
    forgotten = re.compile("is not found|No .*job found")

    def submit(self, script: Path, after: str | None = None) -> Command:
        """Write the call of ``bsub``, which reads the script from its standard input."""
        dependency = ("-w", f"ended({after})") if after else ()
        return Command(("bsub", *dependency), stdin=script)

    def job_id(self, said: str) -> str | None:
        """Read ``Job <12> is submitted to queue <normal>.``."""
        return match(r"Job <(\d+)> is submitted", said)

    def questions(self, job_id: str) -> tuple[Question, ...]:
        """Ask for state and exit code; LSF remembers a job for an hour or so."""
        return (Question(Command(("bjobs", "-noheader", "-o", "stat exit_code", job_id)), read_bjobs),)

    def cancel(self, job_ids: tuple[str, ...]) -> Command:
        """Write the call of ``bkill``."""
        return Command(("bkill", *job_ids))

    def log(self, name: str, job_id: str) -> str:
        """Return what the script's ``-o`` says."""
        return f"{name}.{job_id}.out"

    def watch(self, job_id: str) -> str:
        """Return the call of ``bjobs``."""
        return f"bjobs {job_id}"


def read_bjobs(said: str) -> JobState | None:
    """Read ``RUN -`` or ``EXIT 3``."""
    found = re.search(r"^([A-Z]+)\s+(\d+|-)\s*$", said, re.MULTILINE)
    if found is None or found[1] not in _PHASES:
        return None
    word, code = found[1], found[2]
    if _PHASES[word] != "ended":
        return JobState(phase=_PHASES[word], word=word)
    if word == "DONE":
        return JobState(phase="ended", word=word, exit_code=0)
    return JobState(phase="ended", word=word, exit_code=STOPPED if code == "-" else int(code))
