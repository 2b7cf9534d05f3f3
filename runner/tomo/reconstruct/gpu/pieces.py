"""Which points of which line a tile of the grid takes: found once for a scan.

A spectrum lies on a line through the grid's origin, its points evenly spaced. The part of it that reaches
into a tile is therefore a range of frequencies. Beside the line itself there is its mirror image, the
conjugate half of a real row's spectrum, and both come again one period further on, as the grid is periodic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.gpu.layout import PIECE, Layout, tiles_of
from runner.tomo.reconstruct.gridding.memory import Sizes
from runner.tomo.reconstruct.gridding.tables import Lines

DTYPE = np.dtype(
    [
        ("step_u", "f8"), ("step_v", "f8"), ("period", "i4"), ("row", "i4"), ("column", "i4"),
        ("k", "i4"), ("first", "i4"), ("count", "i4"),
    ]
)  # fmt: skip
"""A piece: `count` points from frequency `k` on, the first one at the index `first` of the spectra (angle,
point); a negative count says that they are conjugated. Frequency k lies at ``u = period + k step_u`` and
``v = k step_v``; the cell (u, v) is the tile's at row ``u - row``, column ``v - column``."""


class Pieces(NamedTuple):
    """The pieces of all tiles.

    Attributes
    ----------
    pieces : (piece,) DTYPE
        Tile by tile, in each by rising angle and frequency.
    starts : (tile + 1,) int32
        Where those of each tile begin.
    order : (tile,) int32
        Tiles, those with the most points first: the last ones to be done are short.
    """

    pieces: NDArray[np.void]
    starts: NDArray[np.int32]
    order: NDArray[np.int32]


class _Lines(NamedTuple):
    """Lines and their images: ``u = origin_u + k step_u``, likewise v, counted from the grid's first cell.

    Both origins are whole numbers.
    """

    angle: NDArray[np.int64]
    conjugated: NDArray[np.bool_]
    origin_u: NDArray[np.float64]
    origin_v: NDArray[np.float64]
    step_u: NDArray[np.float64]
    step_v: NDArray[np.float64]

    def chosen(self, some: NDArray[np.generic]) -> _Lines:
        return _Lines(*(values[some] for values in self))


class _Tiles(NamedTuple):
    """Tiles along one axis: cells of each, how far outside of them points still touch them, and how many."""

    size: int
    reach: float
    number: int


class _Range(NamedTuple):
    """Frequencies, of each line: from `first` to before `last`."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


def make_pieces(lines: Lines, sizes: Sizes, layout: Layout) -> Pieces:
    """Cut the lines by the tiles.

    A piece may have a point or two at its ends that do not touch the tile.

    Parameters
    ----------
    lines : Lines
        Of all projections.
    sizes : Sizes
        Of the grid.
    layout : Layout
        Of its tiles.
    """
    rows, columns = tiles_of(sizes, layout)
    strips = _Tiles(layout.rows, layout.width / 2, rows)
    stacks = _Tiles(layout.columns, layout.width / 2, columns)
    line, strip, column, points = _cut(_images(lines, sizes), strips, stacks, sizes.points)
    tile = strip * columns + column
    order = np.lexsort((points.first, line.angle, tile))
    pieces = np.empty(len(order), DTYPE)
    pieces["step_u"], pieces["step_v"] = line.step_u[order], line.step_v[order]
    pieces["period"] = line.origin_u[order]
    pieces["row"] = (strip * layout.rows)[order]
    pieces["column"] = (column * layout.columns - line.origin_v)[order]
    pieces["k"] = points.first[order]
    pieces["first"] = (line.angle * sizes.points + points.first)[order]
    counts = points.last - points.first
    pieces["count"] = np.where(line.conjugated, -counts, counts)[order]
    starts = np.searchsorted(tile[order], np.arange(rows * columns + 1)).astype(np.int32)
    of_tiles = np.bincount(tile, counts, minlength=rows * columns)
    return Pieces(pieces=pieces, starts=starts, order=np.argsort(-of_tiles, kind="stable").astype(np.int32))


def _cut(
    whole: _Lines, strips: _Tiles, stacks: _Tiles, number: int
) -> tuple[_Lines, NDArray[np.int64], NDArray[np.int64], _Range]:
    """Cut lines of `number` points by tiles and into pieces: their line, tile along u and v, points."""
    zeros = np.zeros(len(whole.angle), np.int64)
    which, strip = _crossed(whole.origin_u, whole.step_u, _Range(zeros, zeros + number), strips)
    line = whole.chosen(which)
    across = _within(line.origin_u, line.step_u, strip, strips, number)

    which, column = _crossed(line.origin_v, line.step_v, across, stacks)
    line, strip = line.chosen(which), strip[which]
    along = _within(line.origin_v, line.step_v, column, stacks, number)
    first = np.maximum(across.first[which], along.first)
    last = np.minimum(across.last[which], along.last)

    which, part = _ragged(np.maximum(-(-(last - first) // PIECE), 0))
    first = first[which] + part * PIECE
    points = _Range(first, np.minimum(last[which], first + PIECE))
    return line.chosen(which), strip[which], column[which], points


def _images(lines: Lines, sizes: Sizes) -> _Lines:
    """List all lines that may touch the half of the grid that is kept: those of the CPU's engine."""
    images = []
    for mirrored, origin_u in ((False, 0), (True, 0), (True, sizes.across)):
        for origin_v in (0, -sizes.along, sizes.along):
            sign = -1 if mirrored else 1
            count = len(lines.step_u)
            images.append(
                _Lines(
                    angle=np.arange(count),
                    conjugated=lines.turned ^ mirrored,
                    origin_u=np.full(count, float(origin_u)),
                    origin_v=np.full(count, float(origin_v + sizes.along // 2)),
                    step_u=sign * lines.step_u,
                    step_v=sign * lines.step_v,
                )
            )
    return _Lines(*(np.concatenate(parts) for parts in zip(*images, strict=True)))


def _crossed(
    origin: NDArray[np.float64],
    step: NDArray[np.float64],
    points: _Range,
    tiles: _Tiles,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List (line, tile) wherever a line's points reach into a tile, along one axis."""
    ends = origin + points.first * step, origin + np.maximum(points.last - 1, points.first) * step
    lowest = np.floor((np.minimum(*ends) - tiles.reach) / tiles.size).astype(np.int64)
    highest = np.floor((np.maximum(*ends) + tiles.reach) / tiles.size).astype(np.int64)
    lowest, highest = np.maximum(lowest, 0), np.minimum(highest, tiles.number - 1)
    line, part = _ragged(np.where(points.last > points.first, np.maximum(highest - lowest + 1, 0), 0))
    return line, lowest[line] + part


def _within(
    origin: NDArray[np.float64],
    step: NDArray[np.float64],
    tile: NDArray[np.int64],
    tiles: _Tiles,
    points: int,
) -> _Range:
    """Find the frequencies that reach into a tile, along one axis; see the CPU engine's `touching`."""
    low = tile * tiles.size - tiles.reach - origin
    high = low + (tiles.size - 1) + 2 * tiles.reach
    level = np.abs(step) < 1e-9
    divisor = np.where(level, 1.0, step)
    one, other = low / divisor, high / divisor
    first = np.where(level, 0, np.floor(np.minimum(one, other))).clip(0, points)
    last = np.where(level, points, np.ceil(np.maximum(one, other)) + 1).clip(0, points)
    missed = level & ((low > 0) | (high < 0))
    return _Range(first.astype(np.int64), np.where(missed, 0, last).astype(np.int64))


def _ragged(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List `counts` things of each owner: whose they are, and their numbers there.

    >>> _ragged(np.array([2, 0, 3]))
    (array([0, 0, 2, 2, 2]), array([0, 1, 0, 1, 2]))
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
