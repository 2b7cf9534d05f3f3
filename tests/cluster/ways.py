"""The same job through every way of starting ranks: no launcher, three MPIs, and real srun."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command, Finished
from tests.cluster.testbed import SBATCH_RUN, VirtualSlurm

JOBS = Path(__file__).parent / "jobs"
TIMEOUT = 60.0
LINES = 10  # that we may say on standard error beside the job's own, whatever happens
#: What we say while a start takes long, as it may on a busy machine; also to those who want quiet.
WAITING = re.compile(r"^runner: waiting for .* \(\d+ s left\)\n", re.MULTILINE)
OURS = re.compile(r"^(?:runner: |rank \d+ @ ).*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Result:
    """How a job ended.

    Attributes
    ----------
    finished : Finished
        The launcher's end.
    ended_at : float
        When the last process was gone, seconds since 1970.
    """

    finished: Finished
    ended_at: float

    @property
    def code(self) -> int:
        """The exit code that a batch script would see."""
        return self.finished.returncode

    @property
    def out(self) -> str:
        """Standard output of all ranks."""
        return self.finished.stdout

    @property
    def err(self) -> str:
        """Standard error of all ranks."""
        return self.finished.stderr

    @property
    def said(self) -> str:
        """The same, but for what is said while a start takes long."""
        return WAITING.sub("", self.err)


@dataclass(frozen=True, slots=True)
class Way:
    """One way of starting ranks.

    Attributes
    ----------
    name : str
        ``"local"``, an MPI's name, ``"srun"``, or an MPI's name in ``sbatch``.
    folder : Path
        A folder of the test's own: tickets, scratch and results lie in it.
    environment : mapping
        Clean, with what the launcher needs.
    launcher : MpiLauncher or VirtualSlurm or None
        Who starts the ranks.
    batch : VirtualSlurm or None
        Whose batch job the launcher runs in.
    flags : tuple of str
        Further words for srun or mpirun.
    """

    name: str
    folder: Path
    environment: Mapping[str, str]
    launcher: MpiLauncher | VirtualSlurm | None = None
    batch: VirtualSlurm | None = None
    flags: tuple[str, ...] = ()

    def argv(self, ranks: int, *words: str | Path) -> list[str | Path]:
        """Return the whole command; in local mode there are as many workers as ranks elsewhere."""
        program: list[str | Path] = [sys.executable, "-m", "runner"]
        if isinstance(self.launcher, MpiLauncher):
            job = [*self.launcher.argv(ranks), *self.flags, *program, *words]
            return [SBATCH_RUN, "-N2", f"-n{max(ranks, 2)}", "--", *job] if self.batch else job
        if isinstance(self.launcher, VirtualSlurm):
            hosts = min(ranks, 4)
            return ["srun", f"-N{hosts}", f"-n{ranks}", *self.flags, *program, *words]
        return [*program, "--workers", str(ranks), *words]

    @property
    def slurm(self) -> VirtualSlurm | None:
        """Where the job runs, if that is SLURM."""
        return self.launcher if isinstance(self.launcher, VirtualSlurm) else self.batch

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a job, with folders of the test's own for all that it writes."""
        return {
            **self.environment,
            "RUNNER_RENDEZVOUS_DIR": str(self.folder / "meet"),
            "RUNNER_SCRATCH": str(self.folder / "scratch"),
            "RUNNER_STATUS_DIR": str(self.folder / "status"),
            "TEST_FOLDER": str(self.folder),
        }

    def start(self, *words: str | Path, ranks: int = 3) -> Command:
        """Start a job and return while it runs; use it as a context manager."""
        (self.folder / "scratch").mkdir(exist_ok=True)
        argv = self.argv(ranks, *words)
        if self.slurm is not None:
            return self.slurm.start(argv, cwd=self.folder, env=self.variables)
        return Command(argv, cwd=self.folder, env=self.variables)

    def run(self, *words: str | Path, ranks: int = 3, timeout: float = TIMEOUT) -> Result:
        """Run a job to its end; fail if anything of it is left, or if we say much."""
        with self.start(*words, ranks=ranks) as command:
            result = Result(command.wait(timeout=timeout, gone_within=2.0), time.time())
        self.check_nothing_is_left()
        said = OURS.findall(result.said)
        assert len(said) <= LINES or "-v" in words, said
        return result

    def start_after_a_kill(self) -> None:
        """Start once more on every host that the last job may have had: that sweeps what it left."""
        end = time.monotonic() + 30
        while self.slurm and self.slurm.jobs() and time.monotonic() < end:  # they still hold their hosts
            time.sleep(0.1)
        result = self.run(JOBS / "adds.py", ranks=4 if self.name == "srun" else 3)
        assert result.code == 0, result.err

    def check_nothing_is_left(self) -> None:
        """Fail if the job left a ticket or a scratch folder behind."""
        left = [*(self.folder / "scratch").iterdir(), *(self.folder / "meet").glob("*")]
        assert not left, left
