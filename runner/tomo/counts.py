"""What a detector counted, and all that it takes to make line integrals of it, on whatever device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """Some rows of all projections, with their darks and flats. It has rows as an array has, and can be cut.

    Attributes
    ----------
    projections : (angle, row, column) ndarray
        As stored.
    dark : (row, column) float32
        Counts without beam.
    beams : (flat, row, column) float32
        Flats less the dark; NaN in pixels without a signal.
    before, after : (angle,) int64
        The flats around each projection; the same one outside of all.
    weights : (angle,) float32
        Of the latter.
    gains : (angle,) float32
        Factor for the transmission of each projection.
    """

    projections: NDArray[np.number]
    dark: NDArray[np.float32]
    beams: NDArray[np.float32]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    weights: NDArray[np.float32]
    gains: NDArray[np.float32]

    @property
    def sinograms(self) -> NDArray[np.number]:
        """The projections as (row, angle, column), not copied."""
        return self.projections.swapaxes(0, 1)

    def __len__(self) -> int:
        return len(self.dark)

    def __getitem__(self, rows: slice) -> Self:
        return replace(
            self, projections=self.projections[:, rows], dark=self.dark[rows], beams=self.beams[:, rows]
        )


Rays = NDArray[np.float32] | Counts
"""Sinograms (row, angle, column), line integrals without unit; or what they are to be made of."""
