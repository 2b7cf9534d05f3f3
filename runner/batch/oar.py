"""What OAR tells a process about its job."""

from __future__ import annotations

from collections.abc import Mapping

from runner.batch.allocation import Allocation
from runner.batch.nodefile import NodeFile
from runner.batch.values import END_VARIABLE, end_time, folder, number


def allocation(environ: Mapping[str, str], nodes: NodeFile) -> Allocation:
    """Read the job from the environment and from ``OAR_NODEFILE``.

    The number of ranks stays unknown: OAR gives cores, and how many ranks share them is the script's
    matter. A job that OAR starts again gets a new id, so there is no restart count.

    Parameters
    ----------
    environ : mapping
        The variables of a process of the job; ``OAR_JOB_ID`` is among them.
    nodes : NodeFile
        Lines with a host, repeated per core. OAR writes it when the job starts.

    Raises
    ------
    UsageError
        If a variable cannot be read.
    """
    job_id = environ["OAR_JOB_ID"]
    return Allocation(
        system="oar",
        job_id=job_id,
        array_index=number(environ, "OAR_ARRAY_INDEX"),
        attempt=f"oar-{job_id}",
        hosts=nodes.hosts,
        ends_at=_end(environ, nodes),
        submit_folder=folder(environ, "OAR_WORKDIR"),
        cancel_command=f"oardel {job_id}",
    )


def _end(environ: Mapping[str, str], nodes: NodeFile) -> float | None:
    walltime = number(environ, "OAR_JOB_WALLTIME_SECONDS")
    if END_VARIABLE in environ or walltime is None or nodes.written_at is None:
        return end_time(environ)
    return nodes.written_at + walltime
