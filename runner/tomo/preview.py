"""A few slices of a volume, before all of it is made: the same numbers in seconds."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from runner.errors import LostError, PartialError, UsageError
from runner.tomo.advice import about_axis, advise
from runner.tomo.axis_of_scan import find_axis
from runner.tomo.check import checked_scan
from runner.tomo.chunk import Recipe, make_slices
from runner.tomo.dispatch import resources_of, run_chunks
from runner.tomo.parameters import Axis
from runner.tomo.physics import as_told, as_used
from runner.tomo.pipeline import content_of, plan_for, recipe_of, unit_scale
from runner.tomo.plan import Chunk
from runner.tomo.settings import Settings, rows_within
from runner.tomo.volume.content import Content
from runner.tomo.volume.greys import FLOAT32
from runner.tomo.wider import about_room


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preview:
    """Some slices.

    Attributes
    ----------
    rows : tuple of int
        Of the detector, ascending.
    slices : (slice, y, x) float32
        As they would be in the volume.
    content : Content
        What is to be said of them.
    axis : Axis
        The rotation axis.
    seconds : float
        From opening the scan.
    """

    rows: tuple[int, ...]
    slices: NDArray[np.float32]
    content: Content
    axis: Axis
    seconds: float


def make_preview(
    scan_path: Path,
    rows: Sequence[int] | None,
    settings: Settings,
    client: Client,
    *,
    on_note: Callable[[str], None] = lambda _: None,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> Preview:
    """Make some slices, bit for bit as they would be in the volume.

    Parameters
    ----------
    scan_path : Path
        The input.
    rows : sequence of int, or None
        Detector rows; None for the middle one of those that the settings choose. Where pixels are binned,
        the slice that holds them.
    settings, client, on_note, seconds_left
        As for :func:`runner.tomo.pipeline.reconstruct`.

    Raises
    ------
    UsageError
        If a row is not on the detector.
    LostError
        If a slice could not be made.
    PartialError
        If the time did not suffice.
    RunnerError
        As from opening the scan and finding the axis.
    """
    started = time.monotonic()
    scan = as_told(checked_scan(scan_path, settings.sources, say=on_note), settings)
    first, end = rows_within(settings.rows, scan.rows)
    chosen = tuple(sorted(set(rows))) if rows else ((first + end) // 2,)
    for row in chosen:
        if not 0 <= row < scan.rows:
            raise UsageError(f"row {row} is not on the detector", f"choose within 0 .. {scan.rows - 1}")
    used = as_used(scan, settings)
    _, units = unit_scale(used.pixel_size, settings)
    plan_for(scan, settings, resources_of(client))  # what cannot be done is said before any work
    axis = find_axis(scan, settings, client)
    plan = plan_for(scan, settings, resources_of(client), axis.position)
    for finding in (
        *advise(used, settings),
        *about_axis(scan, axis.position),
        *about_room(used, settings, half=plan.work.half),
    ):
        on_note(str(finding))
    recipe = recipe_of(used, plan, axis, settings)
    held = {min(row // used.binning, used.rows - 1): row for row in reversed(chosen)}
    chunks = [Chunk(first_row=row, end_row=row + 1) for row in sorted(held)]
    made, failures, left = run_chunks(
        client, functools.partial(_make, recipe), chunks, seconds_left=seconds_left
    )
    if failures:
        row, cause = failures[0].chunk.first_row, failures[0].cause
        raise LostError(f"the slice of row {row} could not be made ({cause})") from cause
    if left:
        raise PartialError("the time is over: not all slices were made", "give the job more time")
    return Preview(
        rows=tuple(sorted(held.values())),
        slices=np.stack([slice_ for _, slice_ in sorted(made, key=lambda one: one[0])]),
        content=content_of(used, plan, units, (), (), greys=FLOAT32),
        axis=axis,
        seconds=time.monotonic() - started,
    )


def _make(recipe: Recipe, chunk: Chunk) -> tuple[int, NDArray[np.float32]]:
    """On a worker."""
    return chunk.first_row, make_slices(recipe, chunk)[0]
