"""SLURM's commands."""

from __future__ import annotations

import re
from pathlib import Path

from runner.batch.queue.system import STOPPED, BatchSystem, Command, JobState, Phase, Question, match

_WAITING = {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
_RUNNING = {
    "CONFIGURING",
    "COMPLETING",
    "RESIZING",
    "RUNNING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "SUSPENDED",
}
_STOPPED = {"CANCELLED", "TIMEOUT", "PREEMPTED", "DEADLINE"}


class Slurm(BatchSystem):
    """``sbatch``, ``scontrol``, ``sacct``, ``scancel``."""

    name = "slurm"
    title = "SLURM"
    forgotten = re.compile("Invalid job id|Slurm accounting storage is disabled")

    def submit(self, script: Path, after: str | None = None) -> Command:
        """Write the call of ``sbatch``."""
        dependency = (f"--dependency=afterany:{after}",) if after else ()
        return Command(("sbatch", "--parsable", *dependency, str(script)))

    def job_id(self, said: str) -> str | None:
        """Read ``12``, or ``12;cluster``."""
        return match(r"^(\d+)(?:;.*)?$", said)

    def questions(self, job_id: str) -> tuple[Question, ...]:
        """Ask the controller, which forgets a job after minutes, then the accounting, if there is one."""
        return (
            Question(Command(("scontrol", "--oneliner", "show", "job", job_id)), read_scontrol),
            Question(
                Command(
                    (
                        "sacct",
                        "--allocations",
                        "--noheader",
                        "--parsable2",
                        "--format=State,ExitCode",
                        "-j",
                        job_id,
                    )
                ),
                read_sacct,
            ),
        )

    def cancel(self, job_ids: tuple[str, ...]) -> Command:
        """Write the call of ``scancel``."""
        return Command(("scancel", *job_ids))

    def log(self, name: str, job_id: str) -> str:
        """Return ``%x-%j.out``."""
        return f"{name}-{job_id}.out"

    def log_in(self, said: str) -> Path | None:
        """Read ``StdOut=``, which ends its line before 23.02 and stands in the middle of it later."""
        path = match(r"\bStdOut=(\S+)", said)
        return None if path is None else Path(path)

    def watch(self, job_id: str) -> str:
        """Return the call of ``squeue``."""
        return f"squeue --jobs={job_id}"


def read_scontrol(said: str) -> JobState | None:
    """Read ``scontrol show job``, a line for each task of an array: the one that is furthest behind."""
    states = []
    for line in said.splitlines():
        word = match(r"\bJobState=(\w+)", line)
        if word:
            reason = match(r"\bReason=(\S+)", line)
            states.append(_state(word, reason or "None", match(r"\bExitCode=(\d+:\d+)", line) or "0:0"))
    return _furthest_behind(states)


def read_sacct(said: str) -> JobState | None:
    """Read lines like ``CANCELLED by 1000|0:15``."""
    states = [
        _state(word.split()[0], "None", code)
        for word, _, code in (line.partition("|") for line in said.splitlines())
        if word.strip() and re.fullmatch(r"\d+:\d+", code)
    ]
    return _furthest_behind(states)


def _state(word: str, reason: str, code: str) -> JobState:
    told = word if reason == "None" else f"{word} ({reason})"
    if word in _WAITING or word in _RUNNING:
        phase: Phase = "waiting" if word in _WAITING else "running"
        return JobState(phase=phase, word=told)
    status, signal = (int(part) for part in code.split(":"))
    exit_code = 128 + signal if signal else status
    if exit_code == 0 and word != "COMPLETED":
        exit_code = STOPPED if word in _STOPPED else 1
    return JobState(phase="ended", word=told, exit_code=exit_code)


def _furthest_behind(states: list[JobState]) -> JobState | None:
    for phase in ("running", "waiting"):
        for state in states:
            if state.phase == phase:
                return state
    return max(states, key=lambda state: state.exit_code or 0, default=None)
