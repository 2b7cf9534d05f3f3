"""How a volume came about: every parameter with its origin, programs, input, time."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import json
import platform
import zlib
from collections.abc import Iterable, Sequence
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
    inputs : str
        All files that the pixels of the scan lie in: how many, how large, when the last was changed, and a
        checksum over that.
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
    inputs: str
    started: str
    python: str
    versions: tuple[tuple[str, str], ...]
    parameters: tuple[Parameter, ...]


def collect(
    scan: Path, command_line: Sequence[str], parameters: Sequence[Parameter], files: Iterable[Path] = ()
) -> Provenance:
    """Note now what only now can be known.

    Parameters
    ----------
    scan : Path
        The input as it was named.
    command_line : sequence of str
        What was typed.
    parameters : sequence of Parameter
        All of them.
    files : iterable of Path
        All files that the pixels lie in, if they are not in the first one alone.
    """
    about = scan.stat()
    return Provenance(
        command_line=" ".join(command_line),
        scan=scan.resolve(),
        scan_size=about.st_size,
        scan_changed=_time(about.st_mtime),
        inputs=_about(sorted({scan, *files})),
        started=now(),
        python=platform.python_version(),
        versions=tuple((name, _version(name)) for name in (PROGRAM, *_LIBRARIES)),
        parameters=tuple(parameters),
    )


def _about(files: Sequence[Path]) -> str:
    """Say in a line what would be another one if a file were changed."""
    states = [path.stat() for path in files]
    all_of_it = [
        (str(path), state.st_size, state.st_mtime_ns) for path, state in zip(files, states, strict=True)
    ]
    size, last = sum(state.st_size for state in states), max(state.st_mtime for state in states)
    checksum = zlib.crc32(json.dumps(all_of_it).encode())
    return f"{len(files)} of {size} bytes, last changed {_time(last)}, {checksum:08x}"


def now() -> str:
    """Tell the time in ISO 8601, with the local time zone."""
    return _iso(dt.datetime.now(dt.UTC))


def _time(stamp: float) -> str:
    return _iso(dt.datetime.fromtimestamp(stamp, dt.UTC))


def _iso(moment: dt.datetime) -> str:
    return moment.astimezone().isoformat(timespec="seconds")


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
