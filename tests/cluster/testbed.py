"""The batch systems of ``tests/testbed``, on four hosts with networks, names and processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from tests.cluster.processes import Command, Finished

SCRIPTS = Path(__file__).parents[1] / "testbed"

#: As ``sbatch --wait``, but at once: that one looks every ten seconds.
SBATCH_WAIT = SCRIPTS / "sbatch-wait"

#: Its output is that of the job.
SBATCH_RUN = SCRIPTS / "sbatch-run"


_NOT_TO_BE_HAD = 69  # the exit code of a testbed's script that lacks what it needs


class NotToBeHadError(RuntimeError):
    """This machine cannot have that batch system."""


def why_not() -> str:
    """Why no batch system can be started here; empty where they can."""
    if os.getuid() != 0:
        return "the virtual hosts need root: network namespaces are made, and daemons started"
    if shutil.which("apt-get") is None:
        return "the virtual hosts need Debian or Ubuntu: their packages of batch systems are installed"
    return ""


class VirtualCluster:
    """Running hosts ``head`` and ``node1`` to ``node4``, each with an ``sshd``, which can be hurt.

    Of its kinds, each has a batch system as well, which takes every host for one of 4 CPUs.

    Parameters
    ----------
    scripts : Path
        The folder of ``slurm-up`` and its companions.

    Raises
    ------
    NotToBeHadError
        If what it needs is not here and cannot be installed.
    """

    name: ClassVar[str] = "hosts"
    #: A command that works on the head while it is up.
    answers: ClassVar[tuple[str, ...]] = ("true",)
    #: What is up on the hosts, all kinds together: who loses a host loses it for all.
    _up: ClassVar[set[str]] = set()

    def __init__(self, scripts: Path = SCRIPTS) -> None:
        self._scripts = scripts
        hosts_were_up = self._answers("head", "true")
        system_was_up = hosts_were_up and self._answers("head", *self.answers)
        were_up = {f"{self.name}-down": system_was_up, "hosts-down": hosts_were_up}
        self._ours = [script for script, was_up in were_up.items() if not was_up]
        self._hurt = False
        self.script(f"{self.name}-up", timeout=300)
        self._up.add(self.name)

    def down(self) -> None:
        """Stop what this object started, and leave what was there before."""
        self._up.discard(self.name)
        for script in self._ours:
            self.script(script)

    def start(
        self,
        argv: Sequence[str | Path],
        *,
        host: str = "head",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        submits: bool = False,
    ) -> Command:
        """Start a command on a host (a context manager: nothing of it is left but the jobs it submits)."""
        return Command([self._scripts / "tb-exec", host, *argv], cwd=cwd, env=env, submits=submits)

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        timeout: float,
        host: str = "head",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        gone_within: float = 2.0,
        submits: bool = False,
    ) -> Finished:
        """Run a command on a host to its end; fail when it or anything it started does not go in time."""
        with self.start(argv, host=host, cwd=cwd, env=env, submits=submits) as command:
            return command.wait(timeout=timeout, gone_within=gone_within)

    def script(self, name: str, *arguments: str, timeout: float = 60) -> str:
        """Run one of the testbed's scripts and return what it printed.

        Raises
        ------
        RuntimeError
            If it fails; with all it wrote.
        NotToBeHadError
            If it lacks what it needs.
        """
        finished = subprocess.run(
            [self._scripts / name, *arguments], capture_output=True, text=True, timeout=timeout, check=False
        )
        if finished.returncode == _NOT_TO_BE_HAD:
            raise NotToBeHadError(finished.stderr.splitlines()[-1])
        if finished.returncode != 0:
            raise RuntimeError(f"{name} {' '.join(arguments)}: {finished.stdout}{finished.stderr}")
        return finished.stdout

    def kill_host(self, host: str) -> None:
        """Pull the power plug of a host; `repair` brings it back."""
        self._hurt = True
        self.script("host-kill", host)

    def freeze_host(self, host: str) -> None:
        """Make a host hang: nothing on it runs, its connections stay open."""
        self._hurt = True
        self.script("host-freeze", host)

    def thaw_host(self, host: str) -> None:
        """Let a host go on that was made to hang."""
        self.script("host-freeze", host, "off")

    def cut_host(self, host: str) -> None:
        """Pull the network cables of a host; its processes go on."""
        self._hurt = True
        self.script("host-cut", host)

    def repair(self) -> None:
        """Undo what was done to hosts, for all batch systems that are up on them."""
        if not self._hurt:
            return
        for host in ("node1", "node2", "node3", "node4"):
            self.script("host-freeze", host, "off")
            self.script("host-cut", host, "off")
        self.script("hosts-up")
        with ThreadPoolExecutor() as pool:  # each waits for its own daemons
            list(pool.map(lambda name: self.script(f"{name}-up", timeout=120), self._up))
        self._hurt = False

    def routes(self, action: str) -> None:
        """Take the hosts' default route away (``"del"``), or give it back (``"add"``)."""
        for host in ("head", "node1", "node2", "node3", "node4"):
            self.script("tb-exec", host, "ip", "route", action, "default", "dev", "eth0")

    def _answers(self, host: str, *argv: str) -> bool:
        command = [self._scripts / "tb-exec", host, *argv]
        return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0


class VirtualSlurm(VirtualCluster):
    """SLURM, with 2 pretended GPUs on each host."""

    name = "slurm"
    answers = ("scontrol", "ping")

    def jobs(self) -> set[str]:
        """The ids of all jobs that wait or run."""
        return set(self.script("tb-exec", "head", "squeue", "-h", "-o", "%A").split())

    def cancel(self, jobs: set[str]) -> None:
        """Cancel jobs by id."""
        if jobs:
            self.script("tb-exec", "head", "scancel", "--full", *sorted(jobs))


class VirtualGridEngine(VirtualCluster):
    """Son of Grid Engine; parallel environments ``mpi``, ``rr`` (round robin) and ``pe2`` (2 per host)."""

    name = "sge"
    answers = ("qconf", "-sh")


class VirtualOar(VirtualCluster):
    """OAR, to which root may submit."""

    name = "oar"
    answers = ("oarnodes",)
