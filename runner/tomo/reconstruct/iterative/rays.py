"""What the steps are made of: the projector, its adjoint, and the disc that the object lies in."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.memory import Layout
from runner.tomo.reconstruct.gridding.pair import make_pair


def full_size(size: int, seen: int) -> int:
    """Choose how large slices are while they are made, so that the disc holds all that the detector sees.

    Parameters
    ----------
    size : int
        Pixels along both sides of the slices that are wanted; they lie in the middle of the others.
    seen : int
        Columns of a detector with the axis in its middle that sees as much.

    >>> full_size(100, 100), full_size(100, 103), full_size(100, 60)
    (100, 104, 100)
    """
    return size + 2 * max(math.ceil((seen - size) / 2), 0)


def seen_by(geometry: Geometry) -> int:
    """Tell how many columns a detector with the axis in its middle has that sees all of the object.

    That is as much as this one sees, times the room that the object has.
    """
    reach = max(float(geometry.centers.max()), geometry.columns - 1 - float(geometry.centers.min()))
    return with_room(math.ceil(2 * reach) + 1, geometry.room)


def with_room(seen: int, room: float) -> int:
    """Widen what a detector sees.

    >>> with_room(100, 1.0), with_room(101, 1.5)
    (100, 152)
    """
    return math.ceil(seen * room)


class Rays:
    """A projector of slices that are zero outside of a disc, each view times the root of what it counts.

    Rays that the detector does not see are in no equation: half acquisition needs no weights.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie, with the shares of the projections: how much the misfit of each counts.
    quality : str
        Of the projector.
    layout : Layout
        How much is computed at once.
    threads : int
        How many compute.

    Attributes
    ----------
    inside : (y, x) bool ndarray
        The disc.
    roots : (angle,) float32 ndarray
        Factors of the views.
    """

    def __init__(self, geometry: Geometry, quality: str, layout: Layout, threads: int) -> None:
        shares = geometry.weights * len(geometry.angles) / np.pi
        self.roots = np.sqrt(shares).astype(np.float32)
        self._geometry = replace(
            geometry,
            size=full_size(geometry.size, seen_by(geometry)),
            region=None,
            shares=tuple(np.sqrt(shares).tolist()),
            half_acquisition=False,
        )
        y, x = self._geometry.y, self._geometry.x
        self.inside = np.asarray(np.hypot(x, y[:, np.newaxis]) <= self._geometry.size / 2)
        self._pair = make_pair(self._geometry, quality, layout, threads)

    @property
    def size(self) -> int:
        """Pixels along both sides of a slice."""
        return self._geometry.size

    def lengths(self) -> NDArray[np.float32]:
        """Tell how long each ray is within the disc, at least a pixel, (angle, column) float32."""
        distance = np.arange(self._geometry.columns) - self._geometry.centers[:, np.newaxis]
        square = (self._geometry.size / 2) ** 2 - distance**2
        lengths: NDArray[np.float32] = np.maximum(2 * np.sqrt(np.maximum(square, 0)), 1).astype(np.float32)
        return lengths

    def counts(self) -> NDArray[np.float32]:
        """Tell by how many views, times their shares, each pixel is seen, (y, x) float32."""
        views = np.empty((1, len(self.roots), self._geometry.columns), np.float32)
        views[:] = self.roots[:, np.newaxis]
        seen = np.empty((1, self.size, self.size), np.float32)
        self._pair.backproject(views, seen)
        return seen.reshape(self.size, self.size)

    def project(self, slices: NDArray[np.float32], sinograms: NDArray[np.float32]) -> None:
        """Project slices (slice, y, x) that are zero outside of the disc into sinograms."""
        self._pair.project(slices, sinograms)

    def backproject(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Apply the adjoint."""
        self._pair.backproject(sinograms, slices)
        slices *= self.inside

    def close(self) -> None:
        """End the threads."""
        self._pair.close()
