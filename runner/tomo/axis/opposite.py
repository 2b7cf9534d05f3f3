"""Opposite views: each is the other's mirror image, about the rotation axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from runner.tomo.axis.finding import Band, Curve, Finding, spread_of, weighted_median
from runner.tomo.axis.pairs import Pair, View
from runner.tomo.axis.register import Match, Vote, register
from runner.tomo.axis.tilt import Line, fit_line

NAME = "opposite views"
_SMOOTHING = 1.0  # columns; noise that is not seen from both sides only lowers the scores
_NEAR = 1.0  # votes within so many columns agree
_LEAST_AGREEMENT = 0.75
_LEAST_SCORE = 0.3
_CLEAR = 0.6  # correlation of views that show the same, with noise that cannot move a vote far


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """What all pairs of views say in some neighbouring rows.

    Attributes
    ----------
    start, stop : int
        The rows.
    matches : tuple of Match
        Of each pair.
    """

    start: int
    stop: int
    matches: tuple[Match, ...]

    @property
    def middle(self) -> float:
        """The row in the middle."""
        return (self.start + self.stop - 1) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What opposite views say about the axis.

    Attributes
    ----------
    finding : Finding
        Where it is in the detector's middle row.
    bands : tuple of Band
        Where it is by rows.
    line : Line
        How it runs over the rows.
    agreement : float
        Share of the votes, by weight, within a column of it.
    score : float
        Typical correlation of a view with its mirrored opposite, 0 to 1.
    """

    finding: Finding
    bands: tuple[Band, ...]
    line: Line
    agreement: float
    score: float


def compare(
    pairs: tuple[Pair, ...], rows: slice, sinograms: NDArray[np.float32], numbers: NDArray[np.int64]
) -> Ballot:
    """Compare both views of each pair in some rows.

    Parameters
    ----------
    pairs : tuple of Pair
    rows : slice
        The rows, for the record.
    sinograms : (row, angle, column) float32
        Line integrals of those projections that are needed.
    numbers : (angle,) int64
        Their numbers in the scan, ascending.
    """
    matches = [
        register(_see(pair.first, sinograms, numbers), _see(pair.second, sinograms, numbers))
        for pair in pairs
    ]
    return Ballot(start=rows.start, stop=rows.stop, matches=tuple(matches))


def count(ballots: tuple[Ballot, ...], middle: float) -> Result:
    """Count the votes of all pairs in all bands of rows.

    Each pair in each band votes for the position where its views match best; the axis is their weighted
    median, or a line over the rows where that agrees better. Where too few votes agree, as in noise, the
    position that all of them together find best is still told, with doubt.

    Parameters
    ----------
    ballots : tuple of Ballot
    middle : float
        The detector's middle row, for which the position is told.
    """
    votes = [[match.peak() for match in ballot.matches] for ballot in ballots]
    bands = tuple(
        _band(ballot.start, ballot.stop, of_band) for ballot, of_band in zip(ballots, votes, strict=True)
    )
    line = fit_line(bands, middle)
    flat = [vote for of_band in votes for vote in of_band]
    rows = np.array([ballot.middle for ballot in ballots for _ in ballot.matches])
    # as if all were in the middle row
    places = np.array([vote.position for vote in flat]) - line.slope * (rows - middle)
    weights = np.array([vote.weight for vote in flat])
    position = weighted_median(places, weights)
    score = float(np.median([vote.score for vote in flat]))
    near = np.abs(places - position) <= _NEAR if np.isfinite(position) else np.zeros(len(places), np.bool_)
    agreement = float(weights[near].sum() / weights.sum()) if weights.any() else 0.0
    curve = _together(ballots)
    doubt = _doubt(position, score, agreement)
    if agreement < _LEAST_AGREEMENT:
        position = curve.peak() if score < _CLEAR else np.nan
    finding = Finding(
        method=NAME,
        position=position,
        spread=spread_of(places, weights, position) if np.isfinite(position) else np.inf,
        doubt=doubt,
        curve=curve,
    )
    return Result(finding=finding, bands=bands, line=line, agreement=agreement, score=score)


def _doubt(position: float, score: float, agreement: float) -> str:
    if score < _LEAST_SCORE:
        return f"they have little in common, correlation {score:.2f}"
    if not np.isfinite(position):
        return "they match best where they hardly overlap"
    return "" if agreement >= _LEAST_AGREEMENT else f"only {agreement:.0%} of the evidence agrees"


def _together(ballots: tuple[Ballot, ...]) -> Curve:
    """Sum the evidence of all pairs in all bands, for every position, per pair."""
    matches = [match for ballot in ballots for match in ballot.matches]
    # chances multiply, and Fisher's values are deviations from chance: they add up as their squares' root
    scores = np.sum([match.evidence for match in matches], axis=0) / np.sqrt(len(matches))
    return Curve(centers=matches[0].centers, scores=scores)


def _band(start: int, stop: int, votes: list[Vote]) -> Band:
    """Take the median of the votes of some rows."""
    places = np.array([vote.position for vote in votes])
    weights = np.array([vote.weight for vote in votes])
    position = weighted_median(places, weights)
    certain = len(votes) > 1 and np.isfinite(position)
    return Band(
        start=start,
        stop=stop,
        position=position,
        weight=float(weights.sum()),
        spread=spread_of(places, weights, position) if certain else np.inf,
    )


def _see(view: View, sinograms: NDArray[np.float32], numbers: NDArray[np.int64]) -> NDArray[np.float32]:
    """Make a view from its two projections, (row, column)."""
    before, after = (sinograms[:, index] for index in np.searchsorted(numbers, view.numbers))
    seen = (1 - view.weight) * before + view.weight * after
    return np.asarray(gaussian_filter1d(seen, _SMOOTHING, axis=1, mode="nearest"), np.float32)
