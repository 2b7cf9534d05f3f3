"""Which batch job this process is in, if any."""

from __future__ import annotations

from collections.abc import Mapping

from runner.batch import oar, pbs, sge, slurm
from runner.batch.allocation import Allocation
from runner.batch.nodefile import read_node_file
from runner.batch.values import end_time


def detect(environ: Mapping[str, str]) -> Allocation:
    """Find the batch job that a process with this environment runs in.

    A system is known by the variable that holds its job's id. Outside of any job the allocation is
    empty, with the end time of ``RUNNER_END`` if a script set it.

    Parameters
    ----------
    environ : mapping
        The process's environment.

    Returns
    -------
    Allocation
        What the system gave; hosts only where the process can see the system's node file.

    Raises
    ------
    UsageError
        If a variable of the batch system cannot be read.
    """
    if environ.get("SLURM_JOB_ID"):
        return slurm.allocation(environ)
    if environ.get("PBS_JOBID"):
        return pbs.allocation(environ, read_node_file(environ.get("PBS_NODEFILE")))
    if environ.get("OAR_JOB_ID"):
        return oar.allocation(environ, read_node_file(environ.get("OAR_NODEFILE")))
    if environ.get("JOB_ID") and environ.get("SGE_TASK_ID"):  # JOB_ID alone may be anybody's
        return sge.allocation(environ, read_node_file(environ.get("PE_HOSTFILE")))
    return Allocation(ends_at=end_time(environ))
