"""Who am I: the innermost launcher is right, in environments recorded under real launchers."""

from __future__ import annotations

import pytest

from runner.batch.detect import detect
from runner.errors import StartError
from runner.launcher.place import LAUNCHERS, Place, find_place, started_by
from tests.unit.batch.environments import FOLDER, recorded

ALONE = Place(launcher="none", rank=0, size=1, local_size=1)

RECORDED = {
    "slurm-srun-direct": Place(launcher="srun", rank=2, size=3, shared_name="srun-slurm-9-0-0"),
    "slurm-srun-in-batch": Place(launcher="srun", rank=3, size=4, shared_name="srun-slurm-10-1-0"),
    "slurm-array-task": Place(launcher="srun", rank=1, size=2, shared_name="srun-slurm-11_4-0-0"),
    "slurm-restarted": Place(launcher="srun", rank=0, size=1, shared_name="srun-slurm-13-0-1"),
    "slurm-batch-script": ALONE,  # SLURM_PROCID=0 and SLURM_NTASKS=4 are there, but nobody said srun
    "slurm-het-batch-script": ALONE,
    "slurm-het-step": Place(launcher="srun", rank=1, size=3, shared_name="srun-slurm-29-0-0"),
    "slurm-het-second-alone": Place(launcher="srun", rank=1, size=2, shared_name="srun-slurm-29-1-0"),
    "slurm-openmpi-first-host": Place(
        launcher="openmpi", rank=0, size=4, local_size=2, shared_name="openmpi-prterun-node1-612_1"
    ),
    "slurm-openmpi-other-host": Place(
        launcher="openmpi", rank=3, size=4, local_size=2, shared_name="openmpi-prterun-node1-612_1"
    ),
    "slurm-mpich": Place(launcher="hydra", rank=3, size=4, local_size=2, shared_name="hydra-slurm-15-1-0"),
    "slurm-intelmpi": Place(
        launcher="hydra",
        rank=3,
        size=4,
        local_size=2,
        shared_name="hydra-39020000-58cb-ea58-7161-0600b23ea05e",
    ),
    "pbs-mpich": Place(launcher="hydra", rank=3, size=4, local_size=2, shared_name="hydra-pbs-1234.pbs01"),
    "pbs-array": ALONE,
    "sge-array": ALONE,
    "sge-parallel": ALONE,
    "oar": ALONE,
    "pbs-pals": Place(
        launcher="pals",
        rank=7,
        size=10,
        local_size=5,
        shared_name="pals-0f7c2b3e-8f6e-4b0e-a7f3-0a0c3f7f1f10",
    ),
    "lsf-jsrun": Place(launcher="jsrun", rank=8, size=14, shared_name="jsrun-lsf-4711-0"),
    "lsf-array": ALONE,
    "htcondor": Place(launcher="htcondor", rank=3, size=10),  # the job script gives the name
    "flux": Place(launcher="flux", rank=7, size=10, shared_name="flux-_M7Zq9AKHno"),
}


def place_in(environ: dict[str, str]) -> Place:
    """Find the place as the launcher does, with the batch system's name for this start."""
    return find_place(environ, attempt=detect(environ).attempt, parent=4321)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_environments(name: str) -> None:
    assert place_in(recorded(name)) == RECORDED[name]


def test_each_recorded_environment_is_tested() -> None:
    assert {file.stem for file in FOLDER.glob("*.env")} == set(RECORDED)


OPENMPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "0",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "1",
    "PMIX_NAMESPACE": "prterun-host-7@1",
    "PMIX_RANK": "1",
}
HYDRA = {"PMI_RANK": "2", "PMI_SIZE": "3", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "1"}
SRUN = {"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_ID": "0", "SLURM_LOCALID": "1"}
PALS = {
    "PALS_RANKID": "3",
    "PMI_RANK": "3",
    "PMI_SIZE": "4",
    "PALS_LOCAL_SIZE": "2",
    "PALS_APID": "0f-1",
    "PMIX_RANK": "3",
}
FLUX = {
    "FLUX_TASK_RANK": "1",
    "FLUX_JOB_SIZE": "4",
    "FLUX_JOB_ID": "f58",
    "PMI_RANK": "1",
    "PMI_SIZE": "4",
}


@pytest.mark.parametrize(
    ("environ", "launcher", "rank", "size", "local_size"),
    [
        ({}, "none", 0, 1, 1),
        (OPENMPI, "openmpi", 1, 2, 1),
        (HYDRA, "hydra", 2, 3, 1),
        (SRUN, "srun", 5, 8, None),
        (PALS, "pals", 3, 4, 2),
        (FLUX, "flux", 1, 4, None),
        ({"JSM_NAMESPACE_RANK": "0", "JSM_NAMESPACE_SIZE": "6"}, "jsrun", 0, 6, None),
        ({"_CONDOR_PROCNO": "1", "_CONDOR_NPROCS": "2"}, "htcondor", 1, 2, None),
        ({"RUNNER_RANK": "1", "RUNNER_SIZE": "2"}, "runner", 1, 2, None),
        # the innermost wins
        (SRUN | OPENMPI, "openmpi", 1, 2, 1),
        (SRUN | HYDRA, "hydra", 2, 3, 1),
        (SRUN | HYDRA | OPENMPI, "openmpi", 1, 2, 1),
        (SRUN | OPENMPI | {"RUNNER_RANK": "0", "RUNNER_SIZE": "9"}, "runner", 0, 9, None),
        # srun's own PMI plug-ins: --mpi=pmi2, --mpi=pmix
        (SRUN | {"PMI_RANK": "5", "PMI_SIZE": "8", "PMI_FD": "7"}, "srun", 5, 8, None),
        (SRUN | {"PMIX_RANK": "5", "PMIX_NAMESPACE": "slurm.pmix.9.0"}, "srun", 5, 8, None),
        # not a launcher's ranks: the batch script, half a launcher, variables that are set but empty
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "9"}, "none", 0, 1, 1),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, "none", 0, 1, 1),
        ({"OMPI_COMM_WORLD_RANK": "1"}, "none", 0, 1, 1),
        (SRUN | {"OMPI_COMM_WORLD_RANK": "", "OMPI_COMM_WORLD_SIZE": ""}, "srun", 5, 8, None),
    ],
)
def test_written_environments(
    environ: dict[str, str], launcher: str, rank: int, size: int, local_size: int | None
) -> None:
    place = find_place(environ)
    assert (place.launcher, place.rank, place.size, place.local_size) == (launcher, rank, size, local_size)


@pytest.mark.parametrize(
    ("environ", "attempt", "parent", "name"),
    [
        (OPENMPI, None, None, "openmpi-prterun-host-7_1"),
        (OPENMPI, "slurm-9-0-0", None, "openmpi-prterun-host-7_1"),  # the launcher's own name is finer
        (OPENMPI | {"RUNNER_JOB": "ab/c d"}, "slurm-9-0-0", 12, "openmpi-ab_c_d"),
        (HYDRA, "pbs-12", 12, "hydra-pbs-12"),
        (HYDRA | {"I_MPI_HYDRA_UUID": "39-ea"}, "pbs-12", 12, "hydra-39-ea"),  # Intel MPI's
        (HYDRA, None, 12, None),  # ranks on other hosts have other parents
        (HYDRA | {"MPI_LOCALNRANKS": "3"}, None, 12, "hydra-parent-12"),
        (HYDRA | {"MPI_LOCALNRANKS": "3"}, None, None, None),
        (SRUN, None, 12, None),
        (PALS, "pbs-12", None, "pals-0f-1"),
        (FLUX, None, None, "flux-f58"),
    ],
)
def test_the_name_that_the_ranks_share(
    environ: dict[str, str], attempt: str | None, parent: int | None, name: str | None
) -> None:
    assert find_place(environ, attempt=attempt, parent=parent).shared_name == name


BOTH = "cannot both be right; unset the variables that another launcher left behind"


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            OPENMPI | {"OMPI_COMM_WORLD_RANK": "2"},
            f"OMPI_COMM_WORLD_RANK=2 and OMPI_COMM_WORLD_SIZE=2 {BOTH}",
        ),
        (
            SRUN | {"SLURM_PROCID": "-1"},
            f"SLURM_PROCID=-1 and SLURM_STEP_NUM_TASKS=8 {BOTH}",
        ),
        (HYDRA | {"PMI_SIZE": "many"}, "PMI_SIZE='many' is not a number; unset it"),
        (
            OPENMPI | {"OMPI_COMM_WORLD_LOCAL_SIZE": "x"},
            "OMPI_COMM_WORLD_LOCAL_SIZE='x' is not a number; unset it",
        ),
    ],
)
def test_values_that_cannot_be_right_are_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(StartError) as caught:
        find_place(environ)
    assert str(caught.value) == message


def test_srun_is_asked_last() -> None:
    assert LAUNCHERS[-1].name == "srun"


@pytest.mark.parametrize(
    ("ancestors", "launcher"),
    [
        ((), None),
        (("-bash", "sshd: me [priv]"), None),
        (("slurmstepd: [45.0]",), "srun"),
        (("bash run.sh", "slurmstepd: [45+1.12]"), "srun"),
        (("/bin/bash /var/spool/job00045/slurm_script", "slurmstepd: [45.batch]"), "none"),
        (("-bash", "slurmstepd: [45.interactive]"), "none"),
        (("prted --prtemca x", "slurmstepd: [45.0]"), "openmpi"),
        (("/opt/ompi/bin/prterun -n 4 python", "bash job.sh", "slurmstepd: [45.batch]"), "openmpi"),
        (("/opt/mpich/bin/hydra_pmi_proxy --control-port n1:3", "sshd"), "hydra"),
        (("/usr/bin/mpiexec -n 4", "slurmstepd: [45.batch]"), None),
    ],
)
def test_the_nearest_launcher_above_started_it(ancestors: tuple[str, ...], launcher: str | None) -> None:
    assert started_by(ancestors) == launcher


def test_inherited_variables_are_passed_over() -> None:
    """A rank of Open MPI, in a step, submitted this batch script, which starts ranks with srun."""
    inherited = {
        "OMPI_COMM_WORLD_RANK": "2",
        "OMPI_COMM_WORLD_SIZE": "3",
        "SLURM_PROCID": "1",
        "SLURM_STEP_NUM_TASKS": "4",
        "SLURM_STEP_ID": "0",
    }
    in_step = find_place(inherited, ancestors=["slurmstepd: [46.0]"])
    assert (in_step.launcher, in_step.rank, in_step.size) == ("srun", 1, 4)
    in_script = find_place(inherited, ancestors=["bash", "slurmstepd: [46.batch]"])
    assert (in_script.launcher, in_script.size) == ("none", 1)
    assert find_place(inherited).launcher == "openmpi"
