"""Methods that add one number to each column: the mean of all angles is made smooth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded
from scipy.ndimage import gaussian_filter1d


def remove_by_mean(sinogram: NDArray[np.float32], *, sigma: float) -> None:
    """Make the mean over the angles as smooth as a Gaussian filter does.

    Parameters
    ----------
    sinogram : (angle, column) float32
        In place.
    sigma : float
        Of the filter, columns.

    References
    ----------
    M. L. Rivers, https://www.mcs.anl.gov/research/projects/X-ray-cmt/rivers/tutorial.html
    """
    mean = sinogram.mean(axis=0, dtype=np.float64)
    sinogram += (gaussian_filter1d(mean, sigma) - mean).astype(np.float32)


def remove_by_regularization(sinogram: NDArray[np.float32], *, alpha: float) -> None:
    """Add the smallest correction that makes the mean over the angles smooth (Titarenko).

    Minimises the squares of the differences between neighbouring columns of the mean, plus `alpha` times
    the squares of what is added.

    Parameters
    ----------
    sinogram : (angle, column) float32
        In place.
    alpha : float
        The price of a correction; less is smoother.

    References
    ----------
    S. Titarenko, P. J. Withers, A. Yagola, "An analytical formula for ring artefact suppression in X-ray
    tomography", Applied Mathematics Letters 23, 1489 (2010), https://doi.org/10.1016/j.aml.2010.08.022
    """
    mean = sinogram.mean(axis=0, dtype=np.float64)
    matrix = np.full((2, len(mean)), -1.0)  # the upper band, then the diagonal
    matrix[1] = 2 + alpha
    matrix[1, [0, -1]] = 1 + alpha
    if len(mean) > 1:
        sinogram += (alpha * solveh_banded(matrix, mean) - mean).astype(np.float32)
