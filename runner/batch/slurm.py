"""What SLURM tells a process about its job."""

from __future__ import annotations

from collections.abc import Mapping

from runner.batch.allocation import Allocation
from runner.batch.hostlist import expand
from runner.batch.values import END_VARIABLE, end_time, folder, number

_MIB = 1 << 20

#: Set in every rank by Open MPI, the Hydras and PALS. They start one daemon per host as a step, and the
#: step's variables that their ranks inherit are the daemon's: wrong rank, wrong size.
_INNER_LAUNCHERS = ("OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID", "PALS_RANKID")

#: Of a heterogeneous job each component has its own.
_OF_COMPONENT = ("SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_MEM_PER_GPU")


def allocation(environ: Mapping[str, str]) -> Allocation:
    """Read the job from the environment.

    Parameters
    ----------
    environ : mapping
        The variables of a rank, or of the batch script; ``SLURM_JOB_ID`` is among them.

    Raises
    ------
    UsageError
        If a variable cannot be read.
    """
    in_step = all(environ.get(name) for name in ("SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))
    under_mpirun = any(name in environ for name in _INNER_LAUNCHERS)
    inside_step = in_step and not under_mpirun
    if inside_step:
        nodes = environ.get("SLURM_STEP_NODELIST", "")
        tasks = number(environ, "SLURM_STEP_NUM_TASKS")
    else:
        nodes = _of_all_components(environ, "SLURM_JOB_NODELIST")
        tasks = None if in_step else _tasks(environ)  # in a daemon's step it counts daemons
    own = _of_own_component(environ)
    job_id = _job_id(environ)
    restarts = number(environ, "SLURM_RESTART_COUNT") or 0
    return Allocation(
        system="slurm",
        job_id=job_id,
        array_index=number(environ, "SLURM_ARRAY_TASK_ID"),
        components=_components(environ),
        attempt=f"slurm-{job_id}-{_step(environ)}-{restarts}",
        restarts=restarts,
        tasks=tasks,
        hosts=expand(nodes) if nodes else (),
        cpus_per_task=number(own, "SLURM_CPUS_PER_TASK"),
        memory_per_node=_memory_on_node(own),
        gpus_here=number(environ, "SLURM_GPUS_ON_NODE"),
        gpu_ids=tuple(filter(None, environ.get("SLURM_STEP_GPUS", "").split(","))),
        ends_at=_end(environ),
        submit_folder=folder(environ, "SLURM_SUBMIT_DIR"),
        inside_step=inside_step,
        cancel_command=f"scancel {job_id}",
    )


def _components(environ: Mapping[str, str]) -> int:
    return number(environ, "SLURM_HET_SIZE") or 1


def _of_component(name: str, component: int) -> str:
    """Return what SLURM calls a variable of one component."""
    return f"{name}_HET_GROUP_{component}"


def _of_all_components(environ: Mapping[str, str], name: str) -> str:
    """Put the values of all components together: a batch script has the first one's under the plain name."""
    each = [environ.get(_of_component(name, component), "") for component in range(_components(environ))]
    return ",".join(each) if all(each) else environ.get(name, "")


def _tasks(environ: Mapping[str, str]) -> int | None:
    names = [_of_component("SLURM_NTASKS", component) for component in range(_components(environ))]
    return sum(number(environ, name) or 0 for name in names) or number(environ, "SLURM_NTASKS")


def _of_own_component(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with the values of the component that this host belongs to.

    A step of several components has those of each, under names of their own; a step of one that is not the
    first has inherited the first one's from the batch script.
    """
    here = environ.get("SLURMD_NODENAME")
    for component in range(_components(environ)):
        names = {name: _of_component(name, component) for name in _OF_COMPONENT}
        if here and here in expand(environ.get(_of_component("SLURM_JOB_NODELIST", component), "")):
            others = {name: value for name, value in environ.items() if name not in _OF_COMPONENT}
            return others | {name: environ[own] for name, own in names.items() if own in environ}
    return environ


def _job_id(environ: Mapping[str, str]) -> str:
    if "SLURM_ARRAY_JOB_ID" in environ and "SLURM_ARRAY_TASK_ID" in environ:
        return f"{environ['SLURM_ARRAY_JOB_ID']}_{environ['SLURM_ARRAY_TASK_ID']}"
    return environ["SLURM_JOB_ID"]


def _step(environ: Mapping[str, str]) -> str:
    # Open MPI forks its ranks on the first host from the batch script, where there is no step, and on the
    # others from a daemon, where there is one. All must come to the same name.
    if "OMPI_COMM_WORLD_RANK" in environ:
        return "mpirun"
    return environ.get("SLURM_STEP_ID") or "batch"


def _memory_on_node(environ: Mapping[str, str]) -> int | None:
    """Return the one that was asked for, of memory for each node, for each CPU and for each GPU."""
    per_node = number(environ, "SLURM_MEM_PER_NODE")
    if per_node:  # 0 stands for all that the node has
        return per_node * _MIB
    for each, how_many in (
        ("SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE"),
        ("SLURM_MEM_PER_GPU", "SLURM_GPUS_ON_NODE"),
    ):
        size, count = number(environ, each), number(environ, how_many)
        if size and count:
            return size * count * _MIB
    return None


def _end(environ: Mapping[str, str]) -> float | None:
    seconds = number(environ, "SLURM_JOB_END_TIME")  # since 23.02
    return float(seconds) if seconds and END_VARIABLE not in environ else end_time(environ)
