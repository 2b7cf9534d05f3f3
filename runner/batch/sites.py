"""Site profiles: what a computing centre wants in every job, kept in a small TOML file.

Ours lie beside the job scripts, a user's own in ``$XDG_CONFIG_HOME/runner/sites`` (``~/.config`` if that is
not set); a user's own goes before ours of the same name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from runner.batch.request import OPTIONS, JobRequest
from runner.batch.script import SYSTEMS
from runner.batch.templates import template_folder
from runner.errors import MissingFileError, UsageError
from runner.units import format_duration, parse_duration, parse_size

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What one computing centre wants.

    Attributes
    ----------
    name : str
        As it is chosen: ``--site NAME``.
    system : str or None
        Its batch system.
    wishes : dict
        Values of fields of a :class:`~runner.batch.request.JobRequest`, used where nothing else is said.
    with_gpus, without_gpus : tuple of str
        Directives of jobs that ask for GPUs, and of those that do not.
    account_needed : bool
        Whether it refuses jobs without an account.
    queues : dict of str to float or None
        Its queues, and the seconds after which each ends a job, where that is known.
    title, source, read : str, str, date or None
        Who it is, where to check these facts, and when they were gathered.
    """

    name: str
    system: str | None = None
    wishes: dict[str, Any] = field(default_factory=dict)
    with_gpus: tuple[str, ...] = ()
    without_gpus: tuple[str, ...] = ()
    account_needed: bool = False
    queues: dict[str, float | None] = field(default_factory=dict)
    title: str = ""
    source: str = ""
    read: date | None = None

    def check(self, request: JobRequest) -> None:
        """Refuse a job that the site would refuse, or end too early.

        Raises
        ------
        UsageError
            If it lacks an account, or wants more time than its queue gives.
        """
        if self.account_needed and request.account is None:
            raise UsageError(
                f"site {self.name} takes no job without an account", f"add {OPTIONS['account']} NAME"
            )
        limit = self.queues.get(request.queue or "")
        if limit is not None and request.walltime is not None and request.walltime > limit:
            raise UsageError(
                f"queue {request.queue} of site {self.name} ends jobs after {format_duration(limit)}, "
                f"{format_duration(request.walltime)} was asked for",
                "ask for less, or submit a chain of jobs: --parts",
            )


def user_folder(environ: Mapping[str, str]) -> Path:
    """Return where a user's own profiles lie."""
    config = environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "runner" / "sites"


def folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return where profiles lie, the user's first."""
    return user_folder(environ), template_folder() / "sites"


def load_site(name: str, where: Sequence[Path]) -> Site:
    """Read a profile.

    Raises
    ------
    UsageError
        If it is not there, or something in it is wrong.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not the name of a site", "write letters, digits and _ . -")
    for folder in where:
        path = folder / f"{name}.toml"
        if path.is_file():
            return read_site(path)
    known = sorted({path.stem for folder in where for path in folder.glob("*.toml")})
    raise UsageError(
        f"there is no profile of a site {name!r}", f"known: {', '.join(known)}; your own goes into {where[0]}"
    )


def read_site(path: Path) -> Site:
    """Read and check one file.

    Raises
    ------
    MissingFileError
        If it cannot be read.
    UsageError
        If something in it is wrong; the message names the file and the key.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingFileError(f"site profile {path} cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"site profile {path} is not TOML ({error})") from error
    values = _take(table, _SITE, path, "")
    job = _take(values.pop("job", {}), _JOB, path, "job.")
    modules = tuple(f"module load {module}" for module in job.pop("modules", ()))
    if prologue := modules + job.pop("prologue", ()):
        job["prologue"] = prologue
    queues = {
        name: _take(limits, _QUEUE, path, f"queues.{name}.").get("time")
        for name, limits in values.pop("queues", {}).items()
    }
    site = Site(
        name=path.stem,
        with_gpus=job.pop("with_gpus", ()),
        without_gpus=job.pop("without_gpus", ()),
        wishes=job,
        queues=queues,
        **values,
    )
    try:
        JobRequest(command=("job.py",), **{"gpus_per_node": 1, **job})  # words that could break a script
    except UsageError as error:
        raise UsageError(f"site profile {path}: {error.problem}", error.remedy) from error
    return site


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("a whole number from 1 on")
    return value


def _yes_or_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _day(value: object) -> date:
    if not isinstance(value, date):
        raise TypeError("a date like 2026-11-30, without quotes")
    return value


def _list(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise ValueError('a list of texts, ["like", "this"]')
    return tuple(value)


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a table")
    return value


def _system(value: object) -> str:
    if value not in SYSTEMS:
        raise ValueError(f"one of {', '.join(SYSTEMS)}")
    return str(value)


def _size(value: object) -> int:
    return parse_size(_text(value))


def _time(value: object) -> float:
    return parse_duration(_text(value))


#: Keys of the file: the field that each sets, and what reads its value.
_Keys = Mapping[str, tuple[str, Callable[[object], Any]]]
_SITE: _Keys = {
    "title": ("title", _text),
    "source": ("source", _text),
    "read": ("read", _day),
    "system": ("system", _system),
    "account-needed": ("account_needed", _yes_or_no),
    "job": ("job", _table),
    "queues": ("queues", _table),
}
_JOB: _Keys = {
    "nodes": ("nodes", _number),
    "ntasks-per-node": ("tasks_per_node", _number),
    "cpus-per-task": ("cpus_per_task", _number),
    "gpus-per-node": ("gpus_per_node", _number),
    "gpu-type": ("gpu_type", _text),
    "gpu-style": ("gpu_style", _text),
    "mem": ("memory", _size),
    "time": ("walltime", _time),
    "queue": ("queue", _text),
    "account": ("account", _text),
    "parallel-environment": ("parallel_environment", _text),
    "starter": ("starter", _text),
    "interface": ("interface", _text),
    "scratch": ("scratch", _text),
    "modules": ("modules", _list),
    "prologue": ("prologue", _list),
    "directives": ("directives", _list),
    "directives-with-gpus": ("with_gpus", _list),
    "directives-without-gpus": ("without_gpus", _list),
}
_QUEUE: _Keys = {"time": ("time", _time)}


def _take(table: object, keys: _Keys, path: Path, place: str) -> dict[str, Any]:
    """Return the values of a table under the names of our fields."""
    if not isinstance(table, dict):
        raise UsageError(f"site profile {path}: {place.rstrip('.')} is not right", "write a table")
    values = {}
    for key, value in table.items():
        if key not in keys:
            raise UsageError(
                f"site profile {path}: there is no key {place}{key}", f"known: {', '.join(keys)}"
            )
        name, read = keys[key]
        try:
            values[name] = read(value)
        except UsageError as error:
            raise UsageError(f"site profile {path}: {place}{key}: {error.problem}", error.remedy) from error
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"site profile {path}: {place}{key} = {value!r} is not right", f"write {error}"
            ) from error
    return values
