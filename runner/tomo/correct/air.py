"""Normalisation by the air that the outermost columns see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from runner.tomo.share import share


def normalise_by_air(sinograms: NDArray[np.float32], columns: int, *, threads: int = 1) -> None:
    """Make the mean transmission at both ends of every line 1, and change linearly what is between them.

    That follows a beam whose intensity changes from one projection to the next, and takes the place of flats
    where the detector sees all pixels alike.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Line integrals; overwritten.
    columns : int
        How many at each end see nothing but air.
    threads : int
        How many compute, each at a row.
    """
    width = sinograms.shape[2]
    middle = (columns - 1) / 2
    places = np.arange(width, dtype=np.float32)
    share_of_right = (places - np.float32(middle)) / np.float32(max(width - 1 - 2 * middle, 1))

    def treat(row: int) -> None:
        lines = sinograms[row]
        left, right = _air(lines[:, :columns]), _air(lines[:, width - columns :])
        lines -= left + (right - left) * share_of_right

    share(treat, range(len(sinograms)), threads)


def _air(lines: NDArray[np.float32]) -> NDArray[np.float32]:
    """Take the line integral of the mean transmission, (angle, 1); their mean would grow with noise."""
    return np.asarray(-np.log(np.exp(-lines).mean(axis=1, keepdims=True)), np.float32)
