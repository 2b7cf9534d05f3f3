"""The scripts of systems that are not here are run: with their variables, and their launchers played by ours.

What that shows is that a script does what we mean. Whether its system means the same, only its users see.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from runner.batch.fanout.seats import read_host_list
from tests.cluster import played
from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command, run
from tests.unit.batch.test_script import condor_arguments

pytestmark = pytest.mark.cluster

JOB = """
import json, os, sys
from dask.distributed import Client
from runner.batch.detect import detect

client = Client()
allocation = detect(os.environ)
found = {
    "arguments": sys.argv[1:],
    "workers": len(client.scheduler_info(n_workers=-1)["workers"]),
    "locking": os.environ["HDF5_USE_FILE_LOCKING"],
    "system": allocation.system,
    "job": allocation.job_id,
    "ends": allocation.ends_at,
    "folder": os.getcwd(),
}
with open("found.json", "w") as file:
    json.dump(found, file)
sys.exit(3)
"""
HOST = os.uname().nodename
#: What each system tells its script, but for files.
VARIABLES = {
    "pbs": {"PBS_JOBID": "1234.pbs01"},
    "pbs-pals": {"PBS_JOBID": "1234.pbs01"},
    "sge": {"JOB_ID": "12", "SGE_TASK_ID": "undefined"},
    "oar": {"OAR_JOB_ID": "5", "OAR_JOB_WALLTIME_SECONDS": "300"},
    "lsf": {"LSB_JOBID": "77", "LSB_JOBINDEX": "0"},
    "lsf-jsrun": {"LSB_JOBID": "77", "LSB_JOBINDEX": "0"},
    "flux": {},
    "mpi": {},
}
JOBS = {
    "pbs": "1234.pbs01",
    "pbs-pals": "1234.pbs01",
    "sge": "12",
    "oar": "5",
    "lsf": "77",
    "lsf-jsrun": "77",
    "htcondor": "12",
}


def write_script(folder: Path, system: str, *options: str) -> Path:
    """Write a job, and the script that `runner jobscript` prints for three ranks of it."""
    (folder / "job.py").write_text(JOB)
    asked = ["--ntasks-per-node", "3", "--cpus-per-task", "1", "--time", "0:05:00", *options]
    argv = [sys.executable, "-m", "runner", "jobscript", system, *asked, "--", "job.py", "an argument"]
    printed = run(argv, timeout=30)
    assert printed.returncode == 0, printed.stderr
    script = folder / "job.sh"
    script.write_text(printed.stdout)
    return script


def told(folder: Path, system: str) -> dict[str, str]:
    """What the system tells its script on the first of its hosts."""
    lines = {"sge": f"{HOST} 3 all.q@{HOST} UNDEFINED\n", "pbs-pals": f"{HOST}\n"}
    (folder / "hosts").write_text(lines.get(system, f"{HOST}\n" * 3))
    (folder / "scratch").mkdir(exist_ok=True)
    places = {
        "pbs": {"PBS_NODEFILE": "hosts", "PBS_O_WORKDIR": "."},
        "pbs-pals": {"PBS_NODEFILE": "hosts", "PBS_O_WORKDIR": "."},
        "sge": {"PE_HOSTFILE": "hosts", "SGE_O_WORKDIR": ".", "TMPDIR": "scratch"},
        "oar": {"OAR_NODEFILE": "hosts", "OAR_WORKDIR": "."},
        "lsf": {"LSB_DJOB_HOSTFILE": "hosts", "LS_SUBCWD": "."},
        "lsf-jsrun": {"LSB_DJOB_HOSTFILE": "hosts", "LS_SUBCWD": "."},
    }
    paths = {name: str((folder / path).resolve()) for name, path in places.get(system, {}).items()}
    return VARIABLES[system] | paths | {"RUNNER_STATUS_DIR": str(folder / "status")}


def check(folder: Path, system: str, started: float) -> None:
    """The job ran once, on all ranks, and knew what it was in."""
    found = json.loads((folder / "found.json").read_text())
    assert found["arguments"] == ["an argument"]
    assert found["workers"] == 3
    assert found["locking"] == "FALSE"
    assert found["job"] == JOBS.get(system, found["job"])
    assert found["folder"] == str(folder)
    assert 200 < found["ends"] - started <= 301
    left = {path.name for path in folder.iterdir()} - {"job.py", "job.sh", "found.json", "hosts", "status"}
    assert left <= {"scratch", "ssh", "pbsdsh", "qrsh", "oarsh", "blaunch", "mpiexec", "jsrun", "flux"}


@pytest.mark.parametrize("system", ["pbs", "sge", "oar", "lsf"])
def test_a_script_starts_its_ranks_with_mpirun(
    mpirun: MpiLauncher, environment: dict[str, str], tmp_path: Path, system: str
) -> None:
    script = write_script(tmp_path, system)
    environ = environment | mpirun.environment | told(tmp_path, system)
    started = time.time()
    cwd = tmp_path if system == "sge" else Path("/")  # where the system starts a script
    finished = run(["bash", script], timeout=60, cwd=cwd, env=environ)
    assert finished.returncode == 3, finished.stderr
    check(tmp_path, system, started)


@pytest.mark.parametrize("system", ["pbs", "sge", "oar", "lsf", "mpi"])
def test_a_script_starts_its_ranks_over_the_systems_own_shell(
    environment: dict[str, str], tmp_path: Path, system: str
) -> None:
    script = write_script(tmp_path, system, "--starter", "hosts")
    qrsh = played.SSH.replace("host=$1; shift", '[ "$1" = -inherit ] || exit 2; host=$2; shift 2')
    shells = {"oarsh": played.SSH, "blaunch": played.SSH, "qrsh": qrsh, "pbsdsh": played.PBSDSH}
    ssh = played.SSH.replace("host=$1; shift", 'host=$4; [ "$1 $2" = "-x -o" ] || exit 2; shift 4')
    played.install(tmp_path, ssh=ssh, **shells)
    path = f"{tmp_path}:{environment['PATH']}"
    nodes = " ".join(read_host_list(f"{HOST}:3"))
    environ = environment | told(tmp_path, system) | {"PATH": path, "NODES": nodes}
    started = time.time()
    more = ["--hosts", HOST] if system == "mpi" else []
    cwd = tmp_path if system in ("sge", "mpi") else Path("/")
    finished = run(["bash", script, *more], timeout=60, cwd=cwd, env=environ)
    assert finished.returncode == 3, finished.stderr
    assert "started by RUNNER_RANK and RUNNER_SIZE" in finished.stderr
    check(tmp_path, system, started)


@pytest.mark.parametrize(
    ("system", "name", "program", "launcher"),
    [
        ("pbs-pals", "mpiexec", played.PALS, "PALS"),
        ("lsf-jsrun", "jsrun", played.JSRUN, "jsrun"),
        ("flux", "flux", played.FLUX, "flux"),
    ],
)
def test_a_script_starts_its_ranks_with_the_systems_launcher(
    environment: dict[str, str], tmp_path: Path, system: str, name: str, program: str, launcher: str
) -> None:
    script = write_script(tmp_path, system)
    played.install(tmp_path, **{name: program})
    environ = environment | told(tmp_path, system) | {"PATH": f"{tmp_path}:{environment['PATH']}"}
    started = time.time()
    cwd = tmp_path if system == "flux" else Path("/")
    finished = run(["bash", script], timeout=60, cwd=cwd, env=environ)
    assert finished.returncode == 3, finished.stderr
    assert re.search(rf"started by {launcher}", finished.stderr)
    check(tmp_path, system, started)


def test_a_description_of_htcondor_starts_its_ranks(environment: dict[str, str], tmp_path: Path) -> None:
    text = write_script(tmp_path, "htcondor").read_text()
    values = dict(re.findall(r"^(\w+) += (.*)$", text, re.MULTILINE))
    argv = [values["executable"], *condor_arguments(text)]
    (tmp_path / "ad").write_text('ClusterId = 12\nNumJobStarts = 1\nIwd = "/"\n')
    name, _, job = values["environment"].strip('"').replace("$(Cluster)", "12").partition("=")
    size = int(values["machine_count"])
    started = time.time()
    environ = environment | {
        name: job,
        "_CONDOR_NPROCS": str(size),
        "_CONDOR_JOB_AD": str(tmp_path / "ad"),
        "RUNNER_STATUS_DIR": str(tmp_path / "status"),
    }
    with ExitStack() as stack:
        first, *others = (
            stack.enter_context(Command(argv, cwd=tmp_path, env=environ | {"_CONDOR_PROCNO": str(rank)}))
            for rank in range(size)
        )
        assert first.wait(timeout=60).returncode == 3, first.stderr  # the end of the job for HTCondor
        assert "started by htcondor" in first.stderr
        for other in others:
            other.wait(timeout=10)
    (tmp_path / "ad").unlink()
    check(tmp_path, "htcondor", started)
