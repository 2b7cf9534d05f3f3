"""What HTCondor tells a rank of its parallel universe about the job. Written from its documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from runner.batch.allocation import Allocation
from runner.batch.values import end_time, folder, number

_ATTRIBUTE = re.compile(r'^(\w+) = "?(.*?)"?$', re.MULTILINE)


def read_ad(path: str | None) -> dict[str, str]:
    """Read a file of ``Name = value`` that HTCondor puts beside a job; empty if it is not there."""
    if not path:
        return {}
    try:
        return dict(_ATTRIBUTE.findall(Path(path).read_text(encoding="utf-8")))
    except OSError:
        return {}


def allocation(environ: Mapping[str, str], job: Mapping[str, str], machine: Mapping[str, str]) -> Allocation:
    """Read the job from the environment and from the two files beside it.

    The hosts stay unknown: every slot is a rank, and HTCondor tells none of them about the others. So does
    the memory of the job on this host: HTCondor tells that of a slot, and holds each rank to its own.

    Parameters
    ----------
    environ : mapping
        The variables of a process of the job.
    job, machine : mapping
        The content of the files ``_CONDOR_JOB_AD`` and ``_CONDOR_MACHINE_AD``.

    Raises
    ------
    UsageError
        If a variable cannot be read.
    """
    job_id = job.get("ClusterId")
    starts = number(job, "NumJobStarts") or 1
    return Allocation(
        system="htcondor",
        job_id=job_id,
        attempt=None if job_id is None else f"htcondor-{job_id}-{starts - 1}",
        restarts=starts - 1,
        tasks=number(environ, "_CONDOR_NPROCS"),
        cpus_per_task=number(machine, "Cpus"),
        ends_at=end_time(environ),
        submit_folder=folder(environ, "_CONDOR_JOB_IWD") or folder(job, "Iwd"),
        scratch=folder(environ, "_CONDOR_SCRATCH_DIR"),
        inside_step="_CONDOR_PROCNO" in environ,
        cancel_command=None if job_id is None else f"condor_rm {job_id}",
    )
