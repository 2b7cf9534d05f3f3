"""Direct Fourier reconstruction: the filtered backprojection sum, exactly, by one non-uniform FFT.

By the projection-slice theorem the spectrum of a projection lies on a line through the origin of the slice's
spectrum. Filtered backprojection is the Fourier sum over all those lines,

    slice(x, y) = weight / P  sum_a sum_k  F_a(k) H(k) exp(2 pi i k (x cos a - y sin a + center) / P),

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

# gives slices within 1e-5 of the exact sum, hardly dearer than 1e-3
_TOLERANCE = 1e-4


class FourierReconstruction:
    """One slice per thread at a time.

    A transform runs on one thread and on one slice alone: no bit of a slice depends on the number of threads
    or on the slices beside it.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie.
    window, padding : str
        See :mod:`runner.tomo.reconstruct.filters`.
    threads : int
        How many slices are computed at once; each thread holds a grid and sorted points of its own.
    """

    def __init__(self, geometry: Geometry, *, window: str, padding: str, threads: int) -> None:
        self._padding = padding
        self._length = padded_length(geometry.columns)
        self._transfer = _transfer(geometry, self._length, window)
        angles = geometry.radians[:, np.newaxis]
        omega = 2 * np.pi * np.fft.rfftfreq(self._length)
        points_y = (-np.sin(angles) * omega).astype(np.float32).ravel()
        points_x = (np.cos(angles) * omega).astype(np.float32).ravel()
        self._idle: SimpleQueue[_Transform] = SimpleQueue()
        for _ in range(threads):  # here, one after another: planning an FFT is not safe among threads
            self._idle.put(_Transform(points_y, points_x, geometry.size))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="fourier")

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel."""
        list(self._pool.map(self._reconstruct, sinograms, slices))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _reconstruct(self, sinogram: NDArray[np.float32], image: NDArray[np.float32]) -> None:
        spectrum = scipy.fft.rfft(pad(sinogram, self._length, self._padding), axis=1)
        spectrum *= self._transfer
        transform = self._idle.get()
        try:
            image[:] = transform(spectrum).real
        finally:
            self._idle.put(transform)


def _transfer(geometry: Geometry, length: int, window: str) -> NDArray[np.complex64]:
    """Make the factor of every spectrum: ramp, weights and the shift of the axis, (angle, frequency)."""
    angles = geometry.radians
    # the transform counts its pixels from size // 2, while the slice's axis lies at (size - 1) / 2
    offset = geometry.size // 2 - (geometry.size - 1) / 2
    centers = geometry.center + offset * (np.cos(angles) - np.sin(angles))
    omega = 2 * np.pi * np.fft.rfftfreq(length)
    gain = ramp(length, window) * _signs(length) * (geometry.weight / length)
    transfer = np.empty((len(angles), len(omega)), np.complex64)
    for row, center in zip(transfer, centers, strict=True):  # by rows: double precision needs the room
        row[:] = gain * np.exp(1j * omega * center)
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

    def __init__(self, points_y: NDArray[np.float32], points_x: NDArray[np.float32], size: int) -> None:
        self._plan = finufft.Plan(
            1, (size, size), eps=_TOLERANCE, isign=1, dtype="complex64", nthreads=1, upsampfac=1.25
        )
        self._plan.setpts(points_y, points_x)
        self._image = np.empty((size, size), np.complex64)

    def __call__(self, spectrum: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """Sum the spectrum (angle, frequency) into the image (y, x), which the next call overwrites."""
        self._plan.execute(spectrum.ravel(), out=self._image)
        return self._image
