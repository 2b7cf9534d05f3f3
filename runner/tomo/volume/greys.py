"""How a slice's values become the pixels that are stored: as they are, shorter, or as grey levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Greys:
    """The type of a volume's pixels, and what its grey levels mean.

    Attributes
    ----------
    dtype : str
        ``"float32"``, ``"float16"``, ``"uint16"`` or ``"uint8"``.
    low, high : float
        Values, in the volume's unit, of the lowest and the highest grey level; of the integers only.
    """

    dtype: str = "float32"
    low: float = 0.0
    high: float = 0.0

    @property
    def levels(self) -> bool:
        """Whether values become grey levels."""
        return np.dtype(self.dtype).kind == "u"

    @property
    def step(self) -> float:
        """What one grey level is worth: value = level * step + low."""
        return (self.high - self.low) / np.iinfo(self.dtype).max if self.levels else 1.0

    @property
    def bytes(self) -> int:
        """Of a pixel."""
        return np.dtype(self.dtype).itemsize

    @property
    def stored(self) -> str:
        """The type with its byte order, as files have it."""
        return np.dtype(self.dtype).newbyteorder("<").str


FLOAT32 = Greys()


def to_pixels(slices: NDArray[np.float32], greys: Greys) -> tuple[NDArray[np.generic], NDArray[np.uint32]]:
    """Turn the values of slices into pixels, and count those that a pixel cannot hold.

    Parameters
    ----------
    slices : (slice, y, x) float32
        Values; overwritten where they become grey levels.
    greys : Greys
        What to make of them.

    Returns
    -------
    pixels : (slice, y, x)
        Of the type ``greys.stored``. Values beyond the window are the lowest or the highest level, and beyond
        float16 its outermost number; what is not a number is level 0.
    clipped : (slice, 3) uint32
        Of each slice: pixels below, above, not a number. All 0 for float32, which holds everything.
    """
    clipped = np.zeros((len(slices), 3), np.uint32)
    if greys.dtype == "float32":
        return np.ascontiguousarray(slices, dtype=greys.stored), clipped
    pixels = np.empty(slices.shape, greys.stored)
    low, high = (greys.low, greys.high) if greys.levels else _limits_of_float16()
    for one, pixel, counts in zip(slices, pixels, clipped, strict=True):
        counts[:] = np.count_nonzero(one < low), np.count_nonzero(one > high), 0
        if greys.levels:
            missing = np.isnan(one)
            counts[2] = np.count_nonzero(missing)
            one[missing] = low
            np.clip(one, low, high, out=one)
            np.subtract(one, np.float32(low), out=one)
            np.multiply(one, np.float32(1 / greys.step), out=one)
            np.rint(one, out=one)
            np.minimum(one, np.iinfo(greys.dtype).max, out=one)  # the product may end a bit above
        else:
            np.clip(one, low, high, out=one)  # what is not a number stays so
        pixel[:] = one
    return pixels, clipped


def _limits_of_float16() -> tuple[float, float]:
    limits = np.finfo(np.float16)
    return float(limits.min), float(limits.max)
