"""Running means along the rows, down and up, of a number of frequencies: the compiled part.

The mean on its way down is ``mean = row + decay (mean - row)``, and the same on its way up; their sum, less
the row that both count, is the symmetric filter. The result of a block depends on the rows of its margins and
on no others, however many were read. So that the margins do not cost a pass for each block, each block of
rows is summed up once, and a mean then passes over it in one step.
"""

from __future__ import annotations

import numpy as np

from runner.tomo.kernels.kernel import kernel


@kernel
def running_means(rows, decay, leap, gain, first, block, margin, result):
    """Smooth blocks of rows, each with its margins; beyond the outermost rows it stays as it is there.

    Parameters
    ----------
    rows : (row, frequency) float32
        What is smoothed; the first one begins a block.
    decay, leap : (frequency,) float32
        What is left of a mean after one more row, and after a block of them.
    gain : (frequency,) float32
        Factor of the result.
    first : int
        The row of `rows` that begins `result`, and a block.
    block, margin : int
        Rows of a block, and of its margins, which are whole blocks.
    result : (row, frequency) float32
    """
    last = first + len(result)
    down, up = _sum_blocks(rows, decay, first, last, block)
    mean = np.empty(rows.shape[1], np.float32)
    for begin in range(first, last, block):
        end = min(begin + block, last)
        start, stop = max(begin - margin, 0), min(end + margin, len(rows))
        mean[:] = rows[start]
        for over in range(start // block, begin // block):
            _pass(mean, down[over], leap)
        for row in range(begin, end):
            _add(mean, rows[row], decay)
            result[row - first] = mean
        whole = max(stop - stop % block, end)  # a detector may end within a block
        mean[:] = rows[stop - 1]
        for row in range(stop - 1, whole - 1, -1):
            _add(mean, rows[row], decay)
        for over in range(whole // block - 1, end // block - 1, -1):
            _pass(mean, up[over], leap)
        for row in range(end - 1, begin - 1, -1):
            _add(mean, rows[row], decay)
            _join(result[row - first], mean, rows[row], decay, gain)


@kernel
def _sum_blocks(rows, decay, first, last, block):
    """Sum up what whole blocks add to a mean on its way down, and on its way up, where one comes by."""
    shape = (len(rows) // block, rows.shape[1])
    down, up = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for over in range(len(down)):
        begin, end = over * block, (over + 1) * block
        if begin < last:
            for row in range(begin, end):
                _add(down[over], rows[row], decay)
        if begin >= first:
            for row in range(end - 1, begin - 1, -1):
                _add(up[over], rows[row], decay)
    return down, up


@kernel
def _add(mean, row, decay):
    for k in range(mean.size):
        mean[k] = row[k] + decay[k] * (mean[k] - row[k])


@kernel
def _pass(mean, summed, leap):
    for k in range(mean.size):
        mean[k] = summed[k] + leap[k] * mean[k]


@kernel
def _join(result, mean, row, decay, gain):
    for k in range(mean.size):
        result[k] = (result[k] + mean[k] - row[k] + decay[k] * row[k]) * gain[k]
