"""What LSF tells a process about its job. Not run: written from its documentation."""

from __future__ import annotations

from collections.abc import Mapping

from runner.batch.allocation import Allocation
from runner.batch.nodefile import NodeFile
from runner.batch.values import end_time, folder, number

_UNDER_JSRUN = "JSM_NAMESPACE_RANK"


def allocation(environ: Mapping[str, str], nodes: NodeFile) -> Allocation:
    """Read the job from the environment and from ``LSB_DJOB_HOSTFILE``.

    Under ``jsrun`` the number of ranks is the launcher's; elsewhere it stays unknown, since LSF gives slots,
    and how many ranks share them is the script's matter.

    Parameters
    ----------
    environ : mapping
        The variables of a process of the job; ``LSB_JOBID`` is among them.
    nodes : NodeFile
        One line per slot. Where ``jsrun`` starts the ranks, the first line may be the script's own host.

    Raises
    ------
    UsageError
        If a variable cannot be read.
    """
    index = number(environ, "LSB_JOBINDEX") or None  # 0 outside of an array
    job_id = environ["LSB_JOBID"] if index is None else f"{environ['LSB_JOBID']}[{index}]"
    hosts = nodes.hosts or _hosts(environ)
    if _UNDER_JSRUN in environ and len(hosts) > 1 and hosts[0].startswith("batch"):
        hosts = hosts[1:]
    return Allocation(
        system="lsf",
        job_id=job_id,
        array_index=index,
        attempt=f"lsf-{environ['LSB_JOBID']}-{index or 0}",
        tasks=number(environ, "JSM_NAMESPACE_SIZE"),
        hosts=hosts,
        ends_at=end_time(environ),
        submit_folder=folder(environ, "LS_SUBCWD"),
        inside_step=_UNDER_JSRUN in environ,
        cancel_command=f"bkill '{job_id}'" if index else f"bkill {job_id}",
    )


def _hosts(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Read ``"host1 slots1 host2 slots2"``."""
    return tuple(dict.fromkeys(environ.get("LSB_MCPU_HOSTS", "").split()[::2]))
