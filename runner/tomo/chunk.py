"""One chunk, on a worker: read, correct, reconstruct, write, verify. Only a small record goes back."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from runner.tomo import reused
from runner.tomo.correct.corrections import NO_CORRECTIONS, Corrections, prepared_sinograms
from runner.tomo.correct.flatfield import integrals_of, read_counts
from runner.tomo.counts import Counts, Rays
from runner.tomo.notes import warnings_to_client
from runner.tomo.plan import Chunk
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.devices import takes_counts
from runner.tomo.reconstruct.shift import shift_rows
from runner.tomo.scan import Scan
from runner.tomo.stages import Passage
from runner.tomo.thumbnail import shrink
from runner.tomo.volume.slab import Target, write_slab


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What makes a reconstructor; see :class:`runner.tomo.reconstruct.Reconstructor`."""

    angles: tuple[float, ...]
    columns: int
    center: float
    method: str
    window: str
    padding: str
    mask: bool
    quality: str = "standard"
    device: str = "cpu"
    cutoff: float = 1.0
    memory: float = math.inf
    size: int | None = None
    half_acquisition: bool = False
    weights: tuple[float, ...] | None = None
    region: tuple[tuple[int, int], tuple[int, int]] | None = None
    iterations: int | None = None
    nonnegative: bool = False
    room: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How all slices of a reconstruction are made.

    Attributes
    ----------
    scan : Scan
        The input.
    corrections : Corrections
        What is done to it before.
    setup : Setup
        How slices are made.
    scale : float
        Factor from 1/pixel to the volume's unit.
    slope : float
        By how many columns the rotation axis moves from one row to the next; it is where the setup says in
        the detector's middle row.
    mask_value : float
        What is outside of the setup's mask, in the volume's unit.
    """

    scan: Scan
    setup: Setup
    scale: float
    corrections: Corrections = NO_CORRECTIONS
    slope: float = 0.0
    mask_value: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Recipe):
    """What all chunks of a volume have in common.

    Attributes
    ----------
    target : Target
        Where the slices go.
    shown_row : int or None
        The row whose sinogram a person will want to see.
    reuse : bool
        Keep the memory of a chunk for the next ones, until `put_away`: for plans of several chunks at once,
        which count on it.
    """

    target: Target
    shown_row: int | None = None
    reuse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkResult:
    """What a worker tells about a chunk.

    Attributes
    ----------
    chunk : Chunk
        Its rows, all written and verified.
    seconds : dict of str to float
        Wall time of each stage: read, reconstruct, write; without the wait for it.
    worker : str
        Address of the worker, or ``"local"``.
    begun : dict of str to float
        When each stage began, seconds since 1970 by this machine's clock.
    sinogram : (int, (angle, column) float32) or None
        Of the row that is to be shown, made small, with its number; where that is one of these rows.
    misfits : tuple of float
        After each step of an iterative method: what its slices did not explain, as a share of what was
        measured, the mean of the slices. Empty for the other methods.
    """

    chunk: Chunk
    seconds: dict[str, float]
    worker: str
    begun: dict[str, float] = field(default_factory=dict)
    sinogram: tuple[int, NDArray[np.float32]] | None = None
    misfits: tuple[float, ...] = ()


def process_chunk(job: Job, chunk: Chunk, *, threads: int = 1) -> ChunkResult:
    """Make the slices of a chunk.

    On a Dask worker all its threads work on one chunk in each stage. Several chunks may be on their way at
    once, but never two in one stage (see :mod:`runner.tomo.stages`).

    Parameters
    ----------
    job, chunk
        What to do.
    threads : int
        Threads to use outside of a Dask worker.

    Raises
    ------
    RunnerError
        As from reading, correcting and writing.
    """
    address, own_threads = _where(threads)
    if job.reuse:
        reused.reuse()
    with _passage(chunk, address) as passage:
        rays = _prepare(job, chunk, own_threads, passage)
        shown = _shown(job.shown_row, chunk, rays)
        slices, misfits = _reconstruct(job, rays, own_threads, passage)
        del rays  # the plan counts on it
        with passage.stage("write"):
            write_slab(job.target, chunk.first_row, slices, threads=own_threads)
            del slices  # before the next chunk's come
    return ChunkResult(
        chunk=chunk,
        seconds=passage.seconds,
        worker=address,
        begun=passage.begun,
        sinogram=shown,
        misfits=misfits,
    )


def put_away() -> None:
    """Give back what this process keeps from chunk to chunk: tables, buffers and memory."""
    _reconstructor.cache_clear()
    reused.forget()


def make_slices(recipe: Recipe, chunk: Chunk, *, threads: int = 1) -> NDArray[np.float32]:
    """Make the slices of a chunk, and write nothing: (slice, y, x) float32, in the volume's unit.

    Parameters and errors are those of `process_chunk`.
    """
    address, own_threads = _where(threads)
    with _passage(chunk, address) as passage:
        rays = _prepare(recipe, chunk, own_threads, passage)
        return _reconstruct(recipe, rays, own_threads, passage)[0]


@contextmanager
def _passage(chunk: Chunk, worker: str) -> Iterator[Passage]:
    """Send a chunk on its way; what it waits for long is told to the client as well."""
    name = f"chunk {chunk.first_row}:{chunk.end_row} on {worker}"
    with warnings_to_client(_STAGES), Passage(name) as passage:
        yield passage


def counts_suffice(recipe: Recipe) -> bool:
    """Tell whether the reconstructor of this process makes slices of the counts as they were read.

    It does on a GPU, where they are of a type for it, and nothing but the flat field is to be corrected.
    """
    setup, scan = recipe.setup, recipe.scan
    pixels = np.dtype(np.float32) if scan.binning > 1 else scan.dtype
    plain = recipe.corrections.flat_field_alone and recipe.slope == 0
    return plain and takes_counts(setup.device, setup.method, pixels)


def _prepare(recipe: Recipe, chunk: Chunk, threads: int, passage: Passage) -> Rays:
    with passage.stage("read"), warnings_to_client(_COMPILER):
        rows = slice(chunk.first_row, chunk.end_row)
        if counts_suffice(recipe):
            flat_field = recipe.corrections.flat_field
            return read_counts(recipe.scan, rows, flat_field=flat_field, threads=threads)
        sinograms = prepared_sinograms(recipe.scan, rows, recipe.corrections, threads=threads)
        numbers = np.arange(chunk.first_row, chunk.end_row, dtype=np.float64)
        shift_rows(sinograms, -recipe.slope * (numbers - (recipe.scan.rows - 1) / 2))
    return sinograms


def _reconstruct(
    recipe: Recipe, rays: Rays, threads: int, passage: Passage
) -> tuple[NDArray[np.float32], tuple[float, ...]]:
    """Return the slices, and what they do not explain, see `ChunkResult`."""
    with passage.stage("reconstruct"):
        with warnings_to_client(_COMPILER):
            reconstruct = _reconstructor(recipe.setup, recipe.scale, recipe.mask_value, threads)
        slices = reconstruct.from_counts(rays) if isinstance(rays, Counts) else reconstruct(rays)
        misfits = () if reconstruct.misfits is None else tuple(reconstruct.misfits.mean(axis=0).tolist())
    return slices, misfits


def _shown(row: int | None, chunk: Chunk, rays: Rays) -> tuple[int, NDArray[np.float32]] | None:
    if row is None or not chunk.first_row <= row < chunk.end_row:
        return None
    number = row - chunk.first_row
    one = rays[number : number + 1]
    if isinstance(one, Counts):
        with warnings_to_client(_COMPILER):
            one = integrals_of(one)
    return row, shrink(one[0])


_COMPILER = "runner.tomo.kernels"  # who may have to say why it takes longer this time
_STAGES = "runner.tomo.stages"  # and this one too


@functools.lru_cache(maxsize=1)  # one scan at a time: its tables may fill half of a worker's memory
def _reconstructor(setup: Setup, scale: float, mask_value: float, threads: int) -> Reconstructor:
    return Reconstructor(
        angles=setup.angles,
        columns=setup.columns,
        center=setup.center,
        method=setup.method,
        quality=setup.quality,
        device=setup.device,
        window=setup.window,
        cutoff=setup.cutoff,
        padding=setup.padding,
        mask=setup.mask,
        mask_value=mask_value,
        scale=scale,
        threads=threads,
        memory=setup.memory,
        size=setup.size,
        half_acquisition=setup.half_acquisition,
        weights=setup.weights,
        region=setup.region,
        iterations=setup.iterations,
        nonnegative=setup.nonnegative,
        room=setup.room,
    )


def _where(threads: int) -> tuple[str, int]:
    """Tell this worker's address and its threads."""
    try:
        worker = get_worker()
    except ValueError:
        return "local", threads
    return str(worker.address), int(worker.state.nthreads)
