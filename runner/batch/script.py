"""Job scripts: the text that asks a batch system for what is in a request."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from math import ceil

import jinja2

from runner.batch.gpus import gpu_words, gpus_per_task
from runner.batch.request import OPTIONS, JobRequest
from runner.batch.templates import template_folder
from runner.errors import UsageError

SYSTEMS = ("slurm", "pbs", "pbs-pals", "sge", "oar", "lsf", "lsf-jsrun", "htcondor", "flux", "mpi")

_ASK_THE_SITE = 'sites name it differently: ask yours, and use --directive "{}"'
_NOBODY = "leave it out: without a batch system nobody grants it"
_SPREAD = {"parallel_environment": "leave it out: that is a word of Grid Engine"}
_STARTS = {"starter": "leave it out: this system has a launcher of its own"}

#: What has no option that is the same at every site, or no meaning at all, and what to do instead.
_NOT_THERE = {
    "slurm": _SPREAD | _STARTS,
    "pbs": _SPREAD,
    "pbs-pals": _SPREAD | _STARTS,
    "sge": {"memory": _ASK_THE_SITE.format("-l NAME=VALUE")},
    "oar": _SPREAD | {"memory": _ASK_THE_SITE.format("-p NAME>=VALUE")},
    "lsf": _SPREAD
    | {
        "memory": "what LSF counts (a process, a slot, a host) is the site's choice: ask, "
        'and use --directive "-M VALUE"'
    },
    "lsf-jsrun": _SPREAD
    | _STARTS
    | {"memory": "leave it out: the nodes are the job's, with all their memory"},
    "htcondor": _SPREAD | _STARTS | {"queue": 'HTCondor has no queues: use --directive "requirements = ..."'},
    "flux": _SPREAD | _STARTS | {"memory": "leave it out: Flux counts cores and GPUs, not memory"},
    "mpi": dict.fromkeys(
        ("gpus_per_node", "memory", "queue", "account", "parallel_environment", "directives"), _NOBODY
    ),
}


def not_there(system: str) -> Mapping[str, str]:
    """Return the fields of a request that a system has no common words for, and what to do instead."""
    return _NOT_THERE[system]


def template_name(system: str) -> str:
    """Return the template of a system: HTCondor takes a description, the others a script."""
    return f"{system}.sub.j2" if system == "htcondor" else f"{system}.sh.j2"


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
    for name, remedy in not_there(system).items():
        if getattr(request, name):
            raise UsageError(f"{OPTIONS[name]} cannot be given for {system}", remedy)
    values = asdict(request)
    values["gpus"] = gpu_words(system, request)
    if request.interface is not None:
        values["command"] = ("--interface", request.interface, *request.command)
    if request.memory is not None:
        values["memory"] = ceil(request.memory / (1 << 20))  # MiB, which every system can read
    if request.walltime is not None:
        values["walltime"] = ceil(request.walltime)
    if system == "htcondor":
        values["gpus_per_task"] = gpus_per_task(request)
        values["memory_per_task"] = ceil((values["memory"] or 0) / request.tasks_per_node)
        _check_words(request)
    return _environment().get_template(template_name(system)).render(values)


def _check_words(request: JobRequest) -> None:
    for word in request.command:
        if not word.isprintable():
            raise UsageError(
                f"{word!r} cannot be an argument of a job of HTCondor",
                "its submit file takes single lines only",
            )


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
    environment.filters["hours"] = _hours
    environment.filters["condor"] = _condor
    return environment


def _quote(value: str | Iterable[str]) -> str:
    return shlex.quote(value) if isinstance(value, str) else shlex.join(value)


def _clock(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}"


def _hours(seconds: int) -> str:
    """Write hours and minutes, as LSF counts; a part of a minute is a whole one."""
    hours, minutes = divmod(ceil(seconds / 60), 60)
    return f"{hours}:{minutes:02d}"


def _condor(line: str) -> str:
    """Quote one argument for the value of HTCondor's ``arguments``, which also has macros, ``$(NAME)``."""
    quoted = line.strip().replace('"', '""').replace("'", "''").replace("$", "$(DOLLAR)")
    return f"'{quoted}'"
