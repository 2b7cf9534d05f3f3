"""How far the Gaussian blur of corrections looks."""

from __future__ import annotations

REACH = 4
"""Standard deviations, to each side."""


def reach(sigma: float) -> int:
    """Say how many rows above and below a row its blur depends on.

    >>> reach(5.0), reach(0.0)
    (20, 0)
    """
    return int(REACH * sigma + 0.5)
