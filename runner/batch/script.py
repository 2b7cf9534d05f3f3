"""Job scripts: what is asked of a batch system, and the text that asks it."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import ceil

import jinja2

from runner.batch.templates import template_folder
from runner.errors import UsageError

SYSTEMS = ("slurm", "pbs", "sge", "oar", "mpi")

#: What has no option that is the same at every site, or no meaning at all.
_NOT_THERE = {
    "sge": ("gpus_per_node", "memory"),
    "oar": ("memory",),
    "mpi": ("gpus_per_node", "memory", "queue", "account", "directives"),
}
_OPTIONS = {
    "gpus_per_node": "--gpus-per-node",
    "memory": "--mem",
    "queue": "--queue",
    "account": "--account",
    "directives": "--directive",
}
_WORD = re.compile(r"[A-Za-z0-9_][\w.,:@/+-]*")


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
    parallel_environment : str
        Grid Engine's name for a way to spread slots over hosts; each site has its own.
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
    memory: int | None = None
    walltime: float | None = None
    queue: str | None = None
    account: str | None = None
    name: str = "runner"
    parallel_environment: str = "mpi"
    directives: tuple[str, ...] = ()
    python: str = sys.executable

    def __post_init__(self) -> None:
        if not self.command:
            raise UsageError("no job was given for the script", "write it behind --, like: -- job.py --fast")
        for word in (self.queue, self.account, self.name, self.parallel_environment):
            if word is not None and not _WORD.fullmatch(word):
                raise UsageError(
                    f"{word!r} cannot stand in a directive of a job script",
                    "use letters, digits and _ . , : @ / + - only",
                )
        for directive in self.directives:
            if not directive.strip() or not directive.isprintable():
                raise UsageError(f"{directive!r} is not a directive", "give one line of text")


def render(system: str, request: JobRequest) -> str:
    """Write the job script.

    Parameters
    ----------
    system : str
        One of `SYSTEMS`.
    request : JobRequest
        What is asked for; a value that is None leads to no directive.

    Returns
    -------
    str
        The script.

    Raises
    ------
    UsageError
        If the system is unknown, or has no common way to ask for something in the request.
    """
    if system not in SYSTEMS:
        raise UsageError(f"there is no job script for {system!r}", f"choose one of {', '.join(SYSTEMS)}")
    for name in _NOT_THERE.get(system, ()):
        if getattr(request, name):
            raise UsageError(f"{_OPTIONS[name]} cannot be given for {system}", _remedy(system))
    values = asdict(request)
    if request.memory is not None:
        values["memory"] = ceil(request.memory / (1 << 20))  # MiB, which every system can read
    if request.walltime is not None:
        values["walltime"] = ceil(request.walltime)
    return _environment().get_template(f"{system}.sh.j2").render(values)


def _remedy(system: str) -> str:
    if system == "mpi":
        return "leave it out: without a batch system nobody grants it"
    return 'sites name it differently: ask yours, and use --directive "-l NAME=VALUE"'


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  (shell, not HTML: the filter sh quotes)
    )
    environment.filters["sh"] = _quote
    environment.filters["clock"] = _clock
    return environment


def _quote(value: str | Iterable[str]) -> str:
    return shlex.quote(value) if isinstance(value, str) else shlex.join(value)


def _clock(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}"
