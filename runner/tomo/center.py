"""Where the rotation axis falls on the detector, found from views of opposite sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from runner.errors import ScanError
from runner.tomo.center_pairs import Pair, View, opposite_pairs
from runner.tomo.center_register import Vote, register
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.scan import Scan

_BAND_HEIGHT = 16  # rows that vote together, at most
_SMOOTHING = 1.0  # columns; noise that is not seen from both sides only lowers the scores
_NEAR = 1.0  # votes within so many columns agree
_LEAST_AGREEMENT = 0.75
_LEAST_SCORE = 0.3
_TO_DEVIATION = 1.4826  # from the median of absolute deviations to a standard deviation
FOUND_BY = "opposite views"


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What some neighbouring rows say.

    Attributes
    ----------
    start, stop : int
        The rows.
    position : float
        Column of the rotation axis there; a steady change from band to band is a tilt.
    """

    start: int
    stop: int
    position: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisEstimate:
    """Where the rotation axis is, and how far that can be trusted.

    Attributes
    ----------
    position : float
        Column, counted from the left, pixel centres at 0, 1, ...
    spread : float
        Standard deviation of the votes of all pairs in all bands, columns.
    agreement : float
        Share of the votes, by weight, within a column of `position`.
    score : float
        Typical correlation of a view with its mirrored opposite, 0 to 1.
    method : str
        How it was found.
    bands : tuple of Band
        Position by detector rows.
    pairs : tuple of float
        Angle of the first view of each pair, degrees; the other is at + 180.
    """

    position: float
    spread: float
    agreement: float
    score: float
    method: str
    bands: tuple[Band, ...]
    pairs: tuple[float, ...]


def find_center(scan: Scan, *, bands: int = 9) -> AxisEstimate:
    """Find the rotation axis.

    Views from opposite sides are mirror images of each other about the axis. Every such pair, in several
    bands of rows, votes for the position where its views match best; the weighted median of the
    votes is the axis. A few frames and rows are read, however large the scan.

    Parameters
    ----------
    scan : Scan
        Any start angle, half a turn or more; half a turn less one step will do.
    bands : int
        In how many bands of rows to look.

    Raises
    ------
    ScanError
        If there are no opposite views, or if the votes contradict each other.
    """
    pairs = opposite_pairs(scan.angles)
    numbers = np.unique([number for pair in pairs for view in _views(pair) for number in view.numbers])
    found = []
    votes: list[Vote] = []
    for rows in spread_bands(scan.rows, bands):
        sinograms = corrected_sinograms(scan, rows, chosen=numbers)
        of_band = [vote(pair, sinograms, numbers) for pair in pairs]
        found.append(Band(start=rows.start, stop=rows.stop, position=_median(of_band)))
        votes += of_band
    return decide(votes, bands=tuple(found), pairs=tuple(pair.angle for pair in pairs))


def spread_bands(rows: int, bands: int) -> list[slice]:
    """Spread bands of rows evenly over a detector, without overlap."""
    count = min(bands, rows)
    height = min(_BAND_HEIGHT, rows // count)
    starts = np.linspace(0, rows - height, count).round().astype(int).tolist()
    return [slice(start, start + height) for start in starts]


def vote(pair: Pair, sinograms: NDArray[np.float32], numbers: NDArray[np.int64]) -> Vote:
    """Find the axis from one pair of opposite views.

    Parameters
    ----------
    pair : Pair
    sinograms : (row, angle, column) float32
        Line integrals of those projections that are needed.
    numbers : (angle,) int64
        Their numbers in the scan, ascending.
    """
    first, second = (_see(view, sinograms, numbers) for view in _views(pair))
    return register(first, second).peak()


def decide(votes: list[Vote], *, bands: tuple[Band, ...], pairs: tuple[float, ...]) -> AxisEstimate:
    """Make an estimate of the votes, or refuse to.

    Raises
    ------
    ScanError
        If they contradict each other, or if nothing is seen from both sides.
    """
    position = _median(votes)
    score = float(np.median([vote.score for vote in votes]))
    if score < _LEAST_SCORE:
        raise ScanError(
            f"the rotation axis cannot be found: views from opposite sides have little in common"
            f" (correlation {score:.2f})",
            "check the angles, or give it as --center PX",
        )
    if not np.isfinite(position):
        raise ScanError(
            "the rotation axis cannot be found: views from opposite sides match best where they hardly"
            " overlap",
            "check whether the axis is in the field of view, or give it as --center PX",
        )
    deviations = np.abs(np.array([vote.position for vote in votes]) - position)
    weights = np.array([vote.weight for vote in votes])
    agreement = float(weights[deviations <= _NEAR].sum() / weights.sum())
    if agreement < _LEAST_AGREEMENT:
        places = ", ".join(f"{band.position:.1f} in rows {band.start}:{band.stop}" for band in bands)
        raise ScanError(
            f"the rotation axis cannot be found: only {agreement:.0%} of the evidence is for column"
            f" {position:.1f} ({places})",
            "check the angles and whether the axis is tilted, or give it as --center PX",
        )
    return AxisEstimate(
        position=position,
        spread=_TO_DEVIATION * weighted_median(deviations, weights),
        agreement=agreement,
        score=score,
        method=FOUND_BY,
        bands=bands,
        pairs=pairs,
    )


def weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Find the value below and above which lies half of the weight."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


def _median(votes: list[Vote]) -> float:
    return weighted_median(
        np.array([vote.position for vote in votes]), np.array([vote.weight for vote in votes])
    )


def _views(pair: Pair) -> tuple[View, View]:
    return pair.first, pair.second


def _see(view: View, sinograms: NDArray[np.float32], numbers: NDArray[np.int64]) -> NDArray[np.float32]:
    """Make a view from its two projections, (row, column)."""
    before, after = (sinograms[:, index] for index in np.searchsorted(numbers, view.numbers))
    seen = (1 - view.weight) * before + view.weight * after
    return np.asarray(gaussian_filter1d(seen, _SMOOTHING, axis=1, mode="nearest"), np.float32)
