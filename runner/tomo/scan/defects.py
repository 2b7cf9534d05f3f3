"""Pixels of a detector that cannot be trusted, as a map small enough to travel with a scan."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

KINDS = ("dead", "hot", "saturated", "stuck", "odd")
"""What a pixel may be: a map holds its number in this list plus one, and 0 for a good pixel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defects:
    """A map of defective pixels.

    Attributes
    ----------
    rows, columns : int
        The detector's shape, pixels.
    packed : bytes
        The map, compressed.
    """

    rows: int
    columns: int
    packed: bytes

    def map(self) -> NDArray[np.uint8]:
        """Return the map: (row, column) uint8, 0 for a good pixel, else as `KINDS` says."""
        pixels = np.frombuffer(zlib.decompress(self.packed), np.uint8)
        return pixels.reshape(self.rows, self.columns)

    def counts(self) -> dict[str, int]:
        """Count the pixels of each kind, by name."""
        found = np.bincount(self.map().ravel(), minlength=len(KINDS) + 1)[1:]
        return dict(zip(KINDS, found.tolist(), strict=True))


def pack(defects: NDArray[np.uint8]) -> Defects:
    """Compress a map (row, column)."""
    rows, columns = defects.shape
    return Defects(rows=rows, columns=columns, packed=zlib.compress(defects.tobytes(), 1))
