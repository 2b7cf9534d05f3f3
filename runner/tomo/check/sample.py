"""A look at the pixels of a scan that costs little, however large it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.tomo.check.defects import find_defects, saturation_of
from runner.tomo.scan import FrameGroup, Frames, Images, Scan
from runner.tomo.scan.defects import Defects, pack
from runner.tomo.scan.hdf5 import dataset_at, open_file
from runner.tomo.scan.read import read_frames
from runner.tomo.scan.stored import find_stored

_CHEAP = 256 << 20  # bytes that are read without a thought
_SPREAD = 32  # frames that are looked at in any case
_SUSPECT = 0.5  # a frame that takes so much less room in the file than the others
_FEW = 5  # flats and darks of which whole frames are looked at
_VIEWS = 9  # projections of which whole frames are


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """What was seen.

    Attributes
    ----------
    projections : (angle,) float64
        Mean of some rows of each projection; NaN where it was not looked at.
    flats, darks : tuple of (frame,) float64
        The same, of each group.
    flat, dark : (row, column) float32, or None
        Medians of a few frames.
    defects : Defects
        Of the detector, as those, and a few whole projections, show them.
    pixels : int
        Pixels of projections that were looked at.
    not_finite, saturated : int
        Those of them that are NaN or infinite, or the largest number of their type.
    unwritten : int
        Frames, of any kind, that were never written to the file.
    """

    projections: NDArray[np.float64]
    flats: tuple[NDArray[np.float64], ...]
    darks: tuple[NDArray[np.float64], ...]
    flat: NDArray[np.float32] | None
    dark: NDArray[np.float32] | None
    defects: Defects
    pixels: int
    not_finite: int
    saturated: int
    unwritten: int


def take_sample(scan: Scan) -> Sample:
    """Look at three rows of the projections, flats and darks, and at a few whole frames of each.

    Where the frames are compressed, so that a row costs as much as a frame, only some of the projections
    are looked at: a few that are spread over the scan, and all that take much less room in the file than
    the others, as lost frames do.

    Raises
    ------
    MissingFileError, ScanError
        If pixels cannot be read.
    """
    looked_at = _worth_a_look(scan)
    chosen = replace(scan.projections, indices=scan.projections.indices[looked_at])
    seen = _rows_of(chosen, scan.rows)
    projections = np.full(scan.projections.count, np.nan)
    projections[looked_at] = _levels(seen)
    frames = [scan.projections, *(group.frames for group in (*scan.flats, *scan.darks))]
    flat, dark = _median(scan, scan.flats), _median(scan, scan.darks)
    return Sample(
        projections=projections,
        flats=tuple(_levels(_rows_of(group.frames, scan.rows)) for group in scan.flats),
        darks=tuple(_levels(_rows_of(group.frames, scan.rows)) for group in scan.darks),
        flat=flat,
        dark=dark,
        defects=pack(_defects(scan, flat, dark)),
        pixels=seen.size,
        not_finite=int(np.count_nonzero(~np.isfinite(seen))) if seen.dtype.kind == "f" else 0,
        saturated=_saturated(seen),
        unwritten=sum(_unwritten(some) for some in frames),
    )


def _rows_of(frames: Frames | Images, rows: int) -> NDArray[np.number]:
    """Read three rows, (frame, row, column)."""
    places = sorted({rows // 4, rows // 2, 3 * rows // 4})
    return np.concatenate([read_frames(frames, slice(row, row + 1)) for row in places], axis=1)


def _levels(pixels: NDArray[np.number]) -> NDArray[np.float64]:
    """Mean of what is finite of each frame; 0 where nothing is."""
    finite = np.isfinite(pixels)
    total = np.where(finite, pixels, 0).sum(axis=(1, 2), dtype=np.float64)
    return np.asarray(total / np.maximum(finite.sum(axis=(1, 2)), 1))


def _saturated(pixels: NDArray[Any]) -> int:
    if pixels.dtype.kind == "f":
        return 0
    return int(np.count_nonzero(pixels == np.iinfo(pixels.dtype).max))


def _median(scan: Scan, groups: Sequence[FrameGroup]) -> NDArray[np.float32] | None:
    if not groups:
        return None
    frames = groups[0].frames
    few = replace(frames, indices=frames.indices[: min(_FEW, _fitting(scan))])
    return np.asarray(np.median(read_frames(few, slice(0, scan.rows)), axis=0), np.float32)


def _fitting(scan: Scan) -> int:
    """Say how many whole frames can be read without a thought."""
    return max(_CHEAP // (scan.rows * scan.columns * scan.dtype.itemsize), 1)


def _defects(
    scan: Scan, flat: NDArray[np.float32] | None, dark: NDArray[np.float32] | None
) -> NDArray[np.uint8]:
    views = read_frames(_spread(scan.projections, min(_VIEWS, _fitting(scan))), slice(0, scan.rows))
    return find_defects(flat, dark, views, saturation_of(flat, views))


def _spread(frames: Frames | Images, most: int) -> Frames | Images:
    """Choose some frames, evenly over all."""
    numbers = np.unique(np.linspace(0, frames.count - 1, most).round().astype(np.int64))
    return replace(frames, indices=frames.indices[numbers])


def _worth_a_look(scan: Scan) -> NDArray[np.int64]:
    """Numbers of the projections to look at, ascending."""
    frames, count = scan.projections, scan.projections.count
    sizes = _sizes(frames)
    if sizes is None or count * scan.rows * scan.columns * scan.dtype.itemsize <= _CHEAP:
        return np.arange(count)
    spread = np.linspace(0, count - 1, min(_SPREAD, count)).round().astype(np.int64)
    return np.union1d(spread, np.flatnonzero(sizes < _SUSPECT * np.median(sizes)))


def _sizes(frames: Frames | Images) -> NDArray[np.int64] | None:
    """Bytes that each frame takes in its file; None where any of its rows can be read alone."""
    if isinstance(frames, Images):
        if frames.pages > 1:
            return None
        return np.array([path.stat().st_size for path in frames.files])[frames.indices]
    with open_file(frames.file) as file:
        stored = find_stored(dataset_at(file, frames.dataset))
    if stored is None or not stored.filters:
        return None
    return np.asarray(stored.sizes.sum(axis=(1, 2))[frames.indices // stored.block[0]])


def _unwritten(frames: Frames | Images) -> int:
    """Count the frames of which a part was never written."""
    if isinstance(frames, Images):
        return 0
    with open_file(frames.file) as file:
        dataset = dataset_at(file, frames.dataset)
        if dataset.is_virtual or dataset.external or dataset.ndim != 3:
            return 0
        stored = find_stored(dataset)
        if stored is None:
            return frames.count if dataset.id.get_storage_size() == 0 else 0
    holes = (stored.sizes == 0).any(axis=(1, 2))[frames.indices // stored.block[0]]
    return int(np.count_nonzero(holes))
