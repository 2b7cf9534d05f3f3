"""What is done to a scan's counts before its slices are made, in this order; and what that takes.

First what the detector and the beam did, while it is as sharp as the detector made it: flats, zingers, a beam
that flickers, what all projections have in common, rings. Then what the
X-rays did on their way, then what the eye wants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from runner.tomo.choice import Choice
from runner.tomo.correct import double_flat, zingers
from runner.tomo.correct.air import normalise_by_air
from runner.tomo.correct.blur import reach
from runner.tomo.correct.flatfield import USUAL, FlatField, corrected_sinograms
from runner.tomo.correct.margins import blocks_around, whole_blocks, widened, within
from runner.tomo.correct.phase import Paganin, retrieve
from runner.tomo.correct.rings.methods import NO_RINGS
from runner.tomo.correct.rings.remove import bytes_per_pixel, remove_rings
from runner.tomo.correct.unsharp import sharpen
from runner.tomo.correct.unsharp_methods import NO_UNSHARP
from runner.tomo.scan import Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """The corrections that were chosen.

    Attributes
    ----------
    flat_field : FlatField
        How flats are used.
    zingers : float or None
        By how much a pixel has to be brighter than those around it to be replaced, as a share.
    air : int or None
        How many columns at both ends of a line see nothing but air, which it is normalised by.
    double_flat : float or None
        Double flat-field, with so much blur, pixels.
    rings : Choice
        One of :data:`runner.tomo.correct.rings.methods.METHODS`.
    phase : Paganin or None
        Phase retrieval.
    unsharp : Choice
        One of :data:`runner.tomo.correct.unsharp_methods.METHODS`.
    """

    flat_field: FlatField = USUAL
    zingers: float | None = None
    air: int | None = None
    double_flat: float | None = None
    rings: Choice = NO_RINGS
    phase: Paganin | None = None
    unsharp: Choice = NO_UNSHARP

    @property
    def margins(self) -> tuple[int, int, int, int]:
        """How many rows above and below its own each step takes: zingers, double flat, phase, unsharp."""
        return (
            0 if self.zingers is None else zingers.REACH,
            0 if self.double_flat is None else whole_blocks(reach(self.double_flat)),
            0 if self.phase is None else self.phase.margin,
            0 if self.unsharp == NO_UNSHARP else whole_blocks(reach(dict(self.unsharp.values)["sigma"])),
        )

    @property
    def margin(self) -> int:
        """How many rows above and below the blocks that are wanted are read."""
        return sum(self.margins)

    @property
    def flat_field_alone(self) -> bool:
        """Whether nothing else is to be done."""
        return replace(self, flat_field=USUAL) == NO_CORRECTIONS

    @property
    def bytes_per_pixel(self) -> int:
        """What a thread takes for a pixel of a sinogram that it corrects."""
        return bytes_per_pixel(self.rings)


NO_CORRECTIONS = Corrections()
"""The flat field alone."""


def prepared_sinograms(
    scan: Scan, rows: slice, corrections: Corrections, *, threads: int = 1
) -> NDArray[np.float32]:
    """Read some detector rows of a scan, and correct all that is to be corrected.

    Parameters
    ----------
    scan : Scan
        The scan.
    rows : slice
        Which detector rows: start and stop.
    corrections : Corrections
        What to do.
    threads : int
        How many to use.

    Returns
    -------
    (row, angle, column) float32 ndarray
        Line integrals of the attenuation, without unit. No bit depends on which rows were asked for together.

    Raises
    ------
    MissingFileError, ScanError
        As from :func:`runner.tomo.correct.flatfield.corrected_sinograms`.
    """
    for_zingers, for_double_flat, for_phase, for_unsharp = corrections.margins
    wanted = blocks_around(rows, scan.rows) if corrections.margin else rows
    retrieved = widened(wanted, for_unsharp, scan.rows)
    cleaned = widened(retrieved, for_phase, scan.rows)
    averaged = widened(cleaned, for_double_flat, scan.rows)
    read = widened(averaged, for_zingers, scan.rows)
    sinograms = corrected_sinograms(scan, read, flat_field=corrections.flat_field, threads=threads)
    if corrections.zingers is not None:
        sinograms = zingers.remove_zingers(
            sinograms, within(averaged, read), corrections.zingers, threads=threads
        )
    if corrections.air is not None:
        normalise_by_air(sinograms, corrections.air, threads=threads)
    if corrections.double_flat is not None:
        sinograms = double_flat.remove_common(
            sinograms, within(cleaned, averaged), corrections.double_flat, threads=threads
        )
    remove_rings(sinograms, corrections.rings, threads=threads)
    if corrections.phase is not None:
        sinograms = retrieve(sinograms, within(retrieved, cleaned), corrections.phase, threads=threads)
    if corrections.unsharp != NO_UNSHARP:
        values = dict(corrections.unsharp.values)
        sinograms = sharpen(sinograms, within(wanted, retrieved), **values, threads=threads)
    return sinograms[within(rows, wanted)]
