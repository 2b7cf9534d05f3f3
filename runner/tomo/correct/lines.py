"""From counts to line integrals, one line of the detector after the other: the compiled part."""

from __future__ import annotations

import numpy as np

from runner.tomo.correct.logarithm import log
from runner.tomo.kernels.kernel import kernel

_LEAST, _MOST = np.float32(1e-6), np.float32(10)


@kernel
def correct_lines(counts, dark, beams, before, after, weights, gains, sinograms, first):
    """Correct some projections and write them into sinograms.

    Parameters
    ----------
    counts : (angle, row, column) uint16 or float32
        The projections.
    dark : (row, column) float32
        To be subtracted.
    beams : (flat, row, column) float32
        Flats less the dark; NaN in pixels without a signal.
    before, after : (angle,) int64
        The flats around each projection.
    weights : (angle,) float32
        Of the latter.
    gains : (angle,) float32
        Factor for the transmission of each projection.
    sinograms : (row, angle, column) float32
        Result.
    first : int
        The sinograms' angle that is the first one of `counts`.
    """
    angles, rows, columns = counts.shape
    between = np.empty(columns, np.float32)
    for row in range(rows):
        for angle in range(angles):
            line = sinograms[row, first + angle]
            beam = beams[before[angle], row]
            if before[angle] != after[angle]:
                _mix(beam, beams[after[angle], row], weights[angle], between)
                beam = between
            if _integrate(counts[angle, row], dark[row], beam, gains[angle], line):
                _fill_gaps(line)


@kernel
def _mix(one, other, weight, result):
    for column in range(result.size):
        result[column] = one[column] + weight * (other[column] - one[column])


@kernel
def _integrate(counts, dark, beam, gain, line):
    """Compute a line; returns how many pixels have no value, which are NaN."""
    gaps = np.int32(0)
    for column in range(line.size):
        transmission = (np.float32(counts[column]) - dark[column]) / beam[column] * gain
        clipped = _LEAST if transmission < _LEAST else transmission  # NaN is not less, and stays
        clipped = _MOST if clipped > _MOST else clipped
        missing = transmission != transmission  # noqa: PLR0124 - so only NaN
        line[column] = transmission if missing else -log(clipped)
        gaps += np.int32(missing)
    return gaps


@kernel
def _fill_gaps(line):
    """Replace NaN by linear interpolation between the neighbours, and a line of NaN by 0.

    At the ends, the only neighbour's value is carried on.
    """
    column = 0
    while column < line.size:
        if np.isnan(line[column]):
            end = column + 1
            while end < line.size and np.isnan(line[end]):
                end += 1
            _bridge(line, column - 1, end)
            column = end
        column += 1


@kernel
def _bridge(line, left, right):
    """Fill the columns between two others, either of which may be outside."""
    start = np.float64(line[left]) if left >= 0 else np.nan
    end = np.float64(line[right]) if right < line.size else np.nan
    if np.isnan(start):
        start = 0.0 if np.isnan(end) else end
    slope = 0.0 if np.isnan(end) else (end - start) / (right - left)
    for column in range(left + 1, right):
        line[column] = slope * (column - left) + start
