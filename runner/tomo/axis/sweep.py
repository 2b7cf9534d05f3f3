"""The same slice about many axes, for eyes to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError, WriteError
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.acquisition import acquisition_of
from runner.tomo.reconstruct.shares import shares_of
from runner.tomo.scan import Scan

_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """One slice, reconstructed about several axes.

    Attributes
    ----------
    row : int
        The detector row.
    centers : (axis,) float64
        Columns: exactly those that were used.
    slices : (axis, y, x) float32
        1/pixel; the axis falls on the middle of each.
    """

    row: int
    centers: NDArray[np.float64]
    slices: NDArray[np.float32]


def parse_sweep(text: str) -> tuple[float, ...]:
    """Read a sweep ``A:B:STEP``, with its end if a step falls on it.

    >>> parse_sweep("85:86:0.5")
    (85.0, 85.5, 86.0)

    Raises
    ------
    UsageError
        If it is none, or longer than 200 steps.
    """
    try:
        first, last, step = (float(part) for part in text.split(":"))
        count = int(np.floor((last - first) / step + 1e-9)) + 1
    except (ValueError, ZeroDivisionError, OverflowError):
        count = 0
    if not 1 <= count <= _MOST:
        raise UsageError(
            f"center {text!r} is no sweep", f"write A:B:STEP with 1 to {_MOST} steps, like 80:90:0.5"
        )
    return tuple(round(first + step * number, 6) for number in range(count))


def make_sweep(scan: Scan, row: int, centers: tuple[float, ...], *, threads: int = 1) -> Sweep:
    """Reconstruct a row about each of some axes.

    Slices of a full turn are as wide as the widest of them needs, so that they can be compared.

    Raises
    ------
    UsageError
        If the row or an axis lies outside of the detector.
    """
    if not 0 <= row < scan.rows:
        raise UsageError(f"row {row} is not on the detector", f"choose within 0:{scan.rows}")
    angles = scan.angles.tolist()
    sinograms = corrected_sinograms(scan, slice(row, row + 1), threads=threads)
    weights = shares_of(scan.angles)
    taken = [acquisition_of(angles, scan.columns, center) for center in centers]
    size = max(one.size for one in taken)
    slices = np.empty((len(centers), size, size), np.float32)
    for image, center, one in zip(slices, centers, taken, strict=True):
        with Reconstructor(
            angles=angles,
            columns=scan.columns,
            size=size,
            center=center,
            half_acquisition=one.blended,
            weights=weights,
            threads=threads,
        ) as reconstruct:
            image[:] = reconstruct(sinograms)[0]
    return Sweep(row=row, centers=np.array(centers), slices=slices)


def write_sweep(path: Path, sweep: Sweep) -> None:
    """Write a sweep as NeXus: the slices, and the axis of each.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    try:
        with h5py.File(path, "w") as file:
            entry = file.create_group("entry")
            data = entry.create_group("data")
            file.attrs["default"], entry.attrs["default"] = "entry", "data"
            entry.attrs["NX_class"], data.attrs["NX_class"] = "NXentry", "NXdata"
            data.attrs["signal"], data.attrs["axes"] = "data", ["center", "y", "x"]
            data["data"], data["center"], entry["row"] = sweep.slices, sweep.centers, sweep.row
            data["data"].attrs["units"], data["center"].attrs["units"] = "1/pixel", "pixel"
    except OSError as error:
        raise WriteError(
            f"{path} cannot be written ({error})", "check its folder and the space left"
        ) from error
