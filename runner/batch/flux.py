"""What Flux tells a rank about its job. Not run: written from its documentation."""

from __future__ import annotations

from collections.abc import Mapping

from runner.batch.allocation import Allocation
from runner.batch.values import end_time, folder, number


def allocation(environ: Mapping[str, str]) -> Allocation:
    """Read the job from the environment.

    A batch script of Flux is no job but a Flux of its own, in which ``flux run`` makes one; the job that
    people know is the one around it. The hosts stay unknown.

    Parameters
    ----------
    environ : mapping
        The variables of a rank; ``FLUX_JOB_ID`` is among them.

    Raises
    ------
    UsageError
        If a variable cannot be read.
    """
    job_id = environ["FLUX_JOB_ID"]
    return Allocation(
        system="flux",
        job_id=job_id,
        attempt=f"flux-{job_id.replace('ƒ', 'f')}",
        tasks=number(environ, "FLUX_JOB_SIZE"),
        ends_at=end_time(environ),
        scratch=folder(environ, "FLUX_JOB_TMPDIR"),
        inside_step="FLUX_TASK_RANK" in environ,
        cancel_command=f"flux cancel {job_id}",
    )
