"""Third step: the grid, transformed along u, becomes rows of slices."""

from __future__ import annotations

from runner.tomo.reconstruct.gridding.fft import transform
from runner.tomo.reconstruct.gridding.lanes import conj, kernel, load, store, times_i, zero
from runner.tomo.reconstruct.gridding.memory import GATHERED
from runner.tomo.reconstruct.gridding.rows import write_rows


@kernel
def make_rows(grid, cells, begin, end, across, along, slices_out, first, slices, scratch):
    """Make the rows y from `begin` to `end` of a group of slices.

    Parameters
    ----------
    grid : (row, cell) lanes
        Transformed along v: the first cells of a row are those of y = 0, 1, ...
    cells : Grid
        Its sizes.
    across, along : (x,) and (y,) float32
        Factors of the pixels.
    slices_out : (slice, y, x) float32
        Result.
    first, slices : int
        The group.
    scratch : ((GATHERED // 2 + 2) * length,) lanes
        For the thread alone.
    """
    length, width = cells.across.length, across.size
    one = scratch[GATHERED // 2 * length : (GATHERED // 2 + 1) * length]
    other = scratch[(GATHERED // 2 + 1) * length : (GATHERED // 2 + 2) * length]
    before = width // 2
    for block in range(begin, end, GATHERED):
        rows = min(GATHERED, end - block)
        _gather(grid, cells, block, rows, along, scratch)
        for pair in range((rows + 1) // 2):
            y = block + 2 * pair
            line = transform(scratch, pair * length, one, other, cells.across)
            write_rows(line, length - before, slices_out, first, slices, y, 0, before, across)
            write_rows(line, 0, slices_out, first, slices, y, before, width - before, across)


@kernel
def _gather(grid, cells, block, rows, along, scratch):
    """Collect pairs of rows as a + i b; slices are real, so that u < 0 holds their conjugates."""
    length = cells.across.length
    for u in range(cells.rows):
        place = u * cells.pitch + block
        for pair in range((rows + 1) // 2):
            a = load(grid, place + 2 * pair) * along[block + 2 * pair]
            b = zero(grid)
            if 2 * pair + 1 < rows:
                b = times_i(load(grid, place + 2 * pair + 1) * along[block + 2 * pair + 1])
            start = pair * length
            if 0 < u < cells.rows - 1:
                store(scratch, start + length - u, conj(a - b))
            store(scratch, start + u, a + b)
