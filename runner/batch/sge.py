"""What Grid Engine (Univa, Altair, Son of Grid Engine) tells a process about its job."""

from __future__ import annotations

import signal
from collections.abc import Mapping

from runner.batch.allocation import Allocation
from runner.batch.nodefile import NodeFile
from runner.batch.values import end_time, folder, number


def allocation(environ: Mapping[str, str], nodes: NodeFile) -> Allocation:
    """Read the job from the environment and from ``PE_HOSTFILE``.

    The number of ranks stays unknown: Grid Engine gives slots, and how many ranks share them is the
    script's matter. So does memory, which it counts per slot under a name of the site's choice.

    Parameters
    ----------
    environ : mapping
        The variables of a process of the job; ``JOB_ID`` and ``SGE_TASK_ID`` are among them.
    nodes : NodeFile
        Lines ``host slots queue binding``.

    Raises
    ------
    UsageError
        If a variable cannot be read.
    """
    task = environ["SGE_TASK_ID"]
    job_id = environ["JOB_ID"] if task == "undefined" else f"{environ['JOB_ID']}.{task}"
    restarts = number(environ, "RESTARTED") or 0
    return Allocation(
        system="sge",
        job_id=job_id,
        array_index=None if task == "undefined" else number(environ, "SGE_TASK_ID"),
        attempt=f"sge-{job_id}-{restarts}",
        restarts=restarts,
        hosts=nodes.hosts,
        ends_at=end_time(environ),
        gpus_here=_gpus(environ),
        submit_folder=folder(environ, "SGE_O_WORKDIR"),
        scratch=folder(environ, "TMPDIR") or folder(environ, "TMP"),
        cancel_command=f"qdel {job_id}",
        last_warning=signal.SIGUSR2,  # of jobs that were submitted with -notify
    )


def _gpus(environ: Mapping[str, str]) -> int | None:
    """Count the names of a resource map called gpu, which Univa's and Altair's Grid Engine hand out."""
    names = environ.get("SGE_HGR_gpu")
    return None if names is None else len(names.split())
