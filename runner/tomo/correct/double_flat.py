"""Double flat-field: what all projections have in common is no part of a sample that turns.

As nabu does it: without a blur the transmissions are divided by their mean; with one, what the mean of the
line integrals has beyond its blur is subtracted, which leaves the sample's own mean alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from runner.tomo.correct.blur import REACH
from runner.tomo.share import share


def remove_common(
    sinograms: NDArray[np.float32], inner: slice, sigma: float, *, threads: int = 1
) -> NDArray[np.float32]:
    """Take away what all projections have in common.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Line integrals; overwritten.
    inner : slice
        Rows that are wanted; the others are their margins.
    sigma : float
        Of the Gaussian blur, pixels along rows and columns; 0 to take away all of the mean.
    threads : int
        How many compute, each at a row.

    Returns
    -------
    (row, angle, column) float32 ndarray
        The inner rows: a part of `sinograms`.
    """
    common = np.empty((sinograms.shape[0], sinograms.shape[2]), np.float32)

    def average(row: int) -> None:
        common[row] = sinograms[row].mean(axis=0) if sigma else -np.log(np.exp(-sinograms[row]).mean(axis=0))

    share(average, range(len(sinograms)), threads)
    if sigma:
        common -= gaussian_filter(common, sigma, truncate=REACH, mode="reflect")
    wanted = sinograms[inner]
    wanted -= common[inner, np.newaxis]
    return wanted
