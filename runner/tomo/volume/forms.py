"""The forms that a volume may have, told by its name, and what is the same for all of them.

Every form has a file that describes the volume and holds the status and the checksum of each slice; for the
forms that are folders it lies beside the pixels (:data:`DESCRIPTION`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from runner.errors import WriteError
from runner.tomo.volume import ome_zarr, tiff_stack
from runner.tomo.volume.content import ChunkRecord, Content
from runner.tomo.volume.hdf5 import DATASET, create_file, note_end
from runner.tomo.volume.place import DESCRIPTION, is_folder, partial_path
from runner.tomo.volume.slab import Files, Target, check_own


def pixels_of(volume: Path) -> str:
    """Name the pixels in a volume; empty where all of it is pixels."""
    if volume.suffix == ".zarr":
        return ome_zarr.ARRAY
    return "" if is_folder(volume) else DATASET


def viewer_of(volume: Path) -> str:
    """Name a program that opens a volume."""
    return "napari" if is_folder(volume) else "silx view"


def description_of(volume: Path) -> Path:
    """Tell where the description of an unfinished volume is."""
    return partial_path(volume) / DESCRIPTION if is_folder(volume) else partial_path(volume)


def create_volume(volume: Path, content: Content, *, overwrite: bool = False) -> Target:
    """Make a volume, under its unfinished name, with room for all pixels.

    Always new files, never old ones emptied: whoever still writes into those does us no harm.

    Parameters
    ----------
    volume : Path
        The name that it will have.
    content : Content
        All but the pixels.
    overwrite : bool
        Remove what another run has left under the unfinished name.

    Raises
    ------
    WriteError
        If it cannot be written, or another run's is there.
    """
    if overwrite:
        _remove(partial_path(volume))
    if not is_folder(volume):
        return create_file(partial_path(volume), content, tiff=volume.suffix in (".tif", ".tiff"))
    lay_out = ome_zarr.lay_out if volume.suffix == ".zarr" else tiff_stack.lay_out
    try:
        return _create_folder(volume, content, lay_out)
    except ModuleNotFoundError as error:
        raise WriteError(
            f"{volume} needs {error.name}, which is not installed", "pip install 'tomo-runner[volumes]'"
        ) from error
    except OSError as error:
        raise WriteError(f"{volume} cannot be written ({error})", "see to the file system") from error


def finish_volume(volume: Path, target: Target, records: Sequence[ChunkRecord]) -> tuple[int, int, int]:
    """Note how the chunks went, and give a complete volume its name.

    Returns
    -------
    below, above, not a number : int
        Pixels that the volume's type could not hold.

    Raises
    ------
    WriteError
        If it cannot be done, the volume has become another run's, or a slice is not marked as written.
    """
    check_own(target)
    try:
        clipped = note_end(target.path, records)
        _sync(target.path)
        if volume.is_dir():  # a folder cannot be replaced at once
            _remove(_old(volume))
            volume.rename(_old(volume))
        target.place.replace(volume)
        _sync(volume.parent)
        _remove(_old(volume))
    except OSError as error:
        raise WriteError(f"{volume} cannot be finished ({error})", "see to the file system") from error
    return clipped


def discard_volume(target: Target) -> None:
    """Remove an unfinished volume, if it is still ours."""
    with contextlib.suppress(WriteError):
        check_own(target)
        _remove(target.place)


def _create_folder(
    volume: Path, content: Content, lay_out: Callable[[Path, Content], tuple[Files, int]]
) -> Target:
    """Make a folder under another name first: one whose making was cut short never looks like a volume."""
    new, partial = volume.with_name(f".{volume.name}.new"), partial_path(volume)
    _remove(new)
    new.mkdir()
    files, offset = lay_out(new, content)
    target = create_file(new / DESCRIPTION, content, files=files, offset=offset)
    for folder, _, _ in os.walk(new):
        _sync(Path(folder))
    try:
        new.rename(partial)
    except OSError as error:
        _remove(new)
        raise WriteError(
            f"{partial} was begun by another run just now", "let one run at a time make a volume"
        ) from error
    _sync(volume.parent)
    return replace(target, path=partial / DESCRIPTION)


def _old(volume: Path) -> Path:
    return volume.with_name(f".{volume.name}.old")


def _remove(path: Path) -> None:
    try:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(f"{path} cannot be removed ({error})", "see to the file system") from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
