"""The geometry of a parallel-beam reconstruction: one frozen value that every method reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Where a ray of a sinogram lies in a slice, and how much it counts.

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
    region : pair of pair of int, or None
        The part of a slice that is wanted, ``((y, y_end), (x, x_end))``, ends not included; None for all.
    shifts : tuple of float, or None
        For each projection, by how many columns the rotation axis lies further right than `center`.
    shares : tuple of float, or None
        For each projection, its share in the integral over half a turn, radians; None for equal ones.
    half_acquisition : bool
        The axis lies near one end of the detector, and each ray is measured once in a full turn.
    room : float
        How many times as wide as what the detector sees the object may be, to methods that ask.
    """

    angles: tuple[float, ...]
    columns: int
    size: int
    center: float
    region: tuple[tuple[int, int], tuple[int, int]] | None = None
    shifts: tuple[float, ...] | None = None
    shares: tuple[float, ...] | None = None
    half_acquisition: bool = False
    room: float = 1.0

    @property
    def radians(self) -> NDArray[np.float64]:
        """The angles in radians, (angle,)."""
        return np.deg2rad(np.asarray(self.angles, dtype=np.float64))

    @property
    def centers(self) -> NDArray[np.float64]:
        """Detector column of the rotation axis in each projection, (angle,)."""
        shifts = np.zeros(len(self.angles)) if self.shifts is None else np.array(self.shifts)
        return np.asarray(self.center + shifts)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The share of each projection in the integral over half a turn, radians, (angle,)."""
        if self.shares is not None:
            return np.array(self.shares)
        return np.full(len(self.angles), self.weight)

    @property
    def weight(self) -> float:
        """The share of each projection where all have the same, radians.

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

    @property
    def full_turn(self) -> bool:
        """Whether the angles span 360 degrees, perhaps but for the last step."""
        span = max(self.angles) - min(self.angles)
        step = span / max(len(self.angles) - 1, 1)
        return bool(360 - 1.5 * step <= span <= 360 + 0.5 * step)

    @property
    def column_weights(self) -> NDArray[np.float64]:
        """What each column counts, (column,): 1, but for half acquisition.

        There opposite views overlap near the axis, and share those rays: the weights of the columns at
        the distances t and -t from the axis add up to 2, with a smooth turn, as each ray is seen once in a
        turn in place of twice.
        """
        if not self.half_acquisition:
            return np.ones(self.columns)
        distance = np.arange(self.columns) - self.center
        last = self.columns - 1 - self.center
        overlap = min(self.center, last)
        if self.center > last:
            distance = -distance
        share = np.sin(np.pi / 4 * (1 + np.clip(distance / max(overlap, 1e-9), -1, 1))) ** 2
        return np.asarray(2 * share)

    @property
    def extent(self) -> int:
        """Columns of a detector with the axis in its middle that sees all that this one sees."""
        if not self.half_acquisition:
            return self.columns
        return int(np.ceil(2 * max(self.center, self.columns - 1 - self.center))) + 1

    @property
    def shape(self) -> tuple[int, int]:
        """Pixels of what is wanted of a slice, (y, x)."""
        return len(self.y), len(self.x)

    @property
    def whole(self) -> Geometry:
        """The same for all of a slice: what a region is cut out of, so that no bit depends on it."""
        return replace(self, region=None)

    @property
    def window(self) -> tuple[slice, slice]:
        """Where in a slice the part that is wanted lies, (y, x)."""
        (y, y_end), (x, x_end) = self.region or ((0, self.size), (0, self.size))
        return slice(y, y_end), slice(x, x_end)

    @property
    def y(self) -> NDArray[np.float64]:
        """Distance of the rows of the result from the rotation axis, (y,) pixels, downwards."""
        return self._positions(None if self.region is None else self.region[0])

    @property
    def x(self) -> NDArray[np.float64]:
        """Distance of the columns of the result from the rotation axis, (x,) pixels."""
        return self._positions(None if self.region is None else self.region[1])

    def _positions(self, part: tuple[int, int] | None) -> NDArray[np.float64]:
        begin, end = (0, self.size) if part is None else part
        return np.arange(begin, end, dtype=np.float64) - (self.size - 1) / 2


def gap_shares(angles: Sequence[float], full_turn: bool = False) -> tuple[float, ...]:
    """Share half a turn among projections at uneven angles: half of the gap on both sides of each.

    Parameters
    ----------
    angles : sequence of float
        Degrees, in any order.
    full_turn : bool
        Opposite views do not show the same: gaps are those on the full circle.

    >>> [round(share / np.pi * 180) for share in gap_shares([0, 100, 40])]
    [60, 70, 50]
    """
    period = 360 if full_turn else 180
    folded = np.mod(angles, period)
    order = np.argsort(folded, kind="stable")
    gaps = np.diff(folded[order], append=folded[order[0]] + period)  # after each
    shares = np.empty(len(folded))
    shares[order] = (gaps + np.roll(gaps, 1)) / 2
    return tuple((shares * np.pi / period).tolist())
