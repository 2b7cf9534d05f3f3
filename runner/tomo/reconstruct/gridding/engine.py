"""The engine: sinograms become slices, by the three steps of this package."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError
from runner.tomo.kernels.compiled import ensure_compiled
from runner.tomo.reconstruct.filters import ramp
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.buffers import make_buffer
from runner.tomo.reconstruct.gridding.crew import Crew, Part
from runner.tomo.reconstruct.gridding.memory import (
    GATHERED,
    Layout,
    Sizes,
    buffer_bytes,
    choose_layout,
    sizes_of,
)
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.gridding.tables import Tables, make_tables
from runner.tomo.reconstruct.options import Options
from runner.units import format_size

_CACHE = 2.7e6  # bytes of the grid that a thread works on at once
_LEAST_STRIP = 8  # rows; narrower ones would share most of their points with their neighbours


def make_engine(geometry: Geometry, options: Options) -> GriddingReconstruction:
    """Plan a reconstruction; compiles the kernels where that has not been done.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie.
    options : Options
        Filter, padding, quality, threads and memory.

    Raises
    ------
    UsageError
        If the buffers do not fit the memory.
    """
    quality = QUALITIES[options.quality]
    sizes = sizes_of(len(geometry.angles), geometry.extent, geometry.whole.shape, quality)
    layout = choose_layout(sizes, options.threads, options.memory)
    needed = buffer_bytes(sizes, layout, options.threads)
    if needed > options.memory:
        raise UsageError(
            f"the reconstruction needs {format_size(needed)} of buffers, and may take no more than "
            f"{format_size(int(options.memory))}"
        )
    kind = f"reconstruction-{options.quality}-{layout.lanes}"
    ensure_compiled(kind, lambda: _run_once(options.quality, layout.lanes))
    response = options.scale * ramp(sizes.length, options.window, options.cutoff)
    tables = make_tables(geometry.whole, sizes, response, quality)
    y, x = geometry.window
    return GriddingReconstruction(
        tables,
        sizes,
        layout,
        edge=options.padding == "edge",
        threads=options.threads,
        corner=(y.start, x.start),
    )


def _run_once(quality: str, lanes: int) -> None:
    """Reconstruct next to nothing, with the types of all that is to come."""
    geometry = Geometry(angles=(0.0, 60.0, 120.0), columns=8, size=8, center=3.5)
    sizes = sizes_of(3, 8, (8, 8), QUALITIES[quality])
    tables = make_tables(geometry, sizes, np.ones(sizes.points), QUALITIES[quality])
    engine = GriddingReconstruction(tables, sizes, Layout(lanes=lanes, block=3), edge=False, threads=1)
    engine(np.zeros((1, 3, 8), np.float32), np.empty((1, 8, 8), np.float32))
    engine.close()


class GriddingReconstruction:
    """Groups of slices, one after another; all threads work on the same group.

    Slices of a group share weights and tables, and nothing else. No bit of a slice depends on the slices
    beside it, on the number of threads or on the layout in memory. Calls from several threads wait for each
    other.

    Parameters
    ----------
    tables : Tables
        Geometry and filter.
    sizes : Sizes
        What the tables are for.
    layout : Layout
        How much is computed at once.
    edge : bool
        Whether the outer columns are carried on beside the detector; else there is nothing.
    threads : int
        How many compute.
    corner : (int, int)
        The first pixel, (y, x), of the part of a slice that is wanted.
    """

    def __init__(
        self,
        tables: Tables,
        sizes: Sizes,
        layout: Layout,
        *,
        edge: bool,
        threads: int,
        corner: tuple[int, int] = (0, 0),
    ) -> None:
        # numba is slow to import, and nothing else needs it
        from runner.tomo.reconstruct.gridding import image, spectra, spread

        self._filter_rows, self._spread_strip = spectra.filter_rows, spread.spread_strip
        self._make_rows = image.make_rows
        self._tables, self._sizes, self.layout, self._edge = tables, sizes, layout, edge
        self._corner = corner
        self._spectra = make_buffer(layout.block * sizes.points, layout.lanes)
        self._grid = make_buffer(sizes.rows * sizes.pitch, layout.lanes)
        self._threads = threads
        self._crew = Crew(threads, sizes.scratch, layout.lanes)
        self._busy = threading.Lock()

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), or a part of them."""
        sinograms = np.ascontiguousarray(sinograms)
        angles, block = self._sizes.angles, self.layout.block
        with self._busy:
            for group in groups(len(sinograms), self.layout.lanes):
                for begin in range(0, angles, block):
                    end = min(begin + block, angles)
                    self._filter(sinograms, group, begin, end)
                    self._spread(begin, end)
                self._make_image(slices, group)

    def close(self) -> None:
        """End the threads."""
        self._crew.close()

    def _filter(self, sinograms: NDArray[np.float32], group: tuple[int, int], begin: int, end: int) -> None:
        tables = self._tables

        def work(part: Part, scratch: NDArray[np.void]) -> None:
            self._filter_rows(
                sinograms, *group, *part, tables.columns, self._edge,
                tables.padded, tables.response, tables.lines, self._spectra, begin, scratch,
            )  # fmt: skip

        self._crew.share(work, self._crew.cut(begin, end, 2))

    def _spread(self, begin: int, end: int) -> None:
        tables, sizes = self._tables, self._sizes
        fresh, finish = begin == 0, end == sizes.angles

        def work(part: Part, scratch: NDArray[np.void]) -> None:
            self._spread_strip(
                self._spectra, sizes.points, begin, end - begin, tables.lines, tables.window, tables.grid,
                *part, self._grid, fresh, finish, scratch,
            )  # fmt: skip

        row_bytes = sizes.pitch * self._grid.itemsize
        self._crew.share(work, strips(sizes.rows, row_bytes, self._threads))

    def _make_image(self, slices: NDArray[np.float32], group: tuple[int, int]) -> None:
        tables = self._tables

        def work(part: Part, scratch: NDArray[np.void]) -> None:
            self._make_rows(
                self._grid,
                tables.grid,
                *part,
                tables.across,
                tables.along,
                *self._corner,
                slices,
                *group,
                scratch,
            )

        # rows are transformed in pairs: the same ones, whatever part of the slice is wanted
        top, height = self._corner[0], slices.shape[1]
        begin, end = top - top % 2, min(top + height + (top + height) % 2, len(tables.along))
        self._crew.share(work, self._crew.cut(begin, end, GATHERED))


def strips(rows: int, row_bytes: int, threads: int) -> list[Part]:
    """Cut the grid into strips, the ones with the most points first.

    A strip should fit the cache, and there should be enough of them to keep all threads busy to the end, as
    points lie densest around u = 0. Beyond that, wide ones are better: the weights of points at the border of
    two strips are computed twice.

    >>> strips(40, 1000, 2)
    [(0, 8), (8, 16), (16, 24), (24, 32), (32, 40)]
    >>> strips(400, 90_000, 1)[-2:]
    [(348, 377), (377, 400)]
    """
    most = max(min(int(_CACHE) // row_bytes, rows // (4 * threads)), _LEAST_STRIP)
    height = -(-rows // -(-rows // most))  # none much lower than the others
    return [(row, min(row + height, rows)) for row in range(0, rows, height)]


def groups(slices: int, lanes: int) -> list[tuple[int, int]]:
    """Cut slices into groups: the first one of each, and how many.

    >>> groups(11, 8)
    [(0, 8), (8, 3)]
    """
    return [(first, min(lanes, slices - first)) for first in range(0, slices, lanes)]
