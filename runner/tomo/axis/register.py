"""How a view and its mirrored opposite lie on each other: normalised cross-correlation in one direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from runner.tomo.axis.finding import parabola_top

_LEAST_OVERLAP = 0.1  # of the columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one pair of opposite views says.

    Attributes
    ----------
    position : float
        Column of the rotation axis; infinite if the views agree best where the search ends.
    score : float
        Correlation coefficient there, 0 to 1.
    weight : float
        Columns seen twice, times the ratio of signal to noise that the score tells.
    """

    position: float
    score: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Match:
    """How well two opposite views agree for each position of the rotation axis.

    Attributes
    ----------
    centers : (position,) float64
        Positions, columns, half a pixel apart.
    overlaps : (position,) int64
        How many columns both see.
    scores : (position,) float64
        Correlation coefficient of what both see, -1 to 1.
    """

    centers: NDArray[np.float64]
    overlaps: NDArray[np.int64]
    scores: NDArray[np.float64]

    @property
    def evidence(self) -> NDArray[np.float64]:
        """How improbable each score is by chance, (position,): R. A. Fisher's transformation.

        A high correlation over few columns says less than one over many.
        """
        return np.arctanh(np.clip(self.scores, 0, 1 - 1e-9)) * np.sqrt(self.overlaps)

    def peak(self) -> Vote:
        """Find the position where the views agree best, to a fraction of a pixel."""
        best = int(np.argmax(self.evidence))
        score = min(max(float(self.scores[best]), 0.0), 1.0)
        weight = float(self.overlaps[best]) * score**2 / (1.001 - score**2)
        return Vote(position=self._refined(best), score=score, weight=weight)

    def _refined(self, best: int) -> float:
        """Refine a position by a parabola through three scores; infinite where the search ends there."""
        if best in {0, len(self.scores) - 1}:
            return np.inf
        step = float(self.centers[best + 1] - self.centers[best])
        return float(self.centers[best]) + step * parabola_top(*self.scores[best - 1 : best + 2].tolist())


def register(first: NDArray[np.float32], second: NDArray[np.float32]) -> Match:
    """Correlate a view with the mirrored opposite one, for every position of the axis.

    What `first` sees at column u, `second` sees at ``2 center - u``. Only the columns that both see count,
    as in D. Padfield, "Masked object registration in the Fourier domain", IEEE Trans. Image
    Process. 21 (2012) 2706-2718, https://doi.org/10.1109/TIP.2011.2181402.

    Parameters
    ----------
    first, second : (row, column) float32
        Line integrals of the same rows, from opposite sides.
    """
    columns = first.shape[1]
    length = next_fast_len(2 * columns, real=True)
    mirrored, direct = _centred(first[:, ::-1]), _centred(second)
    mirrored_squared, direct_squared = rfft(mirrored**2, length), rfft(direct**2, length)
    mirrored, direct = rfft(mirrored, length), rfft(direct, length)
    ones = rfft(np.ones((1, columns)), length)

    def overlap(one: NDArray[np.complex128], other: NDArray[np.complex128]) -> NDArray[np.float64]:
        return np.asarray(irfft(one * np.conj(other), length))

    count = np.maximum(np.rint(overlap(ones, ones)), 1)
    sum_first, sum_second = overlap(mirrored, ones), overlap(ones, direct)
    covariance = overlap(mirrored, direct) - sum_first * sum_second / count
    variance_first = overlap(mirrored_squared, ones) - sum_first**2 / count
    variance_second = overlap(ones, direct_squared) - sum_second**2 / count
    scale = np.sqrt(np.clip(variance_first.sum(0) * variance_second.sum(0), 0, None))
    scores = np.divide(covariance.sum(0), scale, out=np.zeros(length), where=scale > 1e-9 * length)
    lags = np.arange(length)
    lags[lags > length // 2] -= length
    seen = np.flatnonzero(count[0] >= _LEAST_OVERLAP * columns)
    seen = seen[np.argsort(-lags[seen])]
    return Match(
        centers=(columns - 1 - lags[seen]) / 2, overlaps=count[0, seen].astype(np.int64), scores=scores[seen]
    )


def _centred(view: NDArray[np.float32]) -> NDArray[np.float64]:
    """Take the mean away, so that the sums keep their digits."""
    wide = view.astype(np.float64)
    return np.asarray(wide - wide.mean(axis=1, keepdims=True))
