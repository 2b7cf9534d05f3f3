"""Filtered backprojection with linear interpolation: slow, short, and the reference for all others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from runner.tomo.reconstruct.filters import pad, padded_length, ramp
from runner.tomo.reconstruct.geometry import Geometry


class FilteredBackprojection:
    """Filter every projection, then smear it back over the slice.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie.
    window, padding : str
        See :mod:`runner.tomo.reconstruct.filters`.
    threads : int
        How many slices are computed at once.

    References
    ----------
    Kak and Slaney, *Principles of Computerized Tomographic Imaging*, 1988, section 3.3.
    """

    def __init__(self, geometry: Geometry, *, window: str, padding: str, threads: int) -> None:
        self._geometry = geometry
        self._padding = padding
        self._length = padded_length(geometry.columns)
        self._response = ramp(self._length, window).astype(np.float32)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="fbp")

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel."""
        for index, image in enumerate(self._pool.map(self._reconstruct, sinograms)):
            slices[index] = image

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _reconstruct(self, sinogram: NDArray[np.float32]) -> NDArray[np.float64]:
        geometry = self._geometry
        columns = np.arange(geometry.columns)
        x = geometry.pixel_positions()
        y = x[:, np.newaxis]
        image = np.zeros((geometry.size, geometry.size))
        for angle, filtered in zip(geometry.radians, self._filter(sinogram), strict=True):
            position = x * np.cos(angle) - y * np.sin(angle) + geometry.center
            image += np.interp(position, columns, filtered, left=0, right=0)
        return image * geometry.weight

    def _filter(self, sinogram: NDArray[np.float32]) -> NDArray[np.float32]:
        spectrum = scipy.fft.rfft(pad(sinogram, self._length, self._padding), axis=1)
        filtered: NDArray[np.float32] = scipy.fft.irfft(spectrum * self._response, self._length, axis=1)
        return filtered[:, : sinogram.shape[1]]
