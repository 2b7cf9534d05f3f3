"""Rows above and below those that are wanted, which filters of whole projections need."""

from __future__ import annotations

import math

BLOCK = 16
"""So many rows are treated at a time, at fixed places of the detector: as many as chunks are aligned to."""


def whole_blocks(rows: float) -> int:
    """Round a number of rows up.

    >>> whole_blocks(17)
    32
    """
    return math.ceil(rows / BLOCK) * BLOCK


def blocks_around(rows: slice, total: int) -> slice:
    """Find the blocks of a detector of `total` rows in which some of them lie.

    >>> blocks_around(slice(5, 20), 100)
    slice(0, 32, None)
    """
    return slice(rows.start // BLOCK * BLOCK, min(whole_blocks(rows.stop), total))


def widened(rows: slice, margin: int, total: int) -> slice:
    """Add a margin on both sides, as far as the detector of `total` rows reaches.

    >>> widened(slice(16, 32), 16, 40)
    slice(0, 40, None)
    """
    return slice(max(rows.start - margin, 0), min(rows.stop + margin, total))


def within(inner: slice, outer: slice) -> slice:
    """Count some rows from the first one of others.

    >>> within(slice(20, 30), slice(16, 32))
    slice(4, 14, None)
    """
    return slice(inner.start - outer.start, inner.stop - outer.start)
