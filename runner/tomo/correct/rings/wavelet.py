"""Stripes removed where wavelets gather them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import fft

_MOST_PAD = 150
_LEAST = 16  # angles and columns that the coarsest level has, at least


def remove_by_wavelets(sinogram: NDArray[np.float32], *, level: int, sigma: float, order: int) -> None:
    """Damp what does not change with the angle, in the details across the columns.

    Parameters
    ----------
    sinogram : (angle, column) float32
        In place.
    level : int
        How many times the sinogram is halved, as far as its size allows.
    sigma : float
        Of the damping, in cycles over the whole length; more is stronger.
    order : int
        Of Daubechies' wavelet.

    References
    ----------
    B. Münch, P. Trtik, F. Marone, M. Stampanoni, "Stripe and ring artifact removal with combined
    wavelet-Fourier filtering", Optics Express 17, 8567 (2009), https://doi.org/10.1364/OE.17.008567
    """
    import pywt

    angles, columns = sinogram.shape
    pad = min(_MOST_PAD, min(angles, columns) // 10)
    padded = np.pad(np.pad(sinogram, ((pad, pad), (0, 0)), mode="mean"), ((0, 0), (pad, pad)), mode="edge")
    deepest = int(math.log2(max(min(padded.shape) / _LEAST, 1)))
    if deepest == 0:
        return
    coarse, *details = pywt.wavedec2(padded, f"db{order}", level=min(level, deepest))
    damped = [(across, _damp(along, sigma), both) for across, along, both in details]
    whole = pywt.waverec2([coarse, *damped], f"db{order}")
    sinogram[...] = whole[pad : pad + angles, pad : pad + columns]


def _damp(details: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    spectrum = fft.rfft(details, axis=0)
    frequency = np.arange(len(spectrum), dtype=np.float32)[:, np.newaxis]
    spectrum *= 1 - np.exp(-((frequency / np.float32(sigma)) ** 2) / 2)
    return np.asarray(fft.irfft(spectrum, len(details), axis=0))
