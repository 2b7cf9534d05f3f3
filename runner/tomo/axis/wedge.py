"""The sinogram's double wedge: a wrong axis puts energy where no sinogram has any.

The mirrored half turn behind a half turn is a whole one, if it is mirrored about the axis. The Fourier
transform of a whole turn, by the number of waves per turn k and the frequency f along the detector, lies in
``|k| < 2 pi R |f|``, R being the object's radius (P. R. Edholm, R. M. Lewitt and B. Lindholm, Proc. SPIE 671
(1986) 8-18). About a wrong axis the halves do not join, and energy appears beyond: N. T. Vo, M. Drakopoulos,
R. C. Atwood and C. Reinhard, "Reliable method for calculating the center of rotation in parallel-beam
tomography", Opt. Express 22 (2014) 19078-19086, https://doi.org/10.1364/OE.22.019078.

There the transform is computed for every position that is tried. But mirroring about another position only
turns the phases of the second half, so that the energy is one Fourier sum over all positions: they cost one
transform, and no search can miss the best of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft, fftfreq, irfft, next_fast_len, rfft, rfftfreq
from scipy.ndimage import gaussian_filter1d

from runner.tomo.axis.finding import Curve, Finding, spread_of
from runner.tomo.axis.half_turns import half_turns

_SMOOTHING = 1.0  # columns
_FINER = 4  # positions per half a column
_MARGIN = 0.04  # of the columns, at both ends, where too little of the object is seen from both sides
_LEAST_SCORE = 0.05
_MOST_SPREAD = 0.5  # columns; rows that differ by more have nothing to say together
NAME = "sinogram"


def sinogram_finding(sinograms: NDArray[np.float32], angles: NDArray[np.float64]) -> Finding:
    """Find the axis from the energy outside of the double wedge.

    Parameters
    ----------
    sinograms : (row, angle, column) float32
        Line integrals of some rows.
    angles : (angle,) float64
        Degrees, over half a turn, less a step, or more.
    """
    parts = [_energies(sinogram, angles) for sinogram in sinograms]
    columns = sinograms.shape[2]
    curves = [_curve(joint, own, columns) for joint, own in parts]
    curve = _curve(np.sum([part[0] for part in parts], 0), sum(part[1] for part in parts), columns)
    position = curve.peak()
    places = np.array([one.peak() for one in curves])
    best = np.clip([one.scores.max() for one in curves], 0, 0.999)
    spread = spread_of(places, best**2 / (1 - best**2) + 1e-12, position)
    doubt = "rows differ" if spread > _MOST_SPREAD else "faint" if curve.scores.max() < _LEAST_SCORE else ""
    return Finding(method=NAME, position=position, spread=spread, doubt=doubt, curve=curve)


def _curve(joint: NDArray[np.complex128], own: float, columns: int) -> Curve:
    """Sum the energy that the halves share, over all positions; 1 where nothing is left outside."""
    period = _FINER * 2 * (len(joint) - 1)
    shared = irfft(np.conj(joint), period) * period / max(own, 1e-30)
    centers = np.arange(period) / (2 * _FINER)
    inside = (centers >= _MARGIN * columns) & (centers <= (1 - _MARGIN) * columns - 1)
    return Curve(centers=centers[inside], scores=shared[inside])


def _energies(
    sinogram: NDArray[np.float32], angles: NDArray[np.float64]
) -> tuple[NDArray[np.complex128], float]:
    """Sum, outside of the wedge, what both halves share, (frequency,), and the energy of each.

    With A(k, f) the transform of the first half, that of the second one, mirrored about c, is
    ``(-1)^k conj(A(-k, f)) exp(-4 pi i f c)``; its slopes are those of the first one with the sign changed.
    """
    columns = sinogram.shape[1]
    length = next_fast_len(2 * columns, real=True)
    length += length % 2
    frequencies = rfftfreq(length)
    joint, own = np.zeros(len(frequencies), np.complex128), 0.0
    for turn in half_turns(sinogram, angles):
        # slopes: what an object wider than the detector has in its outermost columns is no edge
        slopes = gaussian_filter1d(turn.astype(np.float64), _SMOOTHING, axis=1, order=1, mode="nearest")
        waves = fftfreq(2 * len(turn), 1 / (2 * len(turn)))[:, np.newaxis]
        outside = np.abs(waves) > np.pi * columns * frequencies + 1
        first = fft(rfft(slopes, length, axis=1), 2 * len(turn), axis=0)
        backwards = np.roll(first[::-1], 1, axis=0)  # of -k
        signs = np.where(waves % 2 == 0, -1.0, 1.0)
        joint += np.conj(first * backwards * signs * outside).sum(0)
        energy = (np.abs(first) ** 2 * outside).sum(0)
        own += float(2 * energy.sum() - energy[0])
    return -joint, own
