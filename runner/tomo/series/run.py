"""Reconstruct several scans, one after the other; what fails does not stop the others."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Sequence

from distributed import Client

from runner.errors import PartialError, RunnerError
from runner.tomo.dispatch import Progress, resources_of
from runner.tomo.pipeline import reconstruct
from runner.tomo.report.write import report_path
from runner.tomo.scan.finding import Problems
from runner.tomo.scan.open import read_scan
from runner.tomo.series.entries import Entry
from runner.tomo.series.made_before import check_made_before
from runner.tomo.series.results import Result, State
from runner.tomo.settings import rows_within
from runner.tomo.volume.place import check_place


def faults_of(entry: Entry) -> list[RunnerError]:
    """Find what can be known to be wrong with an entry from its paths and the scan's headers."""
    problems, faults = Problems(), []
    try:
        check_place(entry.volume, overwrite=True)  # one that is there may be what is wanted
        scan = read_scan(entry.scan, entry.settings.sources, problems)
        if scan is not None:
            rows_within(entry.settings.rows, scan.rows)
    except RunnerError as error:
        faults.append(error)
    return [*problems.errors, *faults]


def reconstruct_all(
    entries: Sequence[Entry],
    client: Client,
    *,
    overwrite: bool = False,
    report: bool = False,
    command_line: Sequence[str] = (),
    on_begin: Callable[[Entry], None] = lambda _: None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> list[Result]:
    """Reconstruct scans.

    All are looked at first. What is there already, made from the same with the same settings, is left as it
    is; what was begun is gone on with.

    Parameters
    ----------
    entries : sequence of Entry
        Which, and how.
    client, overwrite, command_line, on_progress, on_note, seconds_left
        As for :func:`runner.tomo.pipeline.reconstruct`.
    report : bool
        Write a page beside each volume.
    on_begin : callable
        Called before each scan.

    Returns
    -------
    list of Result
        One for each, in their order.
    """
    faults = {entry: faults_of(entry) for entry in entries}
    for entry, found in faults.items():
        for fault in found:
            on_note(f"error: {entry.scan}: {fault}")

    def make(entry: Entry) -> Result:
        if faults[entry]:
            raise faults[entry][0]
        if entry.volume.exists() and not overwrite:
            slices = check_made_before(entry.scan, entry.volume, entry.settings, resources_of(client))
            return Result(entry=entry, state=State.THERE, slices=slices)
        if seconds_left() <= 0:
            raise PartialError("it was not begun")
        on_begin(entry)
        outcome = reconstruct(
            entry.scan,
            entry.volume,
            entry.settings,
            client,
            overwrite=overwrite,
            command_line=command_line,
            on_progress=on_progress,
            on_note=on_note,
            seconds_left=seconds_left,
            report=report_path(entry.volume) if report else None,
        )
        return Result(entry=entry, state=State.DONE, slices=outcome.shape[0], seconds=outcome.seconds)

    return [_ended(entry, make, on_note) for entry in entries]


def _ended(entry: Entry, make: Callable[[Entry], Result], on_note: Callable[[str], None]) -> Result:
    """Say how an entry ends, however it does."""
    started = time.monotonic()
    try:
        return make(entry)
    except RunnerError as error:
        state = State.LATE if isinstance(error, PartialError) else State.FAILED
        cause, code = str(error), error.exit_code
    except Exception as error:  # noqa: BLE001  a defect of ours is no reason to lose the other scans
        on_note(traceback.format_exc())
        state, cause, code = State.FAILED, f"{type(error).__name__}: {error}", 1
    seconds = time.monotonic() - started
    return Result(entry=entry, state=state, seconds=seconds, cause=cause, exit_code=code)
