"""Leaving out frames of a scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from runner.tomo.scan.scan import FrameGroup, Frames, Images, Scan


def keep_projections(scan: Scan, kept: NDArray[np.bool_]) -> Scan:
    """Leave out projections; flats and darks keep their place among those that stay.

    Parameters
    ----------
    scan : Scan
        The scan.
    kept : (angle,) bool
        Which projections stay.
    """
    before = np.concatenate([[0], np.cumsum(kept)])  # that stay, before each place

    def moved(group: FrameGroup) -> FrameGroup:
        return replace(group, position=float(np.interp(group.position, np.arange(len(before)), before)))

    return replace(
        scan,
        projections=_chosen(scan.projections, kept),
        angles=scan.angles[kept],
        currents=None if scan.currents is None else scan.currents[kept],
        flats=tuple(moved(group) for group in scan.flats),
        darks=tuple(moved(group) for group in scan.darks),
    )


def keep_frames(groups: Sequence[FrameGroup], kept: Sequence[NDArray[np.bool_]]) -> tuple[FrameGroup, ...]:
    """Leave out frames of groups, and groups of which none stays.

    Parameters
    ----------
    groups : sequence of FrameGroup
        Flats or darks.
    kept : sequence of (frame,) bool
        Which frames of each group stay.
    """
    return tuple(
        replace(
            group,
            frames=_chosen(group.frames, some),
            currents=None if group.currents is None else group.currents[some],
        )
        for group, some in zip(groups, kept, strict=True)
        if some.any()
    )


def _chosen(frames: Frames | Images, kept: NDArray[np.bool_]) -> Frames | Images:
    return replace(frames, indices=frames.indices[kept])
