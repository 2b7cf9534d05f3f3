"""Whether there are enough projections for the detector's columns."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from runner.tomo.scan.finding import Finding, note

_SAME = 0.25  # of a step: two directions are the same
_FEW = 1 / 2  # of what the sampling theorem wants
_FAR_TOO_FEW = 1 / 8


def check_sampling(angles: NDArray[np.float64], columns: int) -> list[Finding]:
    """Count the directions, and hold them against the width of the detector.

    A slice of N columns is sampled around as finely as along the detector by pi / 2 N directions over half a
    turn; with n, only what lies within n / pi columns of the axis is (R. A. Crowther, D. J. DeRosier and
    A. Klug, Proceedings of the Royal Society A 317 (1970) 319-340).

    Parameters
    ----------
    angles : (angle,) float64
        Of each projection, degrees, finite, at least two.
    columns : int
        Of the detector.
    """
    count, wanted = directions(angles), math.ceil(math.pi / 2 * columns)
    if count >= _FEW * wanted:
        return []
    what = f"views from {count} directions are few for {columns} columns: {wanted} would show all alike"
    found = note(what, f"expect streaks farther than {count / math.pi:.0f} columns from the axis")
    return [found if count >= _FAR_TOO_FEW * wanted else replace(found, level="warning")]


def directions(angles: NDArray[np.float64]) -> int:
    """Count the directions among some angles: a view and the opposite one are of one.

    >>> directions(np.array([0.0, 60.0, 120.0, 180.0, 240.0]))
    3
    """
    turned = np.sort(np.mod(angles, 180))
    steps = np.diff(turned, append=turned[0] + 180)
    step = np.median(np.diff(np.sort(angles)))
    return max(int(np.count_nonzero(steps > _SAME * min(step, 180 / len(angles)))), 1)
