"""What the children of a rank inherit."""

from __future__ import annotations

import os

import pytest

from runner.launcher.child import set_environment
from runner.launcher.crew import child_environment, job_environment
from tests.unit.batch.environments import FOLDER, recorded

PRESET = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_TRIM_THRESHOLD_": "65536",
}


@pytest.mark.parametrize(
    ("environ", "children"),
    [
        ({}, PRESET),
        ({"PATH": "/bin", "SLURM_JOB_ID": "9"}, PRESET | {"PATH": "/bin", "SLURM_JOB_ID": "9"}),
        ({"OMP_NUM_THREADS": "4"}, PRESET | {"OMP_NUM_THREADS": "4"}),
        ({"PMIX_RANK": "0", "PMI_FD": "6", "OMPI_COMM_WORLD_RANK": "0", "PRTE_LAUNCHED": "1"}, PRESET),
        ({"RUNNER_RANK": "0", "RUNNER_SIZE": "4", "RUNNER_LOCAL_RANK": "0", "RUNNER_SRUN": "/tmp/x"}, PRESET),
        ({"RUNNER_SCRATCH": "/scratch"}, PRESET | {"RUNNER_SCRATCH": "/scratch"}),
        ({"HYDI_CONTROL_FD": "8", "MPI_LOCALRANKID": "0", "SLURM_PMIXP_ABORT_AGENT_PORT": "1"}, PRESET),
    ],
)
def test_children_do_not_take_over_the_ranks_connection(
    environ: dict[str, str], children: dict[str, str]
) -> None:
    assert child_environment(environ) == children


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.env")))
def test_what_is_not_the_launchers_stays(name: str) -> None:
    environ = recorded(name)
    gone = set(environ) - set(child_environment(environ))
    assert all(variable.startswith(("OMPI_", "PMI", "PRTE_", "MPI_LOCAL")) for variable in gone)


@pytest.mark.parametrize(
    "environ", [{}, {"OMP_NUM_THREADS": "4"}, {"MKL_NUM_THREADS": "2", "HOME": "/home/ana"}]
)
def test_the_job_gets_back_what_the_user_gave(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    monkeypatch.setattr("os.environ", child_environment(environ))
    set_environment(job_environment(environ))
    assert os.environ == environ
