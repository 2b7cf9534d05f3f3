"""What is known about the rotation axis: what each method finds, and what follows from all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TO_DEVIATION = 1.4826
"""From the median of absolute deviations to a standard deviation."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """How well each position of the axis does, for one method.

    Attributes
    ----------
    centers : (position,) float64
        Columns, ascending, evenly spaced.
    scores : (position,) float64
        The higher the better, without unit.
    """

    centers: NDArray[np.float64]
    scores: NDArray[np.float64]

    def peak(self) -> float:
        """Find the best position, to a fraction of a step; infinite where the curve ends there."""
        best = int(np.argmax(self.scores))
        if best in {0, len(self.scores) - 1}:
            return np.inf
        step = float(self.centers[best + 1] - self.centers[best])
        return float(self.centers[best]) + step * parabola_top(*self.scores[best - 1 : best + 2].tolist())


def parabola_top(before: float, at: float, after: float) -> float:
    """Find the top of the parabola through three neighbouring values: its distance from the middle, in steps.

    >>> parabola_top(0.0, 3.0, 2.0)
    0.25
    """
    bend = before - 2 * at + after
    return min(max(0.5 * (before - after) / bend, -0.5), 0.5) if bend < 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Where one method sees the rotation axis.

    Attributes
    ----------
    method : str
        Its name.
    position : float
        Column at the middle row; not finite where there is none.
    spread : float
        Standard deviation of what single rows or views say, columns.
    doubt : str
        Why it does not count; empty where it does.
    curve : Curve or None
        What it looked at.
    """

    method: str
    position: float
    spread: float
    doubt: str = ""
    curve: Curve | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.text}"

    @property
    def text(self) -> str:
        """What it says, without its name."""
        value = f"{self.position:.2f} +- {self.spread:.2f}" if np.isfinite(self.position) else "nothing"
        return value + (f" ({self.doubt})" if self.doubt else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What some neighbouring rows say.

    Attributes
    ----------
    start, stop : int
        The rows.
    position : float
        Column of the rotation axis there; a steady change from band to band is a tilt.
    weight : float
        How much they have to say.
    spread : float
        Standard deviation of what the pairs of views say there, columns; infinite where it is not known.
    """

    start: int
    stop: int
    position: float
    weight: float = 1.0
    spread: float = np.inf

    @property
    def middle(self) -> float:
        """The row in the middle."""
        return (self.start + self.stop - 1) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisEstimate:
    """Where the rotation axis is, and how far that can be trusted.

    Attributes
    ----------
    position : float
        Column in the detector's middle row, counted from the left, pixel centres at 0, 1, ...
    slope : float
        By how many columns it moves from one row to the next; 0 where no tilt is certain.
    spread : float
        Standard deviation of the votes of all pairs of views in all bands, or the largest distance of a
        method's answer, if that is more; columns.
    confidence : str
        ``"high"`` where three methods agree within half a column, ``"fair"`` where two do, ``"low"`` where
        the others cannot tell or are further away.
    agreement : float
        Share of the votes of the pairs, by weight, within a column of the axis.
    score : float
        Typical correlation of a view with its mirrored opposite, 0 to 1.
    method : str
        How it was found.
    findings : tuple of Finding
        What each method says.
    bands : tuple of Band
        Position by detector rows.
    pairs : tuple of float
        Angle of the first view of each pair, degrees; the other is at + 180.
    """

    position: float
    slope: float
    spread: float
    confidence: str
    agreement: float
    score: float
    method: str
    findings: tuple[Finding, ...]
    bands: tuple[Band, ...]
    pairs: tuple[float, ...]


def weighted_median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Find the value below and above which lies half of the weight."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


def spread_of(values: NDArray[np.float64], weights: NDArray[np.float64], around: float) -> float:
    """Find the standard deviation from a value, as the median of absolute deviations tells it."""
    return TO_DEVIATION * weighted_median(np.abs(values - around), weights)
