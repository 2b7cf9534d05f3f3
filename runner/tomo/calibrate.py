"""Time a chunk of a reconstruction on the workers that will do it, and leave nothing of it behind."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from distributed import Client, wait

from runner.errors import LostError
from runner.tomo.axis_of_scan import find_axis
from runner.tomo.chunk import ChunkResult, Job, process_chunk
from runner.tomo.dispatch import resources_of
from runner.tomo.forecast import ENOUGH_ROWS, Calibration
from runner.tomo.physics import as_told, as_used, corrections_of
from runner.tomo.pipeline import content_of, plan_for, setup_of, unit_scale
from runner.tomo.plan import ALIGNMENT, Chunk, Plan
from runner.tomo.scan import Scan
from runner.tomo.settings import AUTO, Settings
from runner.tomo.volume.forms import create_volume, discard_volume
from runner.tomo.volume.greys import FLOAT32
from runner.tomo.volume.place import check_place, check_space
from runner.tomo.volume.slab import Target
from runner.workers import workers_of

_MOST_WORKERS = 16  # beyond, a disk that many share tells nothing new, and the trial would fill it
_SECONDS = 900  # for two chunks at most, and on a bare machine a compiler


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one worker does: a small chunk to be ready, and the one that counts; other rows, none cached.

    Attributes
    ----------
    first, timed : Chunk
        Rows of the scan.
    slice_number : int
        Of the trial volume: where its own place begins.
    """

    first: Chunk
    timed: Chunk
    slice_number: int


def calibrate(scan: Scan, place: Path, settings: Settings, client: Client) -> tuple[Plan, Calibration]:
    """Plan a reconstruction; make a chunk on every worker at once, as it would, and time that.

    The slices go into a file of their own beside the volume, which is removed afterwards.

    Parameters
    ----------
    scan : Scan
        The input.
    place : Path
        Where the volume will be.
    settings : Settings
        How to reconstruct.
    client : Client
        Of the workers; at most 16 of them are asked.

    Returns
    -------
    plan : Plan
        Of the whole, about the axis that was found.
    calibration : Calibration
        What the chunks took.

    Raises
    ------
    RunnerError
        Whatever the reconstruction would meet in these chunks.
    LostError
        If a worker does not answer.
    """
    check_place(place, overwrite=True)  # only of the volume itself is nothing written over
    resources = resources_of(client)
    plan_for(scan, settings, resources)  # what cannot be done is said before any work
    begun = time.monotonic()
    axis = find_axis(as_told(scan, settings), settings, client)
    axis_seconds = time.monotonic() - begun if settings.center == AUTO else 0.0
    plan = plan_for(scan, settings, resources, center=axis.position)
    workers = list(workers_of(client))[:_MOST_WORKERS]
    trials = choose_trials(plan, len(workers))
    used = as_used(scan, settings)
    scale, units = unit_scale(used.pixel_size, settings)
    setup = setup_of(used, plan, axis.position, settings)
    with _trial_volume(used, place, plan, units, trials) as target:
        job = Job(
            scan=used,
            corrections=corrections_of(used, settings),
            setup=setup,
            target=target,
            scale=scale,
            slope=axis.slope,
        )
        futures = [
            client.submit(run_trial, job, trial, workers=[worker], pure=False)
            for worker, trial in zip(workers, trials, strict=True)
        ]
        try:
            wait(futures, timeout=_SECONDS)
        except TimeoutError as error:
            raise LostError(
                f"no worker made a chunk within {_SECONDS} s", "see the workers' logs, or try fewer --rows"
            ) from error
        finally:
            client.cancel([future for future in futures if not future.done()], force=True)
        results = [future.result() for future in futures]
    return plan, calibration_of(results, threads=resources.threads, axis=axis_seconds)


def choose_trials(plan: Plan, workers: int) -> list[Trial]:
    """Spread the chunks of a trial over the rows of the plan."""
    spread = 2 * workers
    chosen = [plan.chunks[(2 * number + 1) * len(plan.chunks) // (2 * spread)] for number in range(spread)]
    tallest = max(_top(chunk, ENOUGH_ROWS).rows for chunk in chosen)
    return [
        Trial(
            first=_top(chosen[2 * number], ALIGNMENT),
            timed=_top(chosen[2 * number + 1], ENOUGH_ROWS),
            slice_number=number * tallest,
        )
        for number in range(workers)
    ]


def run_trial(job: Job, trial: Trial) -> tuple[ChunkResult, ChunkResult, float]:
    """Do a trial: on a worker. The second chunk goes over the first; its processor time is told too."""
    first = _at(job, trial.first, trial.slice_number)
    begun = time.process_time()
    timed = _at(job, trial.timed, trial.slice_number)
    return first, timed, time.process_time() - begun


def calibration_of(
    results: Sequence[tuple[ChunkResult, ChunkResult, float]], *, threads: int, axis: float
) -> Calibration:
    """Read the times of the slowest worker."""
    first, timed, processor = max(results, key=lambda one: sum(one[1].seconds.values()) / one[1].chunk.rows)
    usual = sum(timed.seconds.values()) / timed.chunk.rows * first.chunk.rows
    return Calibration(
        workers=len(results),
        threads=threads,
        rows=timed.chunk.rows,
        stages=dict(timed.seconds),
        processor=processor,
        first=max(sum(first.seconds.values()) - usual, 0.0),
        axis=axis,
    )


def _top(chunk: Chunk, height: int) -> Chunk:
    return replace(chunk, end_row=min(chunk.first_row + height, chunk.end_row))


def _at(job: Job, chunk: Chunk, slice_number: int) -> ChunkResult:
    """Make a chunk, and write it from some slice of the volume on."""
    shifted = replace(job.target, first_row=chunk.first_row - slice_number)
    return process_chunk(replace(job, target=shifted), chunk)


@contextmanager
def _trial_volume(
    scan: Scan, place: Path, plan: Plan, units: str, trials: Sequence[Trial]
) -> Iterator[Target]:
    """Make a volume with a place for every trial, and remove it in the end."""
    end = max(trial.slice_number + chunk.rows for trial in trials for chunk in (trial.first, trial.timed))
    work = replace(plan.work, first_row=0, end_row=end)
    small = replace(plan, work=replace(work, pixel_bytes=4))
    check_space(place, small.bytes_written)
    name = place.with_name(f".{place.name}-{os.getpid()}-{uuid.uuid4().hex[:8]}.trial")
    target = create_volume(name, content_of(scan, small, units, [], [], greys=FLOAT32))
    try:
        yield target
    finally:
        discard_volume(target)
