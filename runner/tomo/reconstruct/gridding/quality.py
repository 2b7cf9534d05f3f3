"""How exact the engine is: the fineness of its grid, and how many cells each point of a spectrum touches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from runner.tomo.reconstruct.gridding.fft_plan import good_length


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """See the module.

    Attributes
    ----------
    oversampling : float
        Cells of the grid for each pixel of the image, along one axis, at least.
    width : int
        Cells that a point touches along one axis.
    """

    oversampling: float
    width: int


QUALITIES: Mapping[str, Quality] = MappingProxyType(
    {
        "standard": Quality(oversampling=1.25, width=5),  # within 1e-3 of the exact sum, for noise alone
        "high": Quality(oversampling=1.25, width=7),  # within 1e-4
    }
)


def grid_length(pixels: int, quality: Quality) -> int:
    """Choose how many cells the grid has along an axis with so many pixels.

    The error is largest at the ends of the axis, where a large image has few of its pixels. A small one gets
    a margin that costs little.
    """
    return good_length(max(math.ceil(quality.oversampling * pixels), pixels + 64))
