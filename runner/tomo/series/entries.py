"""Which scans become which volumes, and how: from a table, or from paths.

Read before there is a cluster: it loads nothing heavy.
"""

from __future__ import annotations

import csv
import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from runner.errors import MissingFileError, UsageError
from runner.listing import few
from runner.tomo.settings import NAMES, Settings

COLUMNS = ("scan", "volume")
"""Of a table, beside settings."""

TABLE = ".csv"
"""The ending of a table's name."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """A scan, the volume that it becomes, and how; each is another one."""

    scan: Path
    volume: Path
    settings: Settings


def entries_of(
    scan: Path, volume: Path | None, more: Sequence[Path], settings: Settings
) -> tuple[Entry, ...]:
    """Tell which scans a command line asks for, if it is a table of them or several; else there is none.

    Raises
    ------
    MissingFileError, UsageError
        If they cannot be told.
    """
    if scan.suffix == TABLE:
        if volume is not None:
            raise UsageError(f"{scan} is a table, and {volume} is given too", "a table names the volumes")
        return read_table(scan, settings)
    if volume is None or not more:
        return ()
    return entries_of_paths((scan, volume, *more[:-1]), more[-1], settings)


def entries_of_paths(scans: Sequence[Path], folder: Path, settings: Settings) -> tuple[Entry, ...]:
    """Reconstruct each of some scans into a folder, under its own name.

    Raises
    ------
    UsageError
        If there is no such folder, or two scans have one name.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is no folder, and {len(scans)} scans are given",
            "name one scan and its volume, or end with a folder that is there",
        )
    entries = tuple(Entry(scan=scan, volume=folder / f"{scan.stem}.h5", settings=settings) for scan in scans)
    _refuse("the paths", _repeated(entries))
    return entries


def read_table(path: Path, settings: Settings) -> tuple[Entry, ...]:
    """Read a table of scans.

    Its first line names the columns: ``scan``, ``volume`` and any settings. Paths are seen from the table's
    folder. What a line says goes before what is the same for all; an empty place says nothing.

    Parameters
    ----------
    path : Path
        The table: comma-separated values, UTF-8.
    settings : Settings
        For all.

    Raises
    ------
    MissingFileError
        If there is no such file.
    UsageError
        If something is wrong with it; names the first few faults.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file, skipinitialspace=True)
            _refuse(path, _wrong_columns(table.fieldnames or ()))
            lines = [(table.line_num, line) for line in table]
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no table {path}", "check its path") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read as a table: {error}") from error
    entries, faults = [], []
    for number, line in lines:
        try:
            entries.append(_entry(path, number, line, settings))
        except UsageError as error:
            faults.append(f"line {number}: {error}")
    _refuse(path, [*faults, *_repeated(entries)] if lines else ["it has no lines below its first one"])
    return tuple(entries)


def _entry(path: Path, number: int, line: Mapping[str | None, str | None], settings: Settings) -> Entry:
    """Read a line.

    Raises
    ------
    UsageError
        If it is not right.
    """
    if None in line:
        raise UsageError("more values than columns", "quote values that hold a comma")
    given = {str(name): text.strip() for name, text in line.items() if text and text.strip()}
    for name in COLUMNS:
        if name not in given:
            raise UsageError(f"no {name}")
    places = [path.parent / given.pop(name) for name in COLUMNS]
    origins = dict(settings.origins) | dict.fromkeys(given, f"{path}, line {number}")
    values: dict[str, Any] = {name: value_of(text) for name, text in given.items()}
    own = replace(settings, **values, origins=MappingProxyType(origins))
    return Entry(scan=places[0], volume=places[1], settings=own)


def value_of(text: str) -> str | int | float | bool:
    """Read a value as a TOML file has it; what is none there is text.

    >>> [value_of(text) for text in ("85.7", "true", "10:20", "hann", "0012")]
    [85.7, True, '10:20', 'hann', '0012']
    """
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text
    return value if isinstance(value, (str, int, float, bool)) else text


def _wrong_columns(names: Sequence[str]) -> Iterator[str]:
    for name in COLUMNS:
        if name not in names:
            yield f"no column {name!r} in its first line"
    for name in names:
        if name not in (*COLUMNS, *NAMES):
            near = difflib.get_close_matches(name, (*COLUMNS, *NAMES), n=1, cutoff=0.5)
            yield f"unknown column {name!r}" + (f", did you mean {near[0]}?" if near else "")
        elif names.count(name) > 1:
            yield f"two columns {name!r}"


def _repeated(entries: Sequence[Entry]) -> list[str]:
    """Name the volumes that several scans would become."""
    volumes = [entry.volume.absolute() for entry in entries]
    return [
        f"{volume} is the volume of {volumes.count(volume)} scans"
        for volume in dict.fromkeys(volumes)
        if volumes.count(volume) > 1
    ]


def _refuse(what: object, faults: Sequence[str] | Iterator[str]) -> None:
    """Name what is wrong, if anything is."""
    if found := list(faults):
        raise UsageError(f"{what}: {few(found, most=5)}", "mend that; nothing was begun")
