"""Zingers: X-rays that hit the camera itself and leave a spot in one projection, far too bright."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from runner.tomo.kernels.compiled import ensure_compiled
from runner.tomo.share import share

REACH = 1
"""Rows above and below a pixel that are looked at."""


def remove_zingers(
    sinograms: NDArray[np.float32], inner: slice, threshold: float, *, threads: int = 1
) -> NDArray[np.float32]:
    """Replace pixels that are much brighter than the median of the nine around them, by that.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Line integrals; overwritten.
    inner : slice
        Rows that are wanted; the others are their margins.
    threshold : float
        How much brighter, as a share of the median: 0.1 for ten per cent.
    threads : int
        How many compute, each at an angle.

    Returns
    -------
    (row, angle, column) float32 ndarray
        The inner rows: a part of `sinograms`.
    """
    from runner.tomo.correct.spots import replace_spots  # numba is slow to import

    ensure_compiled("zinger removal", _run_once)
    least = np.float32(math.log1p(threshold))  # brighter by a factor: less in the line integral

    def treat(angle: int) -> None:
        replace_spots(sinograms[:, angle].copy(), inner.start, least, sinograms[inner, angle])

    share(treat, range(sinograms.shape[1]), threads)
    return sinograms[inner]


def _run_once() -> None:
    from runner.tomo.correct.spots import replace_spots

    some = np.zeros((1, 2, 1), np.float32)  # a projection of a stack is not in one piece
    replace_spots(some[0], 0, np.float32(1), some[:, 1])
