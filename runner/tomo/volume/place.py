"""Where a volume may be put: all that can be said before any work."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from runner.errors import WriteError
from runner.units import format_size


def partial_path(volume: Path) -> Path:
    """Name of a volume while it is being made: beside it, so that the last step is a rename."""
    return volume.with_name(f"{volume.name}.partial")


DESCRIPTION = "reconstruction.h5"
"""In a volume that is a folder: the file that says how it came about, with the state of each slice."""


def is_folder(volume: Path) -> bool:
    """Tell whether a volume of this name is a folder: of OME-Zarr, of HDF5 files, or of TIFF files."""
    return volume.suffix in ("", ".zarr", ".h5d")


def check_place(volume: Path, *, overwrite: bool) -> None:
    """Make sure that a volume can be written.

    Raises
    ------
    WriteError
        If its folder is missing or closed to us, or the volume is there already.
    """
    folder = volume.parent
    if not os.path.isdir(folder):  # noqa: PTH112  Path.is_dir raises where a folder above is closed to us
        raise WriteError(f"there is no folder {folder}", "make it, or choose another place for the volume")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise WriteError(f"the folder {folder} is not writable", "choose another place for the volume")
    if volume.is_dir() and not (is_folder(volume) and (volume / DESCRIPTION).is_file()):
        raise WriteError(f"{volume} is a folder, and no volume of this program", "name a file in it")
    if volume.exists() and not volume.is_file() and not volume.is_dir():
        raise WriteError(f"{volume} is a device or a pipe", "name an ordinary file")
    if volume.exists() and not overwrite:
        raise WriteError(f"{volume} exists already", "say --overwrite to replace it, or choose another name")


def unfinished(partial: Path) -> WriteError:
    """Refuse to touch a volume that somebody has begun."""
    return WriteError(
        f"{partial} cannot be continued: it is no volume that this program began, or damaged beyond repair",
        "say --overwrite to start anew, or choose another name",
    )


def check_apart(volume: Path, inputs: Iterable[Path]) -> None:
    """Make sure that neither the volume nor its unfinished form takes the place of what it is made from.

    Raises
    ------
    WriteError
        If one would.
    """
    for path in (volume, partial_path(volume)):
        for source in inputs:
            if path.exists() and path.samefile(source):
                raise WriteError(
                    f"{path} is a file of the scan, and is not to be lost", "choose another name"
                )


def check_space(volume: Path, needed: int) -> None:
    """Make sure that the disk has room.

    Raises
    ------
    WriteError
        If it has not.
    """
    free = shutil.disk_usage(volume.parent).free
    if free < needed:
        raise WriteError(
            f"{volume.parent} has {format_size(free)} left, and the volume needs {format_size(needed)}",
            "make room, choose another place, or fewer --rows",
        )
