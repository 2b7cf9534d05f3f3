"""A projector and its adjoint on shared tables: the buffers and threads of both directions."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from runner.tomo.kernels.compiled import ensure_compiled
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.buffers import make_buffer
from runner.tomo.reconstruct.gridding.crew import Crew, Part
from runner.tomo.reconstruct.gridding.engine import GriddingReconstruction, groups
from runner.tomo.reconstruct.gridding.memory import GATHERED, Layout, Sizes, sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.gridding.tables import make_tables


def pair_sizes(angles: int, columns: int, size: int, quality: str) -> Sizes:
    """Take the sizes of a pair for slices with `size` pixels along both sides."""
    return sizes_of(angles, max(columns, size), (size, size), QUALITIES[quality])


def make_pair(geometry: Geometry, quality: str, layout: Layout, threads: int) -> Pair:
    """Plan both directions; compiles the kernels where that has not been done.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie; the shares are the factors of the projections, in both directions.
    quality : str
        A key of `QUALITIES`.
    layout : Layout
        How much is computed at once.
    threads : int
        How many compute.
    """
    ensure_compiled(f"projector-{quality}-{layout.lanes}", lambda: _run_once(quality, layout.lanes))
    return Pair(geometry, quality, layout, threads)


def _run_once(quality: str, lanes: int) -> None:
    geometry = Geometry(angles=(0.0, 60.0, 120.0), columns=8, size=8, center=3.5)
    pair = Pair(geometry, quality, Layout(lanes=lanes, block=3), 1)
    slices, sinograms = np.zeros((1, 8, 8), np.float32), np.empty((1, 3, 8), np.float32)
    pair.project(slices, sinograms)
    pair.backproject(sinograms, slices)
    pair.close()


class Pair:
    """Each direction is the other's transpose, to the rounding of float32. See `make_pair`."""

    def __init__(self, geometry: Geometry, quality: str, layout: Layout, threads: int) -> None:
        from runner.tomo.reconstruct.gridding import project

        self._kernels, self._lanes = project, layout.lanes
        sizes = pair_sizes(len(geometry.angles), geometry.columns, geometry.size, quality)
        self._sizes = sizes
        self._tables = make_tables(geometry, sizes, np.ones(sizes.points), QUALITIES[quality])
        self._back = GriddingReconstruction(self._tables, sizes, layout, edge=False, threads=threads)
        self._grid = make_buffer((sizes.rows + 2 * sizes.halo) * sizes.pitch, layout.lanes)
        self._crew = Crew(threads, sizes.scratch, layout.lanes)
        self._busy = threading.Lock()

    def backproject(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Smear sinograms (slice, angle, column) back into slices (slice, y, x)."""
        self._back(sinograms, slices)

    def project(self, slices: NDArray[np.float32], sinograms: NDArray[np.float32]) -> None:
        """Project slices (slice, y, x) into sinograms (slice, angle, column)."""
        with self._busy:
            for group in groups(len(slices), self._lanes):
                self._project(slices, group, sinograms)

    def close(self) -> None:
        """End the threads."""
        self._back.close()
        self._crew.close()

    def _project(
        self, slices: NDArray[np.float32], group: tuple[int, int], sinograms: NDArray[np.float32]
    ) -> None:
        tables, cells, height = self._tables, self._tables.grid, slices.shape[1]

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
