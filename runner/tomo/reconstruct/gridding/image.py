"""Third step: the grid, transformed along u, becomes rows of slices."""

from __future__ import annotations

from runner.tomo.kernels.kernel import kernel
from runner.tomo.reconstruct.gridding.fft import transform
from runner.tomo.reconstruct.gridding.lanes import conj, load, prefetch, store, times_i, zero
from runner.tomo.reconstruct.gridding.memory import GATHERED
from runner.tomo.reconstruct.gridding.rows import write_rows
from runner.tomo.reconstruct.gridding.scratch import line_of

_AHEAD = 3  # rows of the grid: by then, those that are read next are near


@kernel
def make_rows(grid, cells, begin, end, across, along, top, left, slices_out, first, slices, scratch):
    """Make the rows y from `begin` (even) to `end` of a group of slices, or a part of each row.

    Parameters
    ----------
    grid : (row, cell) lanes
        Transformed along v: a row begins with its pixels, from the middle one on and around.
    cells : Grid
        Its sizes.
    across, along : (x,) and (y,) float32
        Factors of the pixels.
    top, left : int
        Of the whole slice's pixels, the first one of the result.
    slices_out : (slice, y, x) float32
        Result; rows that lie outside of it are not kept.
    first, slices : int
        The group.
    scratch : (element,) lanes
        For the thread alone.
    """
    length, width = cells.across.length, across.size
    one, other = line_of(scratch, GATHERED // 2, length), line_of(scratch, GATHERED // 2 + 1, length)
    before = width // 2
    right = left + slices_out.shape[2]
    factors = across[left:right]
    middle = min(max(before, left), right)  # pixels before lie at the end of a transform
    for block in range(begin, end, GATHERED):
        rows = min(GATHERED, end - block)
        _gather(grid, cells, block, rows, along, scratch)
        for pair in range((rows + 1) // 2):
            y = block + 2 * pair - top
            line = transform(line_of(scratch, pair, length), 0, one, other, cells.across)
            write_rows(line, length - before + left, slices_out, first, slices, y, 0, middle - left, factors)
            write_rows(
                line, middle - before, slices_out, first, slices, y, middle - left, right - middle, factors
            )


@kernel
def _gather(grid, cells, block, rows, along, scratch):
    """Collect pairs of rows as a + i b; slices are real, so that u < 0 holds their conjugates."""
    length, middle = cells.across.length, along.size // 2
    for u in range(cells.rows):
        place = u * cells.pitch
        for y in range(block, block + rows):
            prefetch(grid, place + _AHEAD * cells.pitch + _cell_of(y, middle, cells))
        for pair in range((rows + 1) // 2):
            y = block + 2 * pair
            a = load(grid, place + _cell_of(y, middle, cells)) * along[y]
            b, y = zero(grid), y + 1
            if y < block + rows:
                b = times_i(load(grid, place + _cell_of(y, middle, cells)) * along[y])
            line = line_of(scratch, pair, length)
            if 0 < u < cells.rows - 1:
                store(line, length - u, conj(a - b))
            store(line, u, a + b)


@kernel
def _cell_of(y, middle, cells):
    """Find a pixel in its row of the grid: a transform begins with the middle one."""
    return y - middle if y >= middle else y - middle + cells.along.length
