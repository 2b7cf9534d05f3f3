"""A projector and its adjoint, for methods that reconstruct step by step."""

from __future__ import annotations

import threading
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from runner.errors import UsageError
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.buffers import LANES, make_buffer
from runner.tomo.reconstruct.gridding.compiled import ensure_compiled
from runner.tomo.reconstruct.gridding.crew import Crew, Part
from runner.tomo.reconstruct.gridding.engine import GriddingReconstruction, groups
from runner.tomo.reconstruct.gridding.memory import GATHERED, Layout, sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.gridding.tables import make_tables


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
        ensure_compiled(f"project-{quality}-{LANES[0]}", lambda: _run_once(quality))
        self._pair = _Pair(self.geometry, quality, threads)

    def project(self, slices: NDArray[np.float32]) -> NDArray[np.float32]:
        """Project slices (slice, y, x), 1/pixel, into sinograms (slice, angle, column).

        Raises
        ------
        UsageError
            If the slices do not have the plan's shape.
        """
        _check_shape("slices", slices, self.geometry.shape)
        return self._pair.project(np.ascontiguousarray(slices, dtype=np.float32))

    def backproject(self, sinograms: NDArray[np.float32]) -> NDArray[np.float32]:
        """Apply the adjoint to sinograms (slice, angle, column): slices (slice, y, x).

        Raises
        ------
        UsageError
            If the sinograms do not have the plan's shape.
        """
        _check_shape("sinograms", sinograms, (len(self.geometry.angles), self.geometry.columns))
        return self._pair.backproject(np.ascontiguousarray(sinograms, dtype=np.float32))

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


def _run_once(quality: str) -> None:
    geometry = Geometry(angles=(0.0, 60.0, 120.0), columns=8, size=8, center=3.5)
    pair = _Pair(geometry, quality, 1)
    pair.backproject(pair.project(np.zeros((1, 8, 8), np.float32)))
    pair.close()


class _Pair:
    """The buffers of both directions."""

    def __init__(self, geometry: Geometry, quality: str, threads: int) -> None:
        from runner.tomo.reconstruct.gridding import project

        self._kernels = project
        angles, lanes = len(geometry.angles), LANES[0]
        extent = max(geometry.columns, geometry.size)
        self._sizes = sizes = sizes_of(angles, extent, geometry.shape, QUALITIES[quality])
        self._tables = make_tables(geometry, sizes, np.ones(sizes.points), QUALITIES[quality])
        self._back = GriddingReconstruction(
            self._tables, sizes, Layout(lanes=lanes, block=angles), edge=False, threads=threads
        )
        self._shape, self._rays = geometry.shape, (angles, geometry.columns)
        self._grid = make_buffer((sizes.rows + 2 * sizes.halo) * sizes.pitch, lanes)
        self._crew = Crew(threads, sizes.scratch, lanes)
        self._busy = threading.Lock()

    def backproject(self, sinograms: NDArray[np.float32]) -> NDArray[np.float32]:
        slices = np.empty((len(sinograms), *self._shape), np.float32)
        self._back(sinograms, slices)
        return slices

    def project(self, slices: NDArray[np.float32]) -> NDArray[np.float32]:
        sinograms = np.empty((len(slices), *self._rays), np.float32)
        with self._busy:
            for group in groups(len(slices), LANES[0]):
                self._project(slices, group, sinograms)
        return sinograms

    def close(self) -> None:
        self._back.close()
        self._crew.close()

    def _project(
        self, slices: NDArray[np.float32], group: tuple[int, int], sinograms: NDArray[np.float32]
    ) -> None:
        tables, cells, height = self._tables, self._tables.grid, self._shape[0]

        def along_x(part: Part, scratch: NDArray[np.void]) -> None:
            self._kernels.transform_rows(
                slices, *group, *part, tables.across, tables.along, cells, self._grid, scratch
            )

        def along_y(part: Part, scratch: NDArray[np.void]) -> None:
            self._kernels.transform_columns(cells, *part, height, self._grid, scratch)

        def gather(part: Part, scratch: NDArray[np.void]) -> None:
            self._kernels.gather_rows(
                self._grid, cells, tables.window, tables.lines, tables.padded, tables.response,
                *part, tables.columns, sinograms, *group, scratch,
            )  # fmt: skip

        self._crew.share(along_x, self._crew.cut(0, height, GATHERED))
        self._crew.share(along_y, self._crew.cut(0, self._sizes.rows, 1))
        self._kernels.mirror_rows(cells, self._grid)
        self._crew.share(gather, self._crew.cut(0, self._sizes.angles, 2))
