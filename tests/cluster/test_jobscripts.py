"""The printed job scripts are run: by real sbatch, and by each MPI's mpirun."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from tests.cluster import processes
from tests.cluster.mpi import MpiLauncher
from tests.cluster.testbed import SBATCH_WAIT, VirtualSlurm

JOB = """
import json, os, socket, sys
from dask.distributed import Client

client = Client()
found = {
    "arguments": sys.argv[1:],
    "hosts": sorted(client.run(socket.gethostname).values()),
    "locking": os.environ["HDF5_USE_FILE_LOCKING"],
    "ends_at": os.environ.get("RUNNER_END"),
}
with open("found.json", "w") as file:
    json.dump(found, file)
"""


def write_script(folder: Path, options: str) -> Path:
    """Write the job, and the script that `runner jobscript` prints for it."""
    (folder / "job.py").write_text(JOB)
    argv = [sys.executable, "-m", "runner", "jobscript", *options.split(), "--", "job.py", "an argument"]
    printed = processes.run(argv, timeout=30)
    assert printed.returncode == 0, printed.stderr
    script = folder / "job.sh"
    script.write_text(printed.stdout)
    return script


@pytest.mark.cluster
@pytest.mark.slurm
def test_sbatch(slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path) -> None:
    script = write_script(tmp_path, "slurm --nodes 2 --ntasks-per-node 2 --cpus-per-task 2 --time 0:05:00")
    submitted = time.time()
    finished = slurm.run([SBATCH_WAIT, script], timeout=90, cwd=tmp_path, env=environment)
    log = "".join(file.read_text() for file in tmp_path.glob("runner-*.out"))
    assert finished.returncode == 0, finished.stderr + log
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["arguments"] == ["an argument"]
    assert set(found["hosts"]) == {"node1", "node2"}
    assert found["locking"] == "FALSE"
    # squeue tells whole seconds; the job's own end is 5 s before SLURM's
    assert -7 < float(found["ends_at"]) - submitted - 300 < 60


@pytest.mark.cluster
def test_mpirun(mpirun: MpiLauncher, environment: dict[str, str], tmp_path: Path) -> None:
    script = write_script(tmp_path, "mpi --ntasks-per-node 3 --time 0:05:00")
    submitted = time.time()
    finished = processes.run(["bash", script], timeout=90, cwd=tmp_path, env=environment | mpirun.environment)
    assert finished.returncode == 0, finished.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["arguments"] == ["an argument"]
    assert len(found["hosts"]) >= 1
    assert found["locking"] == "FALSE"
    assert 200 < float(found["ends_at"]) - submitted <= 300
