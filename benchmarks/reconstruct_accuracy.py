"""How right the slices of `benchmarks.reconstruct` are: the problem, its truth, and the errors."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import fourier_shift

from benchmarks.reconstruct_peers import Peer, Problem
from runner.tomo.phantom import Detector, example, project, voxelise
from runner.tomo.reconstruct import Reconstructor


@dataclass(frozen=True)
class Errors:
    """Of a slice, relative root mean squares over a disk of 0.97 of the radius.

    Attributes
    ----------
    phantom : float
        From the phantom, pixel by pixel.
    exact : float
        From the exact Fourier sum with the contender's window.
    bias : float
        What is added to the grey value of the phantom's matrix, relative.
    """

    phantom: float
    exact: float
    bias: float


@dataclass(frozen=True)
class Reference:
    """What a slice should be: the phantom (y, x) in 1/pixel, where it is its matrix, and the exact sums."""

    truth: np.ndarray
    matrix: np.ndarray
    exact: Mapping[str, np.ndarray]

    def align(self, image: np.ndarray, peer: Peer) -> np.ndarray:
        """Turn a slice as the phantom lies: contenders have conventions of their own."""
        turned = [np.rot90(side, turns) for side in (image, image[:, ::-1]) for turns in range(4)]
        offsets = (-0.5, 0.0, 0.5) if peer.aside else (0.0,)
        moved = [_moved(one, offset) for one in turned for offset in itertools.product(offsets, offsets)]
        return min(moved, key=lambda one: _relative(one, self.truth))

    def errors_of(self, image: np.ndarray, window: str) -> Errors:
        """Compare an aligned slice."""
        bias = image[self.matrix].mean(dtype=float) / self.truth[self.matrix].mean(dtype=float) - 1
        return Errors(_relative(image, self.truth), _relative(image, self.exact[window]), float(bias))


def make_problem(columns: int, angles: int, threads: int) -> tuple[Problem, Reference]:
    """Make 16 sinograms of the phantom's middle, and what becomes of them."""
    pixel = 2.0 / columns  # cm
    degrees = np.arange(angles) * 180 / angles
    body = example(0.95, 1.0)
    sinogram, aside = (
        project(body, degrees, Detector(rows=1, columns=columns, pixel=pixel, center=center)).swapaxes(0, 1)
        for center in ((columns - 1) / 2, columns // 2)
    )
    truth = voxelise(body, slices=1, size=columns, pixel=pixel)[0] * pixel
    near = np.abs(truth - 0.7 * pixel) < 1e-6 * pixel
    inner = near & _disk(columns, 0.9)
    for axis in (0, 1):  # away from edges, where the sharpness of a method is not its bias
        for step in range(1, columns // 40 + 1):
            inner &= np.roll(near, step, axis) & np.roll(near, -step, axis)
    problem = Problem(degrees, sinogram.repeat(16, axis=0), aside.repeat(2, axis=0), threads)
    exact = {window: _exact_slice(problem, window) for window in ("ram-lak", "linear")}
    return problem, Reference(truth, inner, exact)


def _exact_slice(problem: Problem, window: str) -> np.ndarray:
    """Evaluate the filtered backprojection sum as well as single precision can."""
    with Reconstructor(
        angles=problem.angles, columns=problem.columns, padding="zero", method="exact", window=window
    ) as exact:
        return exact(problem.sinograms[:1])[0]


def _moved(image: np.ndarray, offset: tuple[float, float]) -> np.ndarray:
    return np.fft.ifft2(fourier_shift(np.fft.fft2(image), offset)).real if any(offset) else image


def _disk(size: int, radius: float) -> np.ndarray:
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    return np.hypot(x, y) < radius * size / 2


def _relative(found: np.ndarray, right: np.ndarray) -> float:
    disk = _disk(len(right), 0.97)
    return float(np.linalg.norm((found - right)[disk]) / np.linalg.norm(right[disk]))
