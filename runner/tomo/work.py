"""The sizes of what is to be done, taken from a scan and from what was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from runner.tomo.correct.corrections import Corrections
from runner.tomo.reconstruct.acquisition import acquisition_of
from runner.tomo.reconstruct.iterative.rays import with_room
from runner.tomo.scan import Scan
from runner.tomo.scan.binning import binned_range
from runner.tomo.scan.layout import rows_together
from runner.tomo.settings.ranges import part_within

PIXEL = 4
"""Bytes of a pixel while it is worked on: float32."""

Range = tuple[int | None, int | None]
"""First and end, which is not included; None for the outermost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The sizes of what is to be done.

    Attributes
    ----------
    first_row, end_row : int
        Detector rows, the end not included; each makes one slice.
    columns, angles : int
        Shape of a sinogram.
    flats, darks : int
        Frames of the largest group of flats, and of all darks.
    frames : int
        All frames that are read.
    itemsize : int
        Bytes of a stored pixel.
    binning : int
        Stored pixels along both sides of one of those that are counted here.
    size : int
        Pixels along both sides of a whole slice.
    detector_rows : int
        All rows that there are.
    rows_together : int
        Rows that lie in the file in such a way that they are only read together.
    margin : int
        Rows above and below a chunk that its corrections need.
    thread_bytes : int
        What each thread takes for a pixel of a sinogram that it corrects.
    pixel_bytes : int
        Of the volume's type.
    extent, half, blended
        See :class:`~runner.tomo.reconstruct.acquisition.Acquisition`.
    seen : int
        See there; with the room that the object has beside it.
    region : pair of pair of int, or None
        The part of the slices that is wanted, see
        :class:`~runner.tomo.reconstruct.geometry.Geometry`.
    method, quality, device : str
        See :class:`runner.tomo.reconstruct.Reconstructor`.
    """

    first_row: int
    end_row: int
    columns: int
    angles: int
    flats: int
    darks: int
    frames: int
    itemsize: int
    size: int
    detector_rows: int
    rows_together: int = 1
    margin: int = 0
    thread_bytes: int = 0
    pixel_bytes: int = PIXEL
    binning: int = 1
    extent: int | None = None
    seen: int = 0
    half: bool = False
    blended: bool = False
    region: tuple[tuple[int, int], tuple[int, int]] | None = None
    method: str = "fourier"
    quality: str = "standard"
    device: str = "cpu"

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.end_row - self.first_row

    @property
    def shape(self) -> tuple[int, int]:
        """Pixels of what is wanted of a slice, (y, x)."""
        if self.region is None:
            return self.size, self.size
        (y, y_end), (x, x_end) = self.region
        return y_end - y, x_end - x


def work_of(
    scan: Scan,
    first_row: int,
    end_row: int,
    corrections: Corrections,
    *,
    center: float | None = None,
    field: str = "auto",
    x: Range | None = None,
    y: Range | None = None,
    method: str = "fourier",
    quality: str = "standard",
    device: str = "cpu",
    room: float = 1.0,
) -> Work:
    """Take the sizes from a scan.

    Parameters
    ----------
    center : float or None
        Column of the rotation axis; None if not known yet. Then half acquisition may turn out to make slices
        larger.
    x, y : pair of int or None, or None
        The part of the slices that is wanted, in pixels that are not binned.
    room : float
        How many times as wide as what the detector sees the object may be.

    Raises
    ------
    ScanError
        If half acquisition is asked for, and the scan is no full turn.
    UsageError
        If the part is not in the slice.
    """
    acquisition = acquisition_of(scan.angles.tolist(), scan.columns, center, field)
    most = 2 * scan.columns if center is None and acquisition.may_be_half else acquisition.size
    part_y, part_x = (
        _part_of(name, part, acquisition.size, most, scan) for name, part in (("y", y), ("x", x))
    )
    flats = [group.frames.count for group in scan.flats]
    darks = sum(group.frames.count for group in scan.darks)
    return Work(
        first_row=first_row,
        end_row=end_row,
        columns=scan.columns,
        angles=scan.projections.count,
        flats=max(flats, default=0),
        darks=darks,
        frames=scan.projections.count + sum(flats) + darks,
        itemsize=scan.dtype.itemsize,
        binning=scan.binning,
        size=acquisition.size,
        region=None if x is None and y is None else (part_y, part_x),
        extent=acquisition.extent,
        seen=with_room(acquisition.seen, room),
        half=acquisition.half,
        blended=acquisition.blended,
        detector_rows=scan.rows,
        rows_together=-(-rows_together(scan.projections) // scan.binning),
        margin=corrections.margin,
        thread_bytes=corrections.bytes_per_pixel,
        method=method,
        quality=quality,
        device=device,
    )


def _part_of(name: str, part: Range | None, size: int, most: int, scan: Scan) -> tuple[int, int]:
    """Find the pixels of a part of a slice of `size` pixels; there may be `most` once more is known."""
    factor = scan.binning
    return binned_range(name, part_within(name, part, size * factor, most * factor), factor, most)
