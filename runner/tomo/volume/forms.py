"""The forms that a volume may have, told by its name, and what is the same for all of them.

Every form has a file that describes the volume and holds the status and the checksum of each slice; for the
forms that are folders it lies beside the pixels (:data:`DESCRIPTION`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from runner.errors import WriteError
from runner.tomo.volume import hdf5_parts, ome_zarr, tiff_stack
from runner.tomo.volume.claim import claimed
from runner.tomo.volume.content import ChunkRecord, Content
from runner.tomo.volume.hdf5 import DATASET, create_file, note_end
from runner.tomo.volume.place import DESCRIPTION, is_folder, partial_path
from runner.tomo.volume.slab import Files, Target, check_own
from runner.tomo.volume.spare import keep_spare, spare_path

_PARTS = ".h5d"


def pixels_of(volume: Path) -> str:
    """Name the pixels in a volume; empty where all of it is pixels."""
    if volume.suffix == ".zarr":
        return ome_zarr.ARRAY
    if volume.suffix == _PARTS:
        return f"{DESCRIPTION}::{DATASET}"
    return "" if is_folder(volume) else DATASET


def viewer_of(volume: Path) -> tuple[str, Path]:
    """Name a program that opens a volume, and what of the volume is to be opened."""
    if volume.suffix == _PARTS:
        return "silx view", volume / DESCRIPTION
    return "napari" if is_folder(volume) else "silx view", volume


def description_of(volume: Path) -> Path:
    """Tell where the description of an unfinished volume is."""
    return partial_path(volume) / DESCRIPTION if is_folder(volume) else partial_path(volume)


def create_volume(volume: Path, content: Content, *, overwrite: bool = False) -> Target:
    """Make a volume, under its unfinished name, with room for all pixels.

    Always new files, never old ones emptied: whoever still writes into those does us no harm. It has another
    name until all of it is on the disk: one whose making was cut short never looks like a volume.

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
    new, partial = volume.with_name(f".{volume.name}.new"), partial_path(volume)
    if overwrite:
        _remove(partial)
    _remove(new)
    try:
        with _removed_if_in_vain(new):
            target = _create(new, volume, content)
            keep_spare(target, new / DESCRIPTION if target.files else partial)
            _sync_folders(new)
            _sync(target.path)
            _take_name(new, partial)
        _sync(volume.parent)
    except ModuleNotFoundError as error:
        raise WriteError(
            f"{volume} needs {error.name}, which is not installed", "pip install 'tomo-runner[volumes]'"
        ) from error
    except OSError as error:
        raise WriteError(f"{volume} cannot be written ({error})", "see to the file system") from error
    return replace(target, path=description_of(volume))


def lay_out_again(volume: Path, content: Content) -> None:
    """Put back what the files of an unfinished volume hold beside pixels, and files that are gone.

    That is the same in every run; what is right already is not touched. What describes the volume has a copy
    instead, see :mod:`runner.tomo.volume.spare`.

    Raises
    ------
    WriteError
        If they cannot be written.
    """
    if is_folder(volume):
        try:
            _lay_out(partial_path(volume), volume, content)
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
        _sync_all(target.place)
        _sync(target.path)
        if volume.is_dir():  # a folder cannot be replaced at once
            _remove(_old(volume))
            volume.rename(_old(volume))
        target.place.replace(volume)
        _sync(volume.parent)
        _remove_helpers(volume)
    except OSError as error:
        raise WriteError(f"{volume} cannot be finished ({error})", "see to the file system") from error
    return clipped


def sweep(volume: Path) -> None:
    """Remove what a run that was killed right after it had finished a volume has left beside it."""
    with contextlib.suppress(WriteError), claimed(volume):
        _remove_helpers(volume)


def discard_volume(target: Target) -> None:
    """Remove an unfinished volume, if it is still ours."""
    with contextlib.suppress(WriteError):
        check_own(target)
        _remove(target.place)
        _remove(spare_path(target.path))


def _create(new: Path, volume: Path, content: Content) -> Target:
    if not is_folder(volume):
        return create_file(new, content, tiff=volume.suffix in (".tif", ".tiff"))
    new.mkdir()
    files, offset = _lay_out(new, volume, content)
    return create_file(new / DESCRIPTION, content, files=files, offset=offset)


def _lay_out(folder: Path, volume: Path, content: Content) -> tuple[Files, int]:
    lay_out = {".zarr": ome_zarr.lay_out, _PARTS: hdf5_parts.lay_out}.get(volume.suffix, tiff_stack.lay_out)
    return lay_out(folder, content)


def _take_name(new: Path, partial: Path) -> None:
    """Rename what was made; where file systems have no locks, another run may have been faster."""
    if partial.exists():
        raise WriteError(
            f"{partial} was begun by another run just now", "let one run at a time make a volume"
        )
    new.rename(partial)


@contextmanager
def _removed_if_in_vain(new: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(WriteError):
            _remove(new)
        raise


def _remove_helpers(volume: Path) -> None:
    """Remove what only an unfinished volume needs, once there is none."""
    if is_folder(volume):
        _remove(_old(volume))
        _remove(spare_path(volume / DESCRIPTION))
    elif not partial_path(volume).exists():
        _remove(spare_path(partial_path(volume)))


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


def _sync_all(volume: Path) -> None:
    """Bring all of a volume to the disk; the workers have done so with the pixels, so this costs little."""
    for folder, _, files in os.walk(volume):
        for name in files:
            _sync(Path(folder) / name)
    _sync_folders(volume)


def _sync_folders(volume: Path) -> None:
    for folder, _, _ in os.walk(volume):
        _sync(Path(folder))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
