"""Running means along the rows, down and up, of a number of frequencies: the compiled part."""

from __future__ import annotations

import numpy as np

from runner.tomo.kernels.kernel import kernel


@kernel
def running_means(rows, decay, gain, first, block, margin, result):
    """Smooth blocks of rows, each with its margins; beyond the last row it stays as it is there.

    Parameters
    ----------
    rows : (row, frequency) float32
        What is smoothed.
    decay : (frequency,) float32
        What is left of a row's share in the next one.
    gain : (frequency,) float32
        Factor of the result.
    first : int
        The row of `rows` that begins `result`.
    block, margin : int
        Rows of a block, and of its margins.
    result : (row, frequency) float32
    """
    down = np.empty((block + margin, rows.shape[1]), np.float32)
    for begin in range(first, first + len(result), block):
        end = min(begin + block, first + len(result))
        stop = min(end + margin, len(rows))
        start = max(begin - margin, 0)
        mean = rows[start].copy()
        for row in range(start, begin):
            _step(mean, rows[row], decay, mean)
        for row in range(begin, stop):
            _step(mean, rows[row], decay, mean)
            down[row - begin] = mean
        _settle(mean, rows[stop - 1], decay, mean)
        for row in range(stop - 1, begin - 1, -1):
            if row < stop - 1:
                _step(mean, down[row - begin], decay, mean)
            if row < end:
                _scale(mean, gain, result[row - first])


@kernel
def _step(mean, row, decay, result):
    for k in range(mean.size):
        result[k] = row[k] + decay[k] * (mean[k] - row[k])


@kernel
def _settle(mean, row, decay, result):
    """Take the mean from below, where nothing changes any more."""
    for k in range(mean.size):
        result[k] = row[k] + (mean[k] - row[k]) / (np.float32(1) + decay[k])


@kernel
def _scale(mean, gain, result):
    for k in range(mean.size):
        result[k] = mean[k] * gain[k]
