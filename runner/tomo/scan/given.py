"""The parts of a scan that the user names apart: flats, darks and angles in other places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from runner.errors import MissingFileError, ScanError
from runner.tomo.scan.angles import in_degrees
from runner.tomo.scan.finding import Problems
from runner.tomo.scan.hdf5 import attribute, dataset_at, find, name_of, open_file
from runner.tomo.scan.images import frames_in, is_images, size_of
from runner.tomo.scan.scan import FrameGroup, Frames, Scan
from runner.tomo.scan.stack import frames_of, stack_at
from runner.tomo.sources import Sources, angle_range, places

_NUMBERS = (".txt", ".csv", ".dat", ".ang", ".npy")


def read_angles(text: str, scan: Path, problems: Problems) -> NDArray[np.float64]:
    """Read the angles of the projections from where the user says.

    Parameters
    ----------
    text : str
        See :class:`runner.tomo.sources.Sources`.
    scan : Path
        The scan's file.
    problems : Problems
        Takes what is wrong with the values.

    Returns
    -------
    (angle,) float64 ndarray
        Degrees.

    Raises
    ------
    MissingFileError, ScanError
        If they cannot be read.
    UsageError
        If the text is a range that makes no sense.
    """
    if (spread := angle_range(text)) is not None:
        first, end, count = spread
        return first + np.arange(count, dtype=np.float64) * ((end - first) / count)
    file, inside = places(text)[0]
    path = locate(file, scan)
    if not inside and path.suffix.lower() in _NUMBERS:
        values, units = _numbers(path), "degree"
    else:
        with open_file(path) as opened:
            stored = dataset_at(opened, inside or "angles")
            values, units = np.ravel(stored[()]).astype(np.float64), attribute(stored, "units")
    return in_degrees(values, source=text, units=units, problems=problems)


def _numbers(path: Path) -> NDArray[np.float64]:
    delimiter = "," if path.suffix.lower() == ".csv" else None
    try:
        npy = path.suffix.lower() == ".npy"
        stored: ArrayLike = np.load(path) if npy else np.loadtxt(path, delimiter=delimiter)
        numbers: NDArray[np.float64] = np.asarray(stored, np.float64).ravel()
    except (OSError, ValueError) as error:
        raise ScanError(
            f"{path} cannot be read as numbers ({error})", "write one angle in each line"
        ) from error
    return numbers


def replace_groups(scan: Scan, sources: Sources) -> Scan:
    """Take flats and darks from where the user says, in place of the scan's own.

    Raises
    ------
    MissingFileError, ScanError
        If they cannot be opened, or are of another detector.
    """
    return replace(
        scan,
        flats=scan.flats if sources.flats is None else _groups(scan, sources.flats, "flats"),
        darks=scan.darks if sources.darks is None else _groups(scan, sources.darks, "darks"),
    )


def locate(name: str, scan: Path) -> Path:
    """Find a file that is named as seen from here, or from the scan's folder; no name is the scan itself.

    Raises
    ------
    MissingFileError
        If it is in neither place.
    """
    if not name:
        return scan
    here, there = Path(name).expanduser(), scan.parent / name
    if not here.exists() and not there.exists():
        raise MissingFileError(
            f"no such file or folder: {name}", f"name it as seen from here or {scan.parent}"
        )
    return here if here.exists() else there


def _groups(scan: Scan, text: str, kind: str) -> tuple[FrameGroup, ...]:
    groups: list[FrameGroup] = []
    parts = places(text)
    count = scan.projections.count
    taken = np.linspace(0, count, len(parts)) if len(parts) > 1 else np.array([count / 2])
    for (file, inside), position in zip(parts, taken.tolist(), strict=True):
        path = locate(file, scan.path)
        if is_images(path):
            frames = frames_in(path)
            _check_shape(scan, size_of(frames)[:2], str(path))
            groups.append(FrameGroup(frames=frames, position=position))
        else:
            with open_file(path) as opened:
                groups += _groups_in(scan, opened, inside, kind, position)
    return tuple(sorted(groups, key=lambda group: group.position))


def _groups_in(scan: Scan, file: h5py.File, inside: str, kind: str, position: float) -> list[FrameGroup]:
    """Find frames in an HDF5 file: a stack, or frames that are named by their place in the scan."""
    found = find(file, inside) if inside else _guess(file, kind)
    if found is None:
        raise ScanError(
            f"{file.filename} has no {inside or 'one dataset or group'} of {kind}",
            "name it as FILE::/PATH",
        )
    if isinstance(found, h5py.Dataset):
        return [FrameGroup(frames=_stack(scan, found), position=position)]
    numbered = sorted((int(name), name) for name in found if name.isdigit())
    if not numbered:
        raise ScanError(f"{name_of(found)} holds no frames named by numbers", "name a dataset in it")
    return [
        FrameGroup(frames=_stack(scan, dataset_at(found, name)), position=_position(scan, number))
        for number, name in numbered
    ]


def _guess(file: h5py.File, kind: str) -> h5py.Group | h5py.Dataset | None:
    """Find the group `flats` or `darks` of any entry, as nabu writes it, or else the only stack of a file."""
    for entry in file.values():
        if isinstance(entry, h5py.Group) and isinstance(entry.get(kind), h5py.Group):
            return entry[kind]
    stacks: list[h5py.Dataset] = []

    def look(_: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim == 3:
            stacks.append(item)

    file.visititems(look)
    return stacks[0] if len(stacks) == 1 else None


def _stack(scan: Scan, dataset: h5py.Dataset) -> Frames:
    if dataset.ndim == 2:
        _check_shape(scan, dataset.shape, name_of(dataset))
        return frames_of(dataset, np.zeros(1, np.int64))
    stack = stack_at(dataset.file, dataset.name)
    _check_shape(scan, stack.shape[1:], name_of(stack))
    return frames_of(stack, np.arange(len(stack)))


def _check_shape(scan: Scan, shape: tuple[int, ...], name: str) -> None:
    if tuple(shape) != (scan.rows, scan.columns):
        raise ScanError(
            f"{name} has frames of {tuple(shape)} pixels, but the projections have"
            f" {(scan.rows, scan.columns)}",
            "they are not of the same scan",
        )


def _position(scan: Scan, number: int) -> float:
    """Projections that were taken before a frame of the scan."""
    indices = scan.projections.indices
    return float(np.searchsorted(indices, number))
