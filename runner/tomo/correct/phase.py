"""Paganin's phase retrieval: from propagated transmissions to those of the absorption alone.

Absorption and refraction of one material go together by the ratio delta / beta. Then the transmission as
measured is ``(1 - L^2 Laplacian) t`` of the transmission t of the absorption alone, where ``L^2 = z lambda
(delta / beta) / (4 pi)``, and t is found by solving that. On pixels the Laplacian is that of neighbouring
pixels (Paganin et al. 2020), which makes the solution exact and its kernel short: a cosine transform along
the columns (the projection is mirrored at its sides), then for each frequency two running means along the
rows, down and up.

The kernel falls by a factor e every L: a margin of rows above and below suffices. So that no bit depends on
the rows that are read together, blocks of rows at fixed places of the detector have margins of one size.

References
----------
D. Paganin et al., "Simultaneous phase and amplitude extraction from a single defocused image of a homogeneous
object", Journal of Microscopy 206, 33 (2002), https://doi.org/10.1046/j.1365-2818.2002.01010.x

D. M. Paganin et al., "Boosting spatial resolution by incorporating periodic boundary conditions into
single-distance hard-x-ray phase retrieval", Journal of Optics 22, 115607 (2020),
https://doi.org/10.1088/2040-8986/abbab9
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from runner.tomo.correct.margins import BLOCK, whole_blocks
from runner.tomo.kernels.compiled import ensure_compiled
from runner.tomo.share import share

_CUT = 1e-5  # what the kernel has left at the end of the margin
_WAVELENGTH = 1.239841984e-9  # of a photon of 1 keV, metres
_LEAST = np.float32(1e-6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paganin:
    """What the retrieval depends on.

    Attributes
    ----------
    delta_beta : float
        Ratio of the decrement of the refractive index to the index of absorption.
    energy : float
        Of the photons, keV.
    distance : float
        From the sample to the detector, metres.
    pixel_size : float
        At the sample, metres.
    """

    delta_beta: float
    energy: float
    distance: float
    pixel_size: float

    @property
    def length(self) -> float:
        """L, pixels: how far the kernel reaches."""
        wavelength = _WAVELENGTH / self.energy
        return math.sqrt(wavelength * self.distance * self.delta_beta / (4 * math.pi)) / self.pixel_size

    @property
    def margin(self) -> int:
        """Rows above and below a block that its values depend on, whole blocks."""
        decay = math.acosh(1 + 1 / (2 * self.length**2))  # of the slowest frequency, for a row
        return whole_blocks(math.log(1 / _CUT) / decay)


def retrieve(
    sinograms: NDArray[np.float32], inner: slice, paganin: Paganin, *, threads: int = 1
) -> NDArray[np.float32]:
    """Replace line integrals as measured by those of the absorption alone.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Of a row that begins a block of the detector, and those below; overwritten.
    inner : slice
        Rows of these that are wanted, of whole blocks; the others are their margins.
    paganin : Paganin
        The physics.
    threads : int
        How many compute, each at an angle.

    Returns
    -------
    (row, angle, column) float32 ndarray
        The inner rows: a part of `sinograms`.
    """
    from runner.tomo.correct.running_means import running_means  # numba is slow to import

    decay, leap, gain = _frequencies(paganin.length, sinograms.shape[2])
    ensure_compiled("phase retrieval", _run_once)

    def treat(angle: int) -> None:
        waves = np.negative(sinograms[:, angle])
        waves = fft.dct(np.exp(waves, out=waves), axis=1, overwrite_x=True)
        smooth = np.empty((inner.stop - inner.start, waves.shape[1]), np.float32)
        running_means(waves, decay, leap, gain, inner.start, BLOCK, paganin.margin, smooth)
        transmission = fft.idct(smooth, axis=1, overwrite_x=True)
        np.maximum(transmission, _LEAST, out=transmission)
        np.negative(np.log(transmission, out=transmission), out=sinograms[inner, angle])

    share(treat, range(sinograms.shape[1]), threads)
    return sinograms[inner]


def _frequencies(length: float, columns: int) -> tuple[NDArray[np.float32], ...]:
    """For each frequency along the columns: how a mean of rows decays in a row and in a block, and its gain.

    The filter ``1 / (1 + L^2 (2 - 2 cos k) + L^2 (2 - 2 cos l))`` with l along the rows gives the row that is
    n away the share ``p^|n| (1 - p) / (1 + p)`` of its value at l = 0.
    """
    along = 1 + length**2 * (2 - 2 * np.cos(np.pi * np.arange(columns) / columns))
    decay = np.exp(-np.arccosh(1 + along / (2 * length**2)))
    gain = 1 / along / (1 + decay)
    return decay.astype(np.float32), (decay**BLOCK).astype(np.float32), gain.astype(np.float32)


def _run_once() -> None:
    from runner.tomo.correct.running_means import running_means

    line = np.ones(1, np.float32)
    running_means(line[np.newaxis], line / 2, line / 2, line, 0, 1, 1, line[np.newaxis].copy())
