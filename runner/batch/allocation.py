"""What the batch system gave to this job: one frozen value, the same for every system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """The resources of one job, as far as the system tells a process about them.

    A field is None where the system (or the lack of one) does not say.

    Attributes
    ----------
    system : str
        ``"slurm"``, ``"pbs"``, ``"sge"``, ``"oar"``, ``"lsf"``, ``"htcondor"``, ``"flux"``, or ``"none"``
        outside of any job.
    job_id : str or None
        The job's name for people and for the system's own commands, array index included.
    array_index : int or None
        Which task of a job array this is. OAR calls a job alone an array of one.
    components : int
        How many parts a heterogeneous job of SLURM has; 1 for all others.
    attempt : str or None
        A name that no other job and no other start of this job has: id, step, restart count.
        Safe as a part of a file name.
    restarts : int
        How many times the system started this job before.
    tasks : int or None
        The number of ranks that the job was asked for.
    hosts : tuple of str
        The job's hosts, each once, in the system's order.
    cpus_per_task : int or None
        CPUs meant for one rank.
    memory_per_node : int or None
        Bytes that the job may use on this host, all its ranks together.
    gpus_here : int or None
        How many GPUs the job has on this host.
    gpu_ids : tuple of str
        Names of the GPUs that this very process may use, the same for all processes of the host: under a
        device control group ``CUDA_VISIBLE_DEVICES`` calls the only one of each process ``"0"``.
    ends_at : float or None
        When the system will end the job, seconds since 1970.
    submit_folder : Path or None
        Where the job was submitted.
    scratch : Path or None
        A folder that the system made on this host for this job, and removes with it.
    inside_step : bool
        Whether the system itself started this very process as a rank (``srun``); False in the
        batch script, where the rank variables mislead.
    cancel_command : str or None
        The command with which a person stops the job.
    last_warning : int or None
        The signal other than SIGTERM that tells a process that the system is about to kill it.
    """

    system: str = "none"
    job_id: str | None = None
    array_index: int | None = None
    components: int = 1
    attempt: str | None = None
    restarts: int = 0
    tasks: int | None = None
    hosts: tuple[str, ...] = ()
    cpus_per_task: int | None = None
    memory_per_node: int | None = None
    gpus_here: int | None = None
    gpu_ids: tuple[str, ...] = ()
    ends_at: float | None = None
    submit_folder: Path | None = None
    scratch: Path | None = None
    inside_step: bool = False
    cancel_command: str | None = None
    last_warning: int | None = None
