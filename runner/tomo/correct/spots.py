"""Bright spots of a projection replaced by the median around them: the compiled part."""

from __future__ import annotations

import numpy as np

from runner.tomo.kernels.kernel import kernel


@kernel
def replace_spots(projection, first, least, cleaned):
    """Look at every pixel of some rows of a projection; beyond its ends it is as at its ends.

    Parameters
    ----------
    projection : (row, column) float32
        Line integrals.
    first : int
        The row of `projection` that begins `cleaned`.
    least : float32
        By how much a spot is below the median.
    cleaned : (row, column) float32
        Result.
    """
    height, width = projection.shape
    three = np.empty((3, width), np.float32)  # the least, middle and greatest of each column of three rows
    for row in range(first, first + len(cleaned)):
        above, here = projection[max(row - 1, 0)], projection[row]
        below, result = projection[min(row + 1, height - 1)], cleaned[row - first]
        for column in range(width):
            a, b, c = above[column], here[column], below[column]
            low, high = min(a, b), max(a, b)
            three[0, column] = min(low, c)
            three[1, column] = max(low, min(high, c))
            three[2, column] = max(high, c)
        for column in range(width):
            left, right = max(column - 1, 0), min(column + 1, width - 1)
            middle = _middle(
                max(three[0, left], three[0, column], three[0, right]),
                _middle(three[1, left], three[1, column], three[1, right]),
                min(three[2, left], three[2, column], three[2, right]),
            )
            value = here[column]
            result[column] = middle if value < middle - least else value


@kernel
def _middle(a, b, c):
    low, high = min(a, b), max(a, b)
    return max(low, min(high, c))
