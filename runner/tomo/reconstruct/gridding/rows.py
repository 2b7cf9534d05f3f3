"""Two neighbouring rows of each slice of a group become one line of complex numbers, and back.

A row is real: sinograms and slices alike. Two of them fill the real and the imaginary parts of a line, so
that no part of a transform is wasted, and both belong to the same slice: slices never mix.
"""

from __future__ import annotations

from runner.tomo.kernels.kernel import kernel
from runner.tomo.reconstruct.gridding.lanes import width_of_lanes
from runner.tomo.reconstruct.gridding.tiles import read_tile, write_tile


@kernel
def read_rows(stack, first, slices, row, column, columns, factors, line, start):
    """Read rows `row` and `row + 1` of `stack` (slice, row, column) into `line[start:]`.

    Of `slices` slices from `first`, the columns from `column`, each times its one of `factors`. There are
    zeros in place of a row beyond the last.
    """
    width = width_of_lanes(line)
    total, pitch = stack.shape[1], stack.shape[2]
    for part in range(2):
        present = row + part < total
        origin = (first * total + row + part) * pitch
        tiled = columns - columns % width if present else 0
        for at in range(column, column + tiled, width):
            to = 2 * width * (start + at - column) + width * part
            read_tile(line, to, stack, origin + at, total * pitch, slices, factors, at)
        for at in range(column + tiled, column + columns):
            for lane in range(width):
                value = stack[first + min(lane, slices - 1), row + part, at] * factors[at] if present else 0.0
                element = line[start + at - column]
                if part == 0:
                    element.re[lane] = value
                else:
                    element.im[lane] = value


@kernel
def write_rows(line, start, stack, first, slices, row, column, columns, factors):
    """Do the reverse of `read_rows`; nothing is written beyond the first and last row or the last slice."""
    width = width_of_lanes(line)
    total, pitch = stack.shape[1], stack.shape[2]
    for part in range(max(0, -row), min(2, total - row)):
        origin = (first * total + row + part) * pitch
        tiled = columns - columns % width
        for at in range(column, column + tiled, width):
            source = 2 * width * (start + at - column) + width * part
            write_tile(line, source, stack, origin + at, total * pitch, slices, factors, at)
        for at in range(column + tiled, column + columns):
            element = line[start + at - column]
            for lane in range(slices):
                value = element.re[lane] if part == 0 else element.im[lane]
                stack[first + lane, row + part, at] = value * factors[at]
