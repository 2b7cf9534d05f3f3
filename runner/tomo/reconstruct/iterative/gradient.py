"""SIRT, and the same with momentum: steps down the gradient of the weighted misfit.

With A the projector, each step is x + C A' R (b - A x): R divides by the lengths of the rays within the
disc, C by how often a pixel is seen. For an A without negative entries the largest eigenvalue of C A' R A is
1 (Gregor and Benson). Ours has some, as it interpolates without smoothing; `_STEP` keeps clear of what that
adds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.iterative.rays import Rays
from runner.tomo.reconstruct.iterative.sums import each, squares

_STEP = 1 / 1.05
_SEEN = 0.25  # of the most: pixels that fewer views see take no longer steps than those that so many see


class Gradient:
    """Both methods.

    Parameters
    ----------
    rays : Rays
        The projector.
    momentum : bool
        Go on from where the last two steps point to (FISTA).
    nonnegative : bool
        Keep all values from being negative.
    threads : int
        How many compute.

    Attributes
    ----------
    lengths : (angle, column) float32 ndarray
        What R divides by.
    gains : (y, x) float32 ndarray
        What C multiplies by.
    """

    def __init__(self, rays: Rays, *, momentum: bool, nonnegative: bool, threads: int) -> None:
        self._rays, self._momentum, self._nonnegative = rays, momentum, nonnegative
        self._threads = threads
        self.lengths = rays.lengths()
        counts = rays.counts()
        self.gains = np.float32(_STEP) / np.maximum(counts, np.float32(_SEEN * counts.max()))

    def __call__(
        self, sinograms: NDArray[np.float32], iterations: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Find slices.

        Parameters
        ----------
        sinograms : (slice, angle, column) float32
            Each view times its root.
        iterations : int
            Steps.

        Returns
        -------
        slices : (slice, y, x) float32
            1/pixel.
        misfits : (slice, iteration) float64
            Sum of squares of what is not explained after each step.
        """
        shape = len(sinograms), self._rays.size, self._rays.size
        last, step = np.zeros(shape, np.float32), np.empty(shape, np.float32)
        point = np.zeros(shape, np.float32)  # where the gradient is taken
        misfits = np.empty((len(sinograms), iterations))
        at_last, at_point, rest = sinograms.copy(), sinograms.copy(), np.empty_like(sinograms)
        speed = 1.0
        for number in range(iterations):
            faster = (1 + math.sqrt(1 + 4 * speed**2)) / 2 if self._momentum else 1.0
            onward = np.float32((speed - 1) / faster)
            speed = faster
            np.divide(at_point, self.lengths, out=rest)
            self._rays.backproject(rest, step)
            self._step(step, point, last, onward)
            last, step = step, last
            self._rays.project(last, rest)
            self._explain(rest, sinograms, at_last, at_point, onward)
            at_last, rest = rest, at_last
            misfits[:, number] = squares(at_last, self._threads)
        return last, misfits

    def _step(
        self,
        step: NDArray[np.float32],
        point: NDArray[np.float32],
        last: NDArray[np.float32],
        onward: np.float32,
    ) -> None:
        """Turn the gradient into the new slices, and the point into the next one."""

        def work(number: int) -> None:
            new, at = step[number], point[number]
            new *= self.gains
            new += at
            if self._nonnegative:
                np.maximum(new, 0, out=new)
            np.subtract(new, last[number], out=at)
            at *= onward
            at += new

        each(work, len(step), self._threads)

    def _explain(
        self,
        rest: NDArray[np.float32],
        sinograms: NDArray[np.float32],
        at_last: NDArray[np.float32],
        at_point: NDArray[np.float32],
        onward: np.float32,
    ) -> None:
        """Turn projections of the new slices into what they do not explain, there and at the next point."""

        def work(number: int) -> None:
            new, at = rest[number], at_point[number]
            np.subtract(sinograms[number], new, out=new)
            np.subtract(new, at_last[number], out=at)
            at *= onward
            at += new

        each(work, len(rest), self._threads)
