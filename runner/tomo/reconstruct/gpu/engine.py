"""The engine on a GPU: sinograms, or counts, become slices, group by group."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError
from runner.tomo.counts import Counts, Rays
from runner.tomo.reconstruct.filters import ramp
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gpu.device import CudaDevice, Device, Ticket
from runner.tomo.reconstruct.gpu.integration import Integration
from runner.tomo.reconstruct.gpu.layout import choose_lanes, choose_layout, device_bytes, host_bytes, tiles_of
from runner.tomo.reconstruct.gpu.pieces import make_pieces
from runner.tomo.reconstruct.gpu.steps import Array, Steps
from runner.tomo.reconstruct.gridding.memory import Sizes, sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.gridding.tables import Tables, make_tables
from runner.tomo.reconstruct.options import Options
from runner.tomo.share import share

logger = logging.getLogger(__name__)


def make_engine(geometry: Geometry, options: Options, device: Device | None = None) -> GpuReconstruction:
    """Plan a reconstruction.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie.
    options : Options
        Filter, padding, quality, threads and memory of the host; of the GPU's memory, what is free is taken.
    device : Device, optional
        What computes; the GPU that this process sees if not given. The engine closes it.

    Raises
    ------
    UsageError
        If there is no GPU.
    """
    quality = QUALITIES[options.quality]
    sizes = sizes_of(len(geometry.angles), geometry.extent, geometry.whole.shape, quality)
    response = options.scale * ramp(sizes.length, options.window, options.cutoff)
    tables = make_tables(geometry.whole, sizes, response, quality)
    return GpuReconstruction(
        tables,
        sizes,
        device or CudaDevice(),
        edge=options.padding == "edge",
        threads=options.threads,
        memory=options.memory,
        window=geometry.window,
    )


class GpuReconstruction:
    """Groups of slices, one after another. While one is computed, the next comes and the last one goes.

    No bit of a slice depends on the slices beside it. Where the GPU's memory does not suffice, groups become
    smaller by half, and what was begun goes on. Calls from several threads wait for each other.

    Parameters
    ----------
    tables : Tables
        Geometry and filter.
    sizes : Sizes
        What the tables are for.
    device : Device
        What computes.
    edge : bool
        Whether the outer columns are carried on beside the detector; else there is nothing.
    threads : int
        How many copy to and from the memory that the GPU reads and writes.
    memory : float
        Bytes of the host's memory to keep to.
    window : (slice, slice)
        Which part of a slice is wanted, (y, x).
    """

    def __init__(
        self,
        tables: Tables,
        sizes: Sizes,
        device: Device,
        *,
        edge: bool,
        threads: int,
        memory: float,
        window: tuple[slice, slice],
    ) -> None:
        self._tables, self._sizes, self._device = tables, sizes, device
        self._edge, self._threads, self._window = edge, threads, window
        self._busy = threading.Lock()
        columns, shape, free = len(tables.columns), _shape(window), device.free()
        self._lanes = choose_lanes(
            lambda lanes: (
                device_bytes(sizes, columns, shape, lanes) <= free
                and host_bytes(sizes.angles, columns, shape, lanes) <= memory
            )
        )
        self._plan: _Plan | None = None

    @property
    def lanes(self) -> int:
        """How many slices are computed at once."""
        return self._lanes

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32]) -> None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel.

        Raises
        ------
        UsageError
            If not even one slice fits the GPU.
        """
        self._make(sinograms, slices)

    def from_counts(self, counts: Counts, slices: NDArray[np.float32]) -> None:
        """Reconstruct what a detector counted, of one of `COUNT_TYPES`: line integrals are made on the GPU.

        Raises
        ------
        UsageError
            If not even one slice fits the GPU.
        """
        self._make(counts, slices)

    def close(self) -> None:
        """Give the GPU's memory back."""
        with self._busy:
            self._plan = None
            self._device.close()

    def _make(self, rays: Rays, slices: NDArray[np.float32]) -> None:
        with self._busy, self._device.working():
            done = 0
            while done < len(rays):
                done += self._go_on(rays[done:], slices[done:])

    def _go_on(self, rays: Rays, slices: NDArray[np.float32]) -> int:
        """Reconstruct as many slices as the memory lets us; tells how many. Fewer at once come next."""
        running: list[_Running] = []
        done, full = 0, False
        try:
            if self._plan is None:
                self._plan = self._make_plan()
            for first in range(0, len(rays), self._lanes):
                running.append(self._plan.start(rays[first : first + self._lanes]))
                if len(running) == 2:
                    done += running.pop(0).finish(slices[done:])
        except MemoryError:
            full = True
        for one in running:
            done += one.finish(slices[done:])
        if full:
            self._take_less()
        return done

    def _make_plan(self) -> _Plan:
        return _Plan(
            self._tables,
            self._sizes,
            self._device,
            self._lanes,
            edge=self._edge,
            threads=self._threads,
            window=self._window,
        )

    def _take_less(self) -> None:
        self._plan = None
        self._device.trim()
        if self._lanes == 1:
            raise UsageError(
                "a single slice needs more memory than the GPU has free",
                "choose the CPU, or end what else uses the GPU",
            )
        self._lanes //= 2
        logger.warning("the GPU's memory is full: %d slices at once from now on", self._lanes)


@dataclass(slots=True)
class _Slot:
    """Where a group of slices is: on the host and on the GPU, as sinograms and as slices.

    Counts lie where the sinograms of their rows would: they are not larger.
    """

    host_sinograms: NDArray[np.float32]
    sinograms: Array
    slices: Array
    host_slices: NDArray[np.float32]


@dataclass(slots=True)
class _Running:
    """A group that the GPU is at work on."""

    ticket: Ticket
    result: NDArray[np.float32]
    threads: int

    def finish(self, slices: NDArray[np.float32]) -> int:
        """Wait for it, and put its slices where they belong; tells how many."""
        self.ticket.synchronize()
        _copy(self.result, slices, self.threads)
        return len(self.result)


class _Plan:
    """What is on the GPU from the first slice to the last one, for `lanes` slices at once."""

    def __init__(
        self,
        tables: Tables,
        sizes: Sizes,
        device: Device,
        lanes: int,
        *,
        edge: bool,
        threads: int,
        window: tuple[slice, slice],
    ) -> None:
        xp, width = device.xp, len(tables.window.taps)
        self._device, self._sizes, self._threads = device, sizes, threads
        # first: copies up run beside the work, and must not meet memory that the work has only just left
        rays = lanes, sizes.angles, len(tables.columns)
        pixels = lanes, *_shape(window)
        slots = [
            _Slot(
                host_sinograms=device.pinned(rays),
                sinograms=xp.empty(rays, np.float32),
                slices=xp.empty(pixels, np.float32),
                host_slices=device.pinned(pixels),
            )
            for _ in range(2)
        ]
        self._slots = itertools.cycle(slots)
        self._layout = choose_layout(lanes, width, device.shared)
        self._kernel = device.kernel("spread.cu", "spread_tiles", self._layout.defines)
        pieces = make_pieces(tables.lines, sizes, self._layout)
        self._pieces = xp.asarray(pieces.pieces.view(np.int32))
        self._starts, self._order = xp.asarray(pieces.starts), xp.asarray(pieces.order)
        self._coefficients = xp.asarray(tables.window.coefficients)
        self._integration = Integration(device, tables, sizes, edge=edge)
        self._steps = Steps(xp, tables, sizes, edge=edge, window=window)
        self._spectra = xp.empty((sizes.angles, sizes.points, lanes), np.complex64)
        self._grid = xp.empty((lanes, sizes.rows, sizes.along), np.complex64)

    def start(self, rays: Rays) -> _Running:
        """Give a group to the GPU. Of two that run, the first one must be finished before a third."""
        slot, number = next(self._slots), len(rays)
        self._steps.filter_lines(self._bring(rays, slot), self._spectra)
        self._spread()
        self._steps.make_slices(self._grid[:number], slot.slices[:number])
        host = slot.host_slices[:number]
        ticket = self._device.download(slot.slices[:number], host)
        return _Running(ticket=ticket, result=host, threads=self._threads)

    def _bring(self, rays: Rays, slot: _Slot) -> Callable[[slice], Array]:
        """Copy a group to the GPU; returns what makes its padded lines there, see `Steps.filter_lines`."""
        stack = rays.sinograms if isinstance(rays, Counts) else rays
        host, there = (
            _room_for(stack.dtype, room)[: len(stack)] for room in (slot.host_sinograms, slot.sinograms)
        )
        _copy(stack, host, self._threads)
        self._device.upload(host, there)
        if isinstance(rays, Counts):
            return self._integration.of(rays, there)
        return lambda some: self._steps.pad(there[:, some])

    def _spread(self) -> None:
        layout, sizes = self._layout, self._sizes
        arguments = (
            self._spectra, self._pieces, self._starts, self._order, self._coefficients, self._grid,
            np.int32(sizes.rows), np.int32(sizes.along),
        )  # fmt: skip
        rows, columns = tiles_of(sizes, layout)
        self._kernel(rows * columns, layout.block, layout.shared, arguments)


def _shape(window: tuple[slice, slice]) -> tuple[int, int]:
    y, x = window
    return y.stop - y.start, x.stop - x.start


def _room_for(pixels: np.dtype[np.number], room: Array) -> Array:
    """Have the beginning of an array of 32-bit numbers as one of the same shape, of pixels not larger."""
    return room.reshape(-1).view(pixels)[: room.size].reshape(room.shape)


def _copy(stack: NDArray[np.number], to: NDArray[np.number], threads: int) -> None:
    """Copy all of a stack to the beginning of another one; the GPU is faster than one thread."""

    def copy(number: int) -> None:
        to[number] = stack[number]

    share(copy, range(len(stack)), threads)
