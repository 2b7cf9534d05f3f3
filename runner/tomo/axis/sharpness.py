"""The slice itself: about a wrong axis, edges are doubled.

From half a turn, every edge gets the shape of a tuning fork, and the total variation of the slice is least
for the right axis. From more, what opposite views show is laid twice beside each other, and blurs: the
variance is greatest. Measures of this kind: T. Donath, F. Beckmann and A. Schreyer, "Automated determination
of the center of rotation in tomography data", J. Opt. Soc. Am. A 23 (2006) 1048-1057,
https://doi.org/10.1364/JOSAA.23.001048.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from runner.tomo.axis.finding import Curve, Finding, spread_of
from runner.tomo.reconstruct import Reconstructor

_LEAST_REACH, _MOST_REACH = 3.0, 8.0  # columns to both sides
_STEP = 0.5
_MOST_ANGLES = 900
_LARGEST = 1024  # pixels along both sides of the slice
_MOST_SPREAD = 1.0
_HALF_TURN = 190.0  # degrees; what is longer shows most of the object from both sides
NAME = "sharpness"


def sharpness_finding(
    sinograms: NDArray[np.float32], angles: NDArray[np.float64], around: float, *, threads: int = 1
) -> Finding:
    """Find the axis near some position from the sharpness of slices.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Line integrals of some rows.
    angles : (angle,) float64
        Degrees.
    around : float
        Column near which to look, at most 8 away.
    threads : int
        How many reconstruct.
    """
    columns = sinograms.shape[2]
    reach = min(
        max(columns / 24, _LEAST_REACH), _MOST_REACH
    )  # little of the detector: the object stays in view
    centers = around + np.arange(-reach, reach + _STEP / 2, _STEP)
    centers = centers[(centers >= 0) & (centers <= columns - 1)]
    few = slice(None, None, max(1, -(-len(angles) // _MOST_ANGLES)))
    sinograms, angles = sinograms[:, few], angles[few]
    scores = np.array([_scores(sinograms, angles, center, around, threads) for center in centers])
    curve = Curve(centers=centers, scores=scores.sum(axis=1))
    position = curve.peak()
    if not np.isfinite(position):
        return Finding(method=NAME, position=position, spread=np.inf, doubt="no best", curve=curve)
    places = np.array([Curve(centers=centers, scores=row).peak() for row in scores.T])
    spread = spread_of(places, np.ptp(scores, axis=0) + 1e-30, position)
    doubt = "" if spread <= _MOST_SPREAD else "rows differ"
    return Finding(method=NAME, position=position, spread=spread, doubt=doubt, curve=curve)


def _scores(
    sinograms: NDArray[np.float32], angles: NDArray[np.float64], center: float, around: float, threads: int
) -> NDArray[np.float64]:
    """Measure the sharpness of the part of the slices that is seen from both sides, (row,)."""
    columns = sinograms.shape[2]
    radius = max(min(around, columns - 1 - around), columns / 8)
    size = int(min(2 * radius + 1, columns, _LARGEST))
    with Reconstructor(
        angles=angles, columns=columns, size=size, center=center, window="hann", cutoff=0.5,
        weights="gaps", threads=threads,
    ) as reconstruct:  # fmt: skip
        slices = reconstruct(sinograms)
        x = reconstruct.geometry.x
    inside = np.hypot(x, x[:, np.newaxis]) < 0.47 * size
    if np.ptp(angles) > _HALF_TURN:
        return np.asarray(slices[:, inside].var(axis=1, dtype=np.float64))
    along_y, along_x = np.diff(slices, axis=1)[:, :, :-1], np.diff(slices, axis=2)[:, :-1]
    variation = np.hypot(along_y, along_x)[:, inside[:-1, :-1]]
    return np.asarray(-variation.mean(axis=1, dtype=np.float64))
