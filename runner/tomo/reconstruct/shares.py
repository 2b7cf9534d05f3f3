"""How much each projection of a scan counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.geometry import gap_shares

_EVEN = 1e-3  # relative: shares that differ less are the same


def shares_of(angles: NDArray[np.float64]) -> tuple[float, ...] | None:
    """Share half a turn among the projections of a scan, where they are not to share it evenly.

    Views that show the same, like those at 0 and 180 or at 0 and 360 degrees, share the weight of one; next
    to a missing one the others count more; of an arc between half a turn and a whole one, what is seen twice
    counts once.

    Parameters
    ----------
    angles : (angle,) float64
        Rotation angle of each projection, degrees, in any order.

    Returns
    -------
    tuple of float, or None
        Radians, their sum is pi. None if all count the same: evenly spread angles, or less than half a turn,
        where nothing tells how much the views at the ends stand for.
    """
    span, step = float(np.ptp(angles)), float(np.median(np.diff(np.sort(angles))))
    if span < 180 - 1.5 * step:
        return None
    full_turn = span > 360 - 1.5 * step
    shares = gap_shares(angles.tolist(), full_turn)
    even = np.pi / len(angles)
    return None if np.allclose(shares, even, rtol=_EVEN, atol=0) else shares
