"""What no variable tells, and what only the batch system can do: its own commands, run by rank 0 alone."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from runner.batch.allocation import Allocation
from runner.errors import UsageError

MOST_REQUEUES = 20
_SECONDS = 5.0  # for a command to answer


def with_end(allocation: Allocation) -> Allocation:
    """Ask for the end of a job where the system has one and did not tell it.

    SLURM sets ``SLURM_JOB_END_TIME`` since 23.02; before that, only ``squeue`` knows.
    """
    if allocation.ends_at is not None or allocation.system != "slurm" or allocation.job_id is None:
        return allocation
    answered, text = _run(["squeue", "--noheader", f"--jobs={allocation.job_id}", "--format=%e"])
    first, *_ = text.split() or [""]  # of a heterogeneous job, one for each component
    return replace(allocation, ends_at=_local_time(first) if answered else None)


def check_requeue(allocation: Allocation) -> None:
    """Refuse to run a job again where nobody can be asked for it.

    Raises
    ------
    UsageError
        Outside of a SLURM job.
    """
    if allocation.system == "slurm":
        return
    if allocation.job_id is None:
        raise UsageError("--requeue: this is no batch job, nobody can run it again", "leave it out")
    raise UsageError(
        f"--requeue: {allocation.system.upper()} lets no job ask from within to be run again",
        "leave it out, and submit the job again when it ended with exit code 75",
    )


def requeue(allocation: Allocation) -> str:
    """Ask SLURM to run this job again, which ends this run of it, and say how that went.

    Not if somebody has cancelled it meanwhile: asked plainly, SLURM runs such a job again. Not for ever: a
    job that gets nowhere in so many runs would get nowhere in more.

    Parameters
    ----------
    allocation : Allocation
        With the end of the job, where SLURM told it: what SLURM ends at that time was not cancelled.
    """
    job = f"job {allocation.job_id}"
    if allocation.restarts >= MOST_REQUEUES:
        return f"{job} was run again {allocation.restarts} times, which is the most; submit it again to go on"
    in_time = allocation.ends_at is None or time.time() < allocation.ends_at
    if in_time and _is_being_ended(allocation):
        return f"{job} was cancelled, SLURM is not asked to run it again (--requeue)"
    # SLURM looks again: it may be cancelled in this very moment
    done, answer = _run(["scontrol", "requeue", *(["Incomplete"] if in_time else []), str(allocation.job_id)])
    if done:
        return f"SLURM will run {job} again (--requeue)"
    return f"SLURM will not run {job} again: {answer}; was it submitted by sbatch, with --requeue?"


def _is_being_ended(allocation: Allocation) -> bool:
    """Tell whether SLURM has begun to end a job that still runs."""
    answered, text = _run(["squeue", "--noheader", f"--jobs={allocation.job_id}", "--format=%T"])
    return answered and not {"COMPLETING", "CANCELLED"}.isdisjoint(text.split())


def cancel_step(allocation: Allocation, environ: Mapping[str, str]) -> None:
    """End all ranks of the step of a SLURM job that this process belongs to."""
    if allocation.system == "slurm" and "SLURM_STEP_ID" in environ:
        _run(["scancel", f"{environ['SLURM_JOB_ID']}.{environ['SLURM_STEP_ID']}"])


def _run(argv: Sequence[str]) -> tuple[bool, str]:
    """Run a command; return whether it went well, and in one line what it said."""
    try:
        finished = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    return finished.returncode == 0, " ".join(f"{finished.stdout} {finished.stderr}".split())


def _local_time(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:  # "NONE", "N/A"
        return None
