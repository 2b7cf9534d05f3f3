"""Move sinograms along the detector by fractions of a column."""

from __future__ import annotations

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from runner.tomo.reconstruct.filters import pad, padded_length


def shift_rows(sinograms: NDArray[np.float32], columns: NDArray[np.float64]) -> None:
    """Move the sinogram of each row to the right, by a number of columns of its own, in place.

    By the phases of its Fourier transform, which smooths nothing; the outer columns are carried on.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Line integrals.
    columns : (row,) float64
        By how much; negative to the left.
    """
    width = sinograms.shape[2]
    length = padded_length(width)
    frequencies = scipy.fft.rfftfreq(length)
    for sinogram, far in zip(sinograms, columns, strict=True):
        if far == 0:
            continue
        phases = np.exp(-2j * np.pi * frequencies * far).astype(np.complex64)
        phases[-1] = phases[-1].real  # the Nyquist frequency is its own mirror
        spectrum = scipy.fft.rfft(pad(sinogram, length, "edge"), axis=1)
        sinogram[:] = scipy.fft.irfft(spectrum * phases, length, axis=1)[:, :width]
