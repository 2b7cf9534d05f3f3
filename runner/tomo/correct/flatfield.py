"""From counts to line integrals: dark, flat and Beer-Lambert's logarithm.

The conventions are nabu's: flats reduced by their median, darks by their mean, the transmission clipped
to [1e-6, 10]. Every value depends on its own pixel alone, so the result is the same to the last bit
however the rows are split into chunks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo import reused
from runner.tomo.counts import Counts
from runner.tomo.kernels.compiled import ensure_compiled
from runner.tomo.scan import Scan
from runner.tomo.scan.read import read_frames
from runner.tomo.share import share

MEDIAN, MEAN = "median", "mean"
_BLOCK = 16  # angles that a thread corrects at once: few enough that a row's dark and flat stay in the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatField:
    """How flats are used.

    Attributes
    ----------
    by : str
        How the flats of a group become one: ``"median"``, which a cosmic ray in one of them does not move, or
        ``"mean"``.
    ring_current : bool
        Follow the storage ring's current, which the scan tells of each frame: each projection and each flat
        is divided by its own. Else the beam changes linearly in time between the flats.
    """

    by: str = MEDIAN
    ring_current: bool = False


USUAL = FlatField()
"""Medians, and the beam as the flats show it."""


def corrected_sinograms(
    scan: Scan,
    rows: slice,
    *,
    flat_field: FlatField = USUAL,
    chosen: NDArray[np.int64] | None = None,
    threads: int = 1,
) -> NDArray[np.float32]:
    """Read some detector rows of a scan and correct them.

    Parameters
    ----------
    scan : Scan
        The scan.
    rows : slice
        Which detector rows: start and stop.
    flat_field : FlatField
        How flats are used. Without flats, the beam is that of the scan; without darks, they are 0.
    chosen : (angle,) int64, optional
        Numbers of the projections to read, ascending; all if not given.
    threads : int
        How many to use.

    Returns
    -------
    (row, angle, column) float32 ndarray
        Line integrals of the attenuation, without unit. All are finite: pixels without a signal (flat
        not above dark, NaN), and those that preflight found to be defective, are interpolated between
        their neighbours in the row.

    Raises
    ------
    MissingFileError, ScanError
        As from :func:`runner.tomo.scan.read.read_frames` and :func:`currents_of`.
    """
    return integrals_of(
        read_counts(scan, rows, flat_field=flat_field, chosen=chosen, threads=threads), threads=threads
    )


def read_counts(
    scan: Scan,
    rows: slice,
    *,
    flat_field: FlatField = USUAL,
    chosen: NDArray[np.int64] | None = None,
    threads: int = 1,
) -> Counts:
    """Read some detector rows of a scan, with their darks and flats, and correct nothing yet.

    Parameters and errors are those of :func:`corrected_sinograms`.
    """
    numbers = np.arange(scan.projections.count) if chosen is None else chosen
    read = functools.partial(read_frames, rows=rows, threads=threads)
    projections = read(replace(scan.projections, indices=scan.projections.indices[numbers]))
    nothing = np.zeros(projections.shape[1:], np.float32)
    dark = mean_frame([read(group.frames) for group in scan.darks]) if scan.darks else nothing
    reduce = median_frame if flat_field.by == MEDIAN else _mean_of_one
    flats = [reduce(read(group.frames)) for group in scan.flats] or [
        dark + np.float32(scan.beam * scan.binning**2)
    ]
    gains = None
    if flat_field.ring_current:
        currents, of_flats = currents_of(scan)
        gains = (1 / currents[numbers]).astype(np.float32)
        flats = [dark + (flat - dark) / np.float32(one) for flat, one in zip(flats, of_flats, strict=True)]
    if scan.defects is not None:
        defective = scan.defects.map()[rows] > 0
        for flat in flats:
            flat[defective] = np.nan
    times = np.add(numbers, 0.5, dtype=np.float64)
    positions = [group.position for group in scan.flats] or [0.0]
    return counts_from(projections, times, dark, flats, positions, gains=gains)


def currents_of(scan: Scan) -> tuple[NDArray[np.float64], list[float]]:
    """Tell the ring current at each projection, (angle,), and the mean of each group of flats.

    Raises
    ------
    ScanError
        If the scan does not tell them all, or has no flats.
    """
    of_flats = [float(group.currents.mean()) for group in scan.flats if group.currents is not None]
    if scan.currents is None or not of_flats or len(of_flats) < len(scan.flats):
        raise ScanError(
            "the scan does not tell the ring current of all its projections and flats",
            "leave --ring-current out; --air follows the beam by what passes beside the sample",
        )
    return scan.currents, of_flats


def _mean_of_one(stack: NDArray[np.number]) -> NDArray[np.float32]:
    return mean_frame([stack])


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


def counts_from(
    projections: NDArray[np.number],
    times: NDArray[np.float64],
    dark: NDArray[np.float32],
    flats: Sequence[NDArray[np.float32]],
    positions: Sequence[float],
    *,
    gains: NDArray[np.float32] | None = None,
) -> Counts:
    """Put together what line integrals are made of.

    Parameters
    ----------
    projections : (angle, row, column) ndarray
        Counts.
    times : (angle,) float64
        Where each projection stands in the scan: the i-th at i + 1/2.
    dark : (row, column) float32
        Counts without beam.
    flats : sequence of (row, column) float32
        Counts without sample, at least one.
    positions : sequence of float
        Where each flat stands in the scan, ascending (see
        :class:`~runner.tomo.scan.scan.FrameGroup`). A projection's flat is interpolated linearly
        between the two around it, and constant outside.
    gains : (angle,) float32, optional
        Factor for the transmission of each projection; 1 if not given.
    """
    before, after, weights = _flats_around(times, positions)
    return Counts(
        projections=projections,
        dark=dark,
        beams=np.stack([_beam(flat, dark) for flat in flats]),
        before=before,
        after=after,
        weights=weights,
        gains=np.ones(len(projections), np.float32) if gains is None else gains,
    )


def integrals_of(counts: Counts, *, threads: int = 1) -> NDArray[np.float32]:
    """Correct what a detector counted and take the logarithm: ``-log((projection - dark) / (flat - dark))``.

    Parameters
    ----------
    counts : Counts
        Of some rows.
    threads : int
        How many compute, each at some angles.

    Returns
    -------
    (row, angle, column) float32 ndarray
    """
    from runner.tomo.correct.lines import correct_lines  # numba is slow to import

    angles, rows, columns = counts.projections.shape
    sinograms = reused.empty("sinograms", (rows, angles, columns), np.float32)

    def correct(first: int) -> None:
        some = slice(first, first + _BLOCK)
        projections, dark = _compilable(counts.projections[some], counts.dark)
        flats = counts.before[some], counts.after[some], counts.weights[some]
        correct_lines(projections, dark, counts.beams, *flats, counts.gains[some], sinograms, first)

    ensure_compiled("correction", lambda: _run_once(correct_lines))
    share(correct, range(0, angles, _BLOCK), threads)
    return sinograms


def _run_once(correct_lines: Callable[..., None]) -> None:
    """Correct next to nothing, of both types of counts."""
    line, one = np.ones((1, 1, 1), np.float32), np.zeros(1, np.int64)
    for counts in (line, line.astype(np.uint16)):
        correct_lines(counts, line[0], line, one, one, line[0, 0], line[0, 0], line.copy(), 0)


def _compilable(
    counts: NDArray[np.number], dark: NDArray[np.float32]
) -> tuple[NDArray[np.number], NDArray[np.float32]]:
    """Give counts and dark in a type that there is a compiled function for, and in one piece.

    Where that is not the type of the counts, the dark is subtracted here, as precisely as they are stored.
    """
    if counts.dtype not in (np.uint16, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            counts, dark = (counts - dark).astype(np.float32), np.zeros_like(dark)
    return np.ascontiguousarray(counts), np.ascontiguousarray(dark)


def _beam(flat: NDArray[np.float32], dark: NDArray[np.float32]) -> NDArray[np.float32]:
    """Subtract the dark from a flat; NaN in pixels that do not see it."""
    with np.errstate(invalid="ignore"):
        beam = flat - dark
    beam[~(beam > 0)] = np.nan
    return beam


def _flats_around(
    times: NDArray[np.float64], positions: Sequence[float]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Find the flats around each projection: (flat before, flat after, weight of the latter).

    Outside the flats, the flat before and the flat after are the same.
    """
    places = np.asarray(positions, np.float64)
    before = np.searchsorted(places, times, side="right") - 1
    after = np.minimum(before + 1, len(places) - 1)
    before = np.maximum(before, 0)
    lengths = np.where(before == after, 1, places[after] - places[before])
    return before, after, ((times - places[before]) / lengths).astype(np.float32)
