"""Scans in DXchange form: the group `exchange` with `data`, `data_white`, `data_dark` and `theta`.

Its description: https://dxfile.readthedocs.io and De Carlo et al., J. Synchrotron Rad. 21 (2014) 1224-1230,
https://doi.org/10.1107/S160057751401604X. Older files put all of that one level down, into `exchange/data`.
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

_INSTRUMENT = "measurement/instrument"


def entries(file: h5py.File) -> list[str]:
    """Find the group of a file that holds a scan: none or one."""
    group = file.get("exchange")
    if not isinstance(group, h5py.Group) or group.get("data", getlink=True) is None:
        return []
    return ["exchange/data" if isinstance(group.get("data"), h5py.Group) else "exchange"]


def read_dxchange(
    file: h5py.File, entry: str, *, path: Path, angles: NDArray[np.float64] | None = None
) -> Scan:
    """Read the headers of a scan.

    The form does not say when the flats were taken, unless `theta_white` gives their angles: without
    it they count as one group in the middle, and the same flat holds for all projections.

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
    projections = stack_at(group, "data")
    given = _angles(group, len(projections)) if angles is None else angles
    return Scan(
        path=path,
        format="dxchange",
        entry=entry,
        projections=frames_of(projections, np.arange(len(projections))),
        angles=given,
        flats=_groups_of(group, "data_white", "theta_white", projections, given),
        darks=_groups_of(group, "data_dark", "theta_dark", projections, given),
        rows=projections.shape[1],
        columns=projections.shape[2],
        dtype=projections.dtype,
        pixel_size=_pixel_size(file),
        energy=first_quantity(
            file, (f"{_INSTRUMENT}/monochromator/energy",), KILOELECTRONVOLTS, default="keV"
        ),
        title=text_at(file, "measurement/sample/name") or text_at(group, "title"),
    )


def _angles(group: h5py.Group, count: int) -> NDArray[np.float64]:
    stored = dataset_at(group, "theta")
    angles: NDArray[np.float64] = np.ravel(stored[()]).astype(np.float64) * degrees_per_unit(stored)
    if len(angles) != count:
        raise ScanError(
            f"{_name(stored)} has {len(angles)} angles, but there are {count} projections",
            "cut them to the projections that belong to them",
        )
    if count:
        check_angles(angles, source=_name(stored), units=attribute(stored, "units"))
    return angles


def _groups_of(
    group: h5py.Group, name: str, theta: str, projections: h5py.Dataset, angles: NDArray[np.float64]
) -> tuple[FrameGroup, ...]:
    if find(group, name) is None:
        return ()
    frames = stack_at(group, name)
    if frames.shape[1:] != projections.shape[1:]:
        raise ScanError(
            f"{_name(frames)} has frames of {frames.shape[1:]} pixels, but the projections have"
            f" {projections.shape[1:]}",
            "they are not of the same scan",
        )
    positions = np.full(len(frames), len(angles) / 2)
    stored = find(group, theta)
    if isinstance(stored, h5py.Dataset) and stored.size == len(frames) and np.all(np.diff(angles) > 0):
        taken = np.ravel(stored[()]) * degrees_per_unit(stored)
        positions = np.searchsorted(angles, taken).astype(np.float64)
    return tuple(
        FrameGroup(frames=frames_of(frames, np.flatnonzero(positions == position)), position=float(position))
        for position in np.unique(positions)
    )


def _pixel_size(file: h5py.File) -> float | None:
    """Size of a pixel at the sample: as the beamline states it, or the detector's over the magnification."""
    stated = first_quantity(
        file, (f"{_INSTRUMENT}/detection_system/objective/resolution",), METRES, default="um"
    )
    on_detector = first_quantity(file, (f"{_INSTRUMENT}/detector/x_pixel_size",), METRES, default="m")
    magnification = first_quantity(
        file, (f"{_INSTRUMENT}/detector/objective/magnification",), {"": 1.0, "x": 1.0}, default=""
    )
    if stated is None and on_detector is not None and magnification is not None:
        return on_detector / magnification
    return stated


def _name(item: h5py.Dataset) -> str:
    return f"{item.name} of {item.file.filename}"
