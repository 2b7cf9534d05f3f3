"""First step: the rows of the sinograms become filtered spectra."""

from __future__ import annotations

import math

from runner.tomo.reconstruct.gridding.fft import transform
from runner.tomo.reconstruct.gridding.lanes import conj, kernel, load, store, zero
from runner.tomo.reconstruct.gridding.rows import read_rows

_RESTART = 64  # the phase is exact again after so many multiplications


@kernel
def filter_rows(
    sinograms, first, slices, begin, end, columns, edge, plan, response, lines, spectra, base, scratch
):
    """Transform and filter the projections from `begin` (even) to `end` of a group of slices.

    Parameters
    ----------
    sinograms : (slice, angle, column) float32
        Line integrals.
    first, slices : int
        The group.
    columns : (column,) float32
        Factors of the columns.
    edge : bool
        Whether the outer columns are carried on beside the detector; else there is nothing.
    plan : FftPlan
        Of a padded row.
    response : (point,) float64
        The filter.
    lines : Lines
        Phases and gains.
    spectra : (angle, point) lanes
        Result; the first row is that of the angle `base`.
    scratch : (3 * length,) lanes
        For the thread alone.
    """
    length, points, detector = plan.length, plan.length // 2 + 1, sinograms.shape[2]
    line, one, other = scratch[:length], scratch[length : 2 * length], scratch[2 * length : 3 * length]
    for angle in range(begin, end, 2):
        read_rows(sinograms, first, slices, angle, 0, detector, columns, line, 0)
        _pad(line, detector, length, edge)
        # of the pair a + i b; as both are real, their spectra are apart in its symmetries:
        # conj(A) = (T[k] + conj T[-k]) / 2 and conj(B) = (T[k] - conj T[-k]) / 2i
        pair = transform(line, 0, one, other, plan)
        for part in range(min(2, end - angle)):
            place = (angle + part - base) * points
            factor = lines.gain[angle + part] * (0.5 if part == 0 else -0.5j)
            turned = lines.turned[angle + part]
            step = lines.phase[angle + part]
            turn = complex(math.cos(step), math.sin(step))
            for block in range(0, points, _RESTART):
                phase = factor * complex(math.cos(step * block), math.sin(step * block))
                for k in range(block, min(block + _RESTART, points)):
                    forward = load(pair, length - k if k else 0)
                    backward = conj(load(pair, k))
                    spectrum = (forward + backward if part == 0 else forward - backward) * (
                        phase * response[k]
                    )
                    store(spectra, place + k, conj(spectrum) if turned else spectrum)
                    phase *= turn


@kernel
def _pad(line, columns, length, edge):
    left = load(line, 0) if edge else zero(line)
    right = load(line, columns - 1) if edge else zero(line)
    turn = columns + (length - columns) // 2
    for column in range(columns, turn):
        store(line, column, right)
    for column in range(turn, length):
        store(line, column, left)
