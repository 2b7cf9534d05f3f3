"""Second step: spectra are spread onto the grid, and the grid is transformed along v."""

from __future__ import annotations

import math

import numpy as np

from runner.tomo.kernels.kernel import kernel
from runner.tomo.reconstruct.gridding.fft import transform_into
from runner.tomo.reconstruct.gridding.lanes import conj, load, prefetch, store, zero
from runner.tomo.reconstruct.gridding.runs import add_box, add_run, add_two_boxes, pick, window_weights
from runner.tomo.reconstruct.gridding.scratch import line_of

_AHEAD = 12  # points: by then, the cells that they reach first are near


@kernel
def spread_strip(
    spectra, points, base, angles, lines, window, cells, begin, end, grid, fresh, finish, scratch
):
    """Add spectra to the rows `begin` to `end` of the grid, a strip which no other thread touches.

    Every cell sums its points by rising angle and frequency, wherever strips begin: no bit depends on how
    the work was cut. `fresh` says that these are the first spectra of a group of slices, `finish` that they
    are the last: then each row is transformed, and begins with its pixels, from the middle one on and around.

    Parameters
    ----------
    spectra : (angle, point) lanes
        Of `angles` projections, of which the first is the scan's `base`.
    lines, window, cells : Lines, Window, Grid
        See there.
    grid : (row, cell) lanes
        Spectra are added here.
    scratch : (element,) lanes
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
            _finish_row(grid, row * pitch, cells, scratch)


@kernel
def _spread_line(spectra, start, points, step_u, step_v, origin, mirrored, window, cells, begin, end, grid):
    """Spread one line, the points of which lie at ``u = origin + k step_u`` and ``v = k step_v``."""
    reach, pitch = len(window.taps), cells.pitch
    zero_v = cells.halo + cells.along.length // 2
    first, last = touching(origin, step_u, begin - reach / 2, end - 1 + reach / 2, points)
    front = (reach - 1) * pitch if step_u > 0 else 0
    ahead = front + round(_AHEAD * step_u) * pitch + round(_AHEAD * step_v)
    k = first
    while k < last:
        u, weights_u = _locate(k, step_u, origin, window)
        v, weights_v = _locate(k, step_v, 0.0, window)
        value = _take(spectra, start + k, points, mirrored)
        place = u * pitch + v + zero_v
        for tap in range(reach):
            prefetch(grid, place + ahead + tap)
        k += 1
        if not begin <= u <= end - reach:
            for tap in range(max(0, begin - u), min(reach, end - u)):
                add_run(grid, place + tap * pitch, value * pick(weights_u, tap), weights_v, window.taps)
            continue
        next_u, next_weights_u = _locate(k, step_u, origin, window)
        next_v, next_weights_v = _locate(k, step_v, 0.0, window)
        down, right = next_u - u, next_v - v
        if k < last and begin <= next_u <= end - reach and abs(down) <= 1 and abs(right) <= 1:
            add_two_boxes(
                grid, place, pitch, value, weights_u, weights_v,
                _take(spectra, start + k, points, mirrored), next_weights_u, next_weights_v,
                down, right, window.taps,
            )  # fmt: skip
            k += 1
        else:
            add_box(grid, place, pitch, value, weights_u, weights_v, window.taps)


@kernel
def _locate(k, step, origin, window):
    """Find the cells that a point touches along one axis: the first one, and the weights of all."""
    reach = len(window.taps)
    place = origin + k * step
    cell = np.ceil(place - reach / 2)
    return int(cell), window_weights(window.coefficients, cell - place + (reach - 1) / 2, window.taps)


@kernel
def _take(spectra, place, points, mirrored):
    """Read a point of a line, and bring the one of the next line nearer, which passes near this one."""
    prefetch(spectra, place + points)
    value = load(spectra, place)
    return conj(value) if mirrored else value


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
def _finish_row(grid, start, cells, scratch):
    length, halo = cells.along.length, cells.halo
    row = start + halo
    for cell in range(halo):
        store(
            grid,
            row + length - halo + cell,
            load(grid, row + length - halo + cell) + load(grid, start + cell),
        )
        store(grid, row + cell, load(grid, row + cell) + load(grid, row + length + cell))
    one, other = line_of(scratch, 0, length), line_of(scratch, 1, length)
    transform_into(grid, row, one, other, grid[start : start + length], cells.along)
