"""How much memory the engine takes, and how it does with less: decided from sizes alone, before any work."""

from __future__ import annotations

from dataclasses import dataclass

from runner.tomo.reconstruct.filters import padded_length
from runner.tomo.reconstruct.gridding.buffers import LANES, line_step
from runner.tomo.reconstruct.gridding.quality import Quality, grid_length

GATHERED = 8
"""Rows of a slice that are taken off the grid together: they lie side by side there."""

_LEAST_BLOCK = 256  # projections; with fewer at a time the grid passes through the memory too often
_COMPLEX = 8  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What the memory depends on.

    Attributes
    ----------
    angles : int
        Projections.
    length : int
        Of a padded row.
    across, along : int
        Lengths of the grid for x and for y.
    halo : int
        Cells on both sides of a row of the grid.
    """

    angles: int
    length: int
    across: int
    along: int
    halo: int

    @property
    def points(self) -> int:
        """Frequencies of a projection."""
        return self.length // 2 + 1

    @property
    def rows(self) -> int:
        """Rows of the grid."""
        return self.across // 2 + 1

    @property
    def pitch(self) -> int:
        """Cells of a row."""
        return self.along + 2 * self.halo

    @property
    def scratch(self) -> int:
        """Elements that a thread needs for itself, in the step that needs the most."""
        lines = ((3, self.length), (3, self.along), (GATHERED // 2 + 2, self.across))
        return max(number * line_step(length) for number, length in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How much is computed at once; no bit of a slice depends on it.

    Attributes
    ----------
    lanes : int
        Slices.
    block : int
        Projections; even, or all.
    """

    lanes: int
    block: int


def sizes_of(angles: int, extent: int, shape: tuple[int, int], quality: Quality) -> Sizes:
    """Take the sizes of a problem.

    Parameters
    ----------
    angles : int
        Projections.
    extent : int
        Columns, as of :attr:`.Geometry.extent`.
    shape : (int, int)
        Pixels of a slice, (y, x).
    quality : Quality
        How exact.
    """
    return Sizes(
        angles=angles,
        length=padded_length(extent),
        across=grid_length(shape[1], quality),
        along=grid_length(shape[0], quality),
        halo=quality.width,
    )


def buffer_bytes(sizes: Sizes, layout: Layout, threads: int) -> int:
    """Predict the memory of the engine's buffers."""
    elements = layout.block * sizes.points + sizes.rows * sizes.pitch + threads * sizes.scratch
    return elements * layout.lanes * _COMPLEX


def pair_bytes(sizes: Sizes, layout: Layout, threads: int) -> int:
    """Predict the memory of a projector with its adjoint."""
    return buffer_bytes(sizes, layout, threads) + layout.lanes * forward_bytes(sizes, threads)


def forward_bytes(sizes: Sizes, threads: int) -> int:
    """Predict what the projector takes beside its adjoint, for each slice that is computed at once."""
    return ((sizes.rows + 2 * sizes.halo) * sizes.pitch + threads * sizes.scratch) * _COMPLEX


def choose_layout(sizes: Sizes, threads: int, limit: float, beside: int = 0) -> Layout:
    """Choose as many slices at once as fit, and rather pass over the projections in blocks than take fewer.

    Parameters
    ----------
    limit : float
        Bytes for the buffers. Where nothing fits, the result is what takes the least.
    beside : int
        Bytes that others take for each of the slices.
    """
    least = min(sizes.angles, _LEAST_BLOCK)
    for lanes in LANES:
        fixed = buffer_bytes(sizes, Layout(lanes=lanes, block=0), threads) + lanes * beside
        block = int(min((limit - fixed) / (sizes.points * lanes * _COMPLEX), sizes.angles))
        if block >= least:
            return Layout(lanes=lanes, block=block if block == sizes.angles else block - block % 2)
    return Layout(lanes=LANES[-1], block=least)
