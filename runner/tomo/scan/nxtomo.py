"""Scans in NXtomo form (NeXus), and those whose files keep the same parts under other names.

The definition is https://manual.nexusformat.org/classes/applications/NXtomo.html: one stack of frames, an
`image_key` that says what each one is, and a rotation angle for each.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo.scan.angles import check_angles
from runner.tomo.scan.hdf5 import attribute, dataset_at, find, text_at
from runner.tomo.scan.quantities import KILOELECTRONVOLTS, METRES, degrees_per_unit, first_quantity
from runner.tomo.scan.scan import FrameGroup, Scan
from runner.tomo.scan.stack import frames_of, stack_at

PROJECTION, FLAT, DARK, INVALID, ALIGNMENT = 0, 1, 2, 3, -1
_KEYS = (PROJECTION, FLAT, DARK, INVALID, ALIGNMENT)
_ANGLE_NAMES = ("rotation_angle", "theta", "angle", "rot")


def entries(file: h5py.File) -> list[str]:
    """Find the groups of a file that hold a scan: declared as NXtomo, or else with a detector like one's."""
    groups = _groups(file)
    declared = [name for name in groups if text_at(file[name], "definition") == "NXtomo"]
    return declared or [name for name in groups if _detectors(file[name])]


def read_nxtomo(
    file: h5py.File, entry: str, *, path: Path, angles: NDArray[np.float64] | None = None
) -> Scan:
    """Read the headers of a scan.

    Parameters
    ----------
    file : h5py.File
        The open file.
    entry : str
        The group that holds the scan, one of :func:`entries`.
    path : Path
        The file as the user named it.
    angles : (angle,) float64, optional
        Angles of the projections in degrees, in place of those in the file.

    Raises
    ------
    MissingFileError
        If a file that holds a part of the scan is missing.
    ScanError
        If no right volume can be made of it.
    """
    group = file[entry]
    detector = _detector(group)
    frames = stack_at(detector, "data")
    keys = _image_keys(detector, len(frames))
    chosen = np.flatnonzero(keys == PROJECTION)
    given = _angles(group, frames, chosen) if angles is None else angles
    return Scan(
        path=path,
        format="nxtomo",
        entry=entry,
        projections=frames_of(frames, chosen),
        angles=given,
        flats=_groups_of(frames, keys, FLAT),
        darks=_groups_of(frames, keys, DARK),
        rows=frames.shape[1],
        columns=frames.shape[2],
        dtype=frames.dtype,
        pixel_size=first_quantity(
            group,
            ("sample/x_pixel_size", f"{_below(group, detector)}/x_pixel_size"),
            METRES,
            default="m",
        ),
        energy=first_quantity(
            group,
            ("instrument/beam/incident_energy", "beam/incident_energy"),
            KILOELECTRONVOLTS,
            default="keV",
        ),
        distance=first_quantity(group, (f"{_below(group, detector)}/distance",), METRES, default="m"),
        title=text_at(group, "title") or text_at(group, "sample/name"),
    )


def _groups(file: h5py.File) -> list[str]:
    """Names of the groups in which an entry may be: the root's, and their own."""
    found = []
    for outer in file:
        group = file.get(outer)
        if isinstance(group, h5py.Group):
            found.append(outer)
            found += [f"{outer}/{inner}" for inner in group if isinstance(group.get(inner), h5py.Group)]
    return found


def _detectors(group: h5py.Group) -> list[str]:
    """Names of the detectors that have an image key, the usual name first."""
    instrument = group.get("instrument")
    if not isinstance(instrument, h5py.Group):
        return []
    names = sorted(instrument, key=lambda name: name != "detector")
    return [
        f"instrument/{name}"
        for name in names
        if f"{name}/image_key" in instrument or f"{name}/image_key_control" in instrument
    ]


def _detector(group: h5py.Group) -> h5py.Group:
    """Choose the detector whose frames can be opened; the first if none can, for the message about it."""
    names = _detectors(group)
    if not names:
        raise ScanError(
            f"{_name(group)} has no detector with an image_key, which says what each frame is",
            "choose another entry, or add it (0 projection, 1 flat, 2 dark)",
        )
    readable = (name for name in names if isinstance(group.get(f"{name}/data"), h5py.Dataset))
    return group[next(readable, names[0])]


def _image_keys(detector: h5py.Group, count: int) -> NDArray[np.int64]:
    """Read what each frame is; `image_key_control`, where there is one, marks alignment frames too."""
    name = "image_key_control" if "image_key_control" in detector else "image_key"
    keys = np.ravel(dataset_at(detector, name)[()]).astype(np.int64)
    if len(keys) != count:
        raise ScanError(
            f"{_name(detector)}: {name} has {len(keys)} values, but data has {count} frames",
            "the scan was probably aborted: cut them to the frames that belong together",
        )
    if unknown := set(np.unique(keys).tolist()) - set(_KEYS):
        raise ScanError(
            f"{_name(detector)}: {name} has the values {sorted(unknown)}; known are"
            " 0 projection, 1 flat, 2 dark, 3 invalid, -1 alignment",
            "correct them",
        )
    return keys


def _angles(group: h5py.Group, frames: h5py.Dataset, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    stored = _angle_dataset(group, frames)
    values = np.ravel(stored[()]).astype(np.float64)
    if len(values) != len(frames):
        raise ScanError(
            f"{_name(stored)} has {len(values)} angles, but there are {len(frames)} frames",
            "each frame needs one, flats and darks too",
        )
    angles: NDArray[np.float64] = values[chosen] * degrees_per_unit(stored)
    if len(angles):
        check_angles(angles, source=_name(stored), units=attribute(stored, "units"))
    return angles


def _angle_dataset(group: h5py.Group, frames: h5py.Dataset) -> h5py.Dataset:
    found = find(group, "sample/rotation_angle")
    if isinstance(found, h5py.Dataset):
        return found
    for name in group:
        item = group.get(name)
        if isinstance(item, h5py.Group) and _plots(item, frames):
            for axis in _frame_axes(item):
                if isinstance(item.get(axis), h5py.Dataset):
                    return item[axis]
    raise ScanError(f"{_name(group)} has no sample/rotation_angle", "add the angle of each frame, in degrees")


def _plots(item: h5py.Group, frames: h5py.Dataset) -> bool:
    """Whether an NXdata group shows these very frames."""
    signal = item.get(attribute(item, "signal") or "data")
    return attribute(item, "NX_class") == "NXdata" and isinstance(signal, h5py.Dataset) and signal == frames


def _frame_axes(item: h5py.Group) -> list[str]:
    """Names of the axes of an NXdata group that count the frames and sound like the rotation angle."""
    suffix = "_indices"
    names = [name.removesuffix(suffix) for name in item.attrs if name.endswith(suffix)]
    first = [name for name in names if 0 in np.ravel(item.attrs[name + suffix])]
    return [name for word in _ANGLE_NAMES for name in first if word in name]


def _groups_of(dataset: h5py.Dataset, keys: NDArray[np.int64], key: int) -> tuple[FrameGroup, ...]:
    """Frames of one kind, those between the same two projections together."""
    chosen = np.flatnonzero(keys == key)
    before = np.cumsum(keys == PROJECTION)[chosen]  # projections taken before each frame
    return tuple(
        FrameGroup(frames=frames_of(dataset, chosen[before == position]), position=float(position))
        for position in np.unique(before)
    )


def _below(group: h5py.Group, detector: h5py.Group) -> str:
    return str(detector.name).removeprefix(str(group.name)).strip("/")


def _name(item: h5py.Group | h5py.Dataset) -> str:
    return f"{item.name} of {item.file.filename}"
