"""First step: the rows of the sinograms become filtered spectra."""

from __future__ import annotations

import math

from runner.tomo.kernels.kernel import kernel
from runner.tomo.reconstruct.gridding.fft import transform
from runner.tomo.reconstruct.gridding.lanes import conj, load, store, zero
from runner.tomo.reconstruct.gridding.rows import read_rows
from runner.tomo.reconstruct.gridding.scratch import three_lines

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
    scratch : (element,) lanes
        For the thread alone.
    """
    length, points, detector = plan.length, plan.length // 2 + 1, sinograms.shape[2]
    line, one, other = three_lines(scratch, length)
    for angle in range(begin, end, 2):
        read_rows(sinograms, first, slices, angle, 0, detector, columns, line, 0)
        _pad(line, detector, length, edge)
        pair = transform(line, 0, one, other, plan)
        _filter_pair(pair, response, lines, angle, end, spectra, (angle - base) * points, points)


@kernel
def _filter_pair(pair, response, lines, angle, end, spectra, place, points):
    """Filter the spectra of two projections, the transform of a + i b, or that of one alone."""
    # As both are real, their spectra are apart in the symmetries of the pair's T:
    # conj(A) = (T[k] + conj T[-k]) / 2 and conj(B) = (T[k] - conj T[-k]) / 2i
    length = 2 * (points - 1)
    second = angle + 1 if angle + 1 < end else angle
    gain_a, gain_b = lines.gain[angle] * 0.5, lines.gain[second] * -0.5j
    turned_a, turned_b = lines.turned[angle], lines.turned[second]
    step_a, step_b = lines.phase[angle], lines.phase[second]
    turn_a = complex(math.cos(step_a), math.sin(step_a))
    turn_b = complex(math.cos(step_b), math.sin(step_b))
    for block in range(0, points, _RESTART):
        phase_a = gain_a * complex(math.cos(step_a * block), math.sin(step_a * block))
        phase_b = gain_b * complex(math.cos(step_b * block), math.sin(step_b * block))
        for k in range(block, min(block + _RESTART, points)):
            forward, backward = load(pair, length - k if k else 0), conj(load(pair, k))
            a = (forward + backward) * (phase_a * response[k])
            store(spectra, place + k, conj(a) if turned_a else a)
            if second > angle:
                b = (forward - backward) * (phase_b * response[k])
                store(spectra, place + points + k, conj(b) if turned_b else b)
            phase_a *= turn_a
            phase_b *= turn_b


@kernel
def _pad(line, columns, length, edge):
    left = load(line, 0) if edge else zero(line)
    right = load(line, columns - 1) if edge else zero(line)
    turn = columns + (length - columns) // 2
    for column in range(columns, turn):
        store(line, column, right)
    for column in range(turn, length):
        store(line, column, left)
