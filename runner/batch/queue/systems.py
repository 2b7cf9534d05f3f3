"""All batch systems by name, and which of them this machine has."""

from __future__ import annotations

from collections.abc import Callable

from runner.batch.queue.flux import Flux
from runner.batch.queue.htcondor import HTCondor
from runner.batch.queue.lsf import Lsf
from runner.batch.queue.oar import Oar
from runner.batch.queue.pbs import Pbs
from runner.batch.queue.sge import Sge
from runner.batch.queue.slurm import Slurm
from runner.batch.queue.system import BatchSystem
from runner.errors import StartError, UsageError

#: By the names of the job scripts: one system may start its ranks in several ways.
BATCH_SYSTEMS: dict[str, BatchSystem] = {
    "slurm": Slurm(),
    "pbs": Pbs(),
    "pbs-pals": Pbs(),
    "sge": Sge(),
    "oar": Oar(),
    "lsf": Lsf(),
    "lsf-jsrun": Lsf(),
    "htcondor": HTCondor(),
    "flux": Flux(),
}


def batch_system(name: str) -> BatchSystem:
    """Return a batch system.

    Raises
    ------
    UsageError
        If there is none of that name, or it is ``mpi``: machines without one.
    """
    if name not in BATCH_SYSTEMS:
        raise UsageError(
            f"nothing can be submitted to {name!r}", f"name one of {', '.join(BATCH_SYSTEMS)}, or none"
        )
    return BATCH_SYSTEMS[name]


def systems_here(has: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the batch systems of a machine.

    Parameters
    ----------
    has : callable
        Whether there is a command of that name.

    Notes
    -----
    ``qsub`` has many owners: Grid Engine has ``qconf`` beside it, PBS has ``pbsnodes``, and SLURM comes with
    imitations of PBS's commands, so that PBS is not looked for where ``sbatch`` is.
    """
    found = []
    if has("sbatch"):
        found.append("slurm")
    if has("qsub") and has("qconf"):
        found.append("sge")
    elif has("qsub") and has("pbsnodes") and not has("sbatch"):
        found.append("pbs")
    if has("oarsub"):
        found.append("oar")
    if has("bsub"):
        found.append("lsf-jsrun" if has("jsrun") else "lsf")
    if has("condor_submit"):
        found.append("htcondor")
    if has("flux"):
        found.append("flux")
    return tuple(found)


def the_system_here(has: Callable[[str], bool]) -> str:
    """Return the batch system of a machine that has one.

    Raises
    ------
    StartError
        If it has none.
    UsageError
        If it has several.
    """
    found = systems_here(has)
    if not found:
        raise StartError(
            "no batch system is here: no command sbatch, qsub, oarsub, bsub, condor_submit or flux",
            "submit from a login node, or run it here: runner job.py",
        )
    if len(found) > 1:
        raise UsageError(f"several batch systems are here: {', '.join(found)}", "name the one you want")
    return found[0]
