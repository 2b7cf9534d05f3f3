"""Workers of several kinds in one job: each task runs where it finds what it asks for, or fails in time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cluster.mpi import MpiLauncher
from tests.cluster.testbed import VirtualSlurm
from tests.cluster.ways import Way

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.cluster

TAGS = """
from distributed import Client

workers = Client().scheduler_info(n_workers=-1)["workers"].values()
print(sorted((worker["name"], worker["resources"]) for worker in workers))
"""

NOBODY = """
from pathlib import Path
from distributed import Client

Path("begun").touch()
Client().submit(sum, [1, 2], resources={"big": 2}).result()
"""


@pytest.mark.mpi
def test_ranks_with_tags_of_their_own(
    mpirun: MpiLauncher, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "job.py").write_text(TAGS)
    # mpirun -n 1 python -m runner --resources big=1 job.py : -n 2 python -m runner job.py
    first = (sys.executable, "-m", "runner", "--resources", "big=1", "job.py", ":", "-n", "2")
    way = Way(mpirun.name, tmp_path, environment | mpirun.environment, mpirun, flags=first)
    result = way.run("job.py", ranks=1)
    assert result.code == 0, result.err
    assert result.out == "[(0, {'big': 1.0}), (1, {}), (2, {})]\n"
    assert "scheduler + client + worker (big=1)" in result.err


@pytest.mark.slurm
def test_workers_with_a_gpu_and_without(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    flags = ("--ntasks-per-node=3", "--gpus-per-node=2", "--time=2")
    way = Way("srun", tmp_path, environment, slurm, flags=("-N2", *flags))
    result = way.run("--roles", "shared", ROOT / "examples" / "09_mixed_workers.py", ranks=6)
    assert result.code == 0, result.err
    assert result.out.startswith("4 workers with a GPU, 2 without\n")


def test_a_task_that_no_worker_can_run_fails_in_time(local: Way) -> None:
    (local.folder / "job.py").write_text(NOBODY)
    result = local.run("--start-timeout", "10s", "--resources", "big=1", "job.py", ranks=1)
    assert result.code == 1
    assert "resource_restrictions={'big': 2}" in result.err
    assert result.ended_at - (local.folder / "begun").stat().st_mtime < 20
