"""Pixels of the detector that see nothing, or too much."""

from __future__ import annotations

import numpy as np

from runner.tomo.check.sample import Sample
from runner.tomo.scan.finding import Finding, note, warning

_MANY = 0.01  # share of the pixels from which on it is a warning


def check_pixels(sample: Sample) -> list[Finding]:
    """Count pixels that cannot be trusted.

    Parameters
    ----------
    sample : Sample
        What was seen of the scan.
    """
    found = []
    if sample.flat is not None and sample.dark is not None:
        flat, dark = sample.flat, sample.dark
        finite = np.isfinite(flat) & np.isfinite(dark)
        dead = ~finite | (flat <= dark)
        middle = np.median(dark) + (np.median(flat) - np.median(dark)) / 2
        hot = finite & ~dead & (dark > middle)
        found += _count(
            int(dead.sum()), dead.size, "pixels that see no beam (dead)", "each is interpolated in its row"
        )
        found += _count(
            int(hot.sum()), hot.size, "pixels that are bright without beam (hot)", "they count as they are"
        )
    found += _count(
        sample.not_finite,
        sample.pixels,
        "pixels that are not finite, of those looked at",
        "each is interpolated in its row",
    )
    found += _count(
        sample.saturated,
        sample.pixels,
        "saturated pixels, of those looked at",
        "what they show is too bright to be right: take a shorter exposure",
    )
    return found


def _count(number: int, total: int, what: str, remedy: str) -> list[Finding]:
    if not number:
        return []
    make = warning if number > _MANY * total else note
    return [make(f"{what}: {number} of {total}", remedy)]
