"""An object whose projections and whose slices are both known exactly: ellipsoids.

Lengths are in centimetres, attenuations in 1/cm, so that line integrals have no unit. The axes are those
of a reconstructed volume (see :class:`~runner.tomo.reconstruct.geometry.Geometry`): x to the right, y
downwards in a slice, z along the detector's rows; the rotation axis is x = y = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Gauss quadrature with four points over the height of a pixel: points from -1 to 1, weights of sum 1
_POINTS = np.array([-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526])
_WEIGHTS = np.array([0.17392742256872692, 0.32607257743127308, 0.32607257743127308, 0.17392742256872692])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ellipsoid:
    """A homogeneous ellipsoid, turned about an axis parallel to the rotation axis.

    Where ellipsoids overlap, their attenuations add; a negative one makes a hole.

    Attributes
    ----------
    center : tuple of float
        x, y, z of the middle, cm.
    half_axes : tuple of float
        Along its own three axes, cm.
    turn : float
        Angle from x to its own first axis, towards y, degrees.
    attenuation : float
        1/cm.
    """

    center: tuple[float, float, float]
    half_axes: tuple[float, float, float]
    attenuation: float
    turn: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """The detector that sees the object.

    Attributes
    ----------
    rows, columns : int
        Its shape, pixels.
    pixel : float
        Size of a pixel, cm.
    center : float
        Column of the rotation axis, pixel centres at 0, 1, ...; z = 0 is the middle row.
    """

    rows: int
    columns: int
    pixel: float
    center: float

    def heights(self) -> NDArray[np.float64]:
        """Height z of the middle of each row, (row,) cm."""
        rows = np.arange(self.rows, dtype=np.float64)
        return (rows - (self.rows - 1) / 2) * self.pixel

    def borders(self) -> NDArray[np.float64]:
        """Distance of the pixels' borders from the axis, (column + 1,) cm."""
        borders = np.arange(self.columns + 1, dtype=np.float64)
        return (borders - 0.5 - self.center) * self.pixel


def example(radius: float, height: float) -> tuple[Ellipsoid, ...]:
    """Make an object with a body, a shell, holes, a dense grain and fine rods.

    Parameters
    ----------
    radius : float
        Distance from the rotation axis within which it lies, cm.
    height : float
        Height of the field of view; the body is taller, the grains lie inside, cm.
    """
    table = (  # middle and half axes in units of the radius (x, y) and of the height (z), turn, 1/cm
        ((0.0, 0.0, 0.0), (0.96, 0.82, 3.0), 0.0, 1.2),
        ((0.0, 0.02, 0.0), (0.86, 0.72, 2.7), 0.0, -0.5),
        ((0.35, -0.1, 0.1), (0.16, 0.36, 0.45), 18.0, -0.5),
        ((-0.38, 0.05, -0.05), (0.2, 0.3, 0.5), -24.0, 0.9),
        ((0.05, 0.42, 0.0), (0.14, 0.14, 0.35), 0.0, 2.3),
        ((-0.1, -0.4, 0.0), (0.22, 0.12, 0.4), 35.0, 0.4),
        ((0.42, 0.36, 0.0), (0.07, 0.07, 2.0), 0.0, 1.5),
        ((-0.55, -0.3, 0.0), (0.05, 0.05, 2.0), 0.0, 1.5),
    )
    return tuple(
        Ellipsoid(
            center=(x * radius, y * radius, z * height),
            half_axes=(a * radius, b * radius, c * height),
            turn=turn,
            attenuation=attenuation,
        )
        for (x, y, z), (a, b, c), turn, attenuation in table
    )


def project(
    ellipsoids: Iterable[Ellipsoid], angles: Sequence[float] | NDArray[np.float64], detector: Detector
) -> NDArray[np.float32]:
    """Project ellipsoids: line integrals, averaged over each pixel.

    The average is exact along the rows of the detector, and by four-point Gauss quadrature across them.

    Parameters
    ----------
    ellipsoids : iterable of Ellipsoid
    angles : (angle,) sequence of float
        Degrees.
    detector : Detector

    Returns
    -------
    (angle, row, column) float32 ndarray
        Line integrals of the attenuation, without unit.
    """
    radians = np.deg2rad(np.asarray(angles, np.float64))
    projections = np.zeros((len(radians), detector.rows, detector.columns), np.float32)
    for ellipsoid in ellipsoids:
        rows, sections = _sections(ellipsoid, detector)
        for projection, angle in zip(projections, radians, strict=True):
            _add_projection(projection[rows], ellipsoid, angle, sections, detector)
    return projections


def _sections(ellipsoid: Ellipsoid, detector: Detector) -> tuple[slice, NDArray[np.float64]]:
    """Find the rows that see an ellipsoid, and its width there.

    Returns
    -------
    rows : slice
    sections : (row, point) float64 ndarray
        Width of the horizontal section over the largest one, at the points of the quadrature; never
        quite 0.
    """
    heights = detector.heights()[:, np.newaxis] + _POINTS / 2 * detector.pixel
    squares = 1 - ((heights - ellipsoid.center[2]) / ellipsoid.half_axes[2]) ** 2
    seen = np.flatnonzero((squares > 0).any(axis=1))
    rows = slice(int(seen[0]), int(seen[-1]) + 1) if len(seen) else slice(0, 0)
    return rows, np.sqrt(np.clip(squares[rows], 1e-30, None))


def _add_projection(
    projection: NDArray[np.float32],
    ellipsoid: Ellipsoid,
    angle: float,
    sections: NDArray[np.float64],
    detector: Detector,
) -> None:
    """Add what one ellipsoid casts on the rows of the detector that see it."""
    x, y, _ = ellipsoid.center
    a, b, _ = ellipsoid.half_axes
    relative = angle + math.radians(ellipsoid.turn)
    width = math.hypot(a * math.cos(relative), b * math.sin(relative))  # half of its shadow
    middle = x * math.cos(angle) - y * math.sin(angle)
    borders = detector.borders()
    first, last = np.searchsorted(borders, (middle - width, middle + width))
    first, last = max(int(first) - 1, 0), min(int(last), detector.columns)
    shadow = width * sections[:, :, np.newaxis]
    t = np.clip(borders[first : last + 1] - middle, -shadow, shadow)
    # the integral of the chord 2 a b sqrt(shadow^2 - t^2) / width^2 over t
    areas = t * np.sqrt(shadow**2 - t**2) + shadow**2 * np.arcsin(t / shadow)
    area = np.tensordot(areas, _WEIGHTS, (1, 0))
    scale = ellipsoid.attenuation * a * b / width**2 / detector.pixel
    projection[:, first:last] += scale * np.diff(area, axis=1)


def voxelise(
    ellipsoids: Iterable[Ellipsoid], *, slices: int, size: int, pixel: float, samples: int = 3
) -> NDArray[np.float32]:
    """Make the volume that a perfect reconstruction shows.

    Parameters
    ----------
    ellipsoids : iterable of Ellipsoid
    slices, size : int
        Slices, and pixels along both sides of each; the rotation axis is in the middle of them.
    pixel : float
        Size of a voxel, cm.
    samples : int
        Points per voxel and direction, over which it is averaged.

    Returns
    -------
    (slice, y, x) float32 ndarray
        Attenuation, 1/cm.
    """
    volume = np.zeros((slices, size, size), np.float32)
    for ellipsoid in ellipsoids:
        reach = max(ellipsoid.half_axes[:2])
        extents = (ellipsoid.half_axes[2], reach, reach)
        box = tuple(
            _covered(count, middle / pixel, extent / pixel)
            for count, middle, extent in zip(volume.shape, ellipsoid.center[::-1], extents, strict=True)
        )
        volume[box] += ellipsoid.attenuation * _filled(ellipsoid, box, volume.shape, pixel, samples)
    return volume


def _covered(count: int, middle: float, extent: float) -> slice:
    """Voxels along one axis that an interval around `middle` touches; both in voxels from the centre."""
    center = (count - 1) / 2
    first = max(math.floor(center + middle - extent), 0)
    return slice(min(first, count), max(min(math.ceil(center + middle + extent) + 1, count), 0))


def _filled(
    ellipsoid: Ellipsoid,
    box: tuple[slice, ...],
    shape: tuple[int, ...],
    pixel: float,
    samples: int,
) -> NDArray[np.float32]:
    """Share of each voxel of a box that lies in the ellipsoid, (slice, y, x)."""
    points = (np.arange(samples) + 0.5) / samples - 0.5
    z, y, x = (
        ((np.arange(part.start, part.stop)[:, np.newaxis] + points).ravel() - (count - 1) / 2) * pixel
        - middle
        for part, count, middle in zip(box, shape, ellipsoid.center[::-1], strict=True)
    )
    a, b, c = ellipsoid.half_axes
    cos, sin = math.cos(math.radians(ellipsoid.turn)), math.sin(math.radians(ellipsoid.turn))
    along, across = x * cos + y[:, np.newaxis] * sin, y[:, np.newaxis] * cos - x * sin
    flat = (along / a) ** 2 + (across / b) ** 2
    counts = [part.stop - part.start for part in box]
    share = np.zeros(counts, np.float32)
    for index, height in enumerate(z):
        inside = flat + (height / c) ** 2 <= 1
        share[index // samples] += (
            inside.reshape(counts[1], samples, counts[2], samples).mean((1, 3)) / samples
        )
    return share
