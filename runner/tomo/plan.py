"""Cut a reconstruction into chunks that fit the workers: decided from shapes alone, before any work."""

from __future__ import annotations

import math
from dataclasses import dataclass

from runner.errors import ScanError
from runner.tomo.reconstruct.memory import Problem, buffers_of
from runner.tomo.scan.read import BLOCK
from runner.tomo.stages import IN_ALL
from runner.tomo.work import PIXEL, Work
from runner.units import format_size

ALIGNMENT = 16
"""Chunks start and end at multiples of this many rows of the scan, wherever the memory allows it.

Engines compute a few slices together, and files are stored in blocks: whole ones cost least.
"""

_LITTLE = (8, 4)  # rows of a chunk, where the memory does not suffice for more

_USABLE = 0.75  # of a worker's memory limit; Dask pauses a worker at 0.8
# enough that a slow worker does not keep the others waiting at the end, and that the first chunk is read, and
# the last one written, in little time: nothing else can be done beside that
_CHUNKS_PER_WORKER = 8
_WORTH = 1.25  # times as many rows may be read, if chunks overlap for it
_MARGINS = 4  # chunks are so many times as tall as the margin above and below them, where there is one
_BASE = 248 << 20  # a worker with its libraries, bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What there is to work with.

    Attributes
    ----------
    workers : int
        How many worker processes.
    memory : int
        What each may use, bytes.
    threads : int
        Threads of each.
    """

    workers: int
    memory: int
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Detector rows that one worker reconstructs at once; the end not included."""

    first_row: int
    end_row: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.end_row - self.first_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Who will do what with how much memory.

    Attributes
    ----------
    work : Work
        What is to be done.
    resources : Resources
        With what.
    chunks : tuple of Chunk
        In the order of rows, covering each once.
    memory : int
        Predicted peak of a worker process, bytes.
    buffers : int
        How much of it the reconstruction's own buffers may take.
    at_once : int
        How many chunks a worker has at once, each in another stage; see :mod:`runner.tomo.stages`.
    """

    work: Work
    resources: Resources
    chunks: tuple[Chunk, ...]
    memory: int
    buffers: int
    at_once: int = 1

    @property
    def rows_decoded(self) -> int:
        """How many rows of each frame all workers together read, and decode: some may be read again."""
        return sum(rows_decoded(self.work, chunk) for chunk in self.chunks)

    @property
    def bytes_read(self) -> int:
        """What all workers together read from the scan, as stored without compression."""
        work = self.work
        return work.frames * self.rows_decoded * work.columns * work.itemsize * work.binning**2

    @property
    def bytes_written(self) -> int:
        """Size of the volume."""
        return self.work.rows * math.prod(self.work.shape) * self.work.pixel_bytes


def make_plan(work: Work, resources: Resources) -> Plan:
    """Choose the largest chunks that fit the memory and still leave some for every worker.

    A worker has three chunks at once where they fit, and are not so much lower for it that it would have to
    read much twice. Where not even the smallest chunk and the engine's buffers fit side by side, the engine
    does with less, and at last the chunks do: both cost time.

    Raises
    ------
    ScanError
        If that does not suffice either; says how much memory it needs.
    """
    for unit in (ALIGNMENT, *_LITTLE):
        single, several = (_plan(work, resources, unit, at_once) for at_once in (1, IN_ALL))
        if single is not None:
            return several if several is not None and _pays(several, single) else single
    has, needs = format_size(resources.memory), format_size(least_memory(work, resources.threads) / _USABLE)
    raise ScanError(
        f"a worker has {has} of memory, and {_LITTLE[-1]} rows of {work.columns} columns and"
        f" {work.angles} angles need {needs}",
        "use fewer workers per machine, fewer threads per worker, or ask for more memory",
    )


def _pays(several: Plan, single: Plan) -> bool:
    """Tell whether several chunks at once are faster than one: not if much is read twice for it."""
    return (
        len(several.chunks) > several.resources.workers
        and several.buffers == single.buffers
        and several.rows_decoded <= _WORTH * single.rows_decoded
    )


def _plan(work: Work, resources: Resources, unit: int, at_once: int) -> Plan | None:
    """Make chunks of `unit` rows, or of as many times that as fit and still leave some for every worker."""
    usable, threads = int(resources.memory * _USABLE), resources.threads
    buffers = _buffers(work, threads, usable - memory_of_rows(work, unit, threads, at_once))
    if buffers is None:
        return None
    fair, height = fair_rows(work, resources.workers), unit
    while height + unit <= fair and memory_of_rows(work, height + unit, threads, at_once) <= usable - buffers:
        height += unit
    chunks = cut(work.first_row, work.end_row, height)
    tallest = max(chunk.rows for chunk in chunks)
    return Plan(
        work=work,
        resources=resources,
        chunks=chunks,
        memory=memory_of_rows(work, tallest, threads, at_once) + buffers,
        buffers=buffers,
        at_once=at_once,
    )


def cut(first_row: int, end_row: int, height: int) -> tuple[Chunk, ...]:
    """Cut rows at the multiples of `height`, counted from the detector's first row.

    >>> [(chunk.first_row, chunk.end_row) for chunk in cut(10, 40, 16)]
    [(10, 16), (16, 32), (32, 40)]
    """
    starts = range(first_row - first_row % height, end_row, height)
    return tuple(
        Chunk(first_row=max(start, first_row), end_row=min(start + height, end_row)) for start in starts
    )


def rows_read(work: Work, height: int) -> int:
    """Say how many rows are read, at most, for a chunk of `height` rows: whole blocks, if with a margin."""
    if not work.margin:
        return height
    return min(-(-height // ALIGNMENT) * ALIGNMENT + 2 * work.margin, work.detector_rows)


def rows_decoded(work: Work, chunk: Chunk) -> int:
    """Say how many rows are read for a chunk: with the margin, and with all that is only read together."""
    first, end = chunk.first_row, chunk.end_row
    if work.margin:
        first = first // ALIGNMENT * ALIGNMENT - work.margin
        end = -(-end // ALIGNMENT) * ALIGNMENT + work.margin
    together = work.rows_together
    first, end = max(first, 0) // together * together, -(-end // together) * together
    return min(end, work.detector_rows) - first


def memory_of_rows(work: Work, height: int, threads: int, at_once: int = 1) -> int:
    """Predict the peak memory of a worker with chunks of `height` rows, but for the engine's buffers, bytes.

    Counts on a worker that gives freed memory back, as Dask's nanny arranges it
    (``MALLOC_TRIM_THRESHOLD_``); without, it keeps up to 150 MiB more for every thread.
    """
    # the frames are gone when the sinograms are mended, and what that takes when the slices come; but several
    # chunks at once keep the memory of frames for the next one (see `reused`)
    read, sinogram = rows_read(work, height), work.columns * work.angles
    held, passing = (work.itemsize, 0) if work.binning == 1 else (PIXEL, 2 * BLOCK)
    frames = read * work.columns * held * (work.angles + 2 * work.flats + work.darks) + passing
    mending = threads * sinogram * work.thread_bytes
    pixels = height * math.prod(work.shape)
    slices = pixels * PIXEL
    shorter = pixels * work.pixel_bytes if work.pixel_bytes != PIXEL else 0
    reading = read * sinogram * PIXEL + (max(frames, mending) if at_once == 1 else frames + mending)
    making = read * sinogram * PIXEL + slices
    writing = slices + shorter  # the sinograms are gone
    return _BASE + (max(reading, making, writing) if at_once == 1 else reading + making + writing)


def least_memory(work: Work, threads: int) -> int:
    """Predict the least peak memory with which a worker can do its part, bytes."""
    return memory_of_rows(work, _LITTLE[-1], threads) + buffers_of(_problem(work, threads), 0)


def fair_rows(work: Work, workers: int) -> int:
    """Say how tall chunks may be, and every worker still gets some.

    With a margin, or where many rows are only read together, one for each worker may have to do: what chunks
    have in common is read again for each.
    """
    fair = work.rows // (_CHUNKS_PER_WORKER * workers)
    return max(fair, min(max(_MARGINS * work.margin, work.rows_together), work.rows // workers))


def memory_wanted(work: Work, threads: int, height: int) -> int:
    """Say with how much memory a worker does chunks of `height` rows without any saving, bytes."""
    tall = max(-(-height // ALIGNMENT), 1) * ALIGNMENT
    buffers = buffers_of(_problem(work, threads), math.inf)
    return int((memory_of_rows(work, tall, threads, IN_ALL) + buffers) / _USABLE) + 1


def _buffers(work: Work, threads: int, limit: int) -> int | None:
    """Say how much the engine takes of a limit; None if it needs more."""
    needed = buffers_of(_problem(work, threads), limit)
    return needed if needed <= limit else None


def _problem(work: Work, threads: int) -> Problem:
    return Problem(
        method=work.method,
        quality=work.quality,
        device=work.device,
        angles=work.angles,
        columns=work.extent or work.columns,
        size=work.size,
        shape=work.shape,
        seen=work.seen,
        threads=threads,
    )


def _size_of(work: Work) -> str:
    height, width = work.shape
    return f"{width} x {height}" + (f" (of {work.size} x {work.size})" if work.region else "")


def _binned(work: Work) -> str:
    return "" if work.binning == 1 else f", {work.binning} x {work.binning} pixels of the detector each"


def describe(plan: Plan) -> str:
    """Write a plan for people."""
    work, resources = plan.work, plan.resources
    heights = {chunk.rows for chunk in plan.chunks}
    tall = " to ".join(str(height) for height in sorted({min(heights), max(heights)}))
    lines = {
        "slices": f"{work.rows} of {_size_of(work)} pixels, rows {work.first_row}:{work.end_row}",
        "from": f"{work.angles} projections of {work.columns} columns{_binned(work)}",
        "workers": f"{resources.workers} with {resources.threads} threads and "
        f"{format_size(resources.memory)} of memory each",
        "chunks": f"{len(plan.chunks)} of {tall} rows" + (f", {plan.at_once} at once" * (plan.at_once > 1)),
        "memory": f"{format_size(plan.memory)} predicted peak of a worker",
        "read": format_size(plan.bytes_read),
        "written": format_size(plan.bytes_written),
    }
    return "\n".join(f"{name:<9}{text}" for name, text in lines.items())
