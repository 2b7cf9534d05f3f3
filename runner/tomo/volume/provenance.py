"""How a volume came about: every parameter with its origin, programs, input, time."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAM = "tomo-runner"
_LIBRARIES = ("numpy", "scipy", "numba", "finufft", "pywavelets", "h5py", "dask", "distributed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A value that shaped the volume.

    Attributes
    ----------
    name : str
        Of the setting.
    value : str, int, float or bool
        As used.
    origin : str
        ``"default"``, ``"command line"``, ``"scan"``, a file's name, or how it was found.
    """

    name: str
    value: str | int | float | bool
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a volume came about.

    Attributes
    ----------
    command_line : str
        What was typed, or a word for the caller.
    scan : Path
        The input, with its size in bytes and the time of its last change.
    scan_size : int
    scan_changed : str
    started : str
        ISO 8601, with the time zone.
    python : str
        Version.
    versions : tuple of (str, str)
        This program's and the libraries'.
    parameters : tuple of Parameter
        All of them.
    """

    command_line: str
    scan: Path
    scan_size: int
    scan_changed: str
    started: str
    python: str
    versions: tuple[tuple[str, str], ...]
    parameters: tuple[Parameter, ...]


def collect(scan: Path, command_line: Sequence[str], parameters: Sequence[Parameter]) -> Provenance:
    """Note now what only now can be known."""
    about = scan.stat()
    return Provenance(
        command_line=" ".join(command_line),
        scan=scan.resolve(),
        scan_size=about.st_size,
        scan_changed=_iso(dt.datetime.fromtimestamp(about.st_mtime, dt.UTC)),
        started=now(),
        python=platform.python_version(),
        versions=tuple((name, _version(name)) for name in (PROGRAM, *_LIBRARIES)),
        parameters=tuple(parameters),
    )


def now() -> str:
    """Tell the time in ISO 8601, with the local time zone."""
    return _iso(dt.datetime.now(dt.UTC))


def _iso(moment: dt.datetime) -> str:
    return moment.astimezone().isoformat(timespec="seconds")


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
