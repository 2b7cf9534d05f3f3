"""How many slices a GPU takes at once, and how large a tile of the grid: decided from sizes alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from runner.tomo.reconstruct.gridding.memory import Sizes

PIECE = 32
"""Points of a piece, at most."""

ANGLES = 64
"""Projections that the first step takes at once."""

COUNT_TYPES: Mapping[np.dtype[np.generic], str] = MappingProxyType(
    {
        np.dtype(np.uint8): "unsigned char",
        np.dtype(np.int16): "short",
        np.dtype(np.uint16): "unsigned short",
        np.dtype(np.int32): "int",
        np.dtype(np.uint32): "unsigned int",
        np.dtype(np.float32): "float",
    }
)
"""Types of counts that the GPU makes line integrals of, with their names in C: none is larger than these."""

_LANES = (32, 16, 8, 4, 2, 1)
_THREADS = 128
_COLUMNS = 16  # of a tile: so many complex numbers fill a line of the GPU's memory
_ROWS = (16, 8, 4)
_COMPLEX, _REAL = 8, 4  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the second step is laid out; the slices do not depend on `lanes`.

    Attributes
    ----------
    lanes : int
        Slices at once; a power of two.
    rows, columns : int
        Cells of a tile along u and along v.
    width : int
        Cells that a point touches along one axis.
    """

    lanes: int
    rows: int
    columns: int
    width: int

    @property
    def block(self) -> tuple[int, int]:
        """Threads of a block: slices, and owners of a tile's rows, a power of two."""
        return self.lanes, _THREADS // self.lanes

    @property
    def shared(self) -> int:
        """Bytes of shared memory that a block takes: the tile, and a place and weights for each thread."""
        cells = self.rows * self.columns * (self.lanes + 1)  # one more, so that columns lie in other banks
        return cells * _COMPLEX + _THREADS * (2 + 2 * self.width) * _REAL

    @property
    def defines(self) -> dict[str, int]:
        """What the kernel is compiled for."""
        lanes, owners = self.block
        return {
            "LANES": lanes,
            "OWNERS": owners,
            "TILE_ROWS": self.rows,
            "TILE_COLUMNS": self.columns,
            "WIDTH": self.width,
            "PIECE": PIECE,
        }


def device_bytes(sizes: Sizes, columns: int, shape: tuple[int, int], lanes: int) -> int:
    """Predict the memory of the GPU that a group of `lanes` slices takes.

    Parameters
    ----------
    sizes : Sizes
        Of the problem.
    columns : int
        Of the detector.
    shape : (int, int)
        Pixels of a slice, (y, x).
    lanes : int
        Slices.
    """
    height, width = shape
    moved = 2 * _REAL * (sizes.angles * columns + height * width)  # one group comes while another one goes
    spectra = _COMPLEX * sizes.angles * sizes.points
    first = min(ANGLES, sizes.angles) * (2 * _REAL * sizes.length + 3 * _COMPLEX * sizes.points)
    grid = _COMPLEX * sizes.rows * sizes.along
    # along v: the transform, and its cropped copy; along u: turned, the transform, the cropped copy
    third = _COMPLEX * sizes.rows * (sizes.along + 3 * height) + _REAL * height * (2 * sizes.across + width)
    return lanes * (moved + spectra + grid + max(first, third))


def host_bytes(angles: int, columns: int, shape: tuple[int, int], lanes: int) -> int:
    """Predict the memory of the host that a group of `lanes` slices takes, while another one goes."""
    return 2 * lanes * _REAL * (angles * columns + shape[0] * shape[1])


def choose_lanes(fits: Callable[[int], bool]) -> int:
    """Choose as many slices at once as fit; one where not even that does.

    >>> choose_lanes(lambda lanes: 5 * lanes <= 100)
    16
    """
    return next((lanes for lanes in _LANES if fits(lanes)), 1)


def choose_layout(lanes: int, width: int, shared: int) -> Layout:
    """Choose the largest tile that fits.

    Parameters
    ----------
    lanes : int
        Slices at once.
    width : int
        Cells that a point touches along one axis.
    shared : int
        Bytes of shared memory that a block may take.

    >>> choose_layout(32, 5, 232_448).rows, choose_layout(32, 5, 65_536).rows
    (16, 8)
    """
    layouts = [Layout(lanes=lanes, rows=rows, columns=_COLUMNS, width=width) for rows in _ROWS]
    return next((layout for layout in layouts if layout.shared <= shared), layouts[-1])


def tiles_of(sizes: Sizes, layout: Layout) -> tuple[int, int]:
    """Count the tiles along u and along v."""
    return math.ceil(sizes.rows / layout.rows), math.ceil(sizes.along / layout.columns)
