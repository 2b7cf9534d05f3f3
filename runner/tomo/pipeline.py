"""From a scan to a volume, on the workers of any Dask client."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from distributed import Client

from runner.errors import ScanError
from runner.tomo.advice import about_axis, advise
from runner.tomo.axis_of_scan import axis_found_before, find_axis
from runner.tomo.begin import Begun, begin, go_on, leave
from runner.tomo.check import inspect
from runner.tomo.chunk import Job, Recipe, Setup, process_chunk, put_away
from runner.tomo.dispatch import Progress, on_each_worker, resources_of, run_chunks
from runner.tomo.end import end
from runner.tomo.greys import find_greys
from runner.tomo.notes import notes_from_workers
from runner.tomo.parameters import Axis, parameters_of
from runner.tomo.physics import as_told, as_used, corrections_of
from runner.tomo.plan import Chunk, Plan, Resources, make_plan
from runner.tomo.reconstruct.shares import shares_of
from runner.tomo.report.diary import Diary
from runner.tomo.report.run import Run
from runner.tomo.scan import Scan
from runner.tomo.scan.binning import binned_place, binned_range, left_over, unbinned_place
from runner.tomo.settings import Settings, center_within, rows_within
from runner.tomo.volume.claim import claimed
from runner.tomo.volume.content import Content
from runner.tomo.volume.forms import pixels_of, sweep
from runner.tomo.volume.greys import Greys
from runner.tomo.volume.place import check_apart, check_place
from runner.tomo.volume.provenance import Parameter, collect
from runner.tomo.volume.resume import Unfinished, read_unfinished
from runner.tomo.wider import about_room
from runner.tomo.work import Work, work_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A finished volume.

    Attributes
    ----------
    volume : Path
        The file.
    dataset : str
        The pixels in it, axes (slice, y, x); empty where all of it is pixels.
    shape : (int, int, int)
        Of the dataset.
    dtype : str
        Of the dataset.
    clipped : (int, int, int)
        Pixels that were below and above what the type holds, and those that were not a number.
    units : str
        Of its values.
    axis : Axis
        The rotation axis.
    report : Path or None
        The page about it.
    made : int
        How many slices this run made; the others were there.
    seconds : float
        From opening the scan to the verified volume.
    """

    volume: Path
    dataset: str
    shape: tuple[int, int, int]
    dtype: str
    clipped: tuple[int, int, int]
    units: str
    axis: Axis
    report: Path | None
    made: int
    seconds: float


def plan_for(scan: Scan, settings: Settings, resources: Resources, center: float | None = None) -> Plan:
    """Plan a reconstruction.

    Parameters
    ----------
    scan : Scan
        As it was taken.
    settings : Settings
    resources : Resources
    center : float or None
        The rotation axis that was found, if it is to be found, as a column of the detector.

    Raises
    ------
    UsageError
        If the settings ask for rows or for a rotation axis that are not on the detector.
    ScanError
        If the memory does not suffice.
    """
    used = as_used(scan, settings)
    rows = binned_range("rows", rows_within(settings.rows, scan.rows), used.binning, used.rows)
    given = center_within(settings.center, scan.columns, settings.bin)
    axis = center if given is None else given
    work = work_of(
        used,
        *rows,
        corrections_of(used, settings),
        center=None if axis is None else binned_place(axis, used.binning),
        field=settings.field_of_view,
        x=settings.x,
        y=settings.y,
        method=settings.method,
        quality=settings.quality,
        device=settings.device,
        room=settings.room,
    )
    return make_plan(replace(work, pixel_bytes=Greys(dtype=settings.dtype).bytes), resources)


def reconstruct(
    scan_path: Path,
    volume_path: Path,
    settings: Settings,
    client: Client,
    *,
    overwrite: bool = False,
    command_line: Sequence[str] = (),
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
    seconds_left: Callable[[], float] = lambda: math.inf,
    report: Path | None = None,
) -> Outcome:
    """Reconstruct a scan.

    Every worker reads its rows from the scan and writes its slices into the volume; the volume has its name
    only when every slice was written and verified. A run that was begun with the same input and settings, and
    did not finish, is gone on with.

    Parameters
    ----------
    scan_path, volume_path : Path
        Input and output, both seen by all workers.
    settings : Settings
        How.
    client : Client
        Of any Dask cluster.
    overwrite : bool
        Replace a volume that is there, and start anew.
    command_line : sequence of str
        Noted in the volume.
    on_progress : callable
        Called after every chunk and at least twice a second.
    on_note : callable
        Called with a line of text where a worker has something to say, like why it takes longer this time.
    seconds_left : callable
        Returns the seconds until all must be over; chunks that would take longer are not begun.
    report : Path or None
        Where to write a page about it, see :mod:`runner.tomo.report`; if slices are missing too.

    Raises
    ------
    WriteError, MissingFileError, ScanError, UsageError
        Before any work, if it cannot be done.
    LostError
        If slices could not be made; the others are kept in the volume's unfinished form. A WriteError where
        they could not be written, as on a full disk.
    PartialError
        If the time did not suffice; the same.
    """
    started, diary = time.monotonic(), Diary(on_note)
    place = Path(os.path.realpath(volume_path))  # as a worker finds it; a link stays, and leads to the volume
    if place.exists():
        sweep(place)
    check_place(place, overwrite=overwrite)
    inspection = inspect(scan_path, settings.sources)
    scan = as_told(inspection.usable(on_note), settings)
    check_apart(place, files_of(scan))
    used = as_used(scan, settings)
    _, units = unit_scale(used.pixel_size, settings)
    plan_for(scan, settings, resources_of(client))  # what cannot be done is said before any work
    with claimed(place):
        found = None if overwrite else read_unfinished(place)
        axis = axis_found_before(found, settings) or find_axis(scan, settings, client)
        plan = plan_for(scan, settings, resources_of(client), axis.position)
        findings = (
            *inspection.findings,
            *advise(used, settings),
            *about_axis(scan, axis.position),
            *about_room(used, settings, half=plan.work.half),
        )
        for finding in findings:
            on_note(str(finding))
        if over := left_over(scan, settings.bin):
            diary(over)
        recipe = recipe_of(used, plan, axis, settings)
        greys = greys_found_before(found, settings) or find_greys(
            settings, recipe, (plan.work.first_row, plan.work.end_row), client, seconds_left=seconds_left
        )
        parameters = parameters_of(scan, plan, axis, units, settings, greys=greys)
        content = content_of(used, plan, units, parameters, command_line, greys=greys)
        if found is None:
            begun = begin(place, content, plan, overwrite=overwrite)
        else:
            begun = go_on(place, found, content, plan, client, seconds_left=seconds_left)
            diary(_going_on(begun, plan))
        job = Job(
            **{item.name: getattr(recipe, item.name) for item in fields(recipe)},
            target=begun.target,
            shown_row=shown_row(begun.chunks, plan.work),
            reuse=plan.at_once > 1,
        )
        try:
            with notes_from_workers(client, diary):
                results, failures, left = run_chunks(
                    client,
                    functools.partial(process_chunk, job),
                    begun.chunks,
                    at_once=plan.at_once,
                    on_progress=on_progress,
                    on_retry=diary.retry,
                    seconds_left=seconds_left,
                )
        except BaseException:
            leave(begun.target)
            raise
        if job.reuse and not left:  # else there is nothing to put away, or no time
            on_each_worker(client, put_away)
        run = Run(
            volume=volume_path,
            target=begun.target,
            scan=scan,
            plan=plan,
            content=content,
            axis=axis,
            findings=findings,
            notes=tuple(diary.notes),
            results=tuple(results),
            retries=tuple(diary.retries),
            failures=tuple(failures),
            left=tuple(left),
            begun=diary.begun,
        )
        clipped, page = end(run, place, report, diary)
    return Outcome(
        volume=volume_path,
        dataset=pixels_of(volume_path),
        shape=begun.target.shape,
        dtype=greys.dtype,
        clipped=clipped,
        units=units,
        axis=axis,
        report=page,
        made=sum(chunk.rows for chunk in begun.chunks),
        seconds=time.monotonic() - started,
    )


def shown_row(chunks: Sequence[Chunk], work: Work) -> int | None:
    """Choose the row whose sinogram is shown: of those that are made, the one next to the middle."""
    middle = (work.first_row + work.end_row) // 2
    nearest = [min(max(chunk.first_row, middle), chunk.end_row - 1) for chunk in chunks]
    return min(nearest, key=lambda row: abs(row - middle), default=None)


def unit_scale(pixel_size: float | None, settings: Settings) -> tuple[float, str]:
    """Choose the unit of the volume: (factor from 1/pixel, unit).

    Raises
    ------
    ScanError
        If 1/cm was asked for, and the scan does not tell its pixel size.
    """
    if settings.units == "1/cm" and pixel_size:
        return 1 / (100 * pixel_size), "1/cm"
    if settings.units == "1/cm" and settings.origin("units") != "default":
        raise ScanError("the scan does not tell its pixel size, which 1/cm needs", "say --units 1/pixel")
    return 1.0, "1/pixel"


def greys_found_before(found: Unfinished | None, settings: Settings) -> Greys | None:
    """Take the grey levels that an earlier run has found, where it was asked for the same."""
    asked = {"dtype": settings.dtype, "greys": settings.greys}
    if found is None or any(found.made_from.get(name) != value for name, value in asked.items()):
        return None
    return found.target.greys


def _going_on(begun: Begun, plan: Plan) -> str:
    made = sum(chunk.rows for chunk in begun.chunks)
    return f"going on with {begun.target.place}: {plan.work.rows - made} of {plan.work.rows} slices are there"


def files_of(scan: Scan) -> set[Path]:
    """All files that the pixels of a scan lie in, and the one that was named."""
    frames = [scan.projections, *(group.frames for group in (*scan.flats, *scan.darks))]
    return {scan.path, *(file for some in frames for file in some.files)}


def recipe_of(scan: Scan, plan: Plan, axis: Axis, settings: Settings) -> Recipe:
    """Say how all slices are made, of the scan as it is used."""
    return Recipe(
        scan=scan,
        corrections=corrections_of(scan, settings),
        setup=setup_of(scan, plan, axis.position, settings),
        scale=unit_scale(scan.pixel_size, settings)[0],
        slope=axis.slope,
        mask_value=settings.mask_value,
    )


def setup_of(scan: Scan, plan: Plan, center: float, settings: Settings) -> Setup:
    """Say what the workers' reconstructor is made of, for the scan as it is used.

    The axis, `center`, is a column of the detector.
    """
    return Setup(
        angles=tuple(scan.angles.tolist()),
        weights=shares_of(scan.angles),
        columns=scan.columns,
        center=binned_place(center, scan.binning),
        method=settings.method,
        quality=settings.quality,
        device=settings.device,
        window=settings.window,
        cutoff=settings.cutoff,
        padding=settings.padding,
        mask=settings.mask,
        memory=plan.buffers,
        size=plan.work.size,
        half_acquisition=plan.work.blended,
        region=plan.work.region,
        iterations=settings.iterations,
        nonnegative=settings.nonnegative,
        room=settings.room,
    )


def content_of(
    scan: Scan,
    plan: Plan,
    units: str,
    parameters: Sequence[Parameter],
    typed: Sequence[str],
    *,
    greys: Greys,
) -> Content:
    """Say what a volume's file holds beside the pixels."""
    work = plan.work
    return Content(
        title=scan.title or scan.path.name,
        first_row=work.first_row,
        shape=(work.rows, *work.shape),
        corner=_corner(work),
        units=units,
        pixel_size=scan.pixel_size,
        greys=greys,
        defects=scan.defects,
        provenance=collect(scan.path, typed, parameters, files_of(scan)),
    )


def _corner(work: Work) -> tuple[float, float, float]:
    """Tell where the first pixel of a volume lies."""
    (y, _), (x, _) = work.region or ((0, 0), (0, 0))
    middle = (work.size - 1) / 2
    first = unbinned_place(work.first_row, work.binning) / work.binning
    return first, y - middle, x - middle
