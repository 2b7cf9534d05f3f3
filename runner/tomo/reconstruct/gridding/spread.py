"""Second step: spectra are spread onto the grid, and the grid is transformed along v."""

from __future__ import annotations

import math

import numpy as np

from runner.tomo.reconstruct.gridding.fft import transform
from runner.tomo.reconstruct.gridding.lanes import conj, kernel, load, prefetch, store, zero
from runner.tomo.reconstruct.gridding.runs import add_box, add_run, pick, window_weights


@kernel
def spread_strip(
    spectra, points, base, angles, lines, window, cells, begin, end, grid, fresh, finish, height, scratch
):
    """Add spectra to the rows `begin` to `end` of the grid, a strip which no other thread touches.

    Every cell sums its points by rising angle and frequency, wherever strips begin: no bit depends on how
    the work was cut. `fresh` says that these are the first spectra of a group of slices, `finish` that they
    are the last: then each row is transformed, and begins with its `height` pixels.

    Parameters
    ----------
    spectra : (angle, point) lanes
        Of `angles` projections, of which the first is the scan's `base`.
    lines, window, cells : Lines, Window, Grid
        See there.
    grid : (row, cell) lanes
        Spectra are added here.
    scratch : (3 * length,) lanes
        For the thread alone.
    """
    pitch, reach = cells.pitch, len(window.taps)
    across = cells.across.length
    if fresh:
        nothing = zero(grid)
        for place in range(begin * pitch, end * pitch):
            store(grid, place, nothing)
    for angle in range(angles):
        u, v, row = lines.step_u[base + angle], lines.step_v[base + angle], angle * points
        _spread_line(spectra, row, points, u, v, 0.0, False, window, cells, begin, end, grid)
        if begin <= reach:  # the mirrored spectrum reaches in from below zero
            _spread_line(spectra, row, points, -u, -v, 0.0, True, window, cells, begin, end, grid)
        if end + reach >= cells.rows:  # ... and, as u is periodic, from beyond the last row
            _spread_line(spectra, row, points, -u, -v, float(across), True, window, cells, begin, end, grid)
    if finish:
        for row in range(begin, end):
            _finish_row(grid, row * pitch, cells, height, scratch)


@kernel
def _spread_line(spectra, start, points, step_u, step_v, origin, mirrored, window, cells, begin, end, grid):
    """Spread one line, the points of which lie at ``u = origin + k step_u`` and ``v = k step_v``."""
    reach, pitch = len(window.taps), cells.pitch
    half, middle = reach / 2, (reach - 1) / 2
    zero_v = cells.halo + cells.along.length // 2
    first, last = touching(origin, step_u, begin - half, end - 1 + half, points)
    for k in range(first, last):
        prefetch(spectra, start + points + k)  # the next line passes near this one
        u, v = origin + k * step_u, k * step_v
        cell_u, cell_v = np.ceil(u - half), np.ceil(v - half)
        weights_u = window_weights(window.coefficients, cell_u - u + middle, window.taps)
        weights_v = window_weights(window.coefficients, cell_v - v + middle, window.taps)
        value = load(spectra, start + k)
        if mirrored:
            value = conj(value)
        place = int(cell_u) * pitch + int(cell_v) + zero_v
        if cell_u >= begin and cell_u + reach <= end:
            add_box(grid, place, pitch, value, weights_u, weights_v, window.taps)
        else:
            for tap in range(max(0, begin - int(cell_u)), min(reach, end - int(cell_u))):
                weighted = value * pick(weights_u, tap)
                add_run(grid, place + tap * pitch, weighted, weights_v, window.taps)


@kernel
def touching(origin, step, low, high, points):
    """Find the range of k, within 0 .. points, with ``low <= origin + k step <= high``; perhaps one more."""
    if abs(step) < 1e-9:
        return (0, points) if low <= origin <= high else (0, 0)
    one, other = (low - origin) / step, (high - origin) / step
    first = max(math.floor(min(one, other)), 0.0)
    last = min(math.ceil(max(one, other)) + 1.0, float(points))
    return int(first), int(max(last, first))


@kernel
def _finish_row(grid, start, cells, height, scratch):
    length, halo = cells.along.length, cells.halo
    row = start + halo
    for cell in range(halo):
        store(
            grid,
            row + length - halo + cell,
            load(grid, row + length - halo + cell) + load(grid, start + cell),
        )
        store(grid, row + cell, load(grid, row + cell) + load(grid, row + length + cell))
    line = transform(grid, row, scratch[:length], scratch[length : 2 * length], cells.along)
    before = height // 2  # pixels above the middle lie at the end of a transform
    for y in range(before):
        store(grid, start + y, load(line, length - before + y))
    for y in range(before, height):
        store(grid, start + y, load(line, y - before))
