"""The geometry of a parallel-beam reconstruction: one frozen value that every method reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Where a ray of a sinogram lies in a slice.

    The ray of angle `a` and detector column ``u`` is the line ``x cos a - y sin a + center = u``, with
    `x` along a slice's last axis and `y` along its first one (downwards), both counted from the
    slice's middle: the rotation axis falls on pixel ``(size - 1) / 2``. Pixel centres are whole numbers.

    Attributes
    ----------
    angles : tuple of float
        Rotation angle of each projection, degrees.
    columns : int
        Detector columns of a sinogram.
    size : int
        Pixels along both sides of a slice; a pixel is as wide as a detector column.
    center : float
        Detector column of the rotation axis.
    """

    angles: tuple[float, ...]
    columns: int
    size: int
    center: float

    @property
    def radians(self) -> NDArray[np.float64]:
        """The angles in radians, (angle,)."""
        return np.deg2rad(np.asarray(self.angles, dtype=np.float64))

    @property
    def weight(self) -> float:
        """The share of each projection in the integral over half a turn, radians.

        The angles are taken to be evenly spread over a whole number of half turns. Each point is then
        seen equally often from every side, and 180 and 360 degrees have the same weight: pi divided
        by the number of angles. A scan that also repeats its first direction as its last has one
        interval less than angles; it is divided by the intervals, as the field's programs do.
        """
        angles = np.sort(self.angles)
        span = angles[-1] - angles[0]
        intervals = len(angles) - 1
        half_turns = round(span / 180)
        ends_meet = half_turns > 0 and abs(span - 180 * half_turns) < span / intervals / 2
        return float(np.pi / (intervals if ends_meet else len(angles)))

    def pixel_positions(self) -> NDArray[np.float64]:
        """Distance of the pixels of one side from the rotation axis, (size,) pixels."""
        return np.arange(self.size, dtype=np.float64) - (self.size - 1) / 2
