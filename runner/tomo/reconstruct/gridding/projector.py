"""A projector and its adjoint, for methods that reconstruct step by step."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from runner.errors import UsageError
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.buffers import LANES
from runner.tomo.reconstruct.gridding.memory import Layout
from runner.tomo.reconstruct.gridding.pair import make_pair
from runner.tomo.reconstruct.gridding.quality import QUALITIES


class Projector:
    """Slices become sinograms, and the adjoint of that: sinograms are smeared back without a filter.

    The projection of a slice is that of its band-limited interpolation, by the projection-slice theorem: the
    spectrum of a projection is a line through the origin of the slice's. `project` and `backproject` are each
    other's transpose to the rounding of float32, as they share tables and weights, so that gradients are
    right and conjugate gradients converge.

    Parameters
    ----------
    angles : (angle,) array_like
        Rotation angle of each projection, degrees.
    columns : int
        Detector columns.
    size : int, optional
        Pixels along both sides of a slice; as many as columns if not given.
    center : float, optional
        Detector column of the rotation axis; the middle if not given.
    shifts : (angle,) array_like, optional
        By how many columns the axis lies right of `center` in each projection.
    quality : {"standard", "high"}
        Within 1e-3 or 1e-4 of the exact sum.
    threads : int
        How many threads compute. The result does not depend on it.

    Raises
    ------
    UsageError
        If the shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> with Projector(angles=np.arange(0, 180, 2), columns=64) as projector:
    ...     projector.project(np.ones((1, 64, 64), np.float32)).shape
    (1, 90, 64)
    """

    def __init__(
        self,
        *,
        angles: ArrayLike,
        columns: int,
        size: int | None = None,
        center: float | None = None,
        shifts: ArrayLike | None = None,
        quality: str = "standard",
        threads: int = 1,
    ) -> None:
        degrees = np.asarray(angles, dtype=np.float64).ravel()
        self.geometry = Geometry(
            angles=tuple(degrees.tolist()),
            columns=columns,
            size=columns if size is None else size,
            center=(columns - 1) / 2 if center is None else float(center),
            shifts=None if shifts is None else tuple(np.asarray(shifts, dtype=np.float64).tolist()),
            shares=(1.0,) * len(degrees),
        )
        if quality not in QUALITIES:
            raise UsageError(f"quality {quality!r} is unknown", f"choose one of {', '.join(QUALITIES)}")
        layout = Layout(lanes=LANES[0], block=len(degrees))
        self._pair = make_pair(self.geometry, quality, layout, threads)

    def project(self, slices: NDArray[np.float32]) -> NDArray[np.float32]:
        """Project slices (slice, y, x), 1/pixel, into sinograms (slice, angle, column).

        Raises
        ------
        UsageError
            If the slices do not have the plan's shape.
        """
        _check_shape("slices", slices, self.geometry.shape)
        sinograms = np.empty((len(slices), len(self.geometry.angles), self.geometry.columns), np.float32)
        self._pair.project(np.ascontiguousarray(slices, dtype=np.float32), sinograms)
        return sinograms

    def backproject(self, sinograms: NDArray[np.float32]) -> NDArray[np.float32]:
        """Apply the adjoint to sinograms (slice, angle, column): slices (slice, y, x).

        Raises
        ------
        UsageError
            If the sinograms do not have the plan's shape.
        """
        _check_shape("sinograms", sinograms, (len(self.geometry.angles), self.geometry.columns))
        slices = np.empty((len(sinograms), *self.geometry.shape), np.float32)
        self._pair.backproject(np.ascontiguousarray(sinograms, dtype=np.float32), slices)
        return slices

    def close(self) -> None:
        """End the threads; the plan cannot be used afterwards."""
        self._pair.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_shape(name: str, values: NDArray[np.float32], expected: tuple[int, int]) -> None:
    if values.ndim != 3 or values.shape[1:] != expected:
        raise UsageError(
            f"{name} of shape {values.shape}, but the plan is for (any, {expected[0]}, {expected[1]})"
        )
