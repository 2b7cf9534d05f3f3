"""A scan as a detector with larger pixels would have taken it: the counts of b x b pixels are summed.

The sums are of counts, before darks, flats and the logarithm, as a real pixel of that size would count. Rows
and columns that are left over at the end of the detector are not used.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError
from runner.tomo.scan.defects import Defects, pack
from runner.tomo.scan.scan import FrameGroup, Scan
from runner.tomo.share import share


def binned(scan: Scan, factor: int) -> Scan:
    """Let a scan have larger pixels.

    Parameters
    ----------
    scan : Scan
        As it was taken.
    factor : int
        Pixels along both sides of one of the new pixels.

    Returns
    -------
    Scan
        Its rows, columns and pixel size are those of the new pixels.

    Raises
    ------
    UsageError
        If the detector is smaller than that.
    """
    if factor == 1:
        return scan
    if min(scan.rows, scan.columns) < factor:
        raise UsageError(
            f"bin {factor} is more than the detector's {scan.rows} rows and {scan.columns} columns",
            "choose a smaller number",
        )

    def coarse(groups: tuple[FrameGroup, ...]) -> tuple[FrameGroup, ...]:
        return tuple(replace(group, frames=replace(group.frames, binning=factor)) for group in groups)

    return replace(
        scan,
        projections=replace(scan.projections, binning=factor),
        flats=coarse(scan.flats),
        darks=coarse(scan.darks),
        rows=scan.rows // factor,
        columns=scan.columns // factor,
        pixel_size=None if scan.pixel_size is None else scan.pixel_size * factor,
        axis_hint=None if scan.axis_hint is None else binned_place(scan.axis_hint, factor),
        defects=None if scan.defects is None else _binned_defects(scan.defects, factor),
    )


def _binned_defects(defects: Defects, factor: int) -> Defects:
    """Let a new pixel be defective where one of its own is."""
    rows, columns = defects.rows // factor, defects.columns // factor
    found = defects.map()[: rows * factor, : columns * factor]
    return pack(found.reshape(rows, factor, columns, factor).max(axis=(1, 3)))


def left_over(scan: Scan, factor: int) -> str:
    """Say which rows and columns of a scan are not used; empty if all are."""
    over = {"rows": scan.rows % factor, "columns": scan.columns % factor}
    words = " and ".join(f"{number} {name}" for name, number in over.items() if number)
    return f"bin {factor} leaves out {words} at the detector's end" if words else ""


def binned_place(place: float, factor: int) -> float:
    """Say where a row or column of the detector lies among the larger pixels; centres are whole numbers.

    >>> binned_place(0.5, 2), binned_place(7.5, 4)
    (0.0, 1.5)
    """
    return (place + 0.5) / factor - 0.5


def unbinned_place(place: float, factor: int) -> float:
    """Do the reverse of `binned_place`."""
    return (place + 0.5) * factor - 0.5


def binned_range(name: str, bounds: tuple[int, int], factor: int, size: int) -> tuple[int, int]:
    """Find the larger pixels that lie wholly within a range; `size` is how many there are.

    >>> binned_range("rows", (3, 9), 2, 50)
    (2, 4)

    Raises
    ------
    UsageError
        If there are none.
    """
    first, end = -(-bounds[0] // factor), min(bounds[1] // factor, size)
    if first >= end:
        raise UsageError(
            f"{name} {bounds[0]}:{bounds[1]} hold no whole pixel of {factor} x {factor}",
            f"choose more, from a multiple of {factor} to another",
        )
    return first, end


def sum_pixels(counts: NDArray[np.number], factor: int, *, threads: int = 1) -> NDArray[np.float32]:
    """Sum b x b pixels of frames.

    Parameters
    ----------
    counts : (frame, row, column) ndarray
        As stored; the rows a multiple of `factor`.
    factor : int
        The b.
    threads : int
        How many to use.

    Returns
    -------
    (frame, row, column) float32 ndarray
        Exact for integers up to 16 bits.
    """
    frames, rows, columns = counts.shape[0], counts.shape[1] // factor, counts.shape[2] // factor
    sums = np.zeros((frames, rows, columns), np.float32)

    def add(number: int) -> None:
        for down in range(factor):
            for right in range(factor):
                sums[number] += counts[number, down::factor, right : columns * factor : factor]

    with np.errstate(invalid="ignore", over="ignore"):
        share(add, range(frames), threads)
    return sums
