"""One value for every scan, whatever file it came from: where the frames are, and what they mean.

Opening a scan reads headers only; the pixels are read later, by the workers, a few rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frames:
    """Some frames of one HDF5 dataset.

    Attributes
    ----------
    file : Path
        The HDF5 file to open.
    dataset : str
        Path inside the file of a dataset with axes (frame, row, column).
    indices : (frame,) int64
        Which frames along the first axis, ascending.
    """

    file: Path
    dataset: str
    indices: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self.indices)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrameGroup:
    """Flats or darks that were taken together, and when.

    Attributes
    ----------
    frames : Frames
        The frames of the group.
    position : float
        Where the group stands in the sequence of projections: 0 before the first, `n` after the
        last of n projections, 0.5 n in the middle. Flats are interpolated along this axis.
    """

    frames: Frames
    position: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    """A parallel-beam scan.

    Attributes
    ----------
    path : Path
        The file that the user named.
    format : str
        ``"nxtomo"`` or ``"dxchange"``.
    entry : str
        The group in the file that holds the scan.
    projections : Frames
        The projections, in the order in which they were taken.
    angles : (angle,) float64
        Rotation angle of each projection, degrees.
    flats, darks : tuple of FrameGroup
        In the order in which they were taken. Either may be empty only if the reader was told so.
    rows, columns : int
        The detector's shape, pixels.
    dtype : np.dtype
        Type of the stored pixels.
    pixel_size : float or None
        Size of a detector pixel at the sample, metres.
    energy : float or None
        Photon energy, keV.
    distance : float or None
        From the sample to the detector, metres.
    title : str
        The scan's own name, for people.
    """

    path: Path
    format: str
    entry: str
    projections: Frames
    angles: NDArray[np.float64]
    flats: tuple[FrameGroup, ...]
    darks: tuple[FrameGroup, ...]
    rows: int
    columns: int
    dtype: np.dtype[np.generic]
    pixel_size: float | None = None
    energy: float | None = None
    distance: float | None = None
    title: str = ""
