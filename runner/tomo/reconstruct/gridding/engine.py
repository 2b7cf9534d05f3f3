"""The engine: who holds the buffers, and which thread works on what."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError
from runner.tomo.reconstruct.filters import ramp
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.buffers import make_buffer
from runner.tomo.reconstruct.gridding.compiled import ensure_compiled
from runner.tomo.reconstruct.gridding.memory import (
    GATHERED,
    Layout,
    Sizes,
    buffer_bytes,
    choose_layout,
    sizes_of,
)
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.gridding.tables import make_tables
from runner.tomo.reconstruct.options import Options
from runner.units import format_size

_STRIP = 16  # rows of the grid that one thread works on while they are in its cache


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
    sizes = _sizes(geometry, options)
    layout = choose_layout(sizes, options.threads, options.memory)
    needed = buffer_bytes(sizes, layout, options.threads)
    if needed > options.memory:
        raise UsageError(
            f"the reconstruction needs {format_size(needed)} of buffers, and may take no more than "
            f"{format_size(options.memory)}"
        )
    ensure_compiled(f"{options.quality}-{layout.lanes}", lambda: _run_once(options, layout.lanes))
    return GriddingReconstruction(geometry, options, layout)


def _run_once(options: Options, lanes: int) -> None:
    geometry = Geometry(angles=(0.0, 60.0, 120.0), columns=8, size=8, center=3.5)
    layout = Layout(lanes=lanes, block=3)
    engine = GriddingReconstruction(geometry, Options(quality=options.quality), layout)
    engine(np.zeros((1, 3, 8), np.float32), np.empty((1, 8, 8), np.float32))
    engine.close()


def _sizes(geometry: Geometry, options: Options) -> Sizes:
    quality = QUALITIES[options.quality]
    return sizes_of(len(geometry.angles), geometry.extent, geometry.shape, quality)


class GriddingReconstruction:
    """Groups of slices, one after another; all threads work on the same group.

    Slices of a group share weights and tables, and nothing else. No bit of a slice depends on the slices
    beside it, on the number of threads or on the layout in memory. Calls from several threads wait for each
    other.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie.
    options : Options
        Filter, padding, quality and threads.
    layout : Layout
        How much is computed at once.
    """

    def __init__(self, geometry: Geometry, options: Options, layout: Layout) -> None:
        # numba is slow to import, and nothing else needs it
        from runner.tomo.reconstruct.gridding.image import make_rows
        from runner.tomo.reconstruct.gridding.spectra import filter_rows
        from runner.tomo.reconstruct.gridding.spread import spread_strip

        self._filter_rows, self._spread_strip, self._make_image_rows = filter_rows, spread_strip, make_rows
        sizes, lanes = _sizes(geometry, options), layout.lanes
        response = ramp(sizes.length, options.window, options.cutoff)
        self._tables = make_tables(geometry, sizes, response, QUALITIES[options.quality])
        self.layout = layout
        self._angles = len(geometry.angles)
        self._edge = options.padding == "edge"
        self._spectra = make_buffer(self.layout.block * sizes.points, lanes)
        self._grid = make_buffer(sizes.rows * sizes.pitch, lanes)
        self._scratch: SimpleQueue[NDArray[np.void]] = SimpleQueue()
        for _ in range(options.threads):
            self._scratch.put(make_buffer(sizes.scratch, lanes))
        self._threads = options.threads
        self._pool = ThreadPoolExecutor(options.threads, thread_name_prefix="gridding")
        self._busy = threading.Lock()

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel."""
        sinograms = np.ascontiguousarray(sinograms)
        lanes = self.layout.lanes
        with self._busy:
            for first in range(0, len(sinograms), lanes):
                number = min(lanes, len(sinograms) - first)
                for begin in range(0, self._angles, self.layout.block):
                    end = min(begin + self.layout.block, self._angles)
                    self._filter(sinograms, first, number, begin, end)
                    self._spread(begin, end, slices.shape[1])
                self._make_rows(slices, first, number)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _filter(self, sinograms: NDArray[np.float32], first: int, number: int, begin: int, end: int) -> None:
        tables, kernel = self._tables, self._filter_rows

        def work(begin_part: int, end_part: int, scratch: NDArray[np.void]) -> None:
            kernel(
                sinograms, first, number, begin_part, end_part,
                tables.columns, self._edge, tables.padded, tables.response, tables.lines,
                self._spectra, begin, scratch,
            )  # fmt: skip

        self._share(work, cut(begin, end, 2, self._threads))

    def _spread(self, begin: int, end: int, height: int) -> None:
        tables, kernel = self._tables, self._spread_strip
        fresh, finish = begin == 0, end == self._angles

        def work(begin_row: int, end_row: int, scratch: NDArray[np.void]) -> None:
            kernel(
                self._spectra, tables.points, begin, end - begin,
                tables.lines, tables.window, tables.grid,
                begin_row, end_row, self._grid, fresh, finish, height, scratch,
            )  # fmt: skip

        rows = tables.grid.rows
        self._share(work, [(row, min(row + _STRIP, rows)) for row in range(0, rows, _STRIP)])

    def _make_rows(self, slices: NDArray[np.float32], first: int, number: int) -> None:
        tables, kernel = self._tables, self._make_image_rows

        def work(begin: int, end: int, scratch: NDArray[np.void]) -> None:
            kernel(
                self._grid, tables.grid, begin, end, tables.across, tables.along,
                slices, first, number, scratch,
            )  # fmt: skip

        self._share(work, cut(0, slices.shape[1], GATHERED, self._threads))

    def _share(
        self, work: Callable[[int, int, NDArray[np.void]], None], parts: Iterable[tuple[int, int]]
    ) -> None:
        """Let the threads take the parts of a step, one after another."""
        run = functools.partial(self._with_scratch, work)
        if self._threads == 1:
            for part in parts:
                run(part)
        else:
            list(self._pool.map(run, parts))

    def _with_scratch(
        self, work: Callable[[int, int, NDArray[np.void]], None], part: tuple[int, int]
    ) -> None:
        scratch = self._scratch.get()
        try:
            work(*part, scratch)
        finally:
            self._scratch.put(scratch)


def cut(begin: int, end: int, unit: int, threads: int) -> list[tuple[int, int]]:
    """Cut a range at multiples of `unit` into about four parts for each thread.

    >>> cut(0, 21, 2, 2)
    [(0, 4), (4, 8), (8, 12), (12, 16), (16, 20), (20, 21)]
    """
    size = max(-(-(end - begin) // (4 * threads * unit)) * unit, unit)
    return [(at, min(at + size, end)) for at in range(begin, end, size)]
