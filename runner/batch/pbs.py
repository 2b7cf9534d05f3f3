"""What PBS Pro and OpenPBS tell a process about its job."""

from __future__ import annotations

from collections.abc import Mapping

from runner.batch.allocation import Allocation
from runner.batch.nodefile import NodeFile
from runner.batch.values import end_time, folder, number


def allocation(environ: Mapping[str, str], nodes: NodeFile) -> Allocation:
    """Read the job from the environment and from ``PBS_NODEFILE``.

    CPUs per rank stay unknown: ``NCPUS`` is the number of the *first* chunk, or its ``ompthreads``. So
    do GPUs and memory. Under PALS the file has a line per host, and only the launcher knows how many ranks.

    Parameters
    ----------
    environ : mapping
        The variables of a process of the job; ``PBS_JOBID`` is among them.
    nodes : NodeFile
        One line per rank (``mpiprocs``), or per host.

    Raises
    ------
    UsageError
        If a variable cannot be read.
    """
    job_id = environ["PBS_JOBID"]
    return Allocation(
        system="pbs",
        job_id=job_id,
        array_index=number(environ, "PBS_ARRAY_INDEX"),
        attempt=f"pbs-{job_id.replace('[', '_').replace(']', '')}",
        tasks=number(environ, "PMI_SIZE") if "PALS_RANKID" in environ else len(nodes.lines) or None,
        hosts=nodes.hosts,
        ends_at=end_time(environ),
        submit_folder=folder(environ, "PBS_O_WORKDIR"),
        scratch=folder(environ, "TMPDIR"),
        cancel_command=f"qdel '{job_id}'" if "[" in job_id else f"qdel {job_id}",
    )
