"""What is asked of a batch system, in words that are the same for all of them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from runner.errors import UsageError

#: The options that ask for a field, for messages.
OPTIONS = {
    "cpus_per_task": "--cpus-per-task",
    "gpus_per_node": "--gpus-per-node",
    "gpu_type": "--gpu-type",
    "gpu_style": "--gpu-style",
    "memory": "--mem",
    "walltime": "--time",
    "queue": "--queue",
    "account": "--account",
    "parallel_environment": "--parallel-environment",
    "starter": "--starter",
    "directives": "--directive",
}

STARTERS = ("mpirun", "hosts")

_WORD = re.compile(r"[A-Za-z0-9_][\w.,:@/+-]*")
_WORDS = ("queue", "account", "name", "parallel_environment", "gpu_type", "interface")
#: A path in which the job's own variables may stand.
_SCRATCH = re.compile(r"[\w./${}:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What one job asks of a batch system.

    Attributes
    ----------
    command : tuple of str
        What follows ``python -m runner``: its options, the job, the job's arguments.
    nodes : int
        Machines.
    tasks_per_node : int
        Ranks on each machine.
    cpus_per_task : int or None
        CPUs for each rank, and task threads of its worker; None leaves both to the system.
    gpus_per_node : int or None
        GPUs on each machine.
    gpu_type : str or None
        The site's name of a kind of GPU.
    gpu_style : str or None
        How the system is asked for GPUs (see :mod:`runner.batch.gpus`); None takes its usual way.
    memory : int or None
        Bytes that the job may use on each machine.
    walltime : float or None
        Seconds after which the system ends the job.
    queue : str or None
        Queue or partition.
    account : str or None
        Account or project that pays.
    name : str
        The job's name.
    parallel_environment : str or None
        Grid Engine's name for a way to spread slots over hosts; each site has its own.
    starter : {"mpirun", "hosts"} or None
        What starts the ranks where the system does not: an MPI's ``mpirun``, or ``runner launch-hosts``.
    interface : str or None
        The network interface for all connections; None lets the launcher find it.
    scratch : str or None
        Folder for spilled data on each machine; variables of the job may stand in it.
    prologue : tuple of str
        Lines of shell at the beginning of the script.
    directives : tuple of str
        Further options of the batch system, word for word.
    python : str
        Absolute path of the interpreter.

    Raises
    ------
    UsageError
        If there is nothing to run, or a name could break the script.
    """

    command: tuple[str, ...]
    nodes: int = 1
    tasks_per_node: int = 1
    cpus_per_task: int | None = None
    gpus_per_node: int | None = None
    gpu_type: str | None = None
    gpu_style: str | None = None
    memory: int | None = None
    walltime: float | None = None
    queue: str | None = None
    account: str | None = None
    name: str = "runner"
    parallel_environment: str | None = None
    starter: str | None = None
    interface: str | None = None
    scratch: str | None = None
    prologue: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    python: str = sys.executable

    def __post_init__(self) -> None:
        if not self.command:
            raise UsageError("no job was given for the script", "write it behind --, like: -- job.py --fast")
        self._check_words()
        self._check_lines()
        if self.gpus_per_node is None and (self.gpu_type or self.gpu_style):
            option = "gpu_type" if self.gpu_type else "gpu_style"
            raise UsageError(f"{OPTIONS[option]} says nothing without GPUs", "give --gpus-per-node as well")

    def _check_words(self) -> None:
        if self.starter not in (None, *STARTERS):
            raise UsageError(f"{self.starter!r} starts no ranks", f"choose {' or '.join(STARTERS)}")
        for word in (getattr(self, field) for field in _WORDS):
            if word is not None and not _WORD.fullmatch(word):
                raise UsageError(
                    f"{word!r} cannot stand in a directive of a job script",
                    "use letters, digits and _ . , : @ / + - only",
                )

    def _check_lines(self) -> None:
        for directive in self.directives:
            if not directive.strip() or not directive.isprintable():
                raise UsageError(f"{directive!r} is not a directive", "give one line of text")
        for line in self.prologue:
            if not line.isprintable():
                raise UsageError(f"{line!r} is not a line for the job script", "give one line of text")
        if self.scratch is not None and not _SCRATCH.fullmatch(self.scratch):
            raise UsageError(
                f"{self.scratch!r} cannot be a scratch folder of a job script",
                "write a path; $VARIABLES of the job may stand in it",
            )
