"""Unsharp masking: what a blurred projection lacks is added, several times, as if to the volume."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from runner.tomo.correct.blur import REACH
from runner.tomo.share import share


def sharpen(
    sinograms: NDArray[np.float32], inner: slice, *, sigma: float, coeff: float, threads: int = 1
) -> NDArray[np.float32]:
    """Make ``(1 + coeff) projection - coeff blurred`` of every projection.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Line integrals; overwritten.
    inner : slice
        Rows that are wanted; the others are their margins.
    sigma : float
        Of the Gaussian blur, pixels.
    coeff : float
        How many times what it takes away is added.
    threads : int
        How many compute, each at an angle.

    Returns
    -------
    (row, angle, column) float32 ndarray
        The inner rows: a part of `sinograms`.
    """

    def treat(angle: int) -> None:
        blurred = gaussian_filter(sinograms[:, angle], sigma, truncate=REACH, mode="nearest")[inner]
        wanted = sinograms[inner, angle]
        wanted += np.float32(coeff) * (wanted - blurred)

    share(treat, range(sinograms.shape[1]), threads)
    return sinograms[inner]
