"""Who am I: this process's rank, from the variables of the launcher that started it.

The *innermost* launcher is right. ``mpirun`` inside a SLURM job hands every rank the SLURM variables
of its own daemon, so that all of them read ``SLURM_PROCID=0``; therefore srun is asked last, and only
where SLURM itself started the process as a step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.errors import StartError


@dataclass(frozen=True, slots=True)
class Launcher:
    """The variables with which one family of launchers tells a rank who it is.

    Attributes
    ----------
    name : str
        Short, for file names.
    rank, size : str
        Variables that every rank has.
    local_rank, local_size : str
        Variables about the ranks on the same machine; empty where there are none.
    shared_name : str
        A variable with a value that all ranks of one launch share, and no other launch has.
    needs : tuple of str
        Further variables without which the others cannot be trusted.
    """

    name: str
    rank: str
    size: str
    local_rank: str = ""
    local_size: str = ""
    shared_name: str = ""
    needs: tuple[str, ...] = ()


# The order matters: innermost first.
LAUNCHERS = (
    Launcher("runner", "RUNNER_RANK", "RUNNER_SIZE", "RUNNER_LOCAL_RANK"),
    Launcher(
        "openmpi",
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "PMIX_NAMESPACE",
    ),
    Launcher("pals", "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", "PALS_APID"),
    Launcher("jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK"),
    Launcher("flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", "", "FLUX_JOB_ID"),
    Launcher(
        "hydra",
        "PMI_RANK",
        "PMI_SIZE",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
        "I_MPI_HYDRA_UUID",
        ("MPI_LOCALRANKID",),
    ),
    Launcher("htcondor", "_CONDOR_PROCNO", "_CONDOR_NPROCS"),
    Launcher("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "", "", ("SLURM_STEP_ID",)),
)

# Programs that stand between a launcher and its ranks.
_DAEMONS = {
    "prted": "openmpi",
    "prterun": "openmpi",
    "orted": "openmpi",
    "orterun": "openmpi",
    "hydra_pmi_proxy": "hydra",
    "hydra_bstrap_proxy": "hydra",
}
# Names that several launchers share, and launchers whose ranks their variables tell well enough.
_AMBIGUOUS = ("mpirun", "mpiexec", "palsd", "flux-shell", "jsmd", "condor_starter")

# What people call them, where the short name says too little.
TITLES = {
    "runner": "RUNNER_RANK and RUNNER_SIZE",
    "openmpi": "Open MPI's mpirun",
    "pals": "PALS (mpiexec, aprun)",
    "hydra": "MPICH's or Intel MPI's mpirun",
}

JOB_NAME_VARIABLE = "RUNNER_JOB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One process among those that were started together.

    Attributes
    ----------
    launcher : str
        Name of the launcher, ``"none"`` for a process that was started alone.
    rank, size : int
        Which of how many.
    local_size : int or None
        How many of them are on this machine, where the launcher says so.
    shared_name : str or None
        A name that all ranks of this launch share; safe in a file name.
    """

    launcher: str
    rank: int
    size: int
    local_size: int | None = None
    shared_name: str | None = None


def started_by(ancestors: Sequence[str]) -> str | None:
    """Return the launcher that started a process, from the programs above it, the nearest first.

    Variables are inherited, by a job that a rank of another job submits for example; parents are not.

    Returns
    -------
    str or None
        ``"openmpi"``, ``"hydra"`` or ``"srun"``; ``"none"`` in a batch script; None if they do not tell.
    """
    for line in ancestors:
        name = line.split(" ", 1)[0].rpartition("/")[2]
        if name in _DAEMONS:
            return _DAEMONS[name]
        if step := re.match(r"slurmstepd: \[[\d_+]+\.(\w+)\]", line):
            return "srun" if step[1].isdigit() else "none"
        if name in _AMBIGUOUS:
            return None
    return None


def find_place(
    environ: Mapping[str, str],
    *,
    attempt: str | None = None,
    parent: int | None = None,
    ancestors: Sequence[str] = (),
) -> Place:
    """Find out which rank this process is.

    Parameters
    ----------
    environ : mapping
        The process's environment.
    attempt : str, optional
        The batch job's own unique name, used where the launcher has none.
    parent : int, optional
        The parent's process id: where all ranks are on one machine they share the parent, which
        names a launch whose launcher has no better name (MPICH outside of a batch job).
    ancestors : sequence of str, optional
        The command lines of the programs above this process (see :func:`started_by`): where they tell
        the launcher, what other launchers left in the environment is passed over.

    Raises
    ------
    StartError
        If the variables contradict each other.
    """
    starter = started_by(ancestors)
    believed = [known for known in LAUNCHERS if starter is None or known.name in ("runner", starter)]
    launcher = next((known for known in believed if _speaks(known, environ)), None)
    if launcher is None:
        return Place(launcher="none", rank=0, size=1, local_size=1)
    rank, size = (_number(environ, name) for name in (launcher.rank, launcher.size))
    if not 0 <= rank < size:
        raise StartError(
            f"{launcher.rank}={rank} and {launcher.size}={size} cannot both be right",
            "unset the variables that another launcher left behind",
        )
    local_size = _number(environ, launcher.local_size) if environ.get(launcher.local_size) else None
    name = environ.get(JOB_NAME_VARIABLE) or environ.get(launcher.shared_name) or attempt
    if name is None and parent is not None and local_size == size:
        name = f"parent-{parent}"
    return Place(
        launcher=launcher.name,
        rank=rank,
        size=size,
        local_size=local_size,
        shared_name=_safe(f"{launcher.name}-{name}") if name else None,
    )


def _speaks(launcher: Launcher, environ: Mapping[str, str]) -> bool:
    return all(environ.get(name) for name in (launcher.rank, launcher.size, *launcher.needs))


def _number(environ: Mapping[str, str], name: str) -> int:
    try:
        return int(environ[name])
    except ValueError as error:
        raise StartError(f"{name}={environ[name]!r} is not a number", "unset it") from error


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)
