"""Images made smaller, to be looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MOST = 512
"""Pixels along a side of what is shown."""


def step_for(length: int, most: int = MOST) -> int:
    """Say how many pixels become one, so that at most so many are left.

    >>> step_for(512), step_for(513), step_for(2048)
    (1, 2, 4)
    """
    return -(-length // most)


def shrink(image: NDArray[np.float32], most: int = MOST) -> NDArray[np.float32]:
    """Make an image small: the mean of each block of pixels.

    Parameters
    ----------
    image : (y, x) float32
        Both sides are shrunk on their own; the rest that makes no whole block is left out.
    most : int
        Pixels along a side afterwards.
    """
    height, width = image.shape
    down, across = step_for(height, most), step_for(width, most)
    whole = image[: height - height % down, : width - width % across]
    blocks = whole.reshape(whole.shape[0] // down, down, whole.shape[1] // across, across)
    small: NDArray[np.float32] = blocks.mean(axis=(1, 3), dtype=np.float32)
    return small
