"""One value for every scan, whatever file it came from: where the frames are, and what they mean.

Opening a scan reads headers only; the pixels are read later, by the workers, a few rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runner.tomo.scan.defects import Defects
from runner.tomo.scan.finding import Finding


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
    binning : int
        So many pixels along both sides are read as one, see :mod:`runner.tomo.scan.binning`.
    """

    file: Path
    dataset: str
    indices: NDArray[np.int64]
    binning: int = 1

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self.indices)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are named."""
        return (self.file,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Images:
    """Some frames of a series of image files.

    Attributes
    ----------
    folder : Path
        Where they lie.
    names : tuple of str
        The files, in the order in which they were taken.
    pages : int
        How many images each file holds.
    indices : (frame,) int64
        Which frames, ascending; those of the first file come first.
    binning : int
        As of `Frames`.
    """

    folder: Path
    names: tuple[str, ...]
    pages: int
    indices: NDArray[np.int64]
    binning: int = 1

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self.indices)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are named."""
        return tuple(self.folder / name for name in self.names)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrameGroup:
    """Flats or darks that were taken together, and when.

    Attributes
    ----------
    frames : Frames or Images
        The frames of the group.
    position : float
        Where the group stands in the sequence of projections: 0 before the first, `n` after the
        last of n projections, 0.5 n in the middle. Flats are interpolated along this axis.
    currents : (frame,) float64, or None
        Of the storage ring, at each frame, in any unit; None where it is not known.
    """

    frames: Frames | Images
    position: float
    currents: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    """A parallel-beam scan.

    Attributes
    ----------
    path : Path
        The file that the user named.
    format : str
        ``"nxtomo"``, ``"dxchange"``, ``"hdf5"`` or ``"images"``.
    entry : str
        The group in the file that holds the scan.
    projections : Frames or Images
        The projections, in the order in which they were taken.
    angles : (angle,) float64
        Rotation angle of each projection, degrees.
    flats, darks : tuple of FrameGroup
        In the order in which they were taken. Either may be empty only if the reader was told so.
    rows, columns : int
        The detector's shape, pixels; larger ones where the frames are binned.
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
    axis_hint : float or None
        Detector column of the rotation axis as the file tells it.
    currents : (angle,) float64, or None
        Of the storage ring, at each projection, in the flats' unit; None where it is not known.
    beam : float
        Counts of a detector's pixel in the beam without sample, where there are no flats: 1 if the
        projections are transmissions.
    defects : Defects or None
        Pixels that are not to be used, but interpolated in their rows, where preflight has looked for them.
    findings : tuple of Finding
        What was noticed when it was opened.
    """

    path: Path
    format: str
    entry: str
    projections: Frames | Images
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
    axis_hint: float | None = None
    currents: NDArray[np.float64] | None = None
    beam: float = 1.0
    defects: Defects | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def binning(self) -> int:
        """How many pixels of the detector, along both sides, are one of `rows` and `columns`."""
        return self.projections.binning
