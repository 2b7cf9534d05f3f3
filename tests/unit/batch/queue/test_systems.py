"""Which batch system a machine has, from the commands that are there."""

from __future__ import annotations

import pytest

from runner.batch.queue.systems import BATCH_SYSTEMS, systems_here, the_system_here
from runner.batch.script import SYSTEMS
from runner.errors import StartError, UsageError


@pytest.mark.parametrize(
    ("commands", "systems"),
    [
        ("", ""),
        ("mpirun ssh", ""),
        ("sbatch squeue srun", "slurm"),
        ("sbatch qsub qstat pbsnodes", "slurm"),  # SLURM's imitations of PBS's commands
        ("qsub qstat qconf", "sge"),
        ("qsub qstat pbsnodes", "pbs"),
        ("qsub", ""),
        ("oarsub", "oar"),
        ("bsub", "lsf"),
        ("bsub jsrun", "lsf-jsrun"),
        ("condor_submit", "htcondor"),
        ("flux", "flux"),
        ("sbatch qsub qconf oarsub", "slurm sge oar"),
    ],
)
def test_commands_tell_the_system(commands: str, systems: str) -> None:
    here = set(commands.split())
    assert systems_here(here.__contains__) == tuple(systems.split())
    if len(systems.split()) == 1:
        assert the_system_here(here.__contains__) == systems


def test_none_and_several() -> None:
    with pytest.raises(StartError, match="no batch system is here"):
        the_system_here(lambda _: False)
    with pytest.raises(UsageError, match="several batch systems are here: slurm, sge, oar"):
        the_system_here({"sbatch", "qsub", "qconf", "oarsub"}.__contains__)


def test_every_script_can_be_submitted_but_that_of_no_batch_system() -> None:
    assert {*BATCH_SYSTEMS, "mpi"} == set(SYSTEMS)
