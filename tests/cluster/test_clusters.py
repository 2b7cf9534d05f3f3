"""``runner.cluster``: the same function in a job, on this machine, on a queue, on a cluster that runs."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster import processes
from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command, Finished
from tests.cluster.queues import Queue
from tests.cluster.testbed import VirtualSlurm
from tests.cluster.volumes import hosts_of, pixels
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster

ANYWHERE = JOBS / "anywhere.py"


def here(local: Way, *words: str | Path) -> Finished:
    """Run the program by itself, without the runner."""
    argv = [sys.executable, ANYWHERE, *words]
    return processes.run(argv, timeout=60, cwd=local.folder, env=local.environment)


def test_in_a_job_of_the_runner(way: Way) -> None:
    result = way.run(ANYWHERE, "")
    assert (result.code, result.out) == (0, "total 90\n"), result.err


def test_on_this_machine(local: Way) -> None:
    finished = here(local, "", "n_workers=2")
    assert (finished.returncode, finished.stdout) == (0, "total 90\n"), finished.stderr


def serve(local: Way, *words: str | Path) -> Command:
    file = local.folder / "cluster.json"
    command = local.start(*words, "--scheduler-file", file, "serve", "--idle", "60s", ranks=2)
    end = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < end, command.stderr
        time.sleep(0.05)
    return command


def test_by_a_scheduler_file(local: Way) -> None:
    with serve(local) as command:
        finished = here(local, local.folder / "cluster.json")
        command.kill()
    assert (finished.returncode, finished.stdout) == (0, "total 90\n"), finished.stderr


def test_by_an_address(local: Way) -> None:
    with serve(local, "--insecure", "--scheduler-port", "18786") as command:
        finished = here(local, "tcp://127.0.0.1:18786")
        command.kill()
    assert (finished.returncode, finished.stdout) == (0, "total 90\n"), finished.stderr


@pytest.mark.slurm
def test_by_jobs_of_a_queue(slurm: VirtualSlurm, local: Way) -> None:
    options = ["cores=1", 'memory="500MB"', 'interface="eth0"', "jobs=2", 'walltime="00:05:00"']
    argv = [sys.executable, ANYWHERE, "jobqueue:slurm", *options]
    finished = slurm.run(argv, timeout=90, cwd=local.folder, env=local.environment, gone_within=10)
    assert (finished.returncode, finished.stdout) == (0, "total 90\n"), finished.stderr


@pytest.mark.timeout(300)  # two programs that wait for their jobs, and the batch system itself is started
def test_by_jobs_of_other_queues(queue: Queue, local: Way) -> None:
    """Neither hands the environment of the submission to its jobs: what workers import must be said."""
    write_scan(local.folder / "scan.nx", Settings(columns=48, rows=32, angles=40))
    options = {"cores": 1, "memory": "500MB", "interface": "eth0", "walltime": "00:05:00"}
    program = [sys.executable, ANYWHERE, f"jobqueue:{queue.name}", "jobs=2"]
    program += [f"{name}={json.dumps(value)}" for name, value in options.items()]
    finished = queue.cluster.run(program, timeout=60, cwd=local.folder, env=local.environment)
    assert (finished.returncode, finished.stdout) == (0, "total 90\n"), finished.stderr
    options["job-script-prologue"] = [f"export PYTHONPATH={Path(__file__).parents[2]}"]
    (local.folder / "dask").mkdir()
    (local.folder / "dask" / "jobqueue.yaml").write_text(json.dumps({"jobqueue": {queue.name: options}}))
    words = [sys.executable, "-m", "runner", "reconstruct", "scan.nx"]
    there = queue.cluster.run(
        [*words, "there.h5", "--cluster", f"jobqueue:{queue.name}"],
        timeout=60,
        cwd=local.folder,
        env=local.environment | {"DASK_CONFIG": str(local.folder / "dask")},
    )
    assert there.returncode == 0, there.stderr
    (worked,) = hosts_of(local.folder / "there.h5")
    assert worked.startswith("10.77.0.")
    assert local.run("reconstruct", "scan.nx", "here.h5", ranks=1).code == 0
    assert np.array_equal(pixels(local.folder / "here.h5"), pixels(local.folder / "there.h5"))
    end = time.monotonic() + 30
    listing = {"sge": "qstat", "oar": "oarstat"}[queue.name]
    while "dask-worke" in (left := queue.cluster.script("tb-exec", "head", listing)):
        assert time.monotonic() < end, left
        time.sleep(0.5)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("allocation", "this program is in no job of the runner"),
        ("jobqueue:lpd", "there is no jobqueue:lpd; choose one of slurm, sge"),
        ("jobqueue:oar", "jobqueue:oar: "),
        ("missing.json", "there is no cluster 'missing.json'"),
        ("tcp://127.0.0.1:9", "the scheduler at tcp://127.0.0.1:9 does not answer"),
    ],
)
def test_what_is_not_there_is_named(local: Way, where: str, said: str) -> None:
    finished = here(local, where)
    assert finished.returncode == 1
    assert said in finished.stderr.splitlines()[-1]


def test_a_reconstruction_goes_where_it_is_told(local: Way) -> None:
    assert local.run("simulate", "scan.nx", ranks=1).code == 0
    assert local.run("reconstruct", "scan.nx", "here.h5").code == 0
    with serve(local) as command:
        argv = [
            sys.executable,
            "-m",
            "runner",
            "reconstruct",
            "scan.nx",
            "there.h5",
            "--cluster",
            "cluster.json",
        ]
        there = processes.run(argv, timeout=60, cwd=local.folder, env=local.environment)
        command.kill()
    assert there.returncode == 0, there.stderr
    assert "state    all 64 slices written and verified" in there.stdout
    assert np.array_equal(pixels(local.folder / "here.h5"), pixels(local.folder / "there.h5"))


def test_ranks_do_not_all_go_elsewhere(
    mpirun: MpiLauncher, environment: dict[str, str], tmp_path: Path
) -> None:
    way = Way(mpirun.name, tmp_path, environment | mpirun.environment, mpirun)
    result = way.run("reconstruct", "scan.nx", "volume.h5", "--cluster", "local", ranks=2)
    assert result.code != 0
    assert result.err.count("--cluster local is for a single process; leave out srun or mpirun") == 1
