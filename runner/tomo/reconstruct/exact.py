"""The filtered backprojection sum, exactly, by one non-uniform FFT: what the fast engine is held against.

By the projection-slice theorem the spectrum of a projection lies on a line through the origin of the slice's
spectrum. Filtered backprojection is the Fourier sum over all those lines,

    slice(x, y) = 1 / P  sum_a weight_a  sum_k  F_a(k) H(k) exp(2 pi i k (x cos a - y sin a + center_a) / P),

with F_a the transform of the padded projection of length P and H the ramp. That sum over points which lie on
no grid is a type-1 non-uniform FFT. Projections are real: the frequencies k > 0, counted twice, do for both
signs, and the slice is the real part.

References
----------
Barnett, Magland and af Klinteberg, "A parallel nonuniform fast Fourier transform library based on an
'exponential of semicircle' kernel", SIAM J. Sci. Comput. 41, C479 (2019).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import finufft
import numpy as np
import scipy.fft
from numpy.typing import NDArray

from runner.tomo.reconstruct.filters import pad, padded_length, ramp
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.options import Options

# gives slices within 1e-5 of the exact sum, hardly dearer than 1e-3
_TOLERANCE = 1e-4


class ExactReconstruction:
    """One slice per thread at a time.

    A transform runs on one thread and on one slice alone: no bit of a slice depends on the number of threads
    or on the slices beside it.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie.
    options : Options
        Filter and padding; as many slices are computed at once as there are threads, each of which holds a
        grid and sorted points of its own.
    """

    def __init__(self, geometry: Geometry, options: Options) -> None:
        self._padding = options.padding
        self._length = padded_length(geometry.extent)
        self._columns = geometry.column_weights.astype(np.float32)
        response = options.scale * ramp(self._length, options.window, options.cutoff)
        self._transfer = _transfer(geometry.whole, self._length, response)
        self._window = geometry.window
        angles = geometry.radians[:, np.newaxis]
        omega = 2 * np.pi * np.fft.rfftfreq(self._length)
        points_y = (-np.sin(angles) * omega).astype(np.float32).ravel()
        points_x = (np.cos(angles) * omega).astype(np.float32).ravel()
        self._idle: SimpleQueue[_Transform] = SimpleQueue()
        for _ in range(options.threads):  # here, one after another: planning an FFT is not safe among threads
            self._idle.put(_Transform(points_y, points_x, geometry.whole.shape))
        self._pool = ThreadPoolExecutor(options.threads, thread_name_prefix="exact")

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel."""
        list(self._pool.map(self._reconstruct, sinograms, slices))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _reconstruct(self, sinogram: NDArray[np.float32], image: NDArray[np.float32]) -> None:
        rows = pad(sinogram * self._columns, self._length, self._padding)
        spectrum = scipy.fft.rfft(rows, axis=1)
        spectrum *= self._transfer
        transform = self._idle.get()
        try:
            image[:] = transform(spectrum).real[self._window]
        finally:
            self._idle.put(transform)


def _transfer(geometry: Geometry, length: int, response: NDArray[np.floating]) -> NDArray[np.complex64]:
    """Make the factor of every spectrum: ramp, weights and the shift of the axis, (angle, frequency)."""
    angles = geometry.radians
    height, width = geometry.shape
    x, y = geometry.x[width // 2], geometry.y[height // 2]  # the pixel that the transform counts from
    centers = geometry.centers + x * np.cos(angles) - y * np.sin(angles)
    omega = 2 * np.pi * np.fft.rfftfreq(length)
    gain = response * _signs(length) / length
    transfer = np.empty((len(angles), len(omega)), np.complex64)
    for row, center, weight in zip(transfer, centers, geometry.weights, strict=True):
        row[:] = weight * gain * np.exp(1j * omega * center)  # by rows: double precision needs the room
    return transfer


def _signs(length: int) -> NDArray[np.float64]:
    """Count the signs that each frequency stands for: 0 and the Nyquist frequency are their own mirror."""
    signs = np.full(length // 2 + 1, 2.0)
    signs[0] = 1
    if length % 2 == 0:
        signs[-1] = 1
    return signs


class _Transform:
    """One non-uniform FFT with its sorted points and its grid, for one thread at a time."""

    def __init__(
        self, points_y: NDArray[np.float32], points_x: NDArray[np.float32], shape: tuple[int, int]
    ) -> None:
        self._plan = finufft.Plan(
            1, shape, eps=_TOLERANCE, isign=1, dtype="complex64", nthreads=1, upsampfac=1.25
        )
        self._plan.setpts(points_y, points_x)
        self._image = np.empty(shape, np.complex64)

    def __call__(self, spectrum: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """Sum the spectrum (angle, frequency) into the image (y, x), which the next call overwrites."""
        self._plan.execute(spectrum.ravel(), out=self._image)
        return self._image
