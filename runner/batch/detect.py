"""Which batch job this process is in, if any."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runner.batch import flux, htcondor, lsf, oar, pbs, sge, slurm
from runner.batch.allocation import Allocation
from runner.batch.nodefile import read_node_file
from runner.batch.values import end_time

_Environ = Mapping[str, str]

#: The variables by which a system is known, and what reads its job. Flux is the last: it may run inside of a
#: job of another system, which knows the end of both. Grid Engine's JOB_ID alone may be anybody's.
_SYSTEMS: tuple[tuple[tuple[str, ...], Callable[[_Environ], Allocation]], ...] = (
    (("SLURM_JOB_ID",), slurm.allocation),
    (("PBS_JOBID",), lambda environ: pbs.allocation(environ, read_node_file(environ.get("PBS_NODEFILE")))),
    (("OAR_JOB_ID",), lambda environ: oar.allocation(environ, read_node_file(environ.get("OAR_NODEFILE")))),
    (
        ("JOB_ID", "SGE_TASK_ID"),
        lambda environ: sge.allocation(environ, read_node_file(environ.get("PE_HOSTFILE"))),
    ),
    (
        ("LSB_JOBID",),
        lambda environ: lsf.allocation(environ, read_node_file(environ.get("LSB_DJOB_HOSTFILE"))),
    ),
    (
        ("_CONDOR_JOB_AD",),
        lambda environ: htcondor.allocation(
            environ,
            htcondor.read_ad(environ.get("_CONDOR_JOB_AD")),
            htcondor.read_ad(environ.get("_CONDOR_MACHINE_AD")),
        ),
    ),
    (("FLUX_JOB_ID",), flux.allocation),
)


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
    for variables, allocation in _SYSTEMS:
        if all(environ.get(name) for name in variables):
            return allocation(environ)
    return Allocation(ends_at=end_time(environ))
