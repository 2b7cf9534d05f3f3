"""Pixels without a signal: what stands for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def fill_gaps(sinogram: NDArray[np.float32]) -> None:
    """Replace NaN in a sinogram, in place, by linear interpolation between its neighbours in the row.

    Parameters
    ----------
    sinogram : (angle, column) float32 ndarray
        A projection with no value at all becomes 0.
    """
    gaps = np.isnan(sinogram)
    for angle in np.flatnonzero(gaps.any(axis=1)):
        line, missing = sinogram[angle], gaps[angle]
        there = np.flatnonzero(~missing)
        line[missing] = np.interp(np.flatnonzero(missing), there, line[there]) if len(there) else 0
