"""Jobs on a real Grid Engine and a real OAR: submitted, started on four hosts, followed, chained, ended.

On a real SLURM: ``test_submit.py``.
"""

from __future__ import annotations

import json
import re
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import MARK, Finished, marked
from tests.cluster.testbed import VirtualCluster
from tests.cluster.volumes import hosts_of, pixels

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

#: What a process of a job has in its environment.
JOB_VARIABLES = {"sge": "JOB_ID", "oar": "OAR_JOB_ID"}

JOB = """
import sys
from pathlib import Path
from dask.distributed import Client

print("sum", Client().submit(sum, [1, 2, 3]).result())
ends = Path("ends")  # one word for each run that is left: its exit code
first, *others = ends.read_text().split()
ends.write_text(" ".join(others))
sys.exit(int(first))
"""


class Queue:
    """Our command on the login host of a batch system, with a site profile of the test's own.

    Grid Engine and OAR hand no environment from the submission to the job: the profile's lines of shell do.
    """

    def __init__(self, name: str, cluster: VirtualCluster, environment: dict[str, str], folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.jobs: list[str] = []
        self._cluster = cluster
        self._mark = f"{MARK}={uuid.uuid4().hex}"
        self._environment = environment | {
            "XDG_CONFIG_HOME": str(folder / "config"),
            "RUNNER_STATUS_DIR": str(folder / "status"),
        }
        (folder / "scratch").mkdir()

    def profile(self, **variables: str) -> None:
        """Write the site profile."""
        own = {
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "RUNNER_RENDEZVOUS_DIR": str(self.folder / "meet"),
            "RUNNER_SCRATCH": str(self.folder / "scratch"),
            "RUNNER_STATUS_DIR": str(self.folder / "status"),
        }
        lines = [f"export {self._mark}"]
        lines += [f"export {name}='{value}'" for name, value in (own | variables).items()]
        path = self.folder / "config" / "runner" / "sites" / "here.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        environment = 'parallel-environment = "rr"\n' if self.name == "sge" else ""
        path.write_text(f'system = "{self.name}"\n[job]\n{environment}prologue = {json.dumps(lines)}\n')

    def run(self, *words: str | Path, timeout: float = 90) -> Finished:
        """Run our command to its end."""
        argv = [sys.executable, "-m", "runner", *words]
        return self._cluster.run(argv, timeout=timeout, cwd=self.folder, env=self._environment)

    def submit(self, *words: str | Path) -> list[str]:
        """Submit a job with one rank on each of four hosts; return its ids."""
        finished = self.run("submit", "--site", "here", "--nodes", "4", "--time", "0:05:00", *words)
        assert finished.returncode == 0, finished.stderr
        found = re.search(r" jobs? ([\d, ]+)", finished.stdout)
        assert found, finished.stdout
        jobs = re.findall(r"\d+", found[1])
        self.jobs += jobs
        return jobs

    def wait(self, job: str) -> int:
        """Wait for a job, check that it left no process, and return its exit code."""
        code = self.run("wait", job).returncode
        end = time.monotonic() + 5
        while left := marked(f"{JOB_VARIABLES[self.name]}={job}"):
            assert time.monotonic() < end, left
            time.sleep(0.1)
        return code

    def end(self) -> None:
        """End what still runs, and check that nothing of all the jobs is left."""
        for job in self.jobs:
            self.run("cancel", job)
        end = time.monotonic() + 10
        while left := marked(self._mark):
            assert time.monotonic() < end, left
            time.sleep(0.1)

    def hosts_in_accounting(self, job: str) -> int:
        """Return how many parts of a job Grid Engine has seen: with tight integration, one for each host."""
        return self._cluster.script("tb-exec", "head", "qacct", "-j", job).count("\nhostname ")

    def log(self, job: str) -> str:
        """Return a job's output."""
        return self.run("log", job).stdout


@pytest.fixture(
    params=[pytest.param("sge", marks=pytest.mark.sge), pytest.param("oar", marks=pytest.mark.oar)]
)
def queue(request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path) -> Iterator[Queue]:
    """Each batch system in turn."""
    queue = Queue(request.param, request.getfixturevalue(request.param), environment, tmp_path)
    queue.profile()
    (tmp_path / "job.py").write_text(JOB)
    yield queue
    queue.end()


@pytest.mark.mpi
def test_the_same_volume_whoever_starts_the_ranks(queue: Queue, scan: Path, reference: np.ndarray) -> None:
    launchers = [MpiLauncher(name) for name in ("mpich", "openmpi")]
    for launcher in launchers:
        if not launcher.program.exists():
            pytest.skip(f"no {launcher.name} in {launcher.prefix}: run make test")
    jobs = {"hosts": queue.submit("--starter", "hosts", "reconstruct", scan, "hosts.h5")}
    for launcher in launchers:  # all at once: the cluster has room for them
        queue.profile(**launcher.environment)
        jobs[launcher.name] = queue.submit("reconstruct", scan, f"{launcher.name}.h5")
    for starter, (job,) in jobs.items():
        code = queue.wait(job)
        log = queue.log(job)
        assert code == 0, log
        assert "4 ranks on 4 hosts, 4 workers" in log
        assert "all 135 slices written and verified" in log
        assert np.array_equal(pixels(queue.folder / f"{starter}.h5"), reference), starter
        assert len(hosts_of(queue.folder / f"{starter}.h5")) == 4, starter
        if queue.name == "sge":
            assert queue.hosts_in_accounting(job) >= 4, starter
    left = [*(queue.folder / "scratch").iterdir(), *(queue.folder / "meet").iterdir()]
    assert not left


def test_a_chain_is_followed_until_all_is_done(queue: Queue) -> None:
    (queue.folder / "ends").write_text("75 3")
    first, second = queue.submit("--starter", "hosts", "--parts", "2", "job.py")
    assert "sum 6\n" in queue.run("log", first, "--follow").stdout
    assert [queue.wait(job) for job in (second, first)] == [3, 75]
    assert "ended 75" in queue.run("status", first).stdout


def test_a_job_is_ended(queue: Queue) -> None:
    (queue.folder / "job.py").write_text("import time; print('sleeping', flush=True); time.sleep(200)")
    (job,) = queue.submit("--starter", "hosts", "job.py")
    end = time.monotonic() + 60
    while "sleeping" not in queue.log(job):
        assert time.monotonic() < end, queue.run("status", job)
    assert "4/4" in queue.run("status").stdout
    cancelled = queue.run("cancel", job)
    assert cancelled.returncode == 0, cancelled.stderr
    assert queue.wait(job) == {"sge": 137, "oar": 143}[queue.name]
