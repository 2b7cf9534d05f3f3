"""Sinograms of half a turn, evenly sampled, from a scan at any angles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST_TURNS = 6
_MOST_ANGLES = 720


def half_turns(sinogram: NDArray[np.float32], angles: NDArray[np.float64]) -> list[NDArray[np.float32]]:
    """Cut a sinogram into half turns, which overlap where the scan is longer than one.

    Views between two projections are interpolated linearly.

    Parameters
    ----------
    sinogram : (angle, column) float32
        Line integrals.
    angles : (angle,) float64
        Degrees, in any order, over half a turn, less a step, or more.

    Returns
    -------
    list of (angle, column) float32
        Each over 180 degrees, the end not included; 720 angles at most.
    """
    order = np.argsort(angles, kind="stable")
    turned = angles[order]
    apart = np.flatnonzero(np.diff(turned, prepend=-np.inf) > 1e-9)  # one of each angle
    order, turned = order[apart], turned[apart]
    step = float(np.median(np.diff(turned)))
    count = min(max(round(180 / step), 2), _MOST_ANGLES)
    wanted = np.arange(count) * (180 / count)
    beyond = max(float(turned[-1] - turned[0]) - float(wanted[-1]), 0.0)
    turns = int(min(beyond // step + 1, _MOST_TURNS))
    return [
        _views(sinogram, order, turned, start + wanted) for start in turned[0] + np.linspace(0, beyond, turns)
    ]


def _views(
    sinogram: NDArray[np.float32],
    order: NDArray[np.int64],
    turned: NDArray[np.float64],
    wanted: NDArray[np.float64],
) -> NDArray[np.float32]:
    """Interpolate between the projections around each angle, (angle, column)."""
    wanted = np.clip(wanted, turned[0], turned[-1])
    after = np.clip(np.searchsorted(turned, wanted), 1, len(turned) - 1)
    gap = turned[after] - turned[after - 1]
    weight = ((wanted - turned[after - 1]) / gap).astype(np.float32)[:, np.newaxis]
    return (1 - weight) * sinogram[order[after - 1]] + weight * sinogram[order[after]]
