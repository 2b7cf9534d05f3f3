"""Frames that are not what they are called: lost ones, and flats and darks that were exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from runner.listing import few
from runner.tomo.check.sample import Sample
from runner.tomo.scan import FrameGroup, Scan
from runner.tomo.scan.finding import Finding, error, note, warning
from runner.tomo.scan.read import runs
from runner.tomo.scan.select import keep_frames, keep_projections

_LOST = 0.01  # of the typical brightness
_BRIGHT = 0.1  # of it: what a frame next to a lost one has at least
_MOST_LOST = 0.1  # of all projections
_MOST_WRONG = 1 / 3  # of the flats or darks
_MOST_TRANSMISSION = 1.1
_MOST_MEAN = 1.5  # of what is called a transmission: noise, and a beam that has become brighter


def drop_frames(scan: Scan, sample: Sample) -> tuple[Scan, list[Finding]]:
    """Leave out the frames that are not what they are called.

    Parameters
    ----------
    scan : Scan
        The scan.
    sample : Sample
        Brightness of its frames.

    Returns
    -------
    (Scan, list of Finding)
        The scan without them, and what is said about it.
    """
    if sample.unwritten:
        what = f"frames that were never written to the file: {sample.unwritten}"
        return scan, [error(what, "the scan was probably aborted: cut it to the frames that are there")]
    bright, dark = _typical(sample.flats), _typical(sample.darks) or 0.0
    if bright is None:
        kept, about_projections = _not_lost(sample.projections, dark)
        beam, about_beam = _beam(sample.projections, dark)
        return keep_projections(replace(scan, beam=beam), kept), about_projections + about_beam
    if bright <= dark:
        what = f"the flats (mean {bright:.5g}) are no brighter than the darks ({dark:.5g})"
        return scan, [error(what, "they are probably exchanged: name them with --flats and --darks")]
    flats, about_flats = _like(scan.flats, sample.flats, "flats", bright, dark)
    darks, about_darks = _like(scan.darks, sample.darks, "darks", dark, bright)
    kept, about_projections = _not_lost(sample.projections, dark)
    findings = about_flats + about_darks + about_projections + _too_bright(sample.projections, bright, dark)
    return keep_projections(replace(scan, flats=flats, darks=darks), kept), findings


def lost(levels: NDArray[np.float64], dark: float) -> NDArray[np.bool_]:
    """Find projections without light between others with much of it.

    A thick plate may let through as little when it is seen from its edge, but it turns there step by step.

    Parameters
    ----------
    levels : (angle,) float64
        Brightness of each; NaN where it is not known.
    dark : float
        Brightness without beam.

    Returns
    -------
    (angle,) bool ndarray
    """
    light = levels - dark
    typical = np.nanmedian(light)
    found = light <= _LOST * typical
    for start, stop in runs(np.flatnonzero(found)):
        around = [light[place] for place in (start - 1, stop) if 0 <= place < len(light)]
        if any(level < _BRIGHT * typical for level in around):
            found[start:stop] = False
    return np.asarray(found)


def _typical(levels: Sequence[NDArray[np.float64]]) -> float | None:
    return float(np.median(np.concatenate(levels))) if levels else None


def _like(
    groups: Sequence[FrameGroup],
    levels: Sequence[NDArray[np.float64]],
    kind: str,
    own: float,
    other: float,
) -> tuple[tuple[FrameGroup, ...], list[Finding]]:
    """Keep the frames that are nearer to what is typical of their own kind than of the other one."""
    kept = [np.abs(some - own) < np.abs(some - other) for some in levels]
    total = sum(len(some) for some in kept)
    wrong = total - sum(int(some.sum()) for some in kept)
    if not wrong:
        return tuple(groups), []
    others = "darks" if kind == "flats" else "flats"
    what = f"{kind} that look like {others}: {wrong} of {total}"
    if wrong > _MOST_WRONG * total:
        return tuple(groups), [error(what, "look which frames are which, and name them anew")]
    return keep_frames(groups, kept), [warning(what, "they are left out")]


def _not_lost(levels: NDArray[np.float64], dark: float) -> tuple[NDArray[np.bool_], list[Finding]]:
    everything = np.ones(len(levels), bool)
    typical = float(np.nanmedian(levels))
    if typical <= dark:
        what = f"the projections (mean {typical:.5g}) are no brighter than the darks ({dark:.5g})"
        return everything, [error(what, "look whether the shutter was open, and which frames are which")]
    gone = lost(levels, dark)
    count = int(gone.sum())
    if not count:
        return everything, []
    places = few([str(number) for number in np.flatnonzero(gone)])
    what = f"empty projections: {count} of {len(levels)} (number {places})"
    if count > _MOST_LOST * len(levels):
        return everything, [error(what, "record the scan again, or cut it to the frames that are there")]
    return ~gone, [warning(what, "they are left out")]


def _beam(levels: NDArray[np.float64], dark: float) -> tuple[float, list[Finding]]:
    """Say how bright the beam is where no flats tell it."""
    light = levels - dark
    typical = float(np.nanmedian(light))
    if typical <= _MOST_MEAN:
        return 1.0, [note("there are no flats: the projections are taken for transmissions")]
    what = f"there are no flats, and the projections (mean {typical:.5g}) are no transmissions"
    remedy = "say --air N, if there are N columns of air at both ends of each line"
    return float(np.nanmax(light)), [warning(what, remedy)]


def _too_bright(levels: NDArray[np.float64], bright: float, dark: float) -> list[Finding]:
    transmission = float((np.nanmedian(levels) - dark) / (bright - dark))
    if transmission <= _MOST_TRANSMISSION:
        return []
    what = f"the projections are {transmission:.3g} times as bright as the flats"
    return [warning(what, "look whether the flats are of this scan, with this exposure time")]
