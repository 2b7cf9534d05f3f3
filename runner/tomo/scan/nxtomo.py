"""Scans in NXtomo form (NeXus), and those whose files keep the same parts under other names.

The definition is https://manual.nexusformat.org/classes/applications/NXtomo.html: one stack of frames, an
`image_key` that says what each one is, and a rotation angle for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo.scan.angles import in_degrees
from runner.tomo.scan.currents import ring_currents
from runner.tomo.scan.finding import Finding, Problems, note, warning
from runner.tomo.scan.hdf5 import attribute, dataset_at, find, name_of, text_at
from runner.tomo.scan.quantities import KILOELECTRONVOLTS, METRES, first_quantity
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
    file: h5py.File,
    entry: str,
    *,
    path: Path,
    problems: Problems,
    angles: NDArray[np.float64] | None = None,
) -> Scan | None:
    """Read the headers of a scan.

    Parameters
    ----------
    file : h5py.File
        The open file.
    entry : str
        The group that holds the scan, one of :func:`entries`.
    path : Path
        The file as the user named it.
    problems : Problems
        Takes what is wrong with it.
    angles : (angle,) float64, optional
        Angles of the projections in degrees, in place of those in the file.

    Returns
    -------
    Scan or None
        None if it cannot be told what the frames are.
    """
    group = file[entry]
    detector = problems.attempt(_detector, group)
    if detector is None:
        return None
    frames = problems.attempt(stack_at, detector, "data")
    if frames is None:
        return None
    keys = problems.attempt(_image_keys, detector, len(frames))
    stored = problems.attempt(_angle_of_each, group, frames) if angles is None else None
    if keys is None:
        return None
    chosen = np.flatnonzero(keys == PROJECTION)
    if angles is None:
        angles = np.full(len(chosen), np.nan)
        if stored is not None and len(chosen):
            angles = in_degrees(
                stored.values[chosen], source=stored.name, units=stored.units, problems=problems
            )
    problems.findings += _orientation(detector)
    currents = ring_currents(group, len(frames), problems)
    scan = Scan(
        path=path,
        format="nxtomo",
        entry=entry,
        projections=frames_of(frames, chosen),
        angles=angles,
        flats=_groups_of(frames, keys, FLAT, currents),
        darks=_groups_of(frames, keys, DARK, currents),
        currents=None if currents is None else currents[chosen],
        rows=frames.shape[1],
        columns=frames.shape[2],
        dtype=frames.dtype,
        title=text_at(group, "title") or text_at(group, "sample/name"),
        axis_hint=_axis_hint(detector, frames.shape[2]),
    )
    return problems.attempt(_with_quantities, scan, group, detector) or scan


def _with_quantities(scan: Scan, group: h5py.Group, detector: h5py.Group) -> Scan:
    """Add the lengths and the energy."""
    below = str(detector.name).removeprefix(str(group.name)).strip("/")
    sizes = ("sample/x_pixel_size", f"{below}/x_pixel_size")
    energies = ("instrument/beam/incident_energy", "beam/incident_energy")
    return replace(
        scan,
        pixel_size=first_quantity(group, sizes, METRES, default="m"),
        energy=first_quantity(group, energies, KILOELECTRONVOLTS, default="keV"),
        distance=first_quantity(group, (f"{below}/distance",), METRES, default="m"),
    )


def _axis_hint(detector: h5py.Group, columns: int) -> float | None:
    """Column of the rotation axis, which NXtomo counts from the middle of the detector."""
    stored = detector.get("x_rotation_axis_pixel_position")
    if not isinstance(stored, h5py.Dataset) or stored.size != 1 or stored.dtype.kind not in "iuf":
        return None
    position = (columns - 1) / 2 + float(np.ravel(stored[()])[0])
    return position if 0 <= position <= columns - 1 else None


def _orientation(detector: h5py.Group) -> list[Finding]:
    """Tell what the detector says about its field of view, and whether it saw a mirror image."""
    found = []
    if text_at(detector, "field_of_view").lower() == "half":
        found.append(note("the scan says that its field of view is half: the axis is near one end of it"))
    if _is_set(detector, "x_flipped"):  # what parallel rays show from the other side
        what = "the detector's left and right are exchanged (x_flipped): slices will be turned by half a turn"
        found.append(note(what, "that is no mirror image"))
    if _is_set(detector, "y_flipped"):
        what = "the detector's top and bottom are exchanged (y_flipped): the volume will be a mirror image"
        found.append(warning(what, "reverse the order of its slices, if the hand of the object matters"))
    return found


def _is_set(detector: h5py.Group, name: str) -> bool:
    stored = detector.get(name)
    return isinstance(stored, h5py.Dataset) and stored.size == 1 and bool(np.ravel(stored[()])[0])


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
            f"{name_of(group)} has no detector with an image_key, which says what each frame is",
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
            f"{name_of(detector)}: {name} has {len(keys)} values, but data has {count} frames",
            "the scan was probably aborted: cut them to the frames that belong together",
        )
    if unknown := set(np.unique(keys).tolist()) - set(_KEYS):
        raise ScanError(
            f"{name_of(detector)}: {name} has the values {sorted(unknown)}; known are"
            " 0 projection, 1 flat, 2 dark, 3 invalid, -1 alignment",
            "correct them",
        )
    return keys


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Angles:
    """The angle of each frame, as stored."""

    values: NDArray[np.float64]
    units: str
    name: str


def _angle_of_each(group: h5py.Group, frames: h5py.Dataset) -> _Angles:
    stored = _angle_dataset(group, frames)
    values = np.ravel(stored[()]).astype(np.float64)
    if len(values) != len(frames):
        raise ScanError(
            f"{name_of(stored)} has {len(values)} angles, but there are {len(frames)} frames",
            "each frame needs one, flats and darks too",
        )
    return _Angles(values=values, units=attribute(stored, "units"), name=name_of(stored))


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
    raise ScanError(f"{name_of(group)} has no sample/rotation_angle", "give the angles as --angles A:B:N")


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


def _groups_of(
    dataset: h5py.Dataset, keys: NDArray[np.int64], key: int, currents: NDArray[np.float64] | None
) -> tuple[FrameGroup, ...]:
    """Frames of one kind, those between the same two projections together."""
    chosen = np.flatnonzero(keys == key)
    before = np.cumsum(keys == PROJECTION)[chosen]  # projections taken before each frame
    return tuple(
        FrameGroup(
            frames=frames_of(dataset, chosen[before == position]),
            position=float(position),
            currents=None if currents is None else currents[chosen[before == position]],
        )
        for position in np.unique(before)
    )
