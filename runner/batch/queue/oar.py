"""OAR's commands."""

from __future__ import annotations

import re
from pathlib import Path

from runner.batch.queue.system import STOPPED, BatchSystem, Command, JobState, Phase, Question, match

_PHASES: dict[str, Phase] = {
    **dict.fromkeys(("Waiting", "Hold", "toLaunch", "Launching", "toAckReservation"), "waiting"),
    **dict.fromkeys(("Running", "Finishing", "Suspended", "Resuming"), "running"),
    **dict.fromkeys(("Terminated", "Error", "toError"), "ended"),
}


class Oar(BatchSystem):
    """``oarsub``, ``oarstat``, ``oardel``."""

    name = "oar"
    title = "OAR"
    forgotten = re.compile("not found|does not exist")

    def submit(self, script: Path, after: str | None = None) -> Command:
        """Write the call of ``oarsub``, which reads the directives of a file now, and runs the file later."""
        dependency = ("--anterior", after) if after else ()
        return Command(("oarsub", *dependency, "--scanscript", str(script)))

    def job_id(self, said: str) -> str | None:
        """Read ``OAR_JOB_ID=12``."""
        return match(r"^OAR_JOB_ID=(\d+)$", said)

    def questions(self, job_id: str) -> tuple[Question, ...]:
        """Ask for all about the job; OAR forgets none."""
        return (Question(Command(("oarstat", "--full", "--job", job_id)), read_oarstat),)

    def cancel(self, job_ids: tuple[str, ...]) -> Command:
        """Write the call of ``oardel``."""
        return Command(("oardel", *job_ids))

    def ask_to_end(self, job_id: str) -> Command:
        """Write the call of ``oardel`` that sends SIGTERM to the job's script; without it, all are killed."""
        return Command(("oardel", "--signal", "15", job_id))

    def log(self, name: str, job_id: str) -> str:
        """Return what the script's ``-O`` and ``-E`` say."""
        return f"{name}-{job_id}.out"

    def log_in(self, said: str) -> Path | None:
        """Read ``stdout_file``, which is meant from the folder of the submission."""
        folder, path = match(r"^\s+launchingDirectory = (.+)$", said), match(r"^\s+stdout_file = (.+)$", said)
        return None if path is None else Path(folder or "") / path

    def watch(self, job_id: str) -> str:
        """Return the call of ``oarstat``."""
        return f"oarstat -j {job_id}"


def read_oarstat(said: str) -> JobState | None:
    """Read the lines ``name = value`` of ``oarstat --full``."""
    word = match(r"^\s+state = (\w+)", said)
    if word is None or word not in _PHASES:
        return None
    if _PHASES[word] != "ended":
        return JobState(phase=_PHASES[word], word=word)
    status = match(r"^\s+exit_code = (\d+)", said)
    return JobState(phase="ended", word=word, exit_code=_exit_code(word, status))


def _exit_code(word: str, status: str | None) -> int | None:
    """Turn the status of ``waitpid``, as OAR keeps it, into a shell's code."""
    if status is None:
        return None if word == "Terminated" else STOPPED
    code, signal = int(status) >> 8, int(status) & 127
    return (128 + signal if signal else code) or int(word != "Terminated")
