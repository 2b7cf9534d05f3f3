"""Find the rotation axis of a scan: read a little of it, ask three methods, decide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from runner.tomo.axis.consensus import consensus, spread_about
from runner.tomo.axis.finding import AxisEstimate, Band
from runner.tomo.axis.opposite import Result, compare, count
from runner.tomo.axis.pairs import Pair, opposite_pairs
from runner.tomo.axis.sharpness import sharpness_finding
from runner.tomo.axis.wedge import sinogram_finding
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.reconstruct.shift import shift_rows
from runner.tomo.scan import Scan

FOUND_BY = "consensus"
_BAND_HEIGHT = 16  # rows that vote together, at most
_SLICES = 3  # places where whole sinograms are looked at
_SLICE_ROWS = 2  # rows at each


def find_center(scan: Scan, *, bands: int = 9, threads: int = 1) -> AxisEstimate:
    """Find the rotation axis by three methods that have to agree.

    Views from opposite sides are mirror images of each other about the axis. Every such pair, in several
    bands of rows, votes for the position where its views match best. In those bands that show most of the
    object, the sinogram's double wedge and the sharpness of the slice confirm it. A few frames, and a few
    rows of all frames, are read, however large the scan.

    Parameters
    ----------
    scan : Scan
        Any start angle, half a turn or more; half a turn less one step will do.
    bands : int
        In how many bands of rows to look.
    threads : int
        How many read and compute.

    Raises
    ------
    ScanError
        If there are no opposite views, or if the methods contradict each other by more than a column.
    """
    pairs = opposite_pairs(scan.angles)
    views = [view for pair in pairs for view in (pair.first, pair.second)]
    numbers = np.unique([number for view in views for number in view.numbers])
    ballots = []
    for rows in spread_bands(scan.rows, bands):
        sinograms = corrected_sinograms(scan, rows, chosen=numbers, threads=threads)
        ballots.append(compare(pairs, rows, sinograms, numbers))
    middle = (scan.rows - 1) / 2
    result = count(tuple(ballots), middle)
    parts = rows_to_look_at(result.bands)
    sinograms = np.concatenate([corrected_sinograms(scan, part, threads=threads) for part in parts])
    offsets = np.concatenate([np.arange(part.start, part.stop) for part in parts]) - middle
    return judge(result, pairs, sinograms, offsets, scan.angles, threads=threads)


def judge(
    result: Result,
    pairs: tuple[Pair, ...],
    sinograms: NDArray[np.float32],
    offsets: NDArray[np.float64],
    angles: NDArray[np.float64],
    *,
    threads: int = 1,
) -> AxisEstimate:
    """Hold what opposite views say against whole sinograms and slices.

    Parameters
    ----------
    result : Result
        Of all pairs.
    pairs : tuple of Pair
    sinograms : (row, angle, column) float32
        Line integrals of some rows.
    offsets : (row,) float64
        Their distance from the detector's middle row.
    angles : (angle,) float64
        Degrees.
    threads : int
        How many reconstruct.

    Raises
    ------
    ScanError
        If the methods contradict each other by more than a column.
    """
    first = result.finding
    # where the axis is tilted, all rows are told to have it where the middle row has it
    upright = sinograms.copy()
    shift_rows(upright, -result.line.slope * offsets)
    findings = [first, sinogram_finding(upright, angles)]
    if np.isfinite(first.position):
        findings.append(sharpness_finding(upright, angles, first.position, threads=threads))
    position, confidence = consensus(tuple(findings))
    return AxisEstimate(
        position=position,
        slope=result.line.slope,
        spread=spread_about(position, tuple(findings)),
        confidence=confidence,
        agreement=result.agreement,
        score=result.score,
        method=FOUND_BY,
        findings=tuple(findings),
        bands=result.bands,
        pairs=tuple(pair.angle for pair in pairs),
    )


def spread_bands(rows: int, bands: int) -> list[slice]:
    """Spread bands of rows evenly over a detector, without overlap."""
    number = min(bands, rows)
    height = min(_BAND_HEIGHT, rows // number)
    starts = np.linspace(0, rows - height, number).round().astype(int).tolist()
    return [slice(start, start + height) for start in starts]


def rows_to_look_at(bands: tuple[Band, ...]) -> list[slice]:
    """Choose the middle of those bands that have most to say, a few rows each."""
    best = sorted(bands, key=lambda band: band.weight, reverse=True)[:_SLICES]
    parts = []
    for band in sorted(best, key=lambda band: band.start):
        height = min(_SLICE_ROWS, band.stop - band.start)
        start = (band.start + band.stop - height) // 2
        parts.append(slice(start, start + height))
    return parts
