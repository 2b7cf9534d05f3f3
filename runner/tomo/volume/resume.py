"""Going on with a volume that an earlier run has begun: only with the same input, settings and programs."""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np

from runner.errors import WriteError
from runner.listing import few
from runner.tomo.volume.content import Content
from runner.tomo.volume.disk import write_all
from runner.tomo.volume.forms import description_of
from runner.tomo.volume.hdf5 import PROCESS, locate, plain
from runner.tomo.volume.look import description_in
from runner.tomo.volume.place import partial_path, unfinished
from runner.tomo.volume.slab import WRITTEN, Target
from runner.tomo.volume.spare import mend_description

Value = str | int | float | bool

#: Programs that change no number.
_HARMLESS = ("dask", "distributed", "h5py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """What an earlier run has begun.

    Attributes
    ----------
    target : Target
        Where its pixels lie.
    made_from : mapping of str to value
        All that shaped it: settings, input, programs, size.
    center, slope, center_origin : float, float, str
        The rotation axis that it was begun with, and how that was found.
    """

    target: Target
    made_from: Mapping[str, Value]
    center: float
    slope: float
    center_origin: str


def read_unfinished(volume: Path) -> Unfinished | None:
    """Read what there is of a volume under its unfinished name; None if there is nothing.

    What describes it is put right before, see :mod:`runner.tomo.volume.spare`.

    Raises
    ------
    WriteError
        If the file is something else, or damaged beyond repair.
    """
    path = description_of(volume)
    try:
        mend_description(path)
        with h5py.File(path, locking="best-effort") as file:
            return _read(file, path)
    except FileNotFoundError as error:
        if partial_path(volume).exists():
            raise unfinished(partial_path(volume)) from error
        return None
    except (OSError, KeyError, ValueError) as error:
        raise unfinished(partial_path(volume)) from error


def read_finished(volume: Path) -> Unfinished:
    """Read of a finished volume what it was made from.

    Raises
    ------
    WriteError
        If it is none of ours, or slices are missing.
    """
    path = description_in(volume)
    try:
        with h5py.File(path, locking="best-effort") as file:
            complete = bool(np.all(file[PROCESS]["status"][:] == WRITTEN))
            found = _read(file, path)
    except (OSError, KeyError, ValueError) as error:
        raise _no_volume(volume) from error
    if not complete:
        raise _no_volume(volume)
    return found


def _no_volume(volume: Path) -> WriteError:
    return WriteError(
        f"{volume} is there, and is no finished volume of this program",
        "say --overwrite to replace it, or choose another name",
    )


def check_same(found: Unfinished, content: Content) -> None:
    """Make sure that what is to be made now is what was begun.

    Raises
    ------
    WriteError
        If it is not; names what differs.
    """
    if differing := differences(found, content):
        raise WriteError(
            f"{found.target.place} was begun with {few(differing)}",
            "go on with the same, say --overwrite to start anew, or choose another name",
        )


def differences(found: Unfinished, content: Content) -> list[str]:
    """Name what was not as it would be now."""
    now = describe(content)
    return [
        f"{name} {_word(found.made_from.get(name))} (now {_word(now.get(name))})"
        for name in sorted(now.keys() | found.made_from.keys())
        if not _equal(now.get(name), found.made_from.get(name))
    ]


def take_over(found: Unfinished) -> Target:
    """Make an unfinished volume this run's: what its former run may still write is refused from now on.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    run = str(uuid.uuid4())
    try:
        with found.target.path.open("r+b") as file:
            write_all(file.fileno(), run.encode(), found.target.run_offset)
            os.fsync(file.fileno())
    except OSError as error:
        raise WriteError(
            f"{found.target.path} cannot be written ({error})", "see to the file system"
        ) from error
    return replace(found.target, run=run)


def describe(content: Content) -> dict[str, Value]:
    """List all that shapes a volume, by name. How the axis was judged, beside its place, does not."""
    provenance = content.provenance
    settings = {parameter.name: parameter.value for parameter in provenance.parameters}
    programs = {name: version for name, version in provenance.versions if name not in _HARMLESS}
    return {
        **{name: value for name, value in settings.items() if not name.startswith("center_")},
        **programs,
        "scan": str(provenance.scan),
        "size of the scan": provenance.scan_size,
        "last change of the scan": provenance.scan_changed,
        "files": provenance.inputs,
        "shape": str(tuple(content.shape)),
        "first row": content.first_row,
    }


def _read(file: h5py.File, path: Path) -> Unfinished:
    process = file[PROCESS]
    parameters = {name: value for name, value in process["parameters"].items() if name != "raw_file"}
    raw = process["parameters/raw_file"]
    target = locate(file, path)
    made_from: dict[str, Value] = {
        **{name: plain(one) for name, one in parameters.items() if not name.startswith("center_")},
        **{name: plain(one) for name, one in process["libraries"].items() if name not in _HARMLESS},
        str(plain(process["program"])): plain(process["version"]),
        "scan": plain(raw),
        "size of the scan": int(raw.attrs["size"]),
        "last change of the scan": str(raw.attrs["last_change"]),
        "files": str(raw.attrs["files"]),
        "shape": str(tuple(target.shape)),
        "first row": target.first_row,
    }
    return Unfinished(
        target=target,
        made_from=made_from,
        center=float(plain(parameters["center"])),
        slope=float(plain(parameters["axis_slope"])) if "axis_slope" in parameters else 0.0,
        center_origin=str(parameters["center"].attrs["origin"]),
    )


def _equal(one: Value | None, other: Value | None) -> bool:
    """Compare; what is not a number is so twice."""
    return one == other or (_missing(one) and _missing(other))


def _missing(value: Value | None) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _word(value: Value | None) -> str:
    return "none" if value is None else f"{value}"
