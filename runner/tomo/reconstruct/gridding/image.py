"""Third step: the grid, transformed along u, becomes rows of slices."""

from __future__ import annotations

from runner.tomo.kernels.kernel import kernel
from runner.tomo.reconstruct.gridding.fft import transform
from runner.tomo.reconstruct.gridding.lanes import conj, load, prefetch, store, times_i, zero
from runner.tomo.reconstruct.gridding.memory import GATHERED
from runner.tomo.reconstruct.gridding.rows import write_rows

_AHEAD = 3  # rows of the grid: by then, those that are read next are near


@kernel
def make_rows(grid, cells, begin, end, across, along, top, left, slices_out, first, slices, scratch):
    """Make the rows y from `begin` (even) to `end` of a group of slices, or a part of each row.

    Parameters
    ----------
    grid : (row, cell) lanes
        Transformed along v: the first cells of a row are those of y = 0, 1, ...
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
    scratch : ((GATHERED // 2 + 2) * length,) lanes
        For the thread alone.
    """
    length, width = cells.across.length, across.size
    one = scratch[GATHERED // 2 * length : (GATHERED // 2 + 1) * length]
    other = scratch[(GATHERED // 2 + 1) * length : (GATHERED // 2 + 2) * length]
    before = width // 2
    right = left + slices_out.shape[2]
    factors = across[left:right]
    middle = min(max(before, left), right)  # pixels before lie at the end of a transform
    for block in range(begin, end, GATHERED):
        rows = min(GATHERED, end - block)
        _gather(grid, cells, block, rows, along, scratch)
        for pair in range((rows + 1) // 2):
            y = block + 2 * pair - top
            line = transform(scratch, pair * length, one, other, cells.across)
            write_rows(line, length - before + left, slices_out, first, slices, y, 0, middle - left, factors)
            write_rows(
                line, middle - before, slices_out, first, slices, y, middle - left, right - middle, factors
            )


@kernel
def _gather(grid, cells, block, rows, along, scratch):
    """Collect pairs of rows as a + i b; slices are real, so that u < 0 holds their conjugates."""
    length = cells.across.length
    for u in range(cells.rows):
        place = u * cells.pitch + block
        for row in range(rows):
            prefetch(grid, place + _AHEAD * cells.pitch + row)
        for pair in range((rows + 1) // 2):
            a = load(grid, place + 2 * pair) * along[block + 2 * pair]
            b = zero(grid)
            if 2 * pair + 1 < rows:
                b = times_i(load(grid, place + 2 * pair + 1) * along[block + 2 * pair + 1])
            start = pair * length
            if 0 < u < cells.rows - 1:
                store(scratch, start + length - u, conj(a - b))
            store(scratch, start + u, a + b)
