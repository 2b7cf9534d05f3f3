"""Our command on the login host of a real Grid Engine or a real OAR."""

from __future__ import annotations

import json
import re
import sys
import time
import uuid
from pathlib import Path

from tests.cluster.processes import JOB_VARIABLES, MARK, Finished, marked
from tests.cluster.testbed import VirtualCluster


class Queue:
    """Our command on the login host of a batch system, with a site profile of the test's own.

    Grid Engine and OAR hand no environment from the submission to the job: the profile's lines of shell do.
    """

    def __init__(self, name: str, cluster: VirtualCluster, environment: dict[str, str], folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.jobs: list[str] = []
        self.cluster = cluster
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
        return self.python("-m", "runner", *words, timeout=timeout)

    def python(self, *words: str | Path, timeout: float = 90) -> Finished:
        """Run a program of a user on the login host to its end."""
        argv = [sys.executable, *words]
        return self.cluster.run(argv, timeout=timeout, cwd=self.folder, env=self._environment, submits=True)

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
        """Wait for a job, check that it left no process, and return its exit code.

        ``runner wait`` asks the system more and more rarely: it is called when the job has no process left.
        """
        mark = f"{JOB_VARIABLES[self.name]}={job}"
        end = time.monotonic() + 90
        while marked(mark) and time.monotonic() < end:
            time.sleep(0.2)
        code = self.run("wait", job, timeout=150).returncode
        end = time.monotonic() + 5
        while left := marked(mark):
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
        return self.cluster.script("tb-exec", "head", "qacct", "-j", job).count("\nhostname ")

    def log(self, job: str) -> str:
        """Return a job's output."""
        return self.run("log", job).stdout

    def output(self, job: str) -> str:
        """Return a job's output without asking our command: to look again and again."""
        pattern = f"*.o{job}" if self.name == "sge" else f"*-{job}.out"
        return "".join(path.read_text() for path in self.folder.glob(pattern))
