"""Pixels of the detector that see nothing, or too much."""

from __future__ import annotations

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
    total = sample.defects.rows * sample.defects.columns
    counts, remedy = sample.defects.counts(), "each is interpolated in its row"
    found += _count(counts["dead"], total, "pixels that see no beam (dead)", remedy)
    found += _count(counts["hot"], total, "pixels that are bright without beam (hot)", remedy)
    found += _count(counts["saturated"], total, "pixels that the beam saturates", remedy)
    found += _count(counts["stuck"], total, "pixels that never change (stuck)", remedy)
    found += _count(counts["odd"], total, "pixels that are unlike those around them in all views", remedy)
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
