"""The commands of PBS Pro and OpenPBS. Not run: no PBS was at hand; written from its manuals."""

from __future__ import annotations

import re
from pathlib import Path

from runner.batch.queue.system import STOPPED, BatchSystem, Command, JobState, Phase, Question, match

_PHASES: dict[str, Phase] = {
    **dict.fromkeys("HQTWM", "waiting"),
    **dict.fromkeys("BERSU", "running"),
    **dict.fromkeys("FX", "ended"),
}
_WORDS = {"H": "held", "Q": "queued", "R": "running", "E": "exiting", "F": "finished", "S": "suspended"}


class Pbs(BatchSystem):
    """``qsub``, ``qstat``, ``qdel``."""

    name = "pbs"
    title = "PBS"
    forgotten = re.compile("Unknown Job Id|has finished|not configured to maintain job history")

    def submit(self, script: Path, after: str | None = None) -> Command:
        """Write the call of ``qsub``."""
        dependency = ("-W", f"depend=afterany:{after}") if after else ()
        return Command(("qsub", *dependency, str(script)))

    def job_id(self, said: str) -> str | None:
        """Read ``1234.server``."""
        return match(r"^(\d+(?:\[\])?(?:\.[\w.-]+)?)$", said)

    def questions(self, job_id: str) -> tuple[Question, ...]:
        """Ask for a job that is not over, then for one that is (``-x``), if it is remembered."""
        return (
            Question(Command(("qstat", "-f", job_id)), read_qstat),
            Question(Command(("qstat", "-x", "-f", job_id)), read_qstat),
        )

    def cancel(self, job_ids: tuple[str, ...]) -> Command:
        """Write the call of ``qdel``."""
        return Command(("qdel", *job_ids))

    def log(self, name: str, job_id: str) -> str:
        """Return PBS's own name of the file, with the number alone."""
        return f"{name}.o{job_id.partition('.')[0]}"

    def log_in(self, said: str) -> Path | None:
        """Read ``Output_Path = host:/path``; PBS breaks long lines with a tab."""
        path = match(r"^\s*Output_Path = (?:[\w.-]+:)?(\S+)", said.replace("\n\t", ""))
        return None if path is None else Path(path)

    def watch(self, job_id: str) -> str:
        """Return the call of ``qstat``."""
        return f"qstat -x {job_id}"


def read_qstat(said: str) -> JobState | None:
    """Read the lines ``name = value`` of ``qstat -f``."""
    letter = match(r"^\s*job_state = (\w)", said)
    if letter is None or letter not in _PHASES:
        return None
    word, phase = _WORDS.get(letter, letter), _PHASES[letter]
    if phase != "ended":
        return JobState(phase=phase, word=word)
    status = match(r"^\s*Exit_status = (-?\d+)", said)
    return JobState(phase=phase, word=word, exit_code=None if status is None else _exit_code(int(status)))


def _exit_code(status: int) -> int:
    """Turn PBS's number into a shell's: above 256 it is a signal, below 0 the job was not run, or stopped."""
    if status < 0:
        return STOPPED
    return 128 + status % 128 if status >= 256 else status
