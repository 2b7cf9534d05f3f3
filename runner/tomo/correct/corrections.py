"""What is done to a scan's counts before its slices are made, in this order; and what that takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.tomo.choice import Choice
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.correct.rings.methods import NO_RINGS
from runner.tomo.correct.rings.remove import bytes_per_pixel, remove_rings
from runner.tomo.scan import Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """The corrections that were chosen, beside the flat field.

    Attributes
    ----------
    rings : Choice
        One of :data:`runner.tomo.correct.rings.methods.METHODS`.
    """

    rings: Choice = NO_RINGS

    @property
    def margin(self) -> int:
        """How many rows above and below those that are wanted it takes."""
        return 0

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
        What to do beside the flat field.
    threads : int
        How many to use.

    Returns
    -------
    (row, angle, column) float32 ndarray
        Line integrals of the attenuation, without unit.

    Raises
    ------
    MissingFileError, ScanError
        As from :func:`runner.tomo.correct.flatfield.corrected_sinograms`.
    """
    sinograms = corrected_sinograms(scan, rows, threads=threads)
    remove_rings(sinograms, corrections.rings, threads=threads)
    return sinograms
