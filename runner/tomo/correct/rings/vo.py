"""Nghia Vo's methods, under his names.

References
----------
N. T. Vo, R. C. Atwood, M. Drakopoulos, "Superior techniques for eliminating ring artifacts in X-ray
micro-tomography", Optics Express 26, 28396 (2018), https://doi.org/10.1364/OE.26.028396
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft, signal
from scipy.ndimage import binary_dilation, median_filter, uniform_filter1d

from runner.tomo.correct.rings.median import running_median
from runner.tomo.correct.rings.order import sort_columns, unsort_columns

Sinogram = NDArray[np.float32]

_FLUCTUATION = 10  # angles over which a column that responds is smooth
_QUIET = 1e-5  # less noise than this is none: nothing stands out of it
_MOST_PAD = 150


def remove_by_sorting(sinogram: Sinogram, *, size: int) -> None:
    """Smooth across the columns what is alike when each column is sorted (algorithm 3).

    A column that sees too much or too little sees the same distribution of values as its neighbours, moved.

    Parameters
    ----------
    sinogram : (angle, column) float32
        In place.
    size : int
        Window of the median, columns: wider than the stripes.
    """
    values, keys = sort_columns(sinogram)
    unsort_columns(running_median(values, size), keys, sinogram)


def remove_by_filtering(sinogram: Sinogram, *, sigma: float, size: int) -> None:
    """Sort what changes slowly with the angle; leave the rest as it is (algorithm 2).

    Parameters
    ----------
    sinogram : (angle, column) float32
        In place.
    sigma : float
        Of the Gaussian low pass along the angles, in cycles over their whole length.
    size : int
        See :func:`remove_by_sorting`.
    """
    angles = len(sinogram)
    pad = min(_MOST_PAD, angles // 10)
    padded = np.pad(sinogram, ((pad, pad), (0, 0)), mode="reflect")
    low_pass = _gaussian(np.arange(len(padded) // 2 + 1), sigma)[:, np.newaxis]
    slow = fft.irfft(fft.rfft(padded, axis=0) * low_pass, len(padded), axis=0)[pad : pad + angles]
    smoothed = np.ascontiguousarray(slow)
    sinogram -= smoothed
    remove_by_sorting(smoothed, size=size)
    sinogram += smoothed


def remove_by_fitting(transmission: Sinogram, *, order: int, sigma: float) -> None:
    """Smooth across the columns the polynomials that fit each of them (algorithm 1).

    Parameters
    ----------
    transmission : (angle, column) float32
        In place.
    order : int
        Of the polynomial.
    sigma : float
        Of the Gaussian low pass across the columns, in cycles over their whole length; less is smoother.
    """
    angles, columns = transmission.shape
    fitted = _fit_columns(transmission, order)
    pad = min(_MOST_PAD, angles // 10)
    smooth = np.pad(np.pad(fitted, ((0, 0), (pad, pad)), mode="edge"), ((pad, pad), (0, 0)), mode="mean")
    spectrum = fft.rfft2(smooth)
    spectrum *= _gaussian(np.arange(spectrum.shape[1]), sigma)
    along = len(smooth) * np.abs(fft.fftfreq(len(smooth)))
    spectrum *= _gaussian(along, float(np.clip(columns // 10, 10, 60)))[:, np.newaxis]
    smooth = fft.irfft2(spectrum, smooth.shape)[pad : pad + angles, pad : pad + columns]
    smooth *= np.abs(fitted).mean() / np.abs(smooth).mean()
    np.divide(smooth, fitted, out=smooth, where=fitted > 0)
    transmission *= np.where(fitted > 0, smooth, 1)


def remove_large(transmission: Sinogram, *, snr: float, size: int, drop: float) -> None:
    """Replace columns whose level stands out, and divide the others by how much theirs does (algorithm 5).

    Parameters
    ----------
    transmission : (angle, column) float32
        In place.
    snr : float
        How far a column has to stand out of the noise; more is less sensitive.
    size : int
        Window of the median, columns: wider than the stripes.
    drop : float
        Share of the darkest and brightest values that do not count for the level.
    """
    values, keys = sort_columns(transmission)
    smooth = running_median(values, size)
    dropped = int(0.5 * drop * len(transmission))
    kept = slice(dropped, len(transmission) - dropped)
    level, around = (np.mean(some[:, kept], axis=1, dtype=np.float64) for some in (values, smooth))
    factors = np.divide(level, around, out=np.ones_like(level), where=around != 0)
    stripes = binary_dilation(find_stripes(factors, snr))
    transmission /= np.where(factors > 0, factors, 1).astype(np.float32)
    replaced = np.empty((len(transmission), np.count_nonzero(stripes)), np.float32)
    unsort_columns(smooth[stripes], keys[stripes], replaced)
    transmission[:, stripes] = replaced


def remove_dead(transmission: Sinogram, *, snr: float, size: int, residual: bool = True) -> None:
    """Interpolate columns that do not respond, or that fluctuate (algorithm 6).

    Parameters
    ----------
    transmission : (angle, column) float32
        In place.
    snr, size
        See :func:`remove_large`.
    residual : bool
        Also remove, as that does, what such columns leave beside them.
    """
    smooth = uniform_filter1d(transmission, _FLUCTUATION, axis=0)
    fluctuation = np.sum(np.abs(transmission - smooth), axis=0, dtype=np.float64)
    usual = median_filter(fluctuation, size)
    usual[usual == 0] = usual.mean() or 1.0
    stripes = binary_dilation(find_stripes(fluctuation / usual, snr))
    stripes[:2] = stripes[-2:] = False
    if np.count_nonzero(stripes) < len(stripes) // 3:
        _interpolate(transmission, stripes)
    if residual:
        remove_large(transmission, snr=snr, size=size, drop=0.1)


def remove_all(transmission: Sinogram, *, snr: float, large: int, small: int, drop: float) -> None:
    """Remove stripes of every kind: dead ones, large ones, and the rest by sorting.

    Parameters
    ----------
    transmission : (angle, column) float32
        In place.
    snr, drop
        See :func:`remove_large`.
    large, small : int
        Windows of the medians, columns, for the large ones and for the rest.
    """
    remove_dead(transmission, snr=snr, size=large, residual=False)
    remove_large(transmission, snr=snr, size=large, drop=drop)
    remove_by_sorting(transmission, size=small)


def find_stripes(levels: NDArray[np.float64], snr: float) -> NDArray[np.bool_]:
    """Find columns that stand out (algorithm 4): far above or below the line through the sorted middle half.

    Parameters
    ----------
    levels : (column,) float64
        One number for each column, without a trend.
    snr : float
        In units of what the line rises over all columns.

    Returns
    -------
    (column,) bool ndarray
    """
    ordered, count = np.sort(levels), len(levels)
    dropped = count // 4
    middle = slice(dropped, count - dropped - 1)
    if count - 2 * dropped - 1 < 2:
        return np.zeros(count, bool)
    slope, lowest = np.polyfit(np.arange(count)[middle], ordered[middle], 1)
    highest = lowest + slope * (count - 1)
    noise = abs(highest - lowest)
    found = np.zeros(count, bool)
    if noise < _QUIET:
        return found
    if abs(ordered[-1] - highest) / noise >= snr:
        found |= levels > highest + noise * snr / 2
    if abs(lowest - ordered[0]) / noise >= snr:
        found |= levels <= lowest - noise * snr / 2
    return found


def _interpolate(sinogram: Sinogram, missing: NDArray[np.bool_]) -> None:
    """Replace columns by linear interpolation between those beside them."""
    there, wanted = np.flatnonzero(~missing), np.flatnonzero(missing)
    after = np.searchsorted(there, wanted)
    left, right = there[after - 1], there[after]
    weights = ((wanted - left) / (right - left)).astype(np.float32)
    sinogram[:, wanted] = (1 - weights) * sinogram[:, left] + weights * sinogram[:, right]


def _fit_columns(sinogram: Sinogram, order: int) -> NDArray[np.float64]:
    """Fit a polynomial around each angle, over as many angles as there are; mirrored at the ends."""
    angles = len(sinogram)
    length = angles - 1 + angles % 2
    if length <= order:
        return np.tile(sinogram.mean(axis=0, dtype=np.float64), (angles, 1))
    weights = signal.savgol_coeffs(length, order)[:, np.newaxis]
    mirrored = np.pad(sinogram.astype(np.float64), ((length // 2, length // 2), (0, 0)), mode="reflect")
    return np.asarray(signal.fftconvolve(mirrored, weights, mode="valid", axes=0), np.float64)


def _gaussian(frequency: NDArray[np.number], sigma: float) -> NDArray[np.float32]:
    return np.asarray(np.exp(-((frequency / sigma) ** 2) / 2), np.float32)
