"""A thread's own memory, as lines that transforms go back and forth between."""

from __future__ import annotations

from runner.tomo.kernels.kernel import kernel
from runner.tomo.reconstruct.gridding.buffers import line_step

_step = kernel(line_step)


@kernel
def line_of(scratch, number, length):
    """Give the line `number` of so many elements; others of another length lie over it."""
    start = number * _step(length)
    return scratch[start : start + length]


@kernel
def three_lines(scratch, length):
    """Give one line for what is transformed, and two for the transform."""
    return line_of(scratch, 0, length), line_of(scratch, 1, length), line_of(scratch, 2, length)
