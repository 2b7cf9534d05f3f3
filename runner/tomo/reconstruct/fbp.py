"""Filtered backprojection with linear interpolation: slow, short, and the reference for all others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from runner.tomo.reconstruct.filters import pad, padded_length, ramp
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.options import Options


class FilteredBackprojection:
    """Filter every projection, then smear it back over the slice.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie.
    options : Options
        Filter and padding; as many slices are computed at once as there are threads.

    References
    ----------
    Kak and Slaney, *Principles of Computerized Tomographic Imaging*, 1988, section 3.3.
    """

    def __init__(self, geometry: Geometry, options: Options) -> None:
        self._geometry = geometry
        self._padding = options.padding
        self._length = padded_length(geometry.extent)
        response = options.scale * ramp(self._length, options.window, options.cutoff)
        self._response = response.astype(np.float32)
        self._columns = geometry.column_weights.astype(np.float32)
        self._pool = ThreadPoolExecutor(options.threads, thread_name_prefix="fbp")

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel."""
        for index, image in enumerate(self._pool.map(self._reconstruct, sinograms)):
            slices[index] = image

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _reconstruct(self, sinogram: NDArray[np.float32]) -> NDArray[np.float64]:
        geometry = self._geometry
        # in half acquisition the filter reaches beyond the detector's end, to where the opposite view goes on
        columns = np.arange(self._length if geometry.half_acquisition else geometry.columns)
        beyond = {"period": self._length} if geometry.half_acquisition else {"left": 0, "right": 0}
        x, y = geometry.x, geometry.y[:, np.newaxis]
        image = np.zeros(geometry.shape)
        rays = zip(geometry.radians, geometry.centers, geometry.weights, strict=True)
        for (angle, center, weight), filtered in zip(rays, self._filter(sinogram, len(columns)), strict=True):
            position = x * np.cos(angle) - y * np.sin(angle) + center
            image += weight * np.interp(position, columns, filtered, **beyond)
        return image

    def _filter(self, sinogram: NDArray[np.float32], columns: int) -> NDArray[np.float32]:
        rows = pad(sinogram * self._columns, self._length, self._padding)
        spectrum = scipy.fft.rfft(rows, axis=1)
        filtered: NDArray[np.float32] = scipy.fft.irfft(spectrum * self._response, self._length, axis=1)
        return filtered[:, :columns]
