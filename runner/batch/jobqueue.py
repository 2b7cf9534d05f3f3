"""The configuration of dask-jobqueue, read for what means the same to us.

One job of dask-jobqueue is one node of ours: its ``processes`` are ranks there, which share its ``cores``
and its ``memory``. How many jobs there are is not in the file; it is ``--nodes``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.errors import MissingFileError, UsageError
from runner.units import parse_duration

#: Batch systems that both of us know, by the same names.
_SYSTEMS = ("slurm", "pbs", "sge", "oar", "lsf", "htcondor")

#: What dask-jobqueue's own file sets for everybody: nobody asked for it.
_UNASKED: dict[str, tuple[object, ...]] = {
    "name": ("dask-worker",),
    "death-timeout": (60,),
    "worker-command": ("distributed.cli.dask_worker",),
    "shebang": ("#!/usr/bin/env bash", "#!/usr/bin/env condor_submit"),
    "use-stdin": (True,),
}
#: What we pass over, and why.
_NEEDLESS = {
    "death-timeout": "workers end with their job",
    "scheduler-options": "the scheduler is in the job",
    "shared-temp-directory": "ranks meet by one private file: --rendezvous-dir of the runner",
    "protocol": "all connections are TLS",
    "security": "all connections are TLS",
    "log-directory": "see --logs of the runner",
    "submit-command-extra": "use --directive",
    "shebang": "the scripts are for bash",
}
_EMPTY: tuple[object, ...] = (None, [], {}, "")
_NO_COUNTERPART = "it has no counterpart here"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobQueue:
    """What such a file says.

    Attributes
    ----------
    system : str
        The batch system, by our name.
    wishes : dict
        Values of fields of a :class:`~runner.batch.request.JobRequest`.
    passed_over : dict of str to str
        What is set there and not used here, and why.
    """

    system: str
    wishes: dict[str, Any]
    passed_over: dict[str, str]


def read_jobqueue(path: Path, system: str | None = None) -> JobQueue:
    """Read a file with ``jobqueue: SYSTEM: ...`` in it.

    Parameters
    ----------
    path : Path
        A file such as ``~/.config/dask/jobqueue.yaml``.
    system : str, optional
        Our name of the system that is wanted, where the file has several.

    Raises
    ------
    MissingFileError
        If it cannot be read.
    UsageError
        If it is not such a file, or a value in it cannot be read.
    """
    sections = _sections(path)
    wanted = system.partition("-")[0] if system else None  # lsf-jsrun reads what is written for lsf
    found = [name for name in _SYSTEMS if isinstance(sections.get(name), dict) and wanted in (None, name)]
    if not found:
        raise UsageError(
            f"{path} does not describe {system or 'a batch system'}", "write jobqueue: slurm: ..."
        )
    if len(found) > 1:
        raise UsageError(f"{path} describes {', '.join(found)}", "name the one you want")
    wishes, passed_over = translate(sections[found[0]], path)
    return JobQueue(system=system or found[0], wishes=wishes, passed_over=passed_over)


def translate(section: dict[str, Any], path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Turn one system's options into fields of a request, and name those that are passed over.

    Raises
    ------
    UsageError
        If a value cannot be read.
    """
    given = {str(key).replace("_", "-"): value for key, value in section.items() if value not in _EMPTY}
    given = {key: value for key, value in given.items() if value not in _UNASKED.get(key, ())}
    wishes: dict[str, Any] = {}
    passed_over: dict[str, str] = {}
    for key, value in given.items():
        if key in _FIELDS:
            field, read = _FIELDS[key]
            try:
                wish = read(value)
            except (TypeError, ValueError, UsageError) as error:
                raise UsageError(f"{path}: {key}: {value!r} cannot be read ({error})") from error
            wishes[field] = (wishes[field] + wish) if isinstance(wish, tuple) and field in wishes else wish
        elif key not in ("cores", "processes"):
            passed_over[key] = _NEEDLESS.get(key) or _NO_COUNTERPART
    wishes |= _shares(given, path)
    return wishes, passed_over


def _shares(given: dict[str, Any], path: Path) -> dict[str, int]:
    """Return ranks per node, and the cores of each."""
    values: dict[str, int] = {}
    for key in ("cores", "processes"):
        if key in given:
            if not isinstance(given[key], int) or given[key] < 1:
                raise UsageError(f"{path}: {key}: {given[key]!r} cannot be read", "write a whole number")
            values[key] = given[key]
    processes = values.get("processes", 1)
    shares = {"tasks_per_node": processes} if values else {}
    if "cores" in values:
        shares["cpus_per_task"] = max(1, values["cores"] // processes)
    return shares


def _sections(path: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingFileError(f"{path} cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not YAML ({error})") from error
    sections = content.get("jobqueue") if isinstance(content, dict) else None
    if not isinstance(sections, dict):
        raise UsageError(f"{path} is no configuration of dask-jobqueue", "it has jobqueue: slurm: ...")
    return sections


def _bytes(value: str | float) -> int:
    """Read a size as Dask does: GB are 1000**3, GiB are 1024**3."""
    from dask.utils import parse_bytes

    return int(parse_bytes(value))


def _seconds(value: object) -> float:
    # YAML reads an unquoted 1:30:00 as a number in base 60
    return float(value) if isinstance(value, int) else parse_duration(str(value))


def _lines(value: object) -> tuple[str, ...]:
    if isinstance(value, dict):  # HTCondor's directives
        return tuple(f"{name} = {content}" for name, content in value.items())
    return tuple(str(line) for line in value) if isinstance(value, list) else tuple(str(value).splitlines())


_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", str),
    "memory": ("memory", _bytes),
    "queue": ("queue", str),
    "account": ("account", str),
    "project": ("account", str),
    "walltime": ("walltime", _seconds),
    "interface": ("interface", str),
    "local-directory": ("scratch", str),
    "python": ("python", str),
    "job-extra-directives": ("directives", _lines),
    "job-extra": ("directives", _lines),
    "job-script-prologue": ("prologue", _lines),
    "env-extra": ("prologue", _lines),
}
