"""CGLS: conjugate gradients of the sum of squares, without ever forming the normal equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.iterative.rays import Rays
from runner.tomo.reconstruct.iterative.sums import add, scale_and_add, squares


class ConjugateGradients:
    """See the module.

    Parameters
    ----------
    rays : Rays
        The projector.
    threads : int
        How many compute.
    """

    def __init__(self, rays: Rays, *, threads: int) -> None:
        self._rays, self._threads = rays, threads

    def __call__(
        self, sinograms: NDArray[np.float32], iterations: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Find slices; see :meth:`.gradient.Gradient.__call__`."""
        threads, shape = self._threads, (len(sinograms), self._rays.size, self._rays.size)
        slices, gradient = np.zeros(shape, np.float32), np.empty(shape, np.float32)
        rest, image = sinograms.copy(), np.empty_like(sinograms)
        misfits = np.empty((len(sinograms), iterations))
        self._rays.backproject(rest, gradient)
        direction, steepness = gradient.copy(), squares(gradient, threads)
        for number in range(iterations):
            self._rays.project(direction, image)
            length = _ratio(steepness, squares(image, threads))
            add(slices, length, direction, threads)
            add(rest, -length, image, threads)
            misfits[:, number] = squares(rest, threads)
            self._rays.backproject(rest, gradient)
            before, steepness = steepness, squares(gradient, threads)
            scale_and_add(direction, _ratio(steepness, before), gradient, threads)
        return slices, misfits


def _ratio(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide; 0 where there is nothing left to find."""
    return np.divide(values, others, out=np.zeros_like(values), where=others > 0)
