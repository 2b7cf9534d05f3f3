"""End a volume: give it its name, or keep what was made of it; and write the page about it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from runner.errors import RunnerError
from runner.tomo.missing import clear, loss, out_of_time
from runner.tomo.report.run import Run
from runner.tomo.report.write import write_report
from runner.tomo.volume.content import ChunkRecord
from runner.tomo.volume.forms import finish_volume
from runner.tomo.volume.look import description_in


def end(
    run: Run, place: Path, report: Path | None, on_note: Callable[[str], None]
) -> tuple[tuple[int, int, int], Path | None]:
    """Finish a volume of which all slices were made.

    Parameters
    ----------
    run : Run
        What was done.
    place : Path
        The volume's own name, links followed.
    report : Path or None
        Where to write the page about it, in any case.
    on_note : callable
        Called with a line if there can be no such page.

    Returns
    -------
    clipped : (int, int, int)
        Pixels that the volume's type could not hold: below, above, not a number.
    page : Path or None
        The page, if it was written.

    Raises
    ------
    LostError
        If slices could not be made.
    PartialError
        If the time did not suffice.
    WriteError
        If the volume cannot be finished.
    """
    if run.failures:
        clear(run.target, [failure.chunk for failure in run.failures])
    error = _error_of(run)
    if error is None:
        clipped = finish_volume(place, run.target, _records(run))
        run = replace(run, target=replace(run.target, path=description_in(place)), clipped=clipped)
    page = report and _write(report, replace(run, error=error, ended=time.time()), on_note)
    if error is not None:
        raise error
    return run.clipped, page


def _error_of(run: Run) -> RunnerError | None:
    if run.left:
        return out_of_time(run.volume, run.target, run.failures, run.left)
    return loss(run.volume, run.target, run.failures) if run.failures else None


def _write(report: Path, run: Run, on_note: Callable[[str], None]) -> Path | None:
    try:
        write_report(report, run)
    except Exception as error:  # noqa: BLE001  a volume is never lost for the page about it
        on_note(f"warning: no report was written ({error})")
        return None
    return report


def _records(run: Run) -> list[ChunkRecord]:
    return [
        ChunkRecord(
            first_row=result.chunk.first_row,
            end_row=result.chunk.end_row,
            worker=result.worker,
            begun=min(result.begun.values(), default=0.0),
            seconds=result.seconds,
            tries=run.tries(result.chunk),
            misfits=result.misfits,
        )
        for result in run.results
    ]
