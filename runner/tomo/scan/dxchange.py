"""Scans in DXchange form: the group `exchange` with `data`, `data_white`, `data_dark` and `theta`.

Its description: https://dxfile.readthedocs.io and De Carlo et al., J. Synchrotron Rad. 21 (2014) 1224-1230,
https://doi.org/10.1107/S160057751401604X. Older files put all of that one level down, into `exchange/data`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo.scan.angles import in_degrees
from runner.tomo.scan.finding import Problems
from runner.tomo.scan.hdf5 import attribute, find, name_of, text_at
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
    file: h5py.File,
    entry: str,
    *,
    path: Path,
    problems: Problems,
    angles: NDArray[np.float64] | None = None,
) -> Scan | None:
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
    problems : Problems
        Takes what is wrong with it.
    angles : (angle,) float64, optional
        Angles of the projections in degrees, in place of those in the file.

    Returns
    -------
    Scan or None
        None if there are no projections.
    """
    group = file[entry]
    projections = problems.attempt(stack_at, group, "data")
    if projections is None:
        return None
    if angles is None:
        angles = problems.attempt(_angles, group, len(projections), problems)
    if angles is None:
        angles = np.full(len(projections), np.nan)
    flats = problems.attempt(_groups_of, group, "data_white", "theta_white", projections, angles)
    darks = problems.attempt(_groups_of, group, "data_dark", "theta_dark", projections, angles)
    scan = Scan(
        path=path,
        format="dxchange",
        entry=entry,
        projections=frames_of(projections, np.arange(len(projections))),
        angles=angles,
        flats=flats or (),
        darks=darks or (),
        rows=projections.shape[1],
        columns=projections.shape[2],
        dtype=projections.dtype,
        title=text_at(file, "measurement/sample/name") or text_at(group, "title"),
    )
    return problems.attempt(_with_quantities, scan, file) or scan


def _with_quantities(scan: Scan, file: h5py.File) -> Scan:
    """Add the size of a pixel and the energy."""
    energies = (f"{_INSTRUMENT}/monochromator/energy",)
    return replace(
        scan,
        pixel_size=_pixel_size(file),
        energy=first_quantity(file, energies, KILOELECTRONVOLTS, default="keV"),
    )


def _angles(group: h5py.Group, count: int, problems: Problems) -> NDArray[np.float64]:
    stored = find(group, "theta")
    if not isinstance(stored, h5py.Dataset):
        raise ScanError(
            f"{group.file.filename} has no dataset {group.name}/theta", "give the angles as --angles A:B:N"
        )
    values = np.ravel(stored[()]).astype(np.float64)
    if len(values) != count:
        raise ScanError(
            f"{name_of(stored)} has {len(values)} angles, but there are {count} projections",
            "cut them to the projections that belong to them",
        )
    return in_degrees(values, source=name_of(stored), units=attribute(stored, "units"), problems=problems)


def _groups_of(
    group: h5py.Group, name: str, theta: str, projections: h5py.Dataset, angles: NDArray[np.float64]
) -> tuple[FrameGroup, ...]:
    if find(group, name) is None:
        return ()
    frames = stack_at(group, name)
    if frames.shape[1:] != projections.shape[1:]:
        raise ScanError(
            f"{name_of(frames)} has frames of {frames.shape[1:]} pixels, but the projections have"
            f" {projections.shape[1:]}",
            "they are not of the same scan",
        )
    positions = np.full(len(frames), len(angles) / 2)
    stored = find(group, theta)
    if isinstance(stored, h5py.Dataset) and stored.size == len(frames) and np.all(np.diff(angles) > 0):
        taken = np.ravel(stored[()]) * degrees_per_unit(attribute(stored, "units"), name_of(stored))
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
