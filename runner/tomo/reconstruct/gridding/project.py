"""The way back, from slices to sinograms: each step is the adjoint of one of the reconstruction."""

from __future__ import annotations

import math

import numpy as np

from runner.tomo.kernels.kernel import kernel
from runner.tomo.reconstruct.gridding.fft import transform
from runner.tomo.reconstruct.gridding.lanes import conj, load, store, times_i, zero
from runner.tomo.reconstruct.gridding.rows import read_rows, write_rows
from runner.tomo.reconstruct.gridding.runs import sum_box, window_weights
from runner.tomo.reconstruct.gridding.scratch import three_lines


@kernel
def transform_rows(slices_in, first, slices, begin, end, across, along, cells, grid, scratch):
    """Transform the rows y from `begin` to `end` of a group of slices along x.

    Parameters
    ----------
    slices_in : (slice, y, x) float32
        Pixels.
    first, slices : int
        The group.
    across, along : (x,) and (y,) float32
        Factors of the pixels.
    cells : Grid
        The sizes of the grid.
    grid : (row, cell) lanes
        Result, with `cells.halo` rows on both sides: the first cells of a row are those of y = 0, 1, ...
    scratch : (element,) lanes
        For the thread alone.
    """
    length, width = cells.across.length, across.size
    before = width // 2  # pixels left of the middle lie at the end of a transform
    line, one, other = three_lines(scratch, length)
    for y in range(begin, end, 2):
        for x in range(length):
            store(line, x, zero(line))
        read_rows(slices_in, first, slices, y, 0, before, across, line, length - before)
        read_rows(slices_in, first, slices, y, before, width - before, across, line, 0)
        pair = transform(line, 0, one, other, cells.across)
        for u in range(cells.rows):
            place = (u + cells.halo) * cells.pitch + y
            forward, backward = load(pair, length - u if u else 0), conj(load(pair, u))
            store(grid, place, (forward + backward) * (0.5 * along[y]))
            if y + 1 < end:
                store(grid, place + 1, times_i(backward - forward) * (0.5 * along[y + 1]))


@kernel
def transform_columns(cells, begin, end, height, grid, scratch):
    """Transform the rows u from `begin` to `end` of the grid along y, each of `height` pixels."""
    length, halo = cells.along.length, cells.halo
    before = height // 2
    line, one, other = three_lines(scratch, length)
    for u in range(begin, end):
        start = (u + halo) * cells.pitch
        for y in range(length):
            store(line, y, zero(line))
        for y in range(height):
            store(line, y - before if y >= before else length - before + y, load(grid, start + y))
        spectrum = transform(line, 0, one, other, cells.along)
        for cell in range(cells.pitch):  # the halos carry on, as v is periodic
            store(grid, start + cell, load(spectrum, (halo - cell) % length))


@kernel
def mirror_rows(cells, grid):
    """Fill the halo rows below u = 0 and beyond the last: slices are real, spectra are conjugate there."""
    length, halo, pitch = cells.along.length, cells.halo, cells.pitch
    for distance in range(1, halo + 1):
        for edge, side in ((halo, -1), (halo + cells.rows - 1, 1)):
            target, source = (edge + side * distance) * pitch, (edge - side * distance) * pitch
            for cell in range(pitch):
                # the rows begin at v = -length / 2 - halo, and end as far on the other side
                mirrored = (length - (cell - halo)) % length + halo
                store(grid, target + cell, conj(load(grid, source + mirrored)))


@kernel
def gather_rows(
    grid, cells, window, lines, plan, response, begin, end, columns, sinograms, first, slices, scratch
):
    """Make the projections from `begin` (even) to `end` of a group of slices.

    Parameters
    ----------
    grid, cells, window, lines
        As in :func:`.spread.spread_strip`.
    plan, response, columns
        As in :func:`.spectra.filter_rows`.
    sinograms : (slice, angle, column) float32
        Result.
    first, slices : int
        The group.
    scratch : (element,) lanes
        For the thread alone.
    """
    length = plan.length
    line, one, other = three_lines(scratch, length)
    for angle in range(begin, end, 2):
        for k in range(length):
            store(line, k, zero(line))
        for part in range(min(2, end - angle)):
            _gather_line(grid, cells, window, lines, response, angle + part, part, line, length)
        pair = transform(line, 0, one, other, plan)
        write_rows(pair, 0, sinograms, first, slices, angle, 0, sinograms.shape[2], columns)


@kernel
def _gather_line(grid, cells, window, lines, response, angle, part, line, length):
    """Add the spectrum of one projection, or i times it for the second of a pair, to a line."""
    reach = len(window.taps)
    half, middle = reach / 2, (reach - 1) / 2
    zero_u, zero_v = cells.halo, cells.halo + cells.along.length // 2
    turned, phase = lines.turned[angle], lines.phase[angle]
    for k in range(length // 2 + 1):
        u, v = k * lines.step_u[angle], k * lines.step_v[angle]
        cell_u, cell_v = np.ceil(u - half), np.ceil(v - half)
        weights_u = window_weights(window.coefficients, cell_u - u + middle, window.taps)
        weights_v = window_weights(window.coefficients, cell_v - v + middle, window.taps)
        place = (int(cell_u) + zero_u) * cells.pitch + int(cell_v) + zero_v
        value = sum_box(grid, place, cells.pitch, weights_u, weights_v, window.taps)
        if turned:
            value = conj(value)
        factor = lines.gain[angle] * response[k]
        value = value * complex(factor * math.cos(phase * k), -factor * math.sin(phase * k))
        mirrored = conj(value)
        if part == 1:
            value, mirrored = times_i(value), times_i(mirrored)
        # a frequency that is its own mirror counts once, with the halved response twice
        store(line, k, load(line, k) + value)
        other = length - k if k else 0
        store(line, other, load(line, other) + mirrored)
