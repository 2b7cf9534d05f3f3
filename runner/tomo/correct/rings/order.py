"""Sort each column of a sinogram by its values, and put values back where they came from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from runner.tomo.kernels.kernel import kernel

_SIGN = np.uint32(1 << 31)
_HALF = np.uint64(32)
_INDEX = np.uint64(0xFFFFFFFF)


def sort_columns(sinogram: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.uint64]]:
    """Sort the values of each column; equal ones stay in the order of their angles.

    Parameters
    ----------
    sinogram : (angle, column) float32
        Without NaN.

    Returns
    -------
    values : (column, rank) float32 ndarray
        Ascending.
    keys : (column, rank) uint64 ndarray
        The angle that each one comes from, in the lower half; for :func:`unsort_columns`.
    """
    angles, columns = sinogram.shape
    keys = np.empty((columns, angles), np.uint64)
    _pack(sinogram, keys)
    keys.sort(axis=1)  # whole numbers: NumPy has vector instructions for them
    values = np.empty((columns, angles), np.float32)
    _unpack(keys, values)
    return values, keys


@kernel
def unsort_columns(values, keys, sinogram):
    """Put values (column, rank) to where they come from, into `sinogram` (angle, column)."""
    for column in range(keys.shape[0]):
        for rank in range(keys.shape[1]):
            sinogram[np.int64(keys[column, rank] & _INDEX), column] = values[column, rank]


@kernel
def _pack(sinogram, keys):
    """Make whole numbers in the order of the values, each with its angle below."""
    for column in range(keys.shape[0]):
        for angle in range(keys.shape[1]):
            bits = np.float32(sinogram[angle, column]).view(np.uint32)
            ordered = ~bits if bits & _SIGN else bits | _SIGN  # negative ones downwards, below the others
            keys[column, angle] = (np.uint64(np.uint32(ordered)) << _HALF) | np.uint64(angle)


@kernel
def _unpack(keys, values):
    for column in range(keys.shape[0]):
        for rank in range(keys.shape[1]):
            ordered = np.uint32(keys[column, rank] >> _HALF)
            bits = ordered ^ _SIGN if ordered & _SIGN else ~ordered
            values[column, rank] = np.uint32(bits).view(np.float32)
