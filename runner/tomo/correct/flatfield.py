"""From counts to line integrals: dark, flat and Beer-Lambert's logarithm.

The conventions are nabu's: flats reduced by their median, darks by their mean, the transmission clipped
to [1e-6, 10]. Every value depends on its own pixel alone, so the result is the same to the last bit
however the rows are split into chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from runner.tomo.correct.defects import fill_gaps
from runner.tomo.scan import Scan
from runner.tomo.scan.read import read_frames

_LEAST, _MOST = np.float32(1e-6), np.float32(10)


def corrected_sinograms(
    scan: Scan, rows: slice, *, chosen: NDArray[np.int64] | None = None
) -> NDArray[np.float32]:
    """Read some detector rows of a scan and correct them.

    Parameters
    ----------
    scan : Scan
        The scan.
    rows : slice
        Which detector rows: start and stop.
    chosen : (angle,) int64, optional
        Numbers of the projections to read, ascending; all if not given.

    Returns
    -------
    (row, angle, column) float32 ndarray
        Line integrals of the attenuation, without unit. All are finite: pixels without a signal (flat
        not above dark, NaN) are interpolated between their neighbours in the row.

    Raises
    ------
    MissingFileError, ScanError
        As from :func:`runner.tomo.scan.read.read_frames`.
    """
    numbers = np.arange(scan.projections.count) if chosen is None else chosen
    projections = read_frames(replace(scan.projections, indices=scan.projections.indices[numbers]), rows)
    dark = mean_frame([read_frames(group.frames, rows) for group in scan.darks])
    flats = [median_frame(read_frames(group.frames, rows)) for group in scan.flats]
    times = np.add(numbers, 0.5, dtype=np.float64)
    return line_integrals(projections, times, dark, flats, [group.position for group in scan.flats])


def mean_frame(stacks: Sequence[NDArray[np.number]]) -> NDArray[np.float32]:
    """Mean of all frames of several stacks.

    Parameters
    ----------
    stacks : sequence of (frame, row, column) ndarray

    Returns
    -------
    (row, column) float32 ndarray
    """
    total = np.zeros(stacks[0].shape[1:], np.float64)
    for stack in stacks:
        for frame in stack:  # one after the other: np.mean's order of summation depends on the shape
            total += frame
    total /= sum(len(stack) for stack in stacks)
    return total.astype(np.float32)


def median_frame(stack: NDArray[np.number]) -> NDArray[np.float32]:
    """Median of the frames of a stack, which a cosmic ray in one of them does not move.

    Parameters
    ----------
    stack : (frame, row, column) ndarray

    Returns
    -------
    (row, column) float32 ndarray
    """
    return np.asarray(np.median(stack, axis=0), np.float32)


def line_integrals(
    projections: NDArray[np.number],
    times: NDArray[np.float64],
    dark: NDArray[np.float32],
    flats: Sequence[NDArray[np.float32]],
    positions: Sequence[float],
) -> NDArray[np.float32]:
    """Correct projections and take the logarithm: ``-log((projection - dark) / (flat - dark))``.

    Parameters
    ----------
    projections : (angle, row, column) ndarray
        Counts.
    times : (angle,) float64
        Where each projection stands in the scan, ascending: the i-th at i + 1/2.
    dark : (row, column) float32
        Counts without beam.
    flats : sequence of (row, column) float32
        Counts without sample, at least one.
    positions : sequence of float
        Where each flat stands in the scan, ascending (see
        :class:`~runner.tomo.scan.scan.FrameGroup`). A projection's flat is interpolated linearly
        between the two around it, and constant outside.

    Returns
    -------
    (row, angle, column) float32 ndarray
    """
    count, height, width = projections.shape
    sinograms = np.empty((height, count, width), np.float32)
    beams = [_beam(flat, dark) for flat in flats]
    segments = _segments(times, positions)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for row, sinogram in enumerate(sinograms):
            np.subtract(projections[:, row], dark[row], out=sinogram, casting="same_kind")
            for angles, before, after, weight in segments:
                start, change = beams[before][row], beams[after][row] - beams[before][row]
                sinogram[angles] /= start if before == after else start + weight * change
            np.clip(sinogram, _LEAST, _MOST, out=sinogram)
            np.log(sinogram, out=sinogram)
            np.negative(sinogram, out=sinogram)
            fill_gaps(sinogram)
    return sinograms


def _beam(flat: NDArray[np.float32], dark: NDArray[np.float32]) -> NDArray[np.float32]:
    """Subtract the dark from a flat; NaN in pixels that do not see it."""
    beam = flat - dark
    beam[~(beam > 0)] = np.nan
    return beam


def _segments(
    times: NDArray[np.float64], positions: Sequence[float]
) -> list[tuple[slice, int, int, NDArray[np.float32] | None]]:
    """Cut the projections at the flats: (which projections, flat before, flat after, weight of the latter).

    Outside the flats, the flat before and the flat after are the same, and there is no weight.
    """
    cuts = np.searchsorted(times, positions).tolist()
    last = len(positions) - 1
    segments: list[tuple[slice, int, int, NDArray[np.float32] | None]] = [
        (slice(0, cuts[0]), 0, 0, None),
        (slice(cuts[-1], len(times)), last, last, None),
    ]
    for before, after in zip(range(last), range(1, last + 1), strict=True):
        angles = slice(cuts[before], cuts[after])
        length = positions[after] - positions[before]
        weight = ((times[angles] - positions[before]) / length).astype(np.float32)[:, np.newaxis]
        segments.append((angles, before, after, weight))
    return segments
