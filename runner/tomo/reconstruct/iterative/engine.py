"""An iterative reconstruction: groups of slices, one after another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.engine import groups
from runner.tomo.reconstruct.gridding.pair import pair_sizes
from runner.tomo.reconstruct.iterative.cgls import ConjugateGradients
from runner.tomo.reconstruct.iterative.gradient import Gradient
from runner.tomo.reconstruct.iterative.memory import layout_within, needed_bytes
from runner.tomo.reconstruct.iterative.rays import Rays, full_size, seen_by
from runner.tomo.reconstruct.iterative.sums import squares
from runner.tomo.reconstruct.options import Options
from runner.units import format_size

Steps = Callable[[NDArray[np.float32], int], tuple[NDArray[np.float32], NDArray[np.float64]]]
"""Takes sinograms and a number of steps; returns slices, and the sums of squares that are left over."""


def make_engine(method: str, geometry: Geometry, options: Options) -> IterativeReconstruction:
    """Plan a reconstruction.

    Raises
    ------
    UsageError
        If the buffers do not fit the memory.
    """
    size, rays = full_size(geometry.size, seen_by(geometry)), len(geometry.angles) * geometry.columns
    sizes = pair_sizes(len(geometry.angles), geometry.columns, size, options.quality)
    layout = layout_within(sizes, rays, size, options.threads, options.memory)
    needed = needed_bytes(sizes, rays, size, options.threads, layout)
    if needed > options.memory:
        raise UsageError(
            f"the reconstruction needs {format_size(needed)} of buffers, and may take no more than "
            f"{format_size(int(options.memory))}"
        )
    projector = Rays(geometry, options.quality, layout, options.threads)
    steps: Steps
    if method == "cgls":
        steps = ConjugateGradients(projector, threads=options.threads)
    else:
        steps = Gradient(
            projector,
            momentum=method == "fista",
            nonnegative=options.nonnegative,
            threads=options.threads,
        )
    return IterativeReconstruction(projector, steps, geometry, options, layout.lanes)


class IterativeReconstruction:
    """Slices of a group are computed side by side, and no bit of one depends on the others.

    Parameters
    ----------
    rays : Rays
        The projector.
    steps : Steps
        What is done with it.
    geometry : Geometry
        What is wanted.
    options : Options
        How many steps, by how many threads.
    lanes : int
        Slices of a group.
    """

    def __init__(self, rays: Rays, steps: Steps, geometry: Geometry, options: Options, lanes: int) -> None:
        self._rays, self._steps, self._lanes = rays, steps, lanes
        self._iterations, self._threads = options.iterations, options.threads
        self._scale = np.float32(options.scale)
        margin = (rays.size - geometry.size) // 2
        self._window = tuple(slice(margin + part.start, margin + part.stop) for part in geometry.window)

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> NDArray[np.float64]:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel.

        Returns
        -------
        (slice, iteration) float64
            What is not explained after each step, as a share of what was measured: a ratio of norms.
        """
        misfits = np.empty((len(sinograms), self._iterations))
        for first, number in groups(len(sinograms), self._lanes):
            some = slice(first, first + number)
            measured = sinograms[some] * self._rays.roots[:, np.newaxis]
            made, left = self._steps(measured, self._iterations)
            np.multiply(made[:, *self._window], self._scale, out=slices[some])
            whole = squares(measured, self._threads)[:, np.newaxis]
            misfits[some] = np.sqrt(np.divide(left, whole, out=np.zeros_like(left), where=whole > 0))
        return misfits

    def close(self) -> None:
        """End the threads."""
        self._rays.close()
